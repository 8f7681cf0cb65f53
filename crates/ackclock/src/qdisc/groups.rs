//! Groups of flows, as queues distinguish them: names, differentiated services and hosts.

use std::sync::Arc;

use crate::quantity::{Hint, Problem};

/// A group of flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The name.
    pub name: Arc<str>,
    /// Differentiated services codepoint of its packets, below 64.
    pub dscp: u8,
    /// The host of its senders. Without one, each flow has a host of its own.
    pub source: Option<u32>,
    /// The host of its receivers. Without one, each flow has a host of its own.
    pub destination: Option<u32>,
}

/// The groups of a scenario, by their labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups(Option<Arc<[Group]>>);

impl Groups {
    /// No groups.
    pub const NONE: Groups = Groups(None);

    /// These groups. The first [`Tag::MOST`] have labels.
    pub fn new(groups: Vec<Group>) -> Self {
        Groups(Some(groups.into()))
    }

    /// All of them, in the order of their labels. Label 1 is the first.
    pub fn all(&self) -> &[Group] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The group of an item. None if it has no label.
    #[inline]
    pub fn of(&self, tag: Tag) -> Option<&Group> {
        self.all().get(usize::from(tag.label()).checked_sub(1)?)
    }

    /// The tag of the flows of a group.
    pub fn tag(&self, name: &str) -> Tag {
        let place = self.all().iter().position(|group| &*group.name == name);
        Tag::new(place.map_or(0, |place| place + 1))
    }

    /// The label of a group that a key names.
    ///
    /// # Errors
    /// There is no such group, or it has no label.
    pub(super) fn label(&self, name: &str) -> Result<u16, Problem> {
        match self.tag(name).label() {
            0 => {
                let names = self.all().iter().take(Tag::MOST).map(|group| &*group.name);
                Err(Problem::UnknownName {
                    what: "group of flows",
                    name: name.to_owned(),
                    hint: Hint::for_name(name, names),
                })
            }
            label => Ok(label),
        }
    }
}

/// The label of a packet's group, its direction, and whether a later ACK may replace it. It has 12 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag(u16);

impl Tag {
    /// The tag of a packet without a group, to the receiver of its flow.
    pub const NONE: Tag = Tag(0);
    /// The bits of a tag.
    pub const BITS: u32 = 12;
    /// The largest label.
    pub const MOST: usize = (1 << Self::LABEL_BITS) - 1;

    const LABEL_BITS: u32 = 10;
    const REVERSE: u16 = 1 << Self::LABEL_BITS;
    const REDUNDANT: u16 = 2 << Self::LABEL_BITS;

    /// The tag of a packet to the receiver of a flow of this group. Labels above the largest become 0, without a group.
    pub fn new(label: usize) -> Self {
        Tag(if label <= Self::MOST { label as u16 } else { 0 })
    }

    /// The tag with these bits.
    #[inline]
    pub fn from_bits(bits: u16) -> Self {
        Tag(bits & ((1 << Self::BITS) - 1))
    }

    /// Its bits.
    #[inline]
    pub fn bits(self) -> u16 {
        self.0
    }

    /// The tag of a packet in the other direction.
    #[inline]
    #[must_use]
    pub fn reversed(self) -> Self {
        Tag(self.0 | Self::REVERSE)
    }

    /// The tag of a pure ACK, if the next such ACK of its flow contains the same information.
    #[inline]
    #[must_use]
    pub fn covered_by_next(self) -> Self {
        Tag(self.0 | Self::REDUNDANT)
    }

    /// The label of its group, or 0.
    #[inline]
    pub fn label(self) -> u16 {
        self.0 & (Self::REVERSE - 1)
    }

    /// Whether it goes from the receiver of its flow to the sender.
    #[inline]
    pub fn is_reverse(self) -> bool {
        self.0 & Self::REVERSE != 0
    }

    /// Whether it is a pure ACK that says no more than the next such ACK of its flow will.
    #[inline]
    pub fn is_covered_by_next(self) -> bool {
        self.0 & Self::REDUNDANT != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_keeps_its_parts() {
        let tag = Tag::new(Tag::MOST).reversed().covered_by_next();
        assert_eq!((usize::from(tag.label()), tag.is_reverse(), tag.is_covered_by_next()), (Tag::MOST, true, true));
        assert_eq!(Tag::from_bits(tag.bits()), tag);
        assert_eq!(tag.bits() >> Tag::BITS, 0);
        assert_eq!(Tag::new(Tag::MOST + 1), Tag::default());
    }

    #[test]
    fn groups_are_found_by_name_and_tag() {
        let group = |name: &str| Group { name: name.into(), ..Group::default() };
        let groups = Groups::new(vec![group("voice"), group("bulk")]);
        assert_eq!(groups.of(groups.tag("bulk")).map(|group| &*group.name), Some("bulk"));
        assert_eq!((groups.of(Tag::default()), groups.label("voice")), (None, Ok(1)));
        assert!(groups.label("bulks").unwrap_err().to_string().contains("did you mean \"bulk\"?"));
    }
}
