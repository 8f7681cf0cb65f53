//! The order of components: by the keys of their names, so that permuted plans give permuted results.

use crate::rng::RngStreams;

/// Indices into the plan, in the order of the keys of their names.
pub(super) fn order_by_key<'a>(rngs: &RngStreams, names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut keyed: Vec<_> = names.enumerate().map(|(index, name)| (rngs.key(name), name, index)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, _, index)| index).collect()
}

/// The inverse of an order.
pub(super) fn ranks(order: &[usize]) -> Vec<usize> {
    let mut ranks = vec![0; order.len()];
    for (rank, index) in order.iter().enumerate() {
        ranks[*index] = rank;
    }
    ranks
}
