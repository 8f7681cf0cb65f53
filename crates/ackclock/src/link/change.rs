//! Changes of a link during a run: its rate and its delay.

use super::{Impairable, Impairments, Line, Link};
use crate::units::{Duration, Rate};

impl<T: Impairable> Link<T> {
    /// Bits per second, where they are the same at all times.
    pub fn rate(&self) -> Option<Rate> {
        match self.transmitter.line {
            Line::Even(rate) => Some(rate),
            Line::Delay | Line::Varying(_) => None,
        }
    }

    /// Propagation.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Changes the rate of transmissions that begin from now on; one in progress keeps its time. Call [`Link::advance`]
    /// first, up to the last moment before the change.
    ///
    /// Nothing changes, and it returns false, where the link has no rate or one that varies.
    pub fn set_rate(&mut self, rate: Rate) -> bool {
        let transmitter = &mut self.transmitter;
        let Line::Even(line) = &mut transmitter.line else { return false };
        *line = rate;
        // Less than a nanosecond; it was counted in parts of the old rate.
        transmitter.remainder = 0;
        transmitter.cached = (0, Duration::ZERO, 0);
        true
    }

    /// Changes the delay of packets of which transmission begins from now on. Call [`Link::advance`] first, up to the
    /// last moment before the change, and wake the link by its new deadline afterwards.
    ///
    /// Where packets keep their order, what is sent after a change to a shorter delay arrives no earlier than what is
    /// in flight.
    pub fn set_delay(&mut self, delay: Duration) {
        let is_shorter = delay < self.delay;
        self.delay = delay;
        if is_shorter
            && !self.reorders()
            && let Some((last, _)) = self.pipe.back()
        {
            let impairments = self.impairments.get_or_insert_with(|| Box::new(Impairments::none()));
            impairments.not_before = impairments.not_before.max(*last);
            self.is_bare = false;
        }
    }
}
