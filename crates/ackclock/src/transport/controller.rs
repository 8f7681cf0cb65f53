//! The sender's view of the algorithm: its requests are cached between events.

use crate::cc::{
    Ack, Cc, Congestion, CongestionControl, Departures, Loss, MediaControl, PacketControl, PhaseChange, Recovery,
    Requests, Sent,
};
use crate::units::{Instant, Rate};

/// An algorithm, and its requests after the last event.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Controller {
    cwnd: f64,
    ssthresh: f64,
    pacing_rate: Option<Rate>,
    whole_segments: u32,
    departures: Departures,
    cc: Cc,
}

impl Controller {
    pub(crate) fn new(cc: Cc) -> Self {
        let mut controller = Controller {
            cwnd: 0.0,
            whole_segments: 0,
            ssthresh: 0.0,
            pacing_rate: None,
            departures: cc.departures(),
            cc,
        };
        controller.ask();
        controller
    }

    pub(crate) fn cc(&self) -> &Cc {
        &self.cc
    }

    /// Updates the requests of the algorithm.
    #[inline]
    pub(crate) fn ask(&mut self) {
        self.grant(self.cc.requests());
    }

    #[inline]
    fn grant(&mut self, Requests { cwnd, ssthresh, pacing_rate }: Requests) {
        self.cwnd = cwnd;
        self.whole_segments = cwnd as u32;
        self.ssthresh = ssthresh;
        self.pacing_rate = pacing_rate;
    }

    #[inline]
    pub(crate) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// The window, rounded down. It is limited to four billion segments.
    #[inline]
    pub(crate) fn whole_segments(&self) -> i64 {
        i64::from(self.whole_segments)
    }

    #[inline]
    pub(crate) fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[inline]
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }

    pub(crate) fn send_quantum(&self) -> u64 {
        self.cc.send_quantum()
    }

    pub(crate) fn responds_to_ecn(&self) -> bool {
        self.cc.responds_to_ecn()
    }

    /// True if the algorithm learns of a departure after which `in_flight` segments are in flight.
    #[inline]
    pub(crate) fn learns_of_departure(&self, in_flight: u32) -> bool {
        self.departures.include(in_flight)
    }

    /// The least window in recovery, rounded down.
    pub(crate) fn least_in_recovery(&self) -> i64 {
        self.cc.least_in_recovery() as i64
    }

    pub(crate) fn owns_recovery(&self) -> bool {
        self.cc.owns_recovery()
    }

    pub(crate) fn needs_rate_samples(&self) -> bool {
        self.cc.needs_rate_samples()
    }

    /// Whether the algorithm wants to know of single packets.
    pub(crate) fn sees_packets(&mut self) -> bool {
        self.cc.packet_control().is_some()
    }

    /// Tells the algorithm of a packet, if it wants to know.
    pub(crate) fn tell_packet(&mut self, tell: impl FnOnce(&mut dyn PacketControl)) {
        if let Some(packets) = self.cc.packet_control() {
            tell(packets);
            self.ask();
        }
    }

    /// Tells the algorithm of media, if it sets the rate of an encoder.
    pub(crate) fn tell_media(&mut self, tell: impl FnOnce(&mut dyn MediaControl)) {
        if let Some(media) = self.cc.media_control() {
            tell(media);
            self.ask();
        }
    }

    /// The rate of an encoder, from an algorithm that sets it.
    pub(crate) fn target_rate(&mut self) -> Option<Rate> {
        self.cc.media_control()?.target_rate()
    }

    /// Before this time nothing leaves.
    pub(crate) fn earliest_departure(&mut self) -> Option<Instant> {
        self.cc.packet_control()?.earliest_departure()
    }

    pub(crate) fn on_loss(&mut self, loss: &Loss) {
        self.cc.on_loss(loss);
        self.ask();
    }

    pub(crate) fn on_sent(&mut self, sent: &Sent) {
        let requests = self.cc.requests_after_sent(sent);
        self.grant(requests);
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Ack) {
        let requests = self.cc.requests_after_ack(ack);
        self.grant(requests);
    }

    pub(crate) fn on_congestion(&mut self, congestion: &Congestion) {
        self.cc.on_congestion(congestion);
        self.ask();
    }

    pub(crate) fn on_recovery_enter(&mut self, recovery: &Recovery) {
        self.cc.on_recovery_enter(recovery);
        self.ask();
    }

    pub(crate) fn on_recovery_exit(&mut self, recovery: &Recovery) {
        self.cc.on_recovery_exit(recovery);
        self.ask();
    }

    pub(crate) fn on_undo(&mut self, recovery: &Recovery) {
        self.cc.on_undo(recovery);
        self.ask();
    }

    pub(crate) fn on_phase(&mut self, change: &PhaseChange) {
        self.cc.on_phase(change);
        self.ask();
    }

    pub(crate) fn on_limit(&mut self, segments: f64) {
        self.cc.on_limit(segments);
        self.ask();
    }

    pub(crate) fn on_resume(&mut self, now: Instant) {
        self.cc.on_resume(now);
        self.ask();
    }
}
