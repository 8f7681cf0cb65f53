//! Scripted losses: given packets of a link are lost, late or marked.

use super::fate::Fate;
use crate::units::Duration;

/// Numbers of packets at a link, counted from 1, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Numbers of lost packets.
    pub lost: Vec<u64>,
    /// Numbers of late packets, which others overtake.
    pub late: Vec<u64>,
    /// The additional delay of late packets.
    pub late_by: Duration,
    /// Numbers of packets that are marked if they are ECN-capable.
    pub marked: Vec<u64>,
}

/// The state of a script.
#[derive(Clone, Debug)]
pub struct Scripted {
    script: Script,
    /// Packets counted so far.
    count: u64,
    /// The position in each of its lists.
    next: Places,
}

#[derive(Clone, Copy, Debug, Default)]
struct Places {
    lost: usize,
    late: usize,
    marked: usize,
}

impl Scripted {
    /// From the first packet on.
    pub fn new(script: Script) -> Self {
        Scripted { script, count: 0, next: Places::default() }
    }

    /// The outcome of the next packet.
    pub(super) fn fate(&mut self) -> Fate {
        self.count += 1;
        let taken = |numbers: &[u64], next: &mut usize| {
            let found = numbers.get(*next) == Some(&self.count);
            *next += usize::from(found);
            found
        };
        let lost = taken(&self.script.lost, &mut self.next.lost);
        let late = taken(&self.script.late, &mut self.next.late);
        let marked = taken(&self.script.marked, &mut self.next.marked);
        if lost {
            return Fate::Lost;
        }
        Fate::Arrives { late_by: if late { self.script.late_by } else { Duration::ZERO }, marked }
    }

    /// True if packets may overtake one another.
    pub(super) fn reorders(&self) -> bool {
        !self.script.late.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_what_is_lost_what_is_late_and_what_is_marked() {
        let late_by = Duration::from_millis(50);
        let script = Script { lost: vec![2, 3, 7], late: vec![3, 4], late_by, marked: vec![1, 2, 4] };
        let mut scripted = Scripted::new(script);
        assert!(scripted.reorders());
        let fates: Vec<_> = (1..=7).map(|_| scripted.fate()).collect();
        let marked = Fate::Arrives { late_by: Duration::ZERO, marked: true };
        let late_and_marked = Fate::Arrives { late_by, marked: true };
        let (lost, arrives) = (Fate::Lost, Fate::ARRIVES);
        assert_eq!(fates, [marked, lost, lost, late_and_marked, arrives, arrives, lost]);
    }
}
