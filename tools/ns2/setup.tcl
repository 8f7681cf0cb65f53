# Runs one case of a validation suite of ns-2, and records its configuration.
#
#   ns setup.tcl OUTPUT SETTINGS SCRIPT CASE [QUIET]
#
# SETTINGS are options of senders with values. They are set after the options of the case.
#
# Lines of OUTPUT, with words as in Tcl:
#
#   link FROM TO BITS/S DELAY/S QUEUE LIMIT
#   error FROM TO FLOW DELAYED/S PACKETS, with packets for a list only
#   sender NAME CLASS FROM TO FLOW
#   sink SENDER CLASS
#   option SENDER OPTION VALUE DEFAULT, and options of its sink that senders lack
#   other CLASS, another agent, or an object that delays packets on a link
#   time SECONDS SENDER COMMAND ARGUMENTS, a command of an application
#   end SECONDS

proc note {args} {
    puts $::notes $args
    flush $::notes
}

proc instances {class} {
    set all [$class info instances]
    foreach subclass [$class info subclass] { eval lappend all [instances $subclass] }
    return $all
}

# Options of an agent, with the defaults of ns-2.
proc options {name agent defaults} {
    upvar #0 $defaults value
    foreach option [lsort [array names value]] {
        if {![catch {$agent set $option} now]} { note option $name $option $now $value($option) }
    }
}

# The options of a class and its superclasses.
proc defaults {class array} {
    upvar #0 $array value
    foreach one [concat $class [$class info heritage]] {
        foreach option [$one info vars] {
            if {![info exists value($option)]} { catch {set value($option) [$one set $option]} }
        }
    }
}

proc describe {ns} {
    foreach pair [lsort [$ns array names link_]] {
        lassign [split $pair :] from to
        set link [$ns link [$ns get-node-by-id $from] [$ns get-node-by-id $to]]
        set queue [$link queue]
        note link $from $to [[$link link] set bandwidth_] [[$link link] set delay_] \
            [$queue info class] [$queue set limit_]
        if {![info exists ::modules($link)]} continue
        foreach module $::modules($link) {
            if {[catch {$module errormodels} models]} continue
            foreach model $models {
                set packets [expr {[info exists ::droplist($model)] ? $::droplist($model) : ""}]
                set delayed [expr {[$model set delay_pkt_] ? [$model set delay_] : 0}]
                note error $from $to $::bound($model) $delayed $packets
            }
        }
    }
    set sinks [instances Agent/TCPSink]
    set senders [instances Agent/TCP]
    foreach agent [instances Agent] {
        if {[lsearch $sinks $agent] >= 0 || [lsearch $senders $agent] >= 0} continue
        if {[$agent info class] ni {Agent/Null Agent/Message}} { note other [$agent info class] }
    }
    foreach delayer [instances Delayer] { note other [$delayer info class] }
    foreach sender $senders {
        note sender $sender [$sender info class] [$sender set agent_addr_] [$sender set dst_addr_] [$sender set fid_]
        options $sender $sender tcp_defaults
        foreach sink $sinks {
            if {[$sink set agent_addr_] == [$sender set dst_addr_] && [$sink set agent_port_] == [$sender set dst_port_]} {
                note sink $sender [$sink info class]
                options $sender $sink sink_defaults
            }
        }
    }
}

# `body` records calls of `name` on a class before they run.
proc before {class name body} {
    set made [$class info instbody $name]
    $class instproc $name [$class info instargs $name] "$body\n$made"
}

set notes [open [lindex $argv 0] w]
set settings [lindex $argv 1]
set script [lindex $argv 2]
set argv [lrange $argv 3 end]
set argc [llength $argv]
set argv0 $script

foreach class {Agent/TCP Agent/TCP/Newreno} { defaults $class tcp_defaults }
foreach class {Agent/TCPSink Agent/TCPSink/DelAck} { defaults $class sink_defaults }
foreach option [array names tcp_defaults] { unset -nocomplain sink_defaults($option) }

before Simulator run {
    foreach sender [instances Agent/TCP] {
        foreach {option value} $::settings { $sender set $option $value }
    }
    describe $self
}
before Simulator halt {note end [$self now]}
before SimpleLink errormodule {if {[llength $args]} {lappend ::modules($self) $args}}
before ErrorModule bind {set ::bound([lindex $args 0]) [lindex $args 1]}
foreach name {start stop send produce producemore} {
    set arguments [Application/FTP info instargs $name]
    set words ""
    foreach argument $arguments { append words " \$$argument" }
    before Application/FTP $name "note time \[\[Simulator instance\] now\] \[\$self agent\] $name$words"
}
ErrorModel/List instproc droplist args {
    set ::droplist($self) [eval concat $args]
    eval $self cmd droplist $args
}

source $script
