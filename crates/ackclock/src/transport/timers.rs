//! The timers of a sender, with one deadline for all.

use crate::units::Instant;

macro_rules! timers {
    ($($(#[$doc:meta])* $timer:ident = $name:literal,)+) => {
        /// A timer of a sender. Of several that are due at one time the first one here goes off first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Timer {
            $($(#[$doc])* $timer,)+
        }

        impl Timer {
            /// Every timer.
            pub const ALL: [Timer; Timer::NAMES.len()] = [$(Timer::$timer),+];

            /// Names, in the order of the discriminants.
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];
        }
    };
}

timers! {
    /// RFC 8985 §7: ACKs are overdue, and a probe asks for one.
    Probe = "probe",
    /// RFC 8985 §6: segments sent before a delivered segment are taken for lost.
    Reordering = "reordering",
    /// RFC 6298: all outstanding segments are taken for lost.
    Retransmission = "retransmission",
    /// RFC 3168 §6.1.2: data that a mark at a window of one segment holds back may leave.
    DelayedStart = "delayed-start",
    /// RFC 9293 §3.8.6.1: the peer's window has been closed until a probe is due.
    Persist = "persist",
    /// The pacing rate lets the next segment go.
    Pacing = "pacing",
}

/// When each timer goes off, if it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    /// The deadline of each timer. A stopped timer is later than all events.
    deadlines: [Instant; Timer::ALL.len()],
    /// The first of them.
    first: Instant,
}

impl Default for Timers {
    fn default() -> Self {
        Timers { deadlines: [Instant::MAX; Timer::ALL.len()], first: Instant::MAX }
    }
}

impl Timers {
    /// Starts the timer, or starts it again.
    #[inline]
    pub(crate) fn set(&mut self, timer: Timer, deadline: Instant) {
        let before = std::mem::replace(&mut self.deadlines[timer as usize], deadline);
        if deadline <= self.first {
            self.first = deadline;
        } else if before == self.first {
            self.first = self.deadlines.iter().copied().fold(Instant::MAX, Instant::min);
        }
    }

    #[inline]
    pub(crate) fn stop(&mut self, timer: Timer) {
        if self.runs(timer) {
            self.set(timer, Instant::MAX);
        }
    }

    #[inline]
    pub(crate) fn runs(&self, timer: Timer) -> bool {
        self.deadline(timer).is_some()
    }

    /// When the timer goes off, if it runs.
    #[inline]
    pub(crate) fn deadline(&self, timer: Timer) -> Option<Instant> {
        let deadline = self.deadlines[timer as usize];
        (deadline != Instant::MAX).then_some(deadline)
    }

    /// The timer that goes off next, and when.
    pub(crate) fn next(&self) -> Option<(Timer, Instant)> {
        let running = Timer::ALL.into_iter().filter_map(|timer| Some((timer, self.deadline(timer)?)));
        running.min_by_key(|(_, deadline)| *deadline)
    }

    /// When that is.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        (self.first != Instant::MAX).then_some(self.first)
    }

    /// True if the timer runs and its time has come.
    pub(crate) fn is_due(&self, timer: Timer, now: Instant) -> bool {
        self.deadline(timer).is_some_and(|deadline| deadline <= now)
    }

    /// The timers that go off if the time is `now`, the first one first.
    pub(crate) fn due(&self, now: Instant) -> impl Iterator<Item = Timer> {
        Timer::ALL.into_iter().filter(move |timer| self.is_due(*timer, now))
    }

    /// Stops the timer if it is due. Returns true if it was.
    pub(crate) fn fires(&mut self, timer: Timer, now: Instant) -> bool {
        let is_due = self.is_due(timer, now);
        if is_due {
            self.stop(timer);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_deadline_is_next_and_of_two_at_one_time_the_first_timer() {
        let at = Instant::from_nanos;
        let mut timers = Timers::default();
        assert_eq!((timers.next_deadline(), timers.next()), (None, None));
        timers.set(Timer::Pacing, at(7));
        timers.set(Timer::Retransmission, at(9));
        assert_eq!((timers.next_deadline(), timers.next()), (Some(at(7)), Some((Timer::Pacing, at(7)))));
        timers.set(Timer::DelayedStart, at(7));
        assert_eq!(timers.next(), Some((Timer::DelayedStart, at(7))));
        timers.stop(Timer::DelayedStart);
        assert!(timers.runs(Timer::Pacing) && !timers.runs(Timer::DelayedStart));
    }

    #[test]
    fn a_timer_fires_once_and_not_before_it_is_due() {
        let at = Instant::from_nanos;
        let mut timers = Timers::default();
        timers.set(Timer::Pacing, at(7));
        assert!(!timers.fires(Timer::Pacing, at(6)) && !timers.fires(Timer::Retransmission, at(7)));
        assert!(timers.fires(Timer::Pacing, at(7)) && !timers.fires(Timer::Pacing, at(8)));
        assert_eq!(timers.next_deadline(), None);
    }
}
