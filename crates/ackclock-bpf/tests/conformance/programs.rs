//! The programs of `bpf/` and the core's window rules have the same window within a segment after the same events.

use ackclock::cc::{Ack, CaState, CcSpec, CongestionControl, CongestionKind};
use ackclock_bpf::{BpfController, BpfFactory, BpfObject};
use proptest::prelude::*;

use crate::bytes;
use crate::events::{LARGEST, Path, context};

/// An object of the package.
fn object(name: &str) -> BpfObject {
    BpfObject::parse(&bytes(name)).unwrap()
}

/// The algorithms: the object, and the built-in one with parameters by the same names.
const PAIRS: [(&str, &str); 8] = [
    ("aimd", "aimd"),
    ("aiad", "aiad"),
    ("mimd", "mimd"),
    ("miad", "miad"),
    ("aimd_fc", "aimd-fc"),
    ("aimd_fc_plus", "aimd-fc+"),
    ("new_aimd", "new-aimd"),
    ("mr_aimd", "mr-aimd"),
];

/// An event of a window.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// ACKs of one segment each, a number of windows in percent.
    Acks(u16),
    /// An ACK that counts for some segments.
    Stretch(u8),
    Loss,
    Timeout,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (1_u16..500).prop_map(Event::Acks),
        2 => (2_u8..20).prop_map(Event::Stretch),
        3 => Just(Event::Loss),
        1 => Just(Event::Timeout),
    ];
    proptest::collection::vec(event, 1..60)
}

struct Pair {
    program: BpfController,
    rule: ackclock::cc::Cc,
    path: Path,
}

impl Pair {
    fn new((name, kind): (&str, &str), parameters: &[(&str, f64)], initial_window: f64) -> Pair {
        let (mut object, mut table) = (object(name), serde_json::json!({ "kind": kind }));
        for (parameter, value) in parameters {
            object.set(parameter, *value).unwrap();
            table[*parameter] = (*value).into();
        }
        let spec: CcSpec = serde_json::from_value(table).unwrap();
        spec.check().unwrap();
        let program = BpfFactory::new(&object).unwrap().controller(context(initial_window));
        Pair { program, rule: spec.build(context(initial_window)), path: Path::default() }
    }

    fn ack(&mut self, segments: u32) {
        let event = self.path.ack(segments);
        self.program.on_ack(&event);
        self.rule.on_ack(&event);
    }

    fn congestion(&mut self, kind: CongestionKind) {
        let event = self.path.congestion(kind);
        self.program.on_congestion(&event);
        self.rule.on_congestion(&event);
    }

    /// Both windows, which have to be near.
    fn windows(&self) -> (f64, f64) {
        assert_eq!(self.program.fault(), None);
        (self.program.cwnd(), self.rule.cwnd())
    }
}

fn parameters() -> impl Strategy<Value = (usize, Vec<(&'static str, f64)>)> {
    let (a, kept, factor) = (0.05..8.0_f64, 0.4..0.95_f64, 0.001..0.3_f64);
    (0..PAIRS.len(), a, kept, factor, 0.5..6.0_f64).prop_map(|(pair, a, kept, factor, removed)| {
        let given = match PAIRS[pair].0 {
            "aimd" => vec![("increase", a), ("remaining", kept)],
            "aiad" => vec![("increase", a), ("removed", removed)],
            "mimd" => vec![("increase", factor), ("remaining", kept)],
            "miad" => vec![("increase", factor), ("removed", removed)],
            "aimd_fc" | "new_aimd" => vec![("increase", a)],
            "aimd_fc_plus" => vec![("increase", a), ("gain_kept", kept)],
            _ => vec![("alpha", a), ("alpha_min", 0.01), ("alpha_prime", 0.1 * a), ("remaining", kept)],
        };
        (pair, given)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    /// The whole segments of both differ by at most one after any events.
    #[test]
    fn program_and_rule_have_the_same_window_within_a_segment(
        (pair, given) in parameters(),
        initial in 2_u32..60,
        events in events(),
    ) {
        let mut both = Pair::new(PAIRS[pair], &given, initial.into());
        for event in events {
            let before = both.rule.cwnd();
            match event {
                Event::Acks(percent) => {
                    let count = (before * f64::from(percent) / 100.0).ceil().min(2_000.0);
                    (0..count as u32).for_each(|_| both.ack(1));
                }
                Event::Stretch(segments) => both.ack(segments.into()),
                // Below, the floors of the two are not the same: two segments for the one, one for the other.
                Event::Loss | Event::Timeout if before < 20.0 => {}
                Event::Loss => both.congestion(CongestionKind::Loss),
                Event::Timeout => both.congestion(CongestionKind::Timeout),
            }
            let (program, rule) = both.windows();
            if rule > LARGEST {
                break;
            }
            prop_assert!((program - rule.floor()).abs() <= 1.0, "{event:?} of {:?}: {program}, rule {rule}", PAIRS[pair]);
        }
    }
}

#[test]
fn new_aimd_halves_its_base_alone() {
    // From slow start at 40 the cut leaves 20 of the base; 5 gained; the next cut takes 10 of 25, the one after 5 of 20.
    let mut both = Pair::new(("new_aimd", "new-aimd"), &[], 40.0);
    both.congestion(CongestionKind::Loss);
    assert_eq!(both.windows().0, 20.0);
    let grown = (20..25).sum::<u32>() + 3;
    (0..grown).for_each(|_| both.ack(1));
    assert_eq!(both.windows().0, 25.0);
    both.congestion(CongestionKind::Loss);
    assert_eq!(both.windows().0, 15.0);
}

#[test]
fn a_mark_leaves_mr_aimd_its_window_and_slows_it() {
    let mut both = Pair::new(("mr_aimd", "mr-aimd"), &[], 20.0);
    both.congestion(CongestionKind::Loss);
    assert_eq!(both.windows().0, 10.0);
    (0..10).for_each(|_| both.ack(1));
    let before = both.windows().0;
    both.congestion(CongestionKind::Ecn);
    for index in 0..10 {
        let event = Ack { ece: index == 0, state: CaState::Cwr, ..both.path.ack(1) };
        both.program.on_ack(&event);
        both.rule.on_ack(&event);
    }
    both.ack(1);
    let (program, rule) = both.windows();
    assert!(program >= before && (program - rule.floor()).abs() <= 1.0, "{program} {rule}");
    // alpha grows by .005 and no longer by .5 in a round trip: ten of them are near ten segments times alpha.
    (0..2_000).for_each(|_| both.ack(1));
    let (program, rule) = both.windows();
    assert!((program - rule.floor()).abs() <= 1.0, "{program} {rule}");
}

#[test]
fn a_parameter_out_of_its_range_is_named() {
    let error = object("aimd").set("remaining", 1.5).unwrap_err().to_string();
    assert_eq!(error, "the parameter remaining is 1.5, but must be at least 0.0001 and at most 1");
    let error = object("aimd").set("remianing", 0.5).unwrap_err().to_string();
    assert_eq!(error, "it takes no parameter remianing; it takes increase, remaining");
}

#[test]
fn what_is_no_congestion_control_is_refused_with_the_reason() {
    let refused = |bytes: &[u8]| BpfObject::parse(bytes).unwrap_err().to_string();
    assert!(refused(b"#!/bin/sh").starts_with("it is not a 64-bit ELF object"));
    let whole = bytes("aimd");
    // Without its names of sections, as other tools strip.
    let mut renamed = whole.clone();
    let at = whole.windows(5).position(|window| window == b".BTF\0").unwrap();
    renamed[at] = b'x';
    assert!(refused(&renamed).starts_with("it has no BTF, or was stripped of it"), "{}", refused(&renamed));
    // Damaged bytes are refused, or run into a fault: nothing panics.
    for at in (0..whole.len()).step_by(3) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        if let Ok(object) = BpfObject::parse(&damaged) {
            let _ = ackclock_bpf::try_out(&object);
        }
    }
}
