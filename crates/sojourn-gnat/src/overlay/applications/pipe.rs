//! A connection's buffers between the node and the daemon.

use std::collections::VecDeque;
use std::io::Read;

use super::records::{LENGTH, MOST};

/// Bytes that wait to be admitted, at most.
const BUFFER: usize = 256 << 10;

/// Buffers of both directions.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    /// Records that wait to be admitted.
    pub out: VecDeque<u8>,
    /// Nothing more is written.
    pub finished: bool,
    /// The daemon wrote more than there was room for.
    wants: bool,
    /// What has come and was not read.
    input: VecDeque<u8>,
    /// Bytes of the stream that were read since the node asked.
    taken: u64,
    /// Nothing more comes; and whether the daemon knows.
    ended: bool,
    told: bool,
    /// The daemon resets the connection.
    pub reset: bool,
    /// The node has ended the connection in order.
    pub gone: bool,
}

impl Pipe {
    /// Writes as many bytes as there is room for; returns how many.
    pub(super) fn write(&mut self, bytes: &[u8]) -> usize {
        if self.finished || self.reset || self.gone {
            return 0;
        }
        let mut written = 0;
        while written < bytes.len() {
            let room = BUFFER.saturating_sub(self.out.len() + LENGTH);
            let record = (bytes.len() - written).min(room).min(MOST);
            if record == 0 {
                break;
            }
            self.out.extend((record as u16).to_be_bytes());
            self.out.extend(&bytes[written..written + record]);
            written += record;
        }
        self.wants = written < bytes.len();
        written
    }

    /// Writes the end of the stream.
    pub(super) fn finish(&mut self) {
        if !self.finished {
            self.out.extend([0; LENGTH]);
            self.finished = true;
        }
    }

    /// Takes bytes that are admitted.
    pub(super) fn admit(&mut self, bytes: usize) -> impl Iterator<Item = u8> + '_ {
        self.out.drain(..bytes)
    }

    /// Whether the daemon is to be told that there is room again: once half of the buffer is free.
    pub(super) fn has_room(&mut self) -> bool {
        let tells = self.wants && self.out.len() <= BUFFER / 2;
        self.wants &= !tells;
        tells
    }

    /// Bytes have come; whether none waited before.
    pub(super) fn arrive(&mut self, bytes: &[u8]) -> bool {
        let first = self.input.is_empty() && !bytes.is_empty();
        self.input.extend(bytes);
        first
    }

    /// The end of the stream has come.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Bytes of the stream that nobody has to read have come.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.taken += bytes as u64;
    }

    /// Reads what has come; returns how many bytes.
    pub(super) fn read(&mut self, out: &mut [u8]) -> usize {
        let mut read = 0;
        // It gives what lies together.
        while let Ok(some @ 1..) = self.input.read(&mut out[read..]) {
            read += some;
        }
        self.taken += read as u64;
        read
    }

    /// Whether the daemon is to be told that the stream has ended.
    pub(super) fn tells_end(&mut self) -> bool {
        let tells = self.ended && !self.told && self.input.is_empty();
        self.told |= tells;
        tells
    }

    /// Whether the daemon has nothing to read any more.
    pub(super) fn is_done(&self) -> bool {
        self.told
    }

    /// Bytes of the stream that were read since the last call.
    pub(super) fn take_read(&mut self) -> u64 {
        std::mem::take(&mut self.taken)
    }
}
