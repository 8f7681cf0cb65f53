//! AIMD(1, `remaining`) under random loss as a renewal process of windows: no packets, no sequence numbers.
//!
//! A cycle runs from cut to cut. In round trips:
//!
//! 1. Recovery. The cut window may contain further losses, at geometric gaps. Recovery takes one round trip from the
//!    first loss, and longer by the position of the last one. The window is `remaining * W`. After a lost
//!    retransmission, the timer runs two round trips, and slow start leads to half the window.
//! 2. Growth by `1/w` per ACK and `floor(w)` ACKs per round trip, up to the next loss of a later packet. The ACKs of
//!    a window arrive in the last `remaining` of each round trip. The sender was silent while its flight shrank to
//!    the new window. This lengthens a cycle by `(1 - remaining) / 2` on average.
//! 3. The losses in the window at that time open the next recovery: one cut per window of data.

use crate::rng::Draws;

/// Time-mean window over `cycles` cycles with loss probability `p` for each packet.
pub fn mean_window(remaining: f64, p: f64, cycles: u32, draws: &mut Draws) -> f64 {
    let mut mean = Mean::default();
    let mut window = 1.0 / p.sqrt();
    for _ in 0..cycles {
        // Losses after the first of the window to be cut, and the first one after the window.
        let outstanding = window as u64;
        let (mut losses, mut last, mut gap) = (1, 0, draws.geometric(p));
        while gap < outstanding {
            (losses, last) = (losses + 1, gap);
            gap += draws.geometric(p);
        }
        let mut sent_before_next_loss = gap - outstanding;
        window = (remaining * window).max(2.0);

        let offset = last as f64 / outstanding as f64;
        mean.stay(window, 1.0 + offset);
        let mut acked_in_recovery = (window * offset) as u64;
        if draws.uniform() > (1.0 - p).powi(losses) {
            mean.stay(window, 1.0);
            let ssthresh = (window / 2.0).max(2.0);
            window = 1.0;
            while window < ssthresh {
                mean.stay(window, 1.0);
                window *= 2.0;
            }
            window = ssthresh;
            sent_before_next_loss = draws.geometric(p);
            acked_in_recovery = 0;
        }

        mean.stay(window, (1.0 - remaining) / 2.0);
        let mut acks = sent_before_next_loss.saturating_sub(acked_in_recovery);
        while acks > 0 {
            let in_flight = window as u64;
            let batch = acks.min(in_flight);
            // The solution of dw/dn = 1/w after n ACKs.
            let grown = (window * window + 2.0 * batch as f64).sqrt();
            mean.stay((window + grown) / 2.0, batch as f64 / in_flight as f64);
            window = grown;
            acks -= batch;
        }
    }
    mean.integral / mean.time
}

#[derive(Default)]
struct Mean {
    integral: f64,
    time: f64,
}

impl Mean {
    fn stay(&mut self, window: f64, time: f64) {
        self.integral += window * time;
        self.time += time;
    }
}
