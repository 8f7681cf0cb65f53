use super::*;
use crate::contract::{Item, Told};
use proptest::prelude::*;

fn item(flow: u64, number: u64, bytes: u32) -> Item {
    Item { number, flow, bytes, ..Item::default() }
}

fn drr(limit: Limit, quantum: u32) -> Drr<Item> {
    Drr::new(limit, DrrParameters { quantum, buckets: None })
}

/// The numbers of the items dropped during these arrivals.
fn put(queue: &mut Drr<Item>, items: &[(u64, u64, u32)]) -> Vec<u64> {
    let mut told = Told::default();
    for (flow, number, bytes) in items {
        queue.enqueue(Instant::ZERO, item(*flow, *number, *bytes), &mut told);
    }
    told.dropped.iter().map(|(item, _)| item.number).collect()
}

fn order(queue: &mut Drr<Item>) -> Vec<u64> {
    std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut ())).map(|(_, item)| item.number).collect()
}

#[test]
fn a_flow_sends_what_its_deficit_allows_and_keeps_the_rest() {
    // The example of the paper, figures 1 and 2: quantum 500, four flows.
    let mut queue = drr(Limit::Packets(100), 500);
    put(&mut queue, &[(1, 11, 200), (1, 12, 750), (1, 13, 20), (2, 21, 500), (2, 22, 500), (3, 31, 600), (3, 32, 100)]);
    // Flow 1: 200 of 500, 750 > 300. Flow 2: 500. Flow 3: 600 > 500. Flow 1: 750 of 800, 20 of 50. Flow 2: 500.
    // Flow 3: 600 of 1000, 100 of 400.
    assert_eq!(order(&mut queue), [11, 21, 12, 13, 22, 31, 32]);
}

#[test]
fn a_flow_that_has_sent_all_keeps_no_deficit() {
    let mut queue = drr(Limit::Packets(100), 1000);
    put(&mut queue, &[(1, 11, 100), (2, 21, 1000), (2, 22, 1000), (2, 23, 1000)]);
    assert_eq!(queue.dequeue(Instant::ZERO, &mut ()).unwrap().1.number, 11);
    // With the 900 that were left it could send twice.
    put(&mut queue, &[(1, 12, 1000), (1, 13, 900)]);
    assert_eq!(order(&mut queue), [21, 12, 22, 13, 23]);
}

#[test]
fn a_quantum_smaller_than_an_item_takes_several_rounds() {
    let mut queue = drr(Limit::Packets(100), 100);
    put(&mut queue, &[(1, 11, 1000), (2, 21, 300), (2, 22, 300), (2, 23, 300), (2, 24, 300)]);
    assert_eq!(order(&mut queue), [21, 22, 23, 11, 24]);
}

#[test]
fn what_a_flow_has_sent_does_not_make_it_longer() {
    let mut queue = drr(Limit::Packets(3), 1500);
    put(&mut queue, &[(1, 11, 1000), (1, 12, 900), (2, 21, 500)]);
    assert_eq!(queue.dequeue(Instant::ZERO, &mut ()).unwrap().1.number, 11);
    assert_eq!(put(&mut queue, &[(3, 31, 800), (3, 32, 50)]), [12]);
}

#[test]
fn of_flows_that_are_equally_long_the_next_one_in_turn_makes_room() {
    let mut queue = drr(Limit::Packets(3), 1500);
    assert_eq!(put(&mut queue, &[(1, 11, 100), (2, 21, 700), (3, 31, 700), (4, 41, 100)]), [21]);
}

#[test]
fn the_first_item_of_the_longest_flow_makes_room() {
    let mut queue = drr(Limit::Packets(3), 1500);
    assert_eq!(put(&mut queue, &[(1, 11, 1000), (1, 12, 100), (2, 21, 500), (3, 31, 200)]), [11]);
    assert_eq!((queue.backlog_packets(), queue.backlog_bytes()), (3, 800));
    // Now flow 2 is the longest, and it is gone with what it has.
    assert_eq!(put(&mut queue, &[(1, 13, 100)]), [21]);
    assert_eq!(order(&mut queue), [12, 13, 31]);
}

#[test]
fn flows_that_share_a_place_in_the_cache_of_places_have_queues_of_their_own() {
    let mut queue = drr(Limit::Packets(100), 1000);
    let other = 1 + crate::qdisc::flow_queues::RECENT as u64;
    put(&mut queue, &[(1, 11, 1000), (1, 12, 1000), (1, 13, 1000), (1, 14, 1000)]);
    put(&mut queue, &[(other, 21, 1000), (other, 22, 1000)]);
    assert_eq!(order(&mut queue), [11, 21, 12, 22, 13, 14]);
}

#[test]
fn a_flow_that_loses_all_it_has_does_not_give_the_first_one_a_second_quantum() {
    let mut queue = drr(Limit::Bytes(1500), 300);
    put(&mut queue, &[(1, 11, 100), (1, 12, 100), (1, 13, 100), (1, 14, 100), (1, 15, 100), (2, 21, 1000)]);
    assert_eq!(queue.dequeue(Instant::ZERO, &mut ()).unwrap().1.number, 11);
    assert_eq!(put(&mut queue, &[(3, 31, 200)]), [21]);
    assert_eq!(order(&mut queue), [12, 13, 31, 14, 15]);
}

#[test]
fn an_item_may_be_dropped_for_itself_and_one_that_never_fits_does_not_come_in() {
    let mut queue = drr(Limit::Bytes(2000), 1500);
    assert_eq!(put(&mut queue, &[(1, 11, 600), (2, 21, 1500)]), [21]);
    assert_eq!(put(&mut queue, &[(3, 31, 2001)]), [31]);
    assert_eq!(order(&mut queue), [11]);
}

#[test]
fn flows_of_one_bucket_share_a_turn() {
    let mut queue = Drr::new(Limit::Packets(100), DrrParameters { quantum: 100, buckets: Some(2) });
    put(&mut queue, &[(0, 1, 100), (2, 2, 100), (1, 3, 100), (1, 4, 100)]);
    assert_eq!(order(&mut queue), [1, 3, 2, 4]);
}

proptest! {
    #[test]
    fn the_service_of_two_backlogged_flows_differs_by_a_quantum_and_two_items_at_the_most(
        quantum in 1u32..4000,
        sizes in prop::collection::vec(1u32..1500, 300),
        guests in prop::collection::vec((0usize..300, 2u64..6, 1u32..1500), 0..100),
    ) {
        let mut queue = drr(Limit::Packets(u32::MAX), quantum);
        // Flows 0 and 1 have always something waiting.
        for (number, bytes) in sizes.iter().enumerate() {
            queue.enqueue(Instant::ZERO, item(number as u64 % 2, number as u64, *bytes), &mut ());
        }
        let (mut left, mut ahead, mut least, mut most) = ([150, 150], 0i64, 0i64, 0i64);
        for step in 0.. {
            for (_, flow, bytes) in guests.iter().filter(|(when, _, _)| *when == step) {
                queue.enqueue(Instant::ZERO, item(*flow, 1000, *bytes), &mut ());
            }
            let (_, sent) = queue.dequeue(Instant::ZERO, &mut ()).unwrap();
            match sent.flow {
                0 => ahead += i64::from(sent.bytes),
                1 => ahead -= i64::from(sent.bytes),
                _ => continue,
            }
            left[sent.flow as usize] -= 1;
            if left.contains(&0) {
                break;
            }
            (least, most) = (least.min(ahead), most.max(ahead));
        }
        let largest = sizes.iter().max().unwrap();
        let bound = i64::from(quantum + 2 * largest);
        prop_assert!(most - least <= bound, "{} apart, the bound is {bound}", most - least);
    }

    #[test]
    fn to_shuffle_keeps_every_item_and_the_order_of_every_flow(
        flows in prop::collection::vec(0u64..9, 1..60),
        salts in prop::collection::vec(any::<u64>(), 1..4),
    ) {
        let mut queue = Drr::new(Limit::Packets(1000), DrrParameters { quantum: 100, buckets: Some(3) });
        for (number, flow) in flows.iter().enumerate() {
            queue.enqueue(Instant::ZERO, item(*flow, number as u64, 100), &mut ());
        }
        for salt in salts {
            queue.shuffle(salt);
        }
        prop_assert_eq!(queue.backlog_packets() as usize, flows.len());
        let out: Vec<Item> = std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut ())).map(|(_, item)| item).collect();
        prop_assert_eq!(out.len(), flows.len());
        for flow in 0..9 {
            prop_assert!(out.iter().filter(|item| item.flow == flow).is_sorted_by_key(|item| item.number));
        }
    }
}
