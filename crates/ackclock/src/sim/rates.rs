//! Rates of links that were changed during a run, to compute the capacity of a link.

use std::collections::BTreeMap;

use super::index::LinkId;
use crate::units::{Instant, Rate};

/// The rates of links that were changed.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangedRates {
    /// From when on which rate, from the start of the run.
    links: BTreeMap<LinkId, Vec<(Instant, Rate)>>,
}

impl ChangedRates {
    /// Changes the present rate of a link from `now` on, which is not before the last change.
    pub(super) fn change(&mut self, link: LinkId, planned: Rate, now: Instant, rate: Rate) {
        self.links.entry(link).or_insert_with(|| vec![(Instant::ZERO, planned)]).push((now, rate));
    }

    /// Whether a link was ever changed.
    pub(super) fn knows(&self, link: LinkId) -> bool {
        self.links.contains_key(&link)
    }

    /// The mean rate of a link between two times, if it was ever changed.
    pub(super) fn mean_bps(&self, link: LinkId, since: Instant, until: Instant) -> Option<f64> {
        let rates = self.links.get(&link)?;
        let ends = rates.iter().skip(1).map(|(at, _)| *at).chain([Instant::MAX]);
        let bits = rates.iter().zip(ends).map(|((begin, rate), end)| {
            let (begin, end) = ((*begin).max(since), end.min(until));
            end.as_nanos().saturating_sub(begin.as_nanos()) as f64 * rate.as_bps() as f64
        });
        Some(bits.sum::<f64>() / until.since(since).as_nanos() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    #[test]
    fn the_mean_goes_over_the_rates_that_a_link_had() {
        let at = |secs| Instant::ZERO + Duration::from_secs(secs);
        let rate = |bps| Rate::from_bps(bps).unwrap();
        let mut rates = ChangedRates::default();
        rates.change(LinkId::new(3), rate(100), at(2), rate(400));
        rates.change(LinkId::new(3), rate(100), at(4), rate(700));
        assert_eq!(rates.mean_bps(LinkId::new(0), at(0), at(9)), None);
        let mean = |since, until| rates.mean_bps(LinkId::new(3), at(since), at(until)).unwrap();
        assert_eq!([mean(0, 2), mean(0, 4), mean(1, 3), mean(3, 5), mean(5, 6)], [100.0, 250.0, 250.0, 550.0, 700.0]);
    }
}
