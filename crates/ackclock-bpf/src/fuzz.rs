//! The entries of fuzzers: any bytes change an object, or are a program for both engines.

use ackclock::cc::{Ack, CaState, CcContext, Congestion, CongestionControl, CongestionKind, PathView, Restart};
use ackclock::units::{Duration, Instant};

pub use crate::machine::fuzz::fuzz_engines;
use crate::machine::{BpfFactory, try_out};
use crate::object_file::BpfObject;

/// Objects to change. The first byte chooses one.
const OBJECTS: [&[u8]; 3] = [
    include_bytes!("../../../python/ackclock/kernel/objects/aimd.bpf.o"),
    include_bytes!("../../../python/ackclock/kernel/objects/new_aimd.bpf.o"),
    include_bytes!("../../../python/ackclock/kernel/objects/rule.bpf.o"),
];

/// Bytes of a change: its kind, its place, and its value.
const CHANGE: usize = 13;

/// Reads and runs an object with some changes: bytes, words, whole instructions, and another end.
pub fn fuzz_object(data: &[u8]) {
    let Some((chosen, changes)) = data.split_first() else { return };
    let mut object = OBJECTS[usize::from(*chosen) % OBJECTS.len()].to_vec();
    let instructions = places_of_instructions(&object);
    for change in changes.as_chunks::<CHANGE>().0.iter().take(16) {
        let [kind, p0, p1, p2, p3, value @ ..] = change;
        let place = u32::from_le_bytes([*p0, *p1, *p2, *p3]) as usize;
        match kind % 8 {
            0 if place.is_multiple_of(16) => object.truncate(place % object.len().max(1)),
            1 => write(&mut object, place, &value[..1]),
            2 => write(&mut object, place, &value[..4]),
            3 => write(&mut object, place, value),
            // A field of a header or of a symbol, which are aligned.
            4 => write(&mut object, place & !7, value),
            // An instruction.
            _ if instructions.is_empty() => {}
            5 => write(&mut object, instructions[place % instructions.len()], value),
            6 => write(&mut object, instructions[place % instructions.len()] + 1, &value[..1]),
            _ => write(&mut object, instructions[place % instructions.len()] + 4, &value[..2]),
        }
    }
    run(&object);
}

fn write(object: &mut [u8], place: usize, value: &[u8]) {
    if let Some(room) = object.len().checked_sub(value.len()) {
        let place = place % (room + 1);
        object[place..place + value.len()].copy_from_slice(value);
    }
}

fn places_of_instructions(object: &[u8]) -> Vec<usize> {
    use object::{Object, ObjectSection};
    let Ok(elf) = object::read::elf::ElfFile64::<object::Endianness>::parse(object) else { return Vec::new() };
    let code = |name: &str| name == ".text" || name.starts_with("struct_ops");
    let sections = elf.sections().filter(|section| section.name().is_ok_and(code));
    sections
        .filter_map(|section| section.file_range())
        .flat_map(|(start, size)| (0..size / 8).map(move |number| (start + 8 * number) as usize))
        .collect()
}

fn ack(now: Instant, path: PathView) -> Ack {
    Ack {
        now,
        acked: 2.0,
        newly_delivered: 2,
        newly_lost: 0,
        ce_count: 0,
        ece: false,
        round_ended: false,
        cwnd_limited: true,
        in_recovery: false,
        reduced_window: None,
        rate: None,
        state: CaState::Open,
        path,
    }
}

/// Reads an object and runs it in both engines, as a flow would.
fn run(object: &[u8]) {
    let Ok(object) = BpfObject::parse(object) else { return };
    let _ = try_out(&object);
    // Miri cannot run native code.
    let native = if cfg!(miri) { None } else { BpfFactory::native(&object).ok() };
    for factory in BpfFactory::new(&object).into_iter().chain(native) {
        let mut controller = factory.controller(CcContext::new(10.0));
        for step in 1..20_u64 {
            let now = Instant::ZERO + Duration::from_millis(10 * step);
            let path = PathView { in_flight: 10, srtt: Duration::from_millis(40), ..PathView::default() };
            controller.on_ack(&ack(now, path));
            if step.is_multiple_of(5) {
                let kind = [CongestionKind::Loss, CongestionKind::Ecn, CongestionKind::Timeout][step as usize % 3];
                let restart = Restart::Reduced;
                controller.on_congestion(&Congestion { now, kind, restart, flight_size: 10, path });
            }
            let _ = (controller.cwnd(), controller.ssthresh(), controller.pacing_rate());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::any;
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;

    use super::*;

    #[test]
    fn objects_are_read_and_interpreted_before_they_are_changed() {
        for object in OBJECTS {
            // The first byte of an object needs no alignment.
            let bytes = [&[0], object].concat();
            for bytes in [object, &bytes[1..]] {
                let object = BpfObject::parse(bytes).unwrap();
                assert_eq!(try_out(&object), Ok(()));
            }
        }
    }

    #[test]
    fn changed_objects_are_refused_or_run() {
        let mut runner = TestRunner::deterministic();
        let inputs = vec(any::<u8>(), 1..4 * CHANGE);
        for _ in 0..if cfg!(miri) { 2 } else { 2000 } {
            fuzz_object(&inputs.new_tree(&mut runner).unwrap().current());
        }
    }
}
