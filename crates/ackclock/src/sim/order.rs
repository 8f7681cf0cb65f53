//! The order of components: by the keys of their names, so that permuted plans give permuted results.

use typed_index_collections::{TiSlice, TiVec};

use crate::rng::RngStreams;

/// Indices into the plan, in the order of the keys of their names.
pub(super) fn order_by_key<'a, Rank, Id: From<usize>>(
    rngs: &RngStreams,
    names: impl Iterator<Item = &'a str>,
) -> TiVec<Rank, Id> {
    let mut keyed: Vec<_> = names.enumerate().map(|(index, name)| (rngs.key(name), name, index)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, _, index)| Id::from(index)).collect()
}

/// The inverse of an order.
pub(super) fn inverse<Rank, Id>(order: &TiSlice<Rank, Id>) -> TiVec<Id, Rank>
where
    Rank: Copy + From<usize>,
    Id: Copy + From<usize>,
    usize: From<Rank> + From<Id>,
{
    let mut inverse = TiVec::from(vec![Rank::from(0); order.len()]);
    for (rank, id) in order.iter_enumerated() {
        inverse[*id] = rank;
    }
    inverse
}
