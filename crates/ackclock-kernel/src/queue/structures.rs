//! The structures of disciplines that are older than attributes (linux/pkt_sched.h).

use ackclock::units::Rate;

use crate::netlink::attribute;

/// The values of a command line, by place.
#[derive(Clone, Debug, Default)]
pub struct Values([Option<u64>; 9]);

impl Values {
    /// Sets a value. Flags of one place are joined.
    pub fn set(&mut self, place: u16, value: u64) {
        let old = &mut self.0[usize::from(place)];
        *old = Some(if place == FLAGS { old.unwrap_or(0) | value } else { value });
    }

    fn get(&self, place: u16) -> Option<u64> {
        self.0[usize::from(place)]
    }

    fn or(&self, place: u16, default: u64) -> u64 {
        self.get(place).unwrap_or(default)
    }
}

// Places of RED and CHOKe.
/// The limit.
pub const LIMIT: u16 = 0;
/// The lower threshold.
pub const MIN: u16 = 1;
/// The upper threshold.
pub const MAX: u16 = 2;
/// Bytes of a mean packet.
pub const AVPKT: u16 = 3;
/// Packets of a burst.
pub const BURST: u16 = 4;
/// The probability at the upper threshold.
pub const PROBABILITY: u16 = 5;
/// Flags. No other discipline has them at a place of its own.
pub const FLAGS: u16 = 8;

/// The default of `tc` for the probability: 2 %.
const DEFAULT_PROBABILITY: u64 = 85_899_346;
/// Places of the table that lowers the average of an idle queue.
const TABLE: usize = 256;
/// The largest shift in the table.
const MOST: f64 = 31.0;

fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| (*number as u32).to_ne_bytes()).collect()
}

/// `struct tc_fifo_qopt`.
///
/// # Errors
/// None.
pub fn fifo(values: &Values, _rate: Rate) -> Result<Vec<u8>, String> {
    Ok(values.get(LIMIT).map(|limit| words(&[limit])).unwrap_or_default())
}

/// `struct tc_red_qopt` with its table, for thresholds in bytes.
///
/// # Errors
/// Values that the discipline cannot have.
pub fn red(values: &Values, rate: Rate) -> Result<Vec<u8>, String> {
    let average = average(values, rate, "red", 1)?;
    Ok([attribute(1, &average.options), attribute(2, &average.table), attribute(3, &average.probability)].concat())
}

/// The same for thresholds in packets.
///
/// # Errors
/// Values that the discipline cannot have.
pub fn choke(values: &Values, rate: Rate) -> Result<Vec<u8>, String> {
    let mut values = values.clone();
    let packet = *values.0[usize::from(AVPKT)].get_or_insert(1_000);
    let average = average(&values, rate, "choke", packet)?;
    Ok([attribute(1, &average.options), attribute(2, &average.table), attribute(3, &average.probability)].concat())
}

/// The parts of the options.
struct Average {
    options: Vec<u8>,
    table: Vec<u8>,
    probability: Vec<u8>,
}

/// `unit` is the number of bytes of a unit of the thresholds.
fn average(values: &Values, rate: Rate, name: &str, unit: u64) -> Result<Average, String> {
    let (Some(min), Some(max), Some(packet)) = (values.get(MIN), values.get(MAX), values.get(AVPKT)) else {
        return Err(format!("{name} needs min, max and avpkt"));
    };
    if min >= max || packet == 0 {
        return Err(format!("{name}: expected min below max, and avpkt above zero"));
    }
    let (min_bytes, max_bytes) = (min * unit, max * unit);
    let burst = values.or(BURST, (2 * min_bytes + max_bytes) / (3 * packet));
    let weight = weight(min_bytes as f64 / packet as f64, burst)
        .ok_or_else(|| format!("{name}: burst {burst} is too small for min"))?;
    let (shift, table) = table(weight, packet, rate).ok_or_else(|| format!("{name}: avpkt is too large"))?;
    let probability = values.or(PROBABILITY, DEFAULT_PROBABILITY);
    let share = probability as f64 / f64::from(u32::MAX);
    let steps = (max - min) as f64 / share;
    let mut options = words(&[values.or(LIMIT, 4 * max), min, max]);
    options.extend([weight, (steps.log2().floor() as u8).min(31), shift, values.or(FLAGS, 0) as u8]);
    Ok(Average { options, table, probability: words(&[probability]) })
}

/// The weight of the average as a shift: the first whose average stays below the lower threshold during a burst.
fn weight(min_packets: f64, burst: u64) -> Option<u8> {
    let room = burst as f64 + 1.0 - min_packets;
    let fits = |shift: &u8| {
        let weight = 0.5_f64.powi(i32::from(*shift));
        room <= (1.0 - (1.0 - weight).powi(burst as i32)) / weight
    };
    (room >= 1.0).then(|| (1..32).find(fits)).flatten()
}

/// The table has the shifts of the average after idle times. The first value shifts microseconds to its places.
fn table(weight: u8, packet: u64, rate: Rate) -> Option<(u8, Vec<u8>)> {
    let micros = packet as f64 * 8e6 / rate.as_bps() as f64;
    let decay = -(1.0 - 0.5_f64.powi(i32::from(weight))).log2() / micros;
    let longest = MOST / decay;
    let shift = (0..32_u8).find(|shift| longest / 2.0_f64.powi(i32::from(*shift)) < 512.0)?;
    let place = |index: usize| ((index << shift) as f64 * decay).min(MOST) as u8;
    let mut table: Vec<u8> = (0..TABLE).map(place).collect();
    table[TABLE - 1] = MOST as u8;
    Some((shift, table))
}

/// `struct tc_sfb_qopt`. The defaults are the kernel's, which differ from the values of `tc`.
///
/// # Errors
/// None.
pub fn sfb(values: &Values, _rate: Rate) -> Result<Vec<u8>, String> {
    const LARGEST: u64 = 0xffff;
    let share =
        |place: u16, default: u64| values.get(place).map_or(default, |value| value * LARGEST / u64::from(u32::MAX));
    let options = words(&[
        values.or(0, 600_000),
        values.or(1, 60_000),
        values.or(2, 25),
        values.or(3, 20),
        share(4, (LARGEST + 500) / 1_000),
        share(5, (LARGEST + 3_000) / 6_000),
        values.or(6, 0),
        values.or(7, 10),
        values.or(8, 20),
    ]);
    Ok(attribute(1, &options))
}

/// `struct tc_tbf_qopt`, with the burst in bytes.
///
/// # Errors
/// A missing word.
pub fn tbf(values: &Values, _rate: Rate) -> Result<Vec<u8>, String> {
    const ETHERNET: u8 = 1;
    let (Some(rate), Some(burst)) = (values.get(0), values.get(1)) else {
        return Err("tbf needs rate and burst".to_owned());
    };
    let waits = values.get(3).map(|micros| rate * micros / 1_000_000 + burst);
    let limit = values.get(2).or(waits).ok_or_else(|| "tbf needs limit or latency".to_owned())?;
    // struct tc_ratespec: shift, link layer, overhead, alignment, smallest packet, rate.
    let mut options = vec![0, ETHERNET, 0, 0, 0, 0, 0, 0];
    options.extend((rate as u32).to_ne_bytes());
    options.extend([0; 12]);
    options.extend(words(&[limit, 0, 0]));
    Ok([attribute(1, &options), attribute(6, &words(&[burst]))].concat())
}

/// `struct tc_netem_qopt`, with times of 64 bits.
///
/// # Errors
/// None.
pub fn netem(values: &Values, _rate: Rate) -> Result<Vec<u8>, String> {
    let mut options = words(&[0, values.or(0, 1_000), values.or(3, 0), 0, 0, 0]);
    let nanos = |place: u16| values.get(place).map(|micros| (micros * 1_000).to_ne_bytes());
    options.extend(nanos(1).map(|delay| attribute(10, &delay)).unwrap_or_default());
    options.extend(nanos(2).map(|jitter| attribute(11, &jitter)).unwrap_or_default());
    options.extend(values.get(4).map(|seed| attribute(14, &seed.to_ne_bytes())).unwrap_or_default());
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_red_is_that_of_tc() {
        // tc-red(8): min 30000, max 90000, avpkt 1000 and burst 55 give a weight of 1/32.
        assert_eq!(weight(30.0, 55), Some(5));
        assert_eq!(weight(30.0, 20), None);
    }

    #[test]
    fn the_table_of_red_halves_the_average_in_one_time_constant() {
        let (shift, table) = table(6, 1_000, Rate::from_bps(10_000_000).unwrap()).unwrap();
        // 800 us a packet: after 44.0 packets, the average of weight 1/64 is halved.
        let halved = (44.0 * 800.0) as usize >> shift;
        assert!(table[halved - 1] <= 1 && table[halved + 1] >= 1, "{shift}: {:?}", &table[..12]);
        assert!(table.is_sorted() && table[0] == 0 && table[255] == 31);
    }
}
