//! A network card of a kernel: a vhost-user device in this process (virtio 1.2, section 5.1; QEMU,
//! `docs/interop/vhost-user.rst`).
//!
//! The kernel need not notify of sent frames: the card is polled whenever the kernel waits. So the
//! crates used are those without thread or event loop: the guest's memory and its queues. The rest
//! of the protocol is a dozen requests.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use vm_memory::{FileOffset, GuestAddress, GuestMemoryMmap};
use vmm_sys_util::sock_ctrl_msg::ScmSocket;

use super::failure::{broken, doing};
use super::rings::Rings;
use crate::error::Error;

/// Requests of the kernel.
mod ask {
    pub(super) const GET_FEATURES: u32 = 1;
    pub(super) const SET_MEMORY: u32 = 5;
    pub(super) const SET_RING_SIZE: u32 = 8;
    pub(super) const SET_RING_ADDRESS: u32 = 9;
    pub(super) const GET_PROTOCOL_FEATURES: u32 = 15;
    pub(super) const SET_BACKEND_CHANNEL: u32 = 21;
    pub(super) const GET_CONFIGURATION: u32 = 24;
}

const VERSION: u32 = 1;
const IS_REPLY: u32 = 1 << 2;
const NEEDS_REPLY: u32 = 1 << 3;

/// No checksums in either direction; a MAC address; buffers that several packets may share; the
/// protocol's own features; virtio 1.
const FEATURES: u64 = 1 << 0 | 1 << 1 | 1 << 5 | 1 << 15 | 1 << 30 | 1 << 32;
/// Replies to all requests, requests of ours, configuration, notifications on the socket.
const PROTOCOL_FEATURES: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;
const HEADER: usize = 12;
const LARGEST: usize = 4096;
/// Offset of the memory regions in a message, and bytes of each.
const REGIONS: (usize, usize) = (8, 32);

/// A card: its sent frames are taken from it, and arriving frames are given to it.
pub(super) struct Card {
    socket: UnixStream,
    mac: [u8; 6],
    /// Descriptor for notifications of the rings, which the calendar replaces: it stays open, or
    /// the kernel considers the card broken.
    _channel: Option<File>,
    /// The rings, once there is memory.
    pub rings: Rings,
}

impl Card {
    /// The kernel's card with this number, at the other end of a socket.
    pub(super) fn new(socket: UnixStream, number: u8) -> Self {
        Card { socket, mac: mac(number), _channel: None, rings: Rings::default() }
    }

    /// Answers a request of the kernel.
    ///
    /// # Errors
    /// If the kernel is gone, or requests something unsupported.
    pub(super) fn listen(&mut self) -> Result<(), Error> {
        let failed = |error| doing("listening to a card's driver", error);
        let mut header = [0; HEADER];
        let (read, file) = self.socket.recv_with_fd(&mut header).map_err(|e| failed(e.into()))?;
        if read == 0 {
            return Err(broken("the kernel has ended"));
        }
        self.socket.read_exact(&mut header[read..]).map_err(failed)?;
        let (request, flags, size) =
            (word(&header, 0), word(&header, 4), word(&header, 8) as usize);
        if size > LARGEST {
            return Err(broken(&format!("a card's driver sent {size} bytes")));
        }
        let mut body = vec![0; size];
        self.socket.read_exact(&mut body).map_err(failed)?;
        let answer = self.answer(request, body, file)?;
        let acknowledgment = || (flags & NEEDS_REPLY != 0).then(|| vec![0; 8]);
        match answer.or_else(acknowledgment) {
            Some(answer) => self.reply(request, &answer),
            None => Ok(()),
        }
    }

    fn answer(
        &mut self,
        request: u32,
        mut body: Vec<u8>,
        file: Option<File>,
    ) -> Result<Option<Vec<u8>>, Error> {
        match request {
            ask::GET_FEATURES => return Ok(Some(FEATURES.to_ne_bytes().to_vec())),
            ask::GET_PROTOCOL_FEATURES => {
                return Ok(Some(PROTOCOL_FEATURES.to_ne_bytes().to_vec()));
            }
            ask::GET_CONFIGURATION => {
                let room = body.iter_mut().skip(HEADER); // the kernel asks for the first bytes
                room.zip(self.mac).for_each(|(place, byte)| *place = byte);
                return Ok(Some(body));
            }
            ask::SET_MEMORY => self.rings.memory = Some(memory(&body, file)?),
            ask::SET_RING_SIZE => self.rings.set_size(word(&body, 0), word(&body, 4))?,
            ask::SET_RING_ADDRESS => {
                self.rings.set_addresses(word(&body, 0), [8, 16, 24].map(|at| long(&body, at)))?;
            }
            ask::SET_BACKEND_CHANNEL => self._channel = file,
            _ => {} // what else there is needs no answer but that it was heard
        }
        Ok(None)
    }

    fn reply(&mut self, request: u32, body: &[u8]) -> Result<(), Error> {
        let message = message(request, VERSION | IS_REPLY, body);
        self.socket.write_all(&message).map_err(|e| doing("answering a card's driver", e))
    }
}

impl AsFd for Card {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// MAC address of the card with this number: a local one.
pub(super) fn mac(number: u8) -> [u8; 6] {
    [2, 0, 0, 0, 0, number]
}

/// The kernel's memory, whose file descriptor came with the request.
fn memory(body: &[u8], file: Option<File>) -> Result<GuestMemoryMmap, Error> {
    let file = file.ok_or_else(|| broken("the kernel's memory came without a descriptor"))?;
    if word(body, 0) != 1 {
        return Err(broken("the kernel's memory is not in one piece"));
    }
    let [start, size, _, offset] = [0, 8, 16, 24].map(|at| long(body, REGIONS.0 + at));
    debug_assert_eq!(body.len() % REGIONS.1, REGIONS.0 % REGIONS.1);
    let region = (GuestAddress(start), size as usize, Some(FileOffset::new(file, offset)));
    let made = GuestMemoryMmap::from_ranges_with_files([region]);
    made.map_err(|error| broken(&format!("mapping the kernel's memory: {error}")))
}

fn message(request: u32, flags: u32, body: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER + body.len());
    for number in [request, flags, body.len() as u32] {
        message.extend_from_slice(&number.to_ne_bytes());
    }
    message.extend_from_slice(body);
    message
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let found = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    u32::from_ne_bytes(found.unwrap_or_default())
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let found = bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
    u64::from_ne_bytes(found.unwrap_or_default())
}
