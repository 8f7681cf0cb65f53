//! The order of events: by time, and then by component.

use crate::units::Instant;

/// The number of a component. Smaller numbers go first among events of one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComponentId(pub u32);

/// Time and component in one integer, so that a comparison is one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u128);

impl Key {
    pub(super) fn new(at: Instant, component: ComponentId) -> Self {
        Key(u128::from(at.as_nanos()) << 32 | u128::from(component.0))
    }

    pub(super) fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 32) as u64)
    }

    pub(super) fn component(self) -> ComponentId {
        ComponentId(self.0 as u32)
    }
}
