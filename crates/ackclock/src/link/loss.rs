//! Losses that are not the queue's.

use crate::luck::Stream;

/// Decides, packet by packet, what is lost behind the transmitter.
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
        /// Ascending.
        packets: Vec<u64>,
        /// Index of the next entry of `packets`.
        next: usize,
        /// Packets counted so far.
        count: u64,
    },
}

impl Loss {
    /// Whether the next packet is lost.
    #[inline]
    pub fn loses(&mut self) -> bool {
        match self {
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
            Loss::Scripted { packets, next, count } => {
                *count += 1;
                let lost = packets.get(*next) == Some(count);
                *next += usize::from(lost);
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(mut loss: Loss, packets: usize) -> Vec<usize> {
        (1..=packets).filter(|_| loss.loses()).collect()
    }

    #[test]
    fn periodic_loss_takes_every_third_packet_from_the_offset_on() {
        assert_eq!(lost(Loss::Periodic { period: 3, count: 0 }, 9), [3, 6, 9]);
        assert_eq!(lost(Loss::Periodic { period: 3, count: 2 }, 9), [1, 4, 7]);
    }

    #[test]
    fn scripted_loss_takes_the_packets_it_names() {
        assert_eq!(lost(Loss::Scripted { packets: vec![2, 3, 7], next: 0, count: 0 }, 9), [2, 3, 7]);
    }
}
