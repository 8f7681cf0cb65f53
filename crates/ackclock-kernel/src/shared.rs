//! The memory that a guest shares with this process: records with packets and commands in both directions.
//! `guest/agent/shared.h` has the same layout.

use std::io;

use crate::sys::Memory;

const MAGIC: u64 = 0x6b6c_636b_6361;
const VERSION: u32 = 1;
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
}

impl Kind {
    fn of(number: u16) -> Option<Kind> {
        let all =
            [Kind::Packet, Kind::Corrupted, Kind::Open, Kind::Write, Kind::End, Kind::Look, Kind::State, Kind::Failed];
        all.into_iter().find(|kind| *kind as u16 == number)
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
