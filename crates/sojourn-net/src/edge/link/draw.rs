//! Random draws that belong to a packet.

use crate::packet::Packet;
use crate::rng::StreamKey;
use crate::rng::draw::normal_of;

/// Uniform in [0, 1). Depends on the packet's flow, direction and index only, so that other flows
/// do not change a packet's fate.
#[inline]
pub(super) fn uniform(key: StreamKey, packet: &Packet) -> f64 {
    let stream = u64::from(packet.flow) << 1 | packet.direction() as u64;
    key.index(stream).uniform_at(u64::from(packet.index))
}

/// Standard normal, with the same dependence.
pub(super) fn normal(key: StreamKey, packet: &Packet) -> f64 {
    let radius = 1.0 - uniform(key.child("radius"), packet);
    normal_of(radius, uniform(key.child("angle"), packet))
}
