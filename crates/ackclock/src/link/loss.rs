//! Losses that are not the queue's, and late arrivals.

use crate::luck::Stream;
use crate::units::Duration;

/// Decides, packet by packet, what is lost or late behind the transmitter.
#[derive(Clone, Debug)]
pub enum Loss {
    /// Nothing.
    None,
    /// Each packet on its own.
    Bernoulli {
        /// In 0 ..= 1.
        probability: f64,
        /// Where the luck comes from.
        stream: Stream,
    },
    /// Every `period`-th packet.
    Periodic {
        /// At least 1.
        period: u64,
        /// Packets counted so far, modulo `period`.
        count: u64,
    },
    /// The packets with these numbers, counted from 1.
    Scripted {
        /// What is lost.
        packets: Numbers,
        /// What is late.
        late_packets: Numbers,
        /// By how much.
        late_by: Duration,
        /// Packets counted so far.
        count: u64,
    },
}

/// Ascending numbers, taken off one by one.
#[derive(Clone, Debug)]
pub struct Numbers {
    numbers: Vec<u64>,
    next: usize,
}

impl Numbers {
    /// These, which ascend.
    pub fn new(numbers: Vec<u64>) -> Self {
        Numbers { numbers, next: 0 }
    }

    fn take(&mut self, number: u64) -> bool {
        let found = self.numbers.get(self.next) == Some(&number);
        self.next += usize::from(found);
        found
    }
}

/// What becomes of a packet behind the transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives in time.
    Arrives,
    /// It arrives later by so much; others overtake it.
    Late(Duration),
    /// It does not arrive.
    Lost,
}

impl Loss {
    /// What becomes of the next packet.
    #[inline]
    pub fn fate(&mut self) -> Fate {
        let lost = match self {
            Loss::None => false,
            Loss::Bernoulli { probability, stream } => stream.next_f64() < *probability,
            Loss::Periodic { period, count } => {
                *count += 1;
                let lost = count == period;
                if lost {
                    *count = 0;
                }
                lost
            }
            Loss::Scripted { packets, late_packets, late_by, count } => {
                *count += 1;
                let (lost, late) = (packets.take(*count), late_packets.take(*count));
                if late && !lost {
                    return Fate::Late(*late_by);
                }
                lost
            }
        };
        if lost { Fate::Lost } else { Fate::Arrives }
    }

    /// True if packets may overtake one another.
    pub fn reorders(&self) -> bool {
        matches!(self, Loss::Scripted { late_packets, .. } if !late_packets.numbers.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(mut loss: Loss, packets: usize) -> Vec<usize> {
        (1..=packets).filter(|_| loss.fate() == Fate::Lost).collect()
    }

    #[test]
    fn periodic_loss_takes_every_third_packet_from_the_offset_on() {
        assert_eq!(lost(Loss::Periodic { period: 3, count: 0 }, 9), [3, 6, 9]);
        assert_eq!(lost(Loss::Periodic { period: 3, count: 2 }, 9), [1, 4, 7]);
    }

    #[test]
    fn a_script_names_what_is_lost_and_what_is_late() {
        let late_by = Duration::from_millis(50);
        let numbers = |numbers: &[u64]| Numbers::new(numbers.to_vec());
        let mut loss =
            Loss::Scripted { packets: numbers(&[2, 3, 7]), late_packets: numbers(&[3, 4]), late_by, count: 0 };
        assert!(loss.reorders());
        assert_eq!(lost(loss.clone(), 9), [2, 3, 7]);
        let late = (1..=9).filter(|_| loss.fate() == Fate::Late(late_by)).collect::<Vec<_>>();
        assert_eq!(late, [4]);
    }
}
