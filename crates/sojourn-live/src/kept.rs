//! Packets in the network: their bytes, which a capture may read meanwhile, and the hosts that send and
//! receive them, where these are captured.

use std::sync::{Arc, Mutex, PoisonError};

use sojourn_base::packet::Packet;
use sojourn_base::units::Time;
use sojourn_net::record::capture::{HostTap, Wire, seal};

use crate::store::Store;
use crate::wire::{class, parse, place, set_class};

/// Bytes of the shortest header of IP.
const SHORTEST: usize = 20;

/// The bytes of packets, by what [`Packet::socket`] says; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Arc<Mutex<Store>>);

/// Writes packets of which the bytes are kept.
#[derive(Debug)]
pub(crate) struct Written {
    kept: Kept,
    /// What was written last.
    bytes: Vec<u8>,
}

impl Kept {
    fn keep(&self, bytes: &[u8]) -> u32 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(bytes)
    }

    /// What `act` makes of the bytes of a packet, unless they have been overwritten.
    fn with<R>(&self, packet: &Packet, act: impl FnOnce(&mut Vec<u8>) -> R) -> Option<R> {
        let mut store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        store.get(packet.socket).map(act)
    }
}

impl Written {
    /// Writes packets that are `kept`.
    pub(crate) fn of(kept: Kept) -> Self {
        Written { kept, bytes: Vec::new() }
    }
}

impl Wire for Written {
    fn bytes(&mut self, packet: &Packet, snap: usize) -> Option<&[u8]> {
        let out = &mut self.bytes;
        out.clear();
        let written = self.kept.with(packet, |bytes| match parse(bytes).zip(place(bytes)) {
            Some((headers, place)) => {
                let (size, payload) = (bytes.len(), usize::from(headers.payload));
                out.extend_from_slice(&bytes[..size - payload]);
                set_class(out, packet.dscp(), packet.ecn);
                seal(out, size, (place.protocol, place.at));
                out.resize(size.min(snap), 0);
                true
            }
            None => write_other(packet, &bytes[..bytes.len().min(snap)], out),
        })?;
        written.then_some(out)
    }
}

/// Writes the first bytes of a packet of another transport as they are; returns whether they are a
/// packet.
fn write_other(packet: &Packet, bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let is_packet = bytes.len() >= SHORTEST && class(bytes).is_some();
    if is_packet {
        out.extend_from_slice(bytes);
        set_class(out, packet.dscp(), packet.ecn);
    }
    is_packet
}

/// Where packets get from hosts into the network, and out of it.
#[derive(Debug, Default)]
pub(crate) struct Border {
    kept: Kept,
    /// The captures of the hosts, by the side or the card that they are at; none if nothing is
    /// captured.
    hosts: Vec<HostTap>,
}

impl Border {
    /// A border at which the bytes of packets are `kept`.
    pub(crate) fn new(kept: Kept, hosts: Vec<HostTap>) -> Self {
        Border { kept, hosts }
    }

    /// The host on this side sends a packet of these bytes, which it then stands for.
    pub(crate) fn enter(&self, now: Time, side: usize, packet: &mut Packet, bytes: &[u8]) {
        packet.socket = self.kept.keep(bytes);
        if let Some(host) = self.hosts.get(side) {
            host.sent(now, packet);
        }
    }

    /// A packet has left the network: returns what `act` makes of its bytes, beside the side whose host
    /// receives it; `None` if they have been overwritten.
    pub(crate) fn leave<R>(
        &self,
        now: Time,
        packet: &Packet,
        act: impl FnOnce(&mut Vec<u8>) -> (usize, R),
    ) -> Option<(usize, R)> {
        let left = self.kept.with(packet, act)?;
        if let Some(host) = self.hosts.get(left.0) {
            host.received(now, packet);
        }
        Some(left)
    }

    /// The bytes of a packet in the network, unless they have been overwritten.
    pub(crate) fn bytes(&self, packet: &Packet) -> Option<Vec<u8>> {
        self.kept.with(packet, |bytes| bytes.clone())
    }
}

#[cfg(test)]
mod tests {
    use sojourn_base::packet::checksum::{checksum, checksum_of};
    use sojourn_base::packet::{Dscp, Ecn};
    use sojourn_base::units::Span;
    use sojourn_net::record::capture::{Capture, Setup};

    use super::*;

    const TCP: u8 = 6;
    const UDP: u8 = 17;

    /// A packet of IPv4 with a payload that is not zero, and a checksum of it that nobody has made.
    fn bytes(protocol: u8, payload: usize) -> Vec<u8> {
        let header = if protocol == TCP { 32 } else { 8 };
        let mut bytes = vec![0; 20 + header];
        bytes.resize(20 + header + payload, 0xab);
        let size = (bytes.len() as u16).to_be_bytes();
        bytes[..4].copy_from_slice(&[0x45, 2, size[0], size[1]]);
        bytes[8..10].copy_from_slice(&[64, protocol]);
        bytes[12..20].copy_from_slice(&[10, 77, 0, 1, 10, 77, 0, 2]);
        bytes[20..24].copy_from_slice(&[0x30, 0x39, 0x27, 0x10]);
        if protocol == TCP {
            bytes[32..34].copy_from_slice(&[8 << 4, 0x10]);
        }
        let place = if protocol == TCP { 36 } else { 26 };
        bytes[place..place + 2].fill(0x11);
        let sum = checksum(&bytes[..20]);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    /// The packet that stands for these bytes.
    fn packet(border: &Border, bytes: &[u8]) -> Packet {
        let mut packet = Packet { ecn: Ecn::Ect0, size: bytes.len() as u32, ..Packet::default() };
        border.enter(Time::ZERO, 0, &mut packet, bytes);
        packet
    }

    #[test]
    fn headers_are_written_as_the_network_has_them() {
        for (protocol, headers) in [(TCP, 52), (UDP, 28)] {
            let (kept, bytes) = (Kept::default(), bytes(protocol, 201));
            let border = Border::new(kept.clone(), Vec::new());
            let marked = Packet { ecn: Ecn::Ce, ..packet(&border, &bytes) };
            let mut writer = Written::of(kept);
            let written = writer.bytes(&marked, 1 << 16).unwrap().to_vec();
            assert_eq!(written.len(), bytes.len());
            assert_eq!(Dscp::of_class(written[1]), Dscp::BEST_EFFORT);
            assert_eq!(written[1] & 3, 3);
            assert_eq!(checksum(&written[..20]), 0);
            let length = ((written.len() - 20) as u16).to_be_bytes();
            let parts = [&written[12..20], &[0, protocol], &length, &written[20..]];
            assert_eq!(checksum_of(parts), 0, "{protocol}");
            assert_eq!(written[20..24], bytes[20..24]);
            assert!(written[headers..].iter().all(|byte| *byte == 0));
            assert_eq!(writer.bytes(&marked, 40).unwrap(), &written[..40]);
            assert_eq!(border.bytes(&marked), Some(bytes), "the packet itself has its payload");
        }
    }

    #[test]
    fn what_is_no_packet_is_left_out() {
        let kept = Kept::default();
        let border = Border::new(kept.clone(), Vec::new());
        let mut writer = Written::of(kept);
        for foreign in [&[0x50; 60][..], &[0x45; 19]] {
            let foreign = packet(&border, foreign);
            assert_eq!(writer.bytes(&foreign, 96), None);
        }
    }

    #[test]
    fn a_ping_is_written_as_it_is() {
        let kept = Kept::default();
        let border = Border::new(kept.clone(), Vec::new());
        let ping = bytes(1, 100);
        let marked = Packet { ecn: Ecn::Ce, ..packet(&border, &ping) };
        let mut writer = Written::of(kept);
        let out = writer.bytes(&marked, 60).unwrap();
        assert_eq!((out[1] & 3, checksum(&out[..20]), out.len()), (3, 0, 60));
        assert_eq!(out[20..], ping[20..60]);
    }

    #[test]
    fn a_packet_of_ipv6_has_a_right_checksum() {
        let kept = Kept::default();
        let border = Border::new(kept.clone(), Vec::new());
        let datagram = [9, 0x29, 9, 0x2a, 0, 9, 0, 0, 0xab];
        let mut six = vec![0; 40];
        (six[0], six[5], six[6], six[7]) = (0x60, 9, UDP, 64);
        (six[23], six[39]) = (1, 2);
        six.extend(datagram);
        let packet = packet(&border, &six);
        let mut writer = Written::of(kept);
        let out = writer.bytes(&packet, 96).unwrap();
        assert_eq!((out.len(), out[48]), (49, 0));
        assert_eq!(checksum_of([&out[8..40], &[0, UDP, 0, 9], &out[40..]]), 0);
    }

    #[test]
    fn hosts_send_and_receive() {
        let file = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&file);
        let setup = Setup {
            snap: 96,
            hosts: ["a", "b"].map(|name| (name.to_owned(), [10, 77, 0, 1].into())).to_vec(),
            ..Setup::default()
        };
        let kept = Kept::default();
        let pass = Box::new(move |bytes: Vec<u8>| written.lock().unwrap().extend(bytes));
        let capture = Capture::new(setup, Box::new(Written::of(kept.clone())), pass);
        let hosts = ["a", "b"].map(|name| capture.host(name).unwrap());
        let border = Border::new(kept, hosts.to_vec());
        let sent = packet(&border, &bytes(TCP, 100));
        let now = Time::ZERO + Span::from_millis(3);
        let left = border.leave(now, &sent, |bytes| (1, bytes.len()));
        assert_eq!(left, Some((1, 152)));
        capture.flush();
        let (file, mut packets) = (file.lock().unwrap(), Vec::new());
        let mut rest = &file[..];
        while !rest.is_empty() {
            let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
            if word(0) == 6 {
                packets.push([2, 4, 6].map(|place| word(4 * place)));
            }
            rest = &rest[word(4) as usize..];
        }
        // Interface, time, and the size of all.
        assert_eq!(packets, [[0, 0, 152], [1, 3_000_000, 152]]);
    }
}
