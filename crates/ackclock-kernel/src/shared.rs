//! The memory that a guest shares with this process: records with packets and commands in both directions.
//! `guest/agent/shared.h` has the same layout.

use std::io;

use crate::sys::Memory;

const MAGIC: u64 = 0x6b6c_636b_6361;
const VERSION: u32 = 5;
const HEADER: usize = 4096;
/// Bytes for the records of each direction: several windows of packets.
const SIZE: usize = 8 << 20;

// Places of the header's fields.
const AT_MAGIC: usize = 0;
const AT_VERSION: usize = 8;
const AT_SIDE: usize = 12;
const AT_MTU: usize = 16;
const AT_READY: usize = 20;
const AT_RESPONSE: usize = 24;
const AT_OUT_SIZE: usize = 32;
const AT_OUT_LEN: usize = 40;
const AT_IN_SIZE: usize = 48;
const AT_IN_LEN: usize = 56;
const AT_IN_READ: usize = 64;
const AT_LINK: usize = 72;
const AT_QUEUE: usize = 76;

/// Bytes of a record before its content.
const RECORD: usize = 16;

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// An IP packet, in both directions.
    Packet = 1,
    /// A packet with a wrong checksum, to the guest.
    Corrupted,
    /// Opens a connection.
    Open,
    /// Writes bytes to a connection.
    Write,
    /// Ends writing to a connection.
    End,
    /// Reports all connections.
    Look,
    /// The state of a connection.
    State,
    /// The error of a setting or a command.
    Failed,
    /// A congestion control, to the guest.
    Algorithm,
    /// The place of a field in the guest's structures.
    Fields,
    /// A kernel module, to the guest.
    Module,
    /// The names that a module has registered.
    Registered,
    /// A system call of a script, to the guest.
    Call,
    /// Its result.
    Return,
    /// A setting, to the guest.
    Word,
    /// A message of netlink, to the guest.
    Netlink,
    /// The kernel's answers to it.
    Answer,
    /// A packet arrives at the queue, to the guest.
    Arrive,
    /// The transmitter behind the queue is free, to the guest.
    Serve,
    /// A packet leaves the queue.
    Served,
    /// A packet with a mark leaves the queue.
    ServedMarked,
    /// The queue has dropped a packet.
    Dropped,
    /// The queue has marked an arrival.
    Marked,
    /// Opens a connection of MPTCP, or accepts it at the receivers' host.
    OpenMultipath,
}

impl Kind {
    const ALL: [Kind; 24] = [
        Kind::Packet,
        Kind::Corrupted,
        Kind::Open,
        Kind::Write,
        Kind::End,
        Kind::Look,
        Kind::State,
        Kind::Failed,
        Kind::Algorithm,
        Kind::Fields,
        Kind::Module,
        Kind::Registered,
        Kind::Call,
        Kind::Return,
        Kind::Word,
        Kind::Netlink,
        Kind::Answer,
        Kind::Arrive,
        Kind::Serve,
        Kind::Served,
        Kind::ServedMarked,
        Kind::Dropped,
        Kind::Marked,
        Kind::OpenMultipath,
    ];

    fn of(number: u16) -> Option<Kind> {
        Self::ALL.into_iter().find(|kind| *kind as u16 == number)
    }
}

/// A record from a guest.
pub struct Record<'a> {
    /// The guest's time, in nanoseconds.
    pub time: u64,
    /// Its kind.
    pub kind: Kind,
    /// The flow that it concerns.
    pub flow: usize,
    /// Its content.
    pub content: &'a [u8],
}

/// The memory of a guest.
#[derive(Debug)]
pub struct Shared {
    memory: Memory,
    /// The content of the last record from the guest.
    content: Vec<u8>,
    /// The latest time of a record to the guest.
    last: u64,
}

impl Shared {
    /// Memory for a guest before it begins. `response` is the time between a packet and its earliest consequence.
    pub fn new(side: u32, mtu: u32, response: u64) -> io::Result<Self> {
        let memory = Memory::new(HEADER + 2 * SIZE)?;
        for (at, number) in
            [(AT_MAGIC, MAGIC), (AT_RESPONSE, response), (AT_OUT_SIZE, SIZE as u64), (AT_IN_SIZE, SIZE as u64)]
        {
            memory.write(at, &number.to_ne_bytes());
        }
        for (at, number) in [(AT_VERSION, VERSION), (AT_SIDE, side), (AT_MTU, mtu)] {
            memory.write(at, &number.to_ne_bytes());
        }
        Ok(Shared { memory, content: Vec::new(), last: 0 })
    }

    /// The memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Whether the guest accepts commands.
    pub fn is_ready(&self) -> bool {
        self.memory.u32_at(AT_READY) != 0
    }

    /// The number of the guest's network device.
    pub fn link(&self) -> u32 {
        self.memory.u32_at(AT_LINK)
    }

    /// The number of the guest's device with a queue.
    pub fn queue(&self) -> u32 {
        self.memory.u32_at(AT_QUEUE)
    }

    /// Takes all records that the guest has written.
    pub fn drain<E>(&mut self, mut take: impl FnMut(Record<'_>) -> Result<(), E>) -> Result<(), E> {
        let len = (self.memory.u64_at(AT_OUT_LEN) as usize).min(SIZE);
        let mut at = HEADER;
        while at + RECORD <= HEADER + len {
            let (time, lens) = (self.memory.u64_at(at), self.memory.u64_at(at + 8));
            let (bytes, kind, flow) = (lens as u32 as usize, (lens >> 32) as u16, (lens >> 48) as usize);
            let bytes = bytes.min(HEADER + len - at - RECORD);
            self.content.resize(bytes, 0);
            self.memory.read(at + RECORD, &mut self.content);
            at += RECORD + bytes.next_multiple_of(8);
            if let Some(kind) = Kind::of(kind) {
                take(Record { time, kind, flow, content: &self.content })?;
            }
        }
        self.memory.write(AT_OUT_LEN, &0u64.to_ne_bytes());
        Ok(())
    }

    /// Whether a record with this content fits.
    pub fn has_room(&self, content: usize) -> bool {
        let used = self.memory.u64_at(AT_IN_LEN) - self.memory.u64_at(AT_IN_READ);
        used as usize + RECORD + content.next_multiple_of(8) <= SIZE
    }

    /// Writes a record to the guest, which waits. The guest gets records in the order of their times.
    pub fn push(&mut self, time: u64, kind: Kind, flow: u16, content: &[u8]) {
        let (mut len, read) = (self.memory.u64_at(AT_IN_LEN) as usize, self.memory.u64_at(AT_IN_READ) as usize);
        let size = RECORD + content.len().next_multiple_of(8);
        if len == read || len + size > SIZE {
            // The records that the guest has read make room.
            self.memory.shift(HEADER + SIZE + read, HEADER + SIZE, len - read);
            len -= read;
            self.memory.write(AT_IN_READ, &0u64.to_ne_bytes());
        }
        let (end, mut at) = (HEADER + SIZE + len, HEADER + SIZE + self.memory.u64_at(AT_IN_READ) as usize);
        if self.last <= time {
            at = end;
            self.last = time;
        }
        while at < end && self.memory.u64_at(at) <= time {
            at += RECORD + (self.memory.u32_at(at + 8) as usize).next_multiple_of(8);
        }
        self.memory.shift(at, at + size, end - at);
        let lens = content.len() as u64 | (kind as u64) << 32 | u64::from(flow) << 48;
        self.memory.write(at, &time.to_ne_bytes());
        self.memory.write(at + 8, &lens.to_ne_bytes());
        self.memory.write(at + RECORD, content);
        self.memory.write(AT_IN_LEN, &((len + size) as u64).to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The records that the guest has not read: their times and contents.
    fn waiting(shared: &Shared) -> Vec<(u64, Vec<u8>)> {
        let (mut at, len) = (shared.memory.u64_at(AT_IN_READ), shared.memory.u64_at(AT_IN_LEN));
        let mut records = Vec::new();
        while at < len {
            let place = HEADER + SIZE + at as usize;
            let mut content = vec![0; shared.memory.u32_at(place + 8) as usize];
            shared.memory.read(place + RECORD, &mut content);
            records.push((shared.memory.u64_at(place), content.clone()));
            at += (RECORD + content.len().next_multiple_of(8)) as u64;
        }
        records
    }

    #[test]
    fn the_guest_reads_records_in_the_order_of_their_times() {
        let mut shared = Shared::new(0, 1500, 1).unwrap();
        for (time, content) in [(5, &b"five"[..]), (9, b"nine"), (7, b"seven, in between"), (5, b"again"), (9, b"")] {
            shared.push(time, Kind::Packet, 0, content);
        }
        let times: Vec<_> = waiting(&shared).into_iter().map(|(time, content)| (time, content.len())).collect();
        assert_eq!(times, [(5, 4), (5, 5), (7, 17), (9, 4), (9, 0)]);
    }

    #[test]
    fn records_that_were_read_make_room() {
        let mut shared = Shared::new(0, 1500, 1).unwrap();
        let content = vec![1; 1 << 16];
        let mut time = 0;
        while shared.has_room(content.len()) {
            shared.push(time, Kind::Packet, 0, &content);
            time += 1;
        }
        let size = (RECORD + content.len()) as u64;
        // The guest reads all but the last record.
        shared.memory.write(AT_IN_READ, &(size * (time - 1)).to_ne_bytes());
        assert!(shared.has_room(content.len()));
        shared.push(time, Kind::Packet, 0, &content);
        let times: Vec<_> = waiting(&shared).into_iter().map(|(time, _)| time).collect();
        assert_eq!(times, [time - 1, time]);
    }

    #[test]
    fn records_of_the_guest_are_taken_once_and_cut_records_end_at_their_buffer() {
        let mut shared = Shared::new(0, 1500, 1).unwrap();
        let record = |kind: u64, len: u64| [3_u64.to_ne_bytes(), (len | kind << 32 | 7 << 48).to_ne_bytes()].concat();
        shared.memory.write(HEADER, &record(Kind::State as u64, 3));
        shared.memory.write(HEADER + RECORD, b"abc");
        // An unknown kind, and a length beyond the written bytes.
        shared.memory.write(HEADER + 24, &record(99, 0));
        shared.memory.write(HEADER + 40, &record(Kind::Packet as u64, u64::from(u32::MAX)));
        shared.memory.write(AT_OUT_LEN, &60_u64.to_ne_bytes());
        let mut taken = Vec::new();
        for _ in 0..2 {
            let take = |Record { time, kind, flow, content }: Record<'_>| {
                taken.push((time, kind, flow, content.len()));
                Ok::<(), ()>(())
            };
            shared.drain(take).unwrap();
        }
        assert_eq!(taken, [(3, Kind::State, 7, 3), (3, Kind::Packet, 7, 4)]);
    }
}
