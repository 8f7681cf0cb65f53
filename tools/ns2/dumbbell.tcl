# A dumbbell of long TCP flows in ns-2, with the measures of ackclock.
#
#   ns dumbbell.tcl KEY VALUE ...
#
# Prints one line of KEY=VALUE. `p` below contains keys and defaults. Each value is a plain number in bits per
# second, seconds, bytes or packets. `limit` and `access_limit` are ns-2's own. A queue of limit L holds L - 1
# waiting packets and the packet in transmission. `jitter` is the upper bound of a uniform extra delay of each
# data packet after its access link. Beyond a packet time of that link it would reorder packets.
#
# `access_rate` 0 omits the access links, and the agents are on the two routers. With `queue` RED the `red_*`
# keys apply to the bottleneck in data direction. Thresholds are in packets of `red_mean_packet` bytes. `limit`
# counts queued packets, of that size if `red_bytes` is 1. With `queue` DRR `limit` counts queued bytes, and each
# source has a queue, up to `drr_buckets`. `loss` is the probability of a loss after that queue.
#
# `window_option` 1 is AIMD: `increase` segments per round trip, and `remaining` of the window after a loss.
# `window_option` 6 is binomial: cwnd grows by increase / cwnd^k per round trip and falls by (1 - remaining)
# cwnd^l. `extra_min` and `extra_max` bound the uniform additional delay of a flow's source link, each way.
#
# `cbr` is a list of times and rates. From each time on, one source of constant rate sends packets of
# `cbr_packet` bytes through the bottleneck, over its own access links. 0 is silence. `cbr_sent` counts its
# packets at the bottleneck, and `cbr_Bps` is its throughput. Arrivals, departures, drops and marks there count
# all packets. Other measures are of TCP.
#
# `tcp` Linux is Agent/TCP/Linux with the congestion control `ca`. `cwnd_segments` is the mean of cwnd over all
# flows, sampled every `cwnd_interval` seconds.
#
# `hosts` is the number of pairs of hosts that flows share. 0 gives each flow its own pair. `monitors` 0 is for
# measurements of speed. It keeps departures only, and one monitor. `setup_cpu_s` and `run_cpu_s` are CPU time in
# either case.

array set p {
    flows 2        duration 100   warmup 0        seed 1
    rate 5e6       delay 0.030    limit 100       reverse_limit 10000
    access_rate 5e6  access_delay 0.030  access_limit 100
    extra_min 0    extra_max 0    start_min 0     start_max 1      jitter 0
    tcp Sack1      ca reno        cwnd_interval 0.1
    payload 1000   header 40       initial_window 2  max_window 10000
    window_option 1  increase 1   remaining 0.5   k 0              l 0
    limited_transmit 1  bug_fix 1  min_rto 0.2    tick 0.01
    delayed_ack 0  timestamps 0   idle_restart 1  handshake 1
    loss 0         queue DropTail  red_min 5      red_max 15       red_max_p 0.1
    red_weight 0.002  red_gentle 1  red_bytes 0   red_mean_packet 1000  red_by_size 0  red_wait 1  red_adaptive 0
    red_ecn 0      red_mark_below 1  ecn 0
    drr_quantum 1040  drr_buckets 1024
    cbr ""         cbr_packet 1040  hosts 0       monitors 1
}
foreach {key value} $argv {
    if {![info exists p($key)]} {
        puts stderr "dumbbell.tcl: unknown key $key; known: [lsort [array names p]]"
        exit 2
    }
    set p($key) $value
}

DelayModel set debug_ false

remove-all-packet-headers
add-packet-header Flags IP TCP RTP

$defaultRNG seed $p(seed)

# Uniform in min .. max, from a separate stream.
proc uniform {min max} {
    set variable [new RandomVariable/Uniform]
    $variable use-rng [new RNG]
    $variable set min_ $min
    $variable set max_ $max
    return $variable
}

set starts [uniform $p(start_min) $p(start_max)]
set jitter [uniform 0 $p(jitter)]
set extra [uniform $p(extra_min) $p(extra_max)]

set ns [new Simulator]

# The forward direction has this queue. The reverse direction has a drop-tail queue.
proc link {from to rate delay limit reverse_limit {queue DropTail}} {
    global ns
    $ns simplex-link $from $to $rate $delay $queue
    $ns simplex-link $to $from $rate $delay DropTail
    $ns queue-limit $from $to $limit
    $ns queue-limit $to $from $reverse_limit
}

proc delay_randomly {link variable} {
    set model [new DelayModel]
    $model ranvar $variable
    $model target [[$link link] target]
    [$link link] target $model
}

set left [$ns node]
set right [$ns node]
if {$p(queue) eq "RED"} {
    Queue/RED set thresh_ $p(red_min)
    Queue/RED set maxthresh_ $p(red_max)
    Queue/RED set linterm_ [expr {1.0 / $p(red_max_p)}]
    Queue/RED set q_weight_ $p(red_weight)
    Queue/RED set gentle_ $p(red_gentle)
    Queue/RED set queue_in_bytes_ $p(red_bytes)
    Queue/RED set bytes_ $p(red_by_size)
    Queue/RED set mean_pktsize_ $p(red_mean_packet)
    Queue/RED set wait_ $p(red_wait)
    Queue/RED set adaptive_ $p(red_adaptive)
    Queue/RED set setbit_ $p(red_ecn)
    Queue/RED set mark_p_ $p(red_mark_below)
}
if {$p(queue) eq "DRR"} {
    Queue/DRR set quantum_ $p(drr_quantum)
    Queue/DRR set buckets_ $p(drr_buckets)
    Queue/DRR set blimit_ $p(limit)
}
link $left $right $p(rate) $p(delay) $p(limit) $p(reverse_limit) $p(queue)
if {$p(loss) > 0} {
    set losses [new ErrorModel]
    $losses unit pkt
    $losses set rate_ $p(loss)
    $losses ranvar [uniform 0 1]
    $losses drop-target [new Agent/Null]
    $ns link-lossmodel $losses $left $right
}
if {$p(monitors)} {
    # TCP is flow 0, cross traffic flow 1.
    set bottleneck [$ns makeflowmon Fid]
    $bottleneck set-delay-samples [new Samples]
    $ns attach-fmon [$ns link $left $right] $bottleneck
} else {
    set bottleneck [$ns monitor-queue $left $right ""]
}

set classes(Tahoe) Agent/TCP
set classes(Reno) Agent/TCP/Reno
set classes(Newreno) Agent/TCP/Newreno
set classes(Sack1) Agent/TCP/Sack1
set classes(Linux) Agent/TCP/Linux

proc sink {} {
    global p
    set class Agent/TCPSink
    if {$p(tcp) in {Sack1 Linux}} { append class /Sack1 }
    if {$p(delayed_ack) > 0} { append class /DelAck }
    set sink [new $class]
    if {$p(delayed_ack) > 0} { $sink set interval_ $p(delayed_ack) }
    if {$p(tcp) eq "Linux"} { $sink set ts_echo_rfc1323_ 1 }
    return $sink
}

# Sets `source` and `destination` to nodes behind access links. The first link is `extra` seconds longer.
proc ends {extra} {
    global ns p left right source destination
    set source $left
    set destination $right
    if {$p(access_rate) > 0} {
        set source [$ns node]
        set destination [$ns node]
        set delay [expr {$p(access_delay) + $extra}]
        link $source $left $p(access_rate) $delay $p(access_limit) $p(access_limit)
        link $right $destination $p(access_rate) $p(access_delay) $p(access_limit) $p(access_limit)
    }
}

for {set i 0} {$i < $p(flows)} {incr i} {
    if {$p(hosts) == 0 || $i < $p(hosts)} {
        ends [$extra value]
        set sources($i) $source
        set destinations($i) $destination
        if {$p(access_rate) > 0} {
            if {$p(monitors)} { set access($i) [$ns monitor-queue $source $left ""] }
            if {$p(jitter) > 0} { delay_randomly [$ns link $source $left] $jitter }
        }
    } else {
        set source $sources([expr {$i % $p(hosts)}])
        set destination $destinations([expr {$i % $p(hosts)}])
    }

    set tcp($i) [new $classes($p(tcp))]
    $tcp($i) set packetSize_ $p(payload)
    $tcp($i) set tcpip_base_hdr_size_ $p(header)
    $tcp($i) set windowInit_ $p(initial_window)
    $tcp($i) set window_ $p(max_window)
    $tcp($i) set windowOption_ $p(window_option)
    $tcp($i) set k_parameter_ $p(k)
    $tcp($i) set l_parameter_ $p(l)
    $tcp($i) set increase_num_ $p(increase)
    $tcp($i) set decrease_num_ $p(remaining)
    $tcp($i) set singledup_ $p(limited_transmit)
    $tcp($i) set minrto_ $p(min_rto)
    $tcp($i) set tcpTick_ $p(tick)
    $tcp($i) set timestamps_ $p(timestamps)
    $tcp($i) set slow_start_restart_ $p(idle_restart)
    $tcp($i) set ecn_ $p(ecn)
    $tcp($i) set syn_ $p(handshake)
    $tcp($i) set delay_growth_ $p(handshake)
    $tcp($i) set bugFix_ $p(bug_fix)
    if {$p(tcp) eq "Linux"} { $ns at 0 "$tcp($i) select_ca $p(ca)" }
    $ns attach-agent $source $tcp($i)
    set receiver [sink]
    $ns attach-agent $destination $receiver
    $ns connect $tcp($i) $receiver
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [$starts value] "$ftp start"
}

if {$p(cbr) ne ""} {
    ends 0
    set udp [new Agent/UDP]
    $udp set packetSize_ $p(cbr_packet)
    $udp set fid_ 1
    $ns attach-agent $source $udp
    set nobody [new Agent/Null]
    $ns attach-agent $destination $nobody
    $ns connect $udp $nobody
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $p(cbr_packet)
    $cbr attach-agent $udp
    foreach {time rate} $p(cbr) {
        $ns at $time "$cbr stop"
        if {$rate > 0} { $ns at $time "$cbr set rate_ $rate; $cbr start" }
    }
}

# CPU time of this process so far.
proc cpu_s {} {
    set file [open /proc/self/schedstat]
    set nanoseconds [lindex [gets $file] 0]
    close $file
    return [expr {1e-9 * $nanoseconds}]
}

# Counters since the start of the run, in the array named by the argument.
proc counters {into} {
    global ns p tcp access bottleneck
    upvar #0 $into c
    array set c {access_drops 0 retransmits 0 timeouts 0 sent 0 cbr_sent 0 cbr_delivered 0}
    for {set i 0} {$i < $p(flows)} {incr i} {
        set c(acked,$i) [expr {[$tcp($i) set ack_] * $p(payload)}]
        incr c(sent) [$tcp($i) set ndatapack_]
        incr c(retransmits) [$tcp($i) set nrexmitpack_]
        incr c(timeouts) [$tcp($i) set nrexmit_]
        if {[info exists access($i)]} { incr c(access_drops) [$access($i) set pdrops_] }
    }
    set c(arrivals) [$bottleneck set parrivals_]
    set c(drops) [$bottleneck set pdrops_]
    set c(marks) [$bottleneck set pmarks_]
    set c(departures) [$bottleneck set pdepartures_]
    foreach flow [$bottleneck flows] {
        if {[$flow set flowid_] == 1} {
            set c(cbr_sent) [$flow set parrivals_]
            set c(cbr_delivered) [$flow set pdepartures_]
        }
    }
    # bdepartures_ has 32 bits. All data packets of a source have one size.
    set of_tcp [expr {$c(departures) - $c(cbr_delivered)}]
    set c(bytes) [expr {$of_tcp * ($p(payload) + $p(header)) + $c(cbr_delivered) * $p(cbr_packet)}]
    # Queueing delays of departed packets in seconds. A queue may also drop packets that have waited.
    set delays [$bottleneck get-delay-samples]
    set c(waited) [expr {[$delays cnt] > 0 ? [$delays cnt] * [$delays mean] : 0.0}]
}

# Adds all windows to a sum from this time on.
proc look_at_windows {} {
    global ns p tcp windows looks
    for {set i 0} {$i < $p(flows)} {incr i} {
        set windows [expr {$windows + [$tcp($i) set cwnd_]}]
        incr looks
    }
    $ns at [expr {[$ns now] + $p(cwnd_interval)}] look_at_windows
}

proc times {} {
    global started
    return "setup_cpu_s=$started run_cpu_s=[expr {[cpu_s] - $started}]"
}

proc finish {} {
    global p before after bottleneck windows looks
    if {!$p(monitors)} {
        puts "departures=[$bottleneck set pdepartures_] drops=[$bottleneck set pdrops_] [times]"
        exit 0
    }
    counters after
    foreach name [array names before] { set d($name) [expr {$after($name) - $before($name)}] }
    set time [expr {double($p(duration) - $p(warmup))}]
    set sum 0.0
    set squares 0.0
    for {set i 0} {$i < $p(flows)} {incr i} {
        set goodput [expr {$d(acked,$i) / $time}]
        set sum [expr {$sum + $goodput}]
        set squares [expr {$squares + $goodput * $goodput}]
        lappend goodputs [format %.8g $goodput]
    }
    set jain [expr {$squares > 0 ? $sum * $sum / ($p(flows) * $squares) : 0}]
    set delay [expr {$d(departures) > 0 ? double($d(waited)) / $d(departures) : 0}]
    puts [join [list \
        goodput_Bps=[format %.8g $sum] flows_Bps=[join $goodputs ,] \
        arrivals=$d(arrivals) departures=$d(departures) drops=$d(drops) marks=$d(marks) access_drops=$d(access_drops) \
        sent=$d(sent) retransmits=$d(retransmits) timeouts=$d(timeouts) \
        cbr_sent=$d(cbr_sent) cbr_Bps=[format %.8g [expr {$d(cbr_delivered) * $p(cbr_packet) / $time}]] \
        queue_delay_s=[format %.8g $delay] \
        utilization=[format %.8g [expr {$d(bytes) * 8 / ($p(rate) * $time)}]] \
        cwnd_segments=[format %.8g [expr {$looks ? $windows / $looks : 0}]] \
        jain=[format %.8g $jain] [times]] " "]
    exit 0
}

if {$p(monitors)} {
    $ns at $p(warmup) "counters before"
    set windows 0.0
    set looks 0
    $ns at $p(warmup) look_at_windows
}
$ns at $p(duration) finish
set started [cpu_s]
$ns run
