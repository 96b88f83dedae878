//! Rings of packets.

use std::collections::VecDeque;

/// Appends what `make` makes. Where there is room it is made at its place; else it is made before, and
/// moved, because room has to be made between.
#[inline(always)] // once per packet and ring
pub(crate) fn push<T>(ring: &mut VecDeque<T>, make: impl FnOnce() -> T) {
    if ring.len() < ring.capacity() {
        ring.push_back(make());
    } else {
        push_beyond(ring, make());
    }
}

#[cold]
#[inline(never)]
fn push_beyond<T>(ring: &mut VecDeque<T>, item: T) {
    ring.push_back(item);
}
