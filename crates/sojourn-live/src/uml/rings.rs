//! The two rings of a card: frames to the kernel, and frames from it.

use std::collections::VecDeque;
use std::io::{Read, Write};

use virtio_queue::{Queue, QueueT};
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};

use super::failure::broken;
use crate::error::Error;

/// `struct virtio_net_hdr_v1`, before every frame.
const HEADER: usize = 12;
/// Its flag: the checksum need not be verified.
const CHECKED: u8 = 2;
/// Offset of the number of buffers that a frame takes.
const BUFFERS: usize = 10;
/// A ring's flag: the kernel takes its buffers back without notification.
const NO_INTERRUPT: u16 = 1;
/// The ring of frames to the kernel.
pub(super) const RECEIVING: usize = 0;
/// The ring of frames from it.
pub(super) const SENDING: usize = 1;

/// The bit of a card's ring in the set of rings with input for the kernel.
pub(super) fn bit(card: usize, ring: usize) -> u64 {
    1 << (2 * card + ring)
}

/// The rings of a card.
#[derive(Default)]
pub(super) struct Rings {
    /// The kernel's memory.
    pub memory: Option<GuestMemoryMmap>,
    queues: [Option<Queue>; 2],
    /// Frames for which the kernel has no buffers yet.
    held: VecDeque<Vec<u8>>,
}

impl Rings {
    /// Sets the size of the ring with this number.
    ///
    /// # Errors If the kernel names a ring that does not exist.
    pub(super) fn set_size(&mut self, ring: u32, size: u32) -> Result<(), Error> {
        let slot = self.queues.get_mut(ring as usize).ok_or_else(|| wrong(ring))?;
        let mut queue = Queue::new(size as u16).map_err(failed)?;
        queue.try_set_size(size as u16).map_err(failed)?;
        *slot = Some(queue);
        Ok(())
    }

    /// Sets the addresses of descriptors, used and available ring, in the order in which the kernel
    /// gives them. The ring is then ready; the kernel need not notify when it has added to it.
    ///
    /// # Errors If the kernel names a ring that does not exist.
    pub(super) fn set_addresses(&mut self, ring: u32, addresses: [u64; 3]) -> Result<(), Error> {
        let slot = self.queues.get_mut(ring as usize).and_then(Option::as_mut);
        let queue = slot.ok_or_else(|| wrong(ring))?;
        let [descriptors, used, available] = addresses.map(GuestAddress);
        queue.try_set_desc_table_address(descriptors).map_err(failed)?;
        queue.try_set_used_ring_address(used).map_err(failed)?;
        queue.try_set_avail_ring_address(available).map_err(failed)?;
        queue.set_ready(true);
        let memory = self.memory.as_ref().ok_or_else(|| wrong(ring))?;
        queue.disable_notification(memory).map_err(failed)
    }

    /// Lets the kernel notice that it has sent something, which it then need not tell.
    ///
    /// # Errors
    /// If a ring is broken.
    pub(super) fn announce(&mut self) -> Result<(), Error> {
        match (&self.memory, &mut self.queues[SENDING]) {
            (Some(memory), Some(queue)) => {
                queue.enable_notification(memory).map(|_| ()).map_err(failed)
            }
            _ => Ok(()),
        }
    }

    /// Takes the next frame that the kernel has sent into `frame`; returns its buffer, which must
    /// be given back.
    ///
    /// # Errors
    /// If a ring is broken.
    pub(super) fn take(&mut self, frame: &mut Vec<u8>) -> Result<Option<u16>, Error> {
        let (Some(memory), Some(queue)) = (&self.memory, &mut self.queues[SENDING]) else {
            return Ok(None);
        };
        let Some(chain) = queue.pop_descriptor_chain(memory) else { return Ok(None) };
        let head = chain.head_index();
        let mut reader = chain.reader(memory).map_err(failed)?;
        let mut reader = reader.split_at(HEADER).map_err(failed)?;
        frame.resize(reader.available_bytes(), 0);
        reader.read_exact(frame).map_err(failed)?;
        Ok(Some(head))
    }

    /// Gives the kernel a buffer back whose frame has been sent; returns whether it asks to be
    /// notified.
    ///
    /// # Errors
    /// If a ring is broken.
    pub(super) fn give_back(&mut self, head: u16) -> Result<bool, Error> {
        let (Some(memory), Some(queue)) = (&self.memory, &mut self.queues[SENDING]) else {
            return Ok(false);
        };
        queue.add_used(memory, head, 0).map_err(failed)?;
        // The crate reads this only where events have numbers (virtio 1.2, section 2.7.7).
        let flags: u16 = memory.read_obj(GuestAddress(queue.avail_ring())).map_err(failed)?;
        Ok(flags & NO_INTERRUPT == 0)
    }

    /// Gives the kernel a frame; it is held if there is no buffer for it yet.
    ///
    /// # Errors
    /// If a ring is broken.
    pub(super) fn give(&mut self, frame: &[u8]) -> Result<(), Error> {
        if !self.held.is_empty() || !self.place(frame)? {
            self.held.push_back(frame.to_vec());
        }
        Ok(())
    }

    /// Gives the kernel held frames, as far as there are buffers; returns whether any was given.
    ///
    /// # Errors
    /// If a ring is broken.
    pub(super) fn give_held(&mut self) -> Result<bool, Error> {
        let mut given = false;
        while let Some(frame) = self.held.pop_front() {
            if !self.place(&frame)? {
                self.held.push_front(frame);
                break;
            }
            given = true;
        }
        Ok(given)
    }

    /// Writes a frame into as many buffers as it needs, if there are enough.
    fn place(&mut self, frame: &[u8]) -> Result<bool, Error> {
        let (Some(memory), Some(queue)) = (&self.memory, &mut self.queues[RECEIVING]) else {
            return Ok(false);
        };
        let (mut left, mut filled) = (frame, Vec::new());
        let mut first = None;
        let mut header = [0; HEADER];
        header[0] = CHECKED;
        while first.is_none() || !left.is_empty() {
            let Some(chain) = queue.pop_descriptor_chain(memory) else {
                queue.set_next_avail(queue.next_avail().wrapping_sub(filled.len() as u16));
                return Ok(false);
            };
            let head = chain.head_index();
            let mut writer = chain.writer(memory).map_err(failed)?;
            let room = writer.available_bytes();
            let mut used = 0;
            if first.is_none() {
                let rest = writer.split_at(HEADER).map_err(failed)?;
                first = Some(std::mem::replace(&mut writer, rest));
                used = HEADER;
            }
            let some = left.len().min(room - used);
            writer.write_all(&left[..some]).map_err(failed)?;
            left = &left[some..];
            filled.push((head, (used + some) as u32));
        }
        header[BUFFERS..].copy_from_slice(&(filled.len() as u16).to_le_bytes());
        if let Some(mut first) = first {
            first.write_all(&header).map_err(failed)?;
        }
        for (head, length) in filled {
            queue.add_used(memory, head, length).map_err(failed)?;
        }
        Ok(true)
    }
}

fn wrong(ring: u32) -> Error {
    broken(&format!("a card's driver named ring {ring}"))
}

fn failed(error: impl std::fmt::Display) -> Error {
    broken(&format!("a card's ring: {error}"))
}
