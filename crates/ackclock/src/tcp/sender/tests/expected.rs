//! The short paths of ACKs and departures against the general ones.

use proptest::prelude::*;

use super::*;
use crate::transport::{Profile, WindowGrowth};

/// An action on a sender.
#[derive(Clone, Debug)]
enum Step {
    /// An ACK that is so many segments further, with a block of SACK or not.
    Ack { segments: u64, block: Option<(u64, u64)>, repeats: bool },
    /// So many microseconds pass.
    Wait(u64),
    /// The first timer goes off.
    Timer,
    /// The application writes so many segments.
    Write(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let block = prop::option::weighted(0.15, (1u64..4, 1u64..3));
    let ack = (0u64..4, block, prop::bool::weighted(0.1)).prop_map(|(segments, block, repeats)| {
        let block = block.map(|(gap, len)| (gap, gap + len));
        Step::Ack { segments, block, repeats }
    });
    let step = prop_oneof![
        20 => ack,
        4 => (0u64..30_000).prop_map(Step::Wait),
        1 => Just(Step::Timer),
        2 => (1u64..30).prop_map(Step::Write),
    ];
    prop::collection::vec(step, 1..150)
}

fn transports() -> impl Strategy<Value = Transport> {
    let keys = prop_oneof![Just(Profile::Rfc), Just(Profile::Linux)].prop_map(Profile::keys);
    let recovery = prop_oneof![
        4 => Just(LossRecovery::Sack),
        1 => Just(LossRecovery::NewReno),
        1 => Just(LossRecovery::Reno),
        1 => Just(LossRecovery::Tahoe),
    ];
    let growth = prop_oneof![Just(WindowGrowth::WhenUsed), Just(WindowGrowth::HalfUsed), Just(WindowGrowth::Always)];
    (keys, recovery, growth, any::<[bool; 3]>()).prop_map(|(keys, recovery, window_growth, [a, b, c])| Transport {
        mss: MSS as u32,
        window_growth,
        timestamps: a,
        limited_transmit: b,
        handshake: false,
        byte_counting: if c { 2 } else { keys.byte_counting.into() },
        ..keys.transport(recovery)
    })
}

/// The sender in words, without the choice of the path.
fn in_words(sender: &Sender) -> String {
    format!("{sender:?}").replace("predicts: true", "predicts: false")
}

/// The general path of departures.
fn sent_generally(sender: &mut Sender, now: Instant) -> Vec<u64> {
    let sent = std::iter::from_fn(|| sender.next_departure(now)).map(|segment| segment.seq / MSS).collect();
    if sender.tlp.take_unset() {
        sender.schedule_probe(now);
    }
    sent
}

impl Driven {
    fn apply(&mut self, step: &Step) -> Vec<u64> {
        match *step {
            Step::Ack { segments, block, repeats } => {
                self.now += Duration::from_millis(1);
                let first = self.sender.snd_una / MSS;
                let ack = (first + segments).min(self.sender.snd_nxt / MSS).saturating_sub(u64::from(repeats)) * MSS;
                let echo = self.sender.board.front().map_or(self.now, |segment| segment.sent_at);
                let mut sack = SackBlocks::default();
                block.iter().for_each(|(from, to)| sack.push(ack, ack + from * MSS, ack + to * MSS));
                self.sender.on_ack(self.now, &AckSegment { ack, sack, echo, ecn: EcnFeedback::None.into() });
            }
            Step::Wait(micros) => self.now += Duration::from_micros(micros),
            Step::Timer => {
                if let Some(at) = self.sender.next_deadline() {
                    self.now = self.now.max(at);
                    self.sender.on_deadline(self.now);
                }
            }
            Step::Write(segments) => self.sender.write(self.now, segments * MSS),
        }
        if self.sender.predicts { self.sent() } else { sent_generally(&mut self.sender, self.now) }
    }
}

proptest! {
    #[test]
    fn the_short_paths_change_nothing(
        transport in transports(),
        algorithm in prop_oneof![Just("aimd"), Just("cubic"), Just("vegas"), Just("bbr1"), Just("bbr3")],
        is_bulk in any::<bool>(),
        steps in steps(),
    ) {
        let driven = |predicts| {
            let cc = CcSpec::by_name(algorithm).unwrap().build(transport.cc_context(CcContext::new(4.0), 1));
            let mut driven = Driven::of(transport.clone(), cc);
            assert!(driven.sender.predicts);
            driven.sender.predicts = predicts;
            driven.sender.written = (!is_bulk).then_some(20 * MSS);
            driven
        };
        let (mut short, mut general) = (driven(true), driven(false));
        for step in &steps {
            prop_assert_eq!(short.apply(step), general.apply(step));
            prop_assert_eq!(in_words(&short.sender), in_words(&general.sender), "{:?}", step);
        }
    }
}
