//! Summarises an evaluation: short sentences, the verdict's lines for terminals, and the texts of heat-map cells.

use serde_json::{Value, json};

use super::board::{EnvironmentResult, by_replicate};
use super::environment::{Better, Metric, QUEUE_DELAY, common};
use super::estimate::{Estimate, Judgement, compared};
use super::evaluation::Evaluation;
use super::multiple::holm;
use super::race::Place;
use super::rivals::{Band, band};
use super::suite::Subject;
use super::sum::mean;
use super::text::{fixed, general, significant};
use super::verdict::{SILENT, verdict, worst};

/// The definition of all counts of environments.
const CORRECTED: &str = "after Holm's correction";
/// The width of labels in the lines for terminals.
const MARGIN: usize = 17;
/// The lines name at most this many failed candidates.
const FAILURES: usize = 2;
/// The metrics of the summary, with their labels.
const LABELS: [(&str, &str); 3] =
    [("efficiency", "utilisation"), ("loss_rate", "loss"), (QUEUE_DELAY, "queueing delay")];
/// The verbs for the fair-share ratio of competing flows. A fair ratio needs none.
const BANDS: [(Band, &str); 4] = [
    (Band::Starved, "starves"),
    (Band::MaybeStarved, "possibly starves"),
    (Band::Harmed, "harms"),
    (Band::MaybeHarmed, "possibly harms"),
];

/// The numbers of environments in which an algorithm is better and worse than the reference.
///
/// `differences` are costs. Only those count that are significant after Holm's correction for all environments.
pub fn counts(differences: &[Estimate]) -> (usize, usize) {
    let p_values: Vec<f64> = differences.iter().map(Estimate::p_value).collect();
    let significant = holm(&p_values);
    let count = |is_wanted: fn(f64) -> bool| {
        differences.iter().zip(&significant).filter(|(each, counts)| **counts && is_wanted(each.mean)).count()
    };
    (count(|mean| mean < 0.0), count(|mean| mean > 0.0))
}

/// A cell of a heat map in words: its value, and the signed difference to the reference with its interval.
///
/// `metric`: none for the score, which improves downwards.
pub fn cell_text(
    value: &Estimate,
    difference: Option<&Estimate>,
    metric: Option<&Metric>,
    digits: usize,
    reference: &str,
) -> String {
    let (label, unit, better) =
        metric.map_or(("score", "", Better::Lower), |metric| (&metric.label, &metric.unit, metric.better));
    let shown = format!("{label} {} {unit}", fixed(value.mean, digits)).trim_end().to_owned();
    let Some(found) = difference else { return shown };
    let sign = if found.mean < 0.0 { -1.0 } else { 1.0 };
    // A positive difference of costs is worse: a lower value if more is better.
    let direction = match (better, sign > 0.0) {
        (Better::Higher, true) | (Better::Lower, false) => "below",
        (Better::Higher, false) | (Better::Lower, true) => "above",
        (Better::NearOne, true) => "farther from 1 than",
        (Better::ReachOne, true) => "farther below 1 than",
        (Better::NearOne | Better::ReachOne, false) => "closer to 1 than",
    };
    let points = if unit == "%" { "points" } else { unit };
    let size = format!("{} {points}", fixed(found.mean.abs(), digits)).trim_end().to_owned();
    let interval = found.low.zip(found.high).map_or_else(String::new, |(low, high)| {
        let ends = (sign * low, sign * high);
        let (low, high) = (ends.0.min(ends.1), ends.0.max(ends.1));
        format!(", 95 % CI {} to {}", fixed(low, digits), fixed(high, digits))
    });
    let doubt = if found.judgement() == Judgement::Open { ", not significant" } else { "" };
    format!("{shown} ({size} {direction} {reference}{interval}{doubt})")
}

impl Evaluation {
    /// Three short sentences without technical terms, and the lines of the verdict for terminals.
    pub(super) fn summary(&self, differences: &[Vec<Estimate>], plane: &[Value]) -> Value {
        json!({ "sentences": self.short_sentences(differences, plane), "lines": self.lines(differences) })
    }

    /// `differences` are the differences of scores to the reference, by entry.
    fn short_sentences(&self, differences: &[Vec<Estimate>], plane: &[Value]) -> Vec<String> {
        let Some(best) = self.best() else {
            return vec!["Every candidate failed. The tables show the runs before the failures.".to_owned()];
        };
        let reference = &self.board.labels[self.board.reference];
        let name = &self.algorithm(best).label;
        let spot = |label: &String| plane.iter().find(|spot| spot["name"].as_str() == Some(label));
        let achieved = |label: &String| {
            let spot = spot(label)?;
            let delay_ms = general(spot["delay"].as_f64()?, 3);
            Some((format!("{:.0} %", spot["throughput"].as_f64()?), format!("{delay_ms} ms")))
        };
        let (ours, theirs) = (achieved(name), achieved(reference));
        let achieves =
            ours.map(|(rate, delay)| format!("It achieves a utilisation of {rate} with a queueing delay of {delay}"));
        let mut said = Vec::new();
        if self.is_reference(best) {
            said.push(format!("{name} is the reference of this comparison."));
            said.extend(achieves.map(|text| format!("{text}.")));
        } else {
            said.push(self.compared_by_score(best, reference, differences));
            said.extend(achieves.map(|text| match theirs {
                Some((rate, delay)) => format!("{text} ({reference}: {rate} and {delay})."),
                None => format!("{text}."),
            }));
        }
        said.extend(self.coexistence());
        said
    }

    fn is_reference(&self, place: &Place) -> bool {
        self.race.entrants[place.entrant].algorithm == self.shown[self.board.reference]
    }

    /// The counts of environments in which a candidate is better and worse than the reference.
    fn counted(&self, place: &Place, differences: &[Vec<Estimate>]) -> (usize, usize) {
        let (entries, _) = self.entries();
        entries.iter().position(|at| *at == place.entrant).map_or((0, 0), |at| counts(&differences[at]))
    }

    fn compared_by_score(&self, best: &Place, other: &str, differences: &[Vec<Estimate>]) -> String {
        let (better, worse) = self.counted(best, differences);
        let (name, total) = (&self.algorithm(best).label, self.race.environments.len());
        let left = total - better - worse;
        let rest = if left > 0 { format!(" In {left}, the difference is not significant.") } else { String::new() };
        format!(
            "By score, {name} is better than {other} in {better} of {total} environments and worse in {worse}, {CORRECTED}.{rest}"
        )
    }

    /// The share of competing flows, in suites that test an algorithm.
    fn coexistence(&self) -> Option<String> {
        let met = self.rivals.iter().filter_map(|rival| Some((rival.worst()?, rival)));
        let least = met.min_by(|(one, _), (other, _)| one.theirs.mean.total_cmp(&other.theirs.mean));
        let Some((worst, rival)) = least else {
            let is_algorithm = self.race.suite.subject == Subject::Algorithm;
            return is_algorithm.then(|| "Coexistence with other algorithms was not tested.".to_owned());
        };
        let share = format!("{:.0} % of their fair share", 100.0 * worst.theirs.mean);
        let place = format!("{}, in “{}”", rival.algorithm.label, self.race.environments[worst.place].title);
        Some(match worst.theirs.mean >= 1.0 {
            true => format!("All competing flows get at least {share} ({place})."),
            false => format!("The competing flows that suffer most get {share} ({place})."),
        })
    }

    /// The verdict in four to six lines, for terminals.
    fn lines(&self, differences: &[Vec<Estimate>]) -> Vec<String> {
        let Some(best) = self.best() else { return self.failed_lines() };
        let differs = !verdict(&self.board).contains(SILENT);
        let marked = self.invalid().map_or_else(String::new, |text| format!("{text}: "));
        let said = if differs { self.by_score(best, differences) } else { self.no_difference(best) };
        let mut lines = vec![format!("VERDICT  {marked}{said}")];
        lines.extend(common().iter().filter_map(|metric| self.line_of(metric, best, differs)));
        lines.extend(self.coexistence_line());
        lines.extend(self.problem(best));
        lines
    }

    fn failed_lines(&self) -> Vec<String> {
        let failed: Vec<_> = self
            .ranking
            .iter()
            .filter_map(|place| {
                let failure = self.race.first_failure(self.race.entrants[place.entrant].algorithm)?;
                let title = &self.race.environments[failure.environment].title;
                let message = failure.message.lines().next().unwrap_or_default();
                let label = &self.algorithm(place).label;
                Some(format!("  - {label} in “{title}”, replicate {}: {message}", failure.replicate))
            })
            .collect();
        let mut lines = vec!["VERDICT  every candidate failed.".to_owned()];
        lines.extend(failed.iter().take(FAILURES).cloned());
        if failed.len() > FAILURES {
            lines.push(format!("  - and {} more, see the report", failed.len() - FAILURES));
        }
        let panel: Vec<&str> = self.panel.iter().map(|place| self.algorithm(place).label.as_str()).collect();
        lines.push(format!("  The panel finished: {}.", panel.join(", ")));
        let noun = self.race.suite.subject.noun();
        lines.push(format!("  Next: correct the {noun} and run the command again. It reuses finished runs."));
        lines
    }

    fn by_score(&self, best: &Place, differences: &[Vec<Estimate>]) -> String {
        let (name, other) = (&self.algorithm(best).label, &self.board.labels[self.board.reference]);
        let replicates = self.race.entrants[best.entrant].replicates;
        let counted = replicates_text(replicates);
        if self.is_reference(best) {
            return format!("{name} is the reference of this comparison ({counted}).");
        }
        let (entries, _) = self.entries();
        let at = entries.iter().position(|at| *at == best.entrant).unwrap_or(0);
        if replicates == 1 && differences[at].is_empty() {
            return format!(
                "{name} is not comparable with {other}: one replicate cannot show significance (use --replicates 2 or more)."
            );
        }
        let (better, worse) = counts(&differences[at]);
        let total = self.race.environments.len();
        let mut told = [(better, "better"), (worse, "worse")];
        if worse > better {
            told.reverse();
        }
        let [(most, first), (fewer, second)] = told;
        format!(
            "{name} is {first} than {other} in {most} of {total} environments and {second} in {fewer} (by score, {counted}, \
             {CORRECTED})."
        )
    }

    fn no_difference(&self, best: &Place) -> String {
        let (name, other) = (&self.algorithm(best).label, &self.board.labels[self.board.reference]);
        let counted = replicates_text(self.race.entrants[best.entrant].replicates);
        format!("{name} {SILENT} from {other} ({counted}, {CORRECTED}).")
    }

    /// Compares the means over the environments of the best candidate and the reference, paired by replicate. Means of delays
    /// are geometric, as in the plane.
    ///
    /// `differs`: whether the verdict contains any difference. Otherwise no metric is better or worse.
    fn line_of(&self, metric: &Metric, best: &Place, differs: bool) -> Option<String> {
        let (_, label) = LABELS.iter().find(|(name, _)| *name == metric.name)?;
        let (entries, reference) = self.entries();
        let (ours, theirs) = (best.entrant, entries[reference]);
        let found = |place: usize| self.board.results[place].metric(&metric.name);
        let values = |at: usize, place: usize| Some(&self.tried[at].values[place].as_ref()?[found(place)?]);
        let shared: Vec<usize> = (0..self.race.environments.len())
            .filter(|place| values(ours, *place).and(values(theirs, *place)).is_some())
            .collect();
        let means = |at: usize| {
            if metric.name == QUEUE_DELAY {
                return self.delays(at, &shared, EnvironmentResult::queue_delay).unwrap_or_default();
            }
            let rows: Vec<Vec<f64>> = shared.iter().filter_map(|place| values(at, *place).cloned()).collect();
            let count = rows.len() as f64;
            by_replicate(&rows).iter().map(|sum| sum / count).collect::<Vec<f64>>()
        };
        let (ours, theirs) = (means(ours), means(theirs));
        if ours.is_empty() || theirs.is_empty() {
            return None;
        }
        let unit = if metric.unit.is_empty() { String::new() } else { format!(" {}", metric.unit) };
        let text = format!("{label:<MARGIN$}{}{unit}", significant(mean(&ours)));
        if self.is_reference(best) {
            return Some(format!("    {text}"));
        }
        let difference = compared(&metric.better.costs(&ours), &metric.better.costs(&theirs), false);
        let sign = match difference.filter(|_| differs).map(|difference| difference.judgement()) {
            Some(Judgement::Better) => "+",
            Some(Judgement::Worse) => "-",
            _ => "·",
        };
        Some(format!("  {sign} {text} vs {}{unit}", significant(mean(&theirs))))
    }

    fn coexistence_line(&self) -> Option<String> {
        let met: Vec<_> =
            self.rivals.iter().filter_map(|rival| Some((rival.worst()?, &rival.algorithm.label))).collect();
        if met.is_empty() {
            return None;
        }
        let mut parts: Vec<String> = Vec::new();
        for (wanted, words) in BANDS {
            let of_band = met.iter().filter(|(worst, _)| band(&worst.theirs) == wanted);
            let mut named: Vec<String> =
                of_band.map(|(worst, label)| format!("{label} ({:.0} %)", 100.0 * worst.theirs.mean)).collect();
            if let (Some(first), true) = (named.first_mut(), parts.is_empty()) {
                *first = first.replace(" %)", " % of its fair share)");
            }
            if !named.is_empty() {
                parts.push(format!("{words} {}", named.join(", ")));
            }
        }
        if parts.is_empty() {
            let names: Vec<&str> = met.iter().map(|(_, label)| label.as_str()).collect();
            let verb = if met.len() > 1 { "keep" } else { "keeps" };
            let coexistence = "coexistence";
            return Some(format!("  + {coexistence:<MARGIN$}{} {verb} a fair share", names.join(", ")));
        }
        let coexistence = "coexistence";
        Some(format!("  - {coexistence:<MARGIN$}{}", parts.join(", ")))
    }

    /// The worst metric of the best candidate, or else its worst environment.
    fn problem(&self, best: &Place) -> Option<String> {
        if let Some((place, at)) = worst(&self.board) {
            let result = &self.board.results[place];
            let metric = &result.metrics[at];
            let text = |candidate: usize| metric.text(result.scores[candidate][at].value.mean);
            return Some(format!(
                "  Biggest problem: {} is {} instead of {} in “{}”.",
                metric.label,
                text(0),
                text(self.board.reference),
                result.title
            ));
        }
        let parts = self.tried[best.entrant].parts.iter();
        let most = parts.rev().max_by(|(_, one), (_, other)| mean(one).total_cmp(&mean(other)))?;
        let title = &self.race.environments.iter().find(|environment| environment.id == most.0)?.title;
        Some(format!("  Worst environment by score: “{title}”."))
    }
}

fn replicates_text(count: usize) -> String {
    format!("{count} replicate{}", if count > 1 { "s" } else { "" })
}
