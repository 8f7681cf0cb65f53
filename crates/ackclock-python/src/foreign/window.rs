//! The window that user-supplied code sets, with TCP Reno (RFC 5681) as the default.

use ackclock::cc::{Ack, CcContext, Congestion, Hosted};

/// Window, threshold and rate: `ackclock_cc_window` of the header.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Window {
    /// Segments.
    pub cwnd: f64,
    /// Segments, infinite until something sets it.
    pub ssthresh: f64,
    /// bit/s, 0 for none.
    pub pacing_rate: f64,
    /// Segments.
    pub initial_window: f64,
}

impl Window {
    /// Whether `ack` should make a window grow: new data in a used window, outside of recovery, without a mark.
    #[inline]
    pub fn may_grow(ack: &Ack) -> bool {
        ack.acked > 0.0 && ack.cwnd_limited && !ack.in_recovery && !ack.ece
    }

    /// The mistake in the values, if any.
    #[inline]
    pub fn fault(&self) -> Option<String> {
        let Window { cwnd, ssthresh, pacing_rate, .. } = *self;
        let is_rate = pacing_rate == 0.0 || (1.0..=f64::MAX).contains(&pacing_rate);
        match () {
            () if (0.0..=f64::MAX).contains(&cwnd) && ssthresh >= 0.0 && is_rate => None,
            () if !(0.0..=f64::MAX).contains(&cwnd) => {
                Some(format!("cwnd must be finite and not negative, not {cwnd}"))
            }
            () if is_rate => Some(format!("ssthresh must be a number that is not negative, not {ssthresh}")),
            () => Some(format!("pacing_rate must be finite and at least 1 bit/s, or 0, not {pacing_rate}")),
        }
    }
}

/// The window of a connection: as the code sees it, and as the sender does.
#[derive(Clone, Debug)]
pub struct Held {
    /// The code reads and writes it.
    pub seen: Window,
    tcp: Hosted,
    owns_recovery: bool,
}

impl Held {
    /// The connection begins.
    pub fn new(context: &CcContext, owns_recovery: bool) -> Self {
        let tcp = Hosted::new(*context);
        let (cwnd, ssthresh, initial_window) = (tcp.seen(), tcp.ssthresh(), context.initial_window);
        Held { seen: Window { cwnd, ssthresh, pacing_rate: 0.0, initial_window }, tcp, owns_recovery }
    }

    /// The window, which is one segment at the least.
    #[inline]
    pub fn segments(&self) -> f64 {
        self.tcp.cwnd()
    }

    /// The smallest window to which `prr = "rate-halving"` reduces.
    pub fn least_in_recovery(&self) -> f64 {
        self.tcp.least_in_recovery()
    }

    /// Takes the values that the code has set.
    #[inline]
    pub fn take(&mut self) {
        let Window { cwnd, ssthresh, pacing_rate, .. } = self.seen;
        self.tcp.set(cwnd, ssthresh, self.owns_recovery || pacing_rate != 0.0);
        self.show();
    }

    /// TCP Reno answers an event.
    #[inline]
    pub fn standard(&mut self, event: impl FnOnce(&mut Hosted)) {
        self.take();
        event(&mut self.tcp);
        self.show();
    }

    /// Begins a congestion event that the code will answer, and returns the threshold before it.
    pub fn begin(&mut self, congestion: &Congestion) -> f64 {
        self.take();
        self.tcp.begin(congestion);
        self.tcp.ssthresh()
    }

    /// The code has answered a congestion event.
    pub fn end(&mut self, congestion: &Congestion, ssthresh_before: f64) {
        let left = (self.seen.cwnd, self.seen.ssthresh);
        self.tcp.end(congestion, left, ssthresh_before, self.owns_recovery);
        self.show();
    }

    #[inline]
    fn show(&mut self) {
        (self.seen.cwnd, self.seen.ssthresh) = (self.tcp.seen(), self.tcp.ssthresh());
    }
}
