//! BBR in packets.

use super::*;
use ackclock::probe::FlowSamples;
use ackclock::sim::RunResult;
use crate::common::{Dumbbell, FlowSetup};

fn bulk(name: &str, cc: &str) -> (String, FlowSetup) {
    (name.to_owned(), FlowSetup { cc: by_name(cc), ..FlowSetup::default() })
}

#[test]
fn look() {
    let rtt = Duration::from_millis(40);
    let bdp = Dumbbell::bdp_packets(10_000_000, rtt);
    for (loss, name) in [(LossPlan::None, "bbr3"), (LossPlan::Bernoulli { probability: 0.01 }, "bbr3"), (LossPlan::None, "cubic")] {
        let mut d = Dumbbell::new(10_000_000, rtt, (bdp * 1.0) as u32, 1);
        d.flows = vec![bulk("a", name)];
        d.loss = loss;
        d.duration = Duration::from_secs(60);
        let r = d.run();
        println!("{name} util {:?} qd {:?} timeouts {} retr {}", r.summary.utilization, r.summary.queue_delay_mean_s, r.flows[0].timeouts, r.flows[0].retransmits);
        let f = &r.samples.flows;
        let col = |n: &str| f.reported.iter().find(|(c, _)| *c == n).map(|(_, v)| v.clone()).unwrap_or_default();
        let (st, bw, mrtt, il, is) = (col("bbr_state"), col("bw_bps"), col("min_rtt_s"), col("inflight_longterm_bytes"), col("inflight_shortterm_bytes"));
        for i in (0..f.time_ns.len()).step_by(5).take(100) {
            if name == "bbr3" { println!("{:.2} st {} bw {:.2} minrtt {:.4} cwnd {:.1} infl {} lt {:.0} st {:.0} ph {}", f.time_ns[i] as f64/1e9, st[i], bw[i]/1e6, mrtt[i], f.cwnd_segments[i], f.in_flight_segments[i], il[i]/1460., is[i]/1460., f.phase[i]); }
        }
    }
}
