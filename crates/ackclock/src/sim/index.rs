//! Indices of flows and links: their places in the plan, and their ranks in the simulation.
//!
//! A rank orders components by the keys of their names, so that permuted plans give permuted results. A vector of the
//! simulation accepts only indices of its own type.

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
            pub struct $name(u32);

            impl $name {
                /// The index with this number, from 0.
                #[inline]
                pub const fn new(number: usize) -> Self {
                    $name(number as u32)
                }

                /// Its number.
                #[inline]
                pub const fn number(self) -> usize {
                    self.0 as usize
                }
            }

            impl From<usize> for $name {
                #[inline]
                fn from(number: usize) -> Self {
                    Self::new(number)
                }
            }

            impl From<$name> for usize {
                #[inline]
                fn from(index: $name) -> usize {
                    index.number()
                }
            }
        )*
    };
}

index! {
    /// The place of a flow in [`Plan::flows`](super::Plan::flows), and after them of each slot of a group of arrivals.
    FlowId;
    /// The place of a link in [`Plan::links`](super::Plan::links).
    LinkId;
    /// The place of a flow in the order of components. Sources of datagrams follow the flows of TCP and QUIC.
    FlowRank;
    /// The place of a link in the order of components.
    LinkRank;
}
