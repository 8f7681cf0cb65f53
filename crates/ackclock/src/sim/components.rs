//! Components, numbered by class and, within a class, by the hash of their name.
//!
//! Components at equal times act in the order of their classes:
//!
//! 1. links (deliveries)
//! 2. senders (timers)
//! 3. applications
//! 4. arrivals of transfers
//! 5. sources of datagrams
//! 6. receivers (delayed ACKs)
//! 7. channels
//! 8. the end of the warm-up
//! 9. sampling
//!
//! The position of channels has no effect, because every access to a channel first begins its due transmissions.

use super::index::{FlowRank, LinkRank};
use crate::engine::ComponentId;

/// The first component number of each class.
#[derive(Clone, Copy, Debug)]
pub struct Components {
    pub links: u32,
    pub flows: u32,
    pub groups: u32,
    pub streams: u32,
    pub channels: u32,
}

/// The component of a component number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    Link(LinkRank),
    SenderTimer(FlowRank),
    Application(FlowRank),
    Arrivals(usize),
    Source(usize),
    ReceiverTimer(FlowRank),
    Channel(usize),
    Warmup,
    Sampling,
}

impl Components {
    pub fn count(self) -> usize {
        self.sampling().0 as usize + 1
    }

    #[inline]
    pub fn link(self, link: LinkRank) -> ComponentId {
        ComponentId(link.number() as u32)
    }

    #[inline]
    pub fn sender(self, flow: FlowRank) -> ComponentId {
        ComponentId(self.links + flow.number() as u32)
    }

    /// The flow whose sender has this timer, if it is one.
    #[inline]
    pub fn timed(self, id: ComponentId) -> Option<FlowRank> {
        let flow = id.0.wrapping_sub(self.links);
        (flow < self.flows).then_some(FlowRank::new(flow as usize))
    }

    pub fn application(self, flow: FlowRank) -> ComponentId {
        ComponentId(self.links + self.flows + flow.number() as u32)
    }

    pub fn arrivals(self, group: usize) -> ComponentId {
        ComponentId(self.links + 2 * self.flows + group as u32)
    }

    pub fn source(self, stream: usize) -> ComponentId {
        ComponentId(self.links + 2 * self.flows + self.groups + stream as u32)
    }

    #[inline]
    pub fn receiver(self, flow: FlowRank) -> ComponentId {
        ComponentId(self.receivers() + flow.number() as u32)
    }

    fn receivers(self) -> u32 {
        self.links + 2 * self.flows + self.groups + self.streams
    }

    pub fn channel(self, channel: usize) -> ComponentId {
        ComponentId(self.receivers() + self.flows + channel as u32)
    }

    pub fn warmup(self) -> ComponentId {
        self.channel(self.channels as usize)
    }

    pub fn sampling(self) -> ComponentId {
        ComponentId(self.warmup().0 + 1)
    }

    #[inline]
    pub fn component(self, id: ComponentId) -> Component {
        let ComponentId(number) = id;
        if number < self.links {
            Component::Link(LinkRank::new(number as usize))
        } else {
            self.behind_links(number - self.links)
        }
    }

    fn behind_links(self, mut number: u32) -> Component {
        type Class = fn(usize) -> Component;
        let classes = [
            (self.flows, (|number| Component::SenderTimer(FlowRank::new(number))) as Class),
            (self.flows, |number| Component::Application(FlowRank::new(number))),
            (self.groups, Component::Arrivals),
            (self.streams, Component::Source),
            (self.flows, |number| Component::ReceiverTimer(FlowRank::new(number))),
            (self.channels, Component::Channel),
        ];
        for (count, component) in classes {
            if number < count {
                return component(number as usize);
            }
            number -= count;
        }
        if number == 0 { Component::Warmup } else { Component::Sampling }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_stands_for_what_it_was_made_from() {
        let components = Components { links: 3, flows: 2, groups: 1, streams: 4, channels: 2 };
        let flow = FlowRank::new;
        let ids = [
            (components.link(LinkRank::new(2)), Component::Link(LinkRank::new(2))),
            (components.sender(flow(1)), Component::SenderTimer(flow(1))),
            (components.application(flow(0)), Component::Application(flow(0))),
            (components.arrivals(0), Component::Arrivals(0)),
            (components.source(3), Component::Source(3)),
            (components.receiver(flow(1)), Component::ReceiverTimer(flow(1))),
            (components.channel(1), Component::Channel(1)),
            (components.warmup(), Component::Warmup),
            (components.sampling(), Component::Sampling),
        ];
        for (id, component) in ids {
            assert_eq!(components.component(id), component);
        }
        assert!(ids.is_sorted_by_key(|(ComponentId(number), _)| *number));
        assert_eq!(components.count(), 3 + 3 * 2 + 1 + 4 + 2 + 2);
    }
}
