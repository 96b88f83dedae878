//! TCP segments with their options, as bytes.

use sojourn_base::packet::Ecn;

use crate::wire::{checksum, set_ecn};

pub(super) const FIN: u8 = 0x01;
pub(super) const SYN: u8 = 0x02;
pub(super) const RST: u8 = 0x04;
pub(super) const PSH: u8 = 0x08;
pub(super) const ACK: u8 = 0x10;
pub(super) const ECE: u8 = 0x40;
pub(super) const CWR: u8 = 0x80;

const IP: usize = 20;
const TCP: usize = 20;

/// A segment with the header fields that scripts use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Segment {
    pub ports: [u16; 2],
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    /// Timestamp and its echo.
    pub times: (u32, u32),
    pub sacks: Vec<(u32, u32)>,
    pub payload: usize,
}

impl Segment {
    /// The segment as an IPv4 packet.
    pub(super) fn packet(&self, from: [u8; 4], to: [u8; 4], ecn: Ecn) -> Vec<u8> {
        let mut tcp = Vec::with_capacity(TCP + 40 + self.payload);
        tcp.extend(self.ports[0].to_be_bytes());
        tcp.extend(self.ports[1].to_be_bytes());
        tcp.extend(self.seq.to_be_bytes());
        tcp.extend(self.ack.to_be_bytes());
        tcp.extend([0, self.flags]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 4]);
        self.put_options(&mut tcp);
        tcp[12] = (tcp.len() as u8 / 4) << 4;
        tcp.resize(tcp.len() + self.payload, 0);
        let mut pseudo = [from, to].concat();
        pseudo.extend([0, 6]);
        pseudo.extend((tcp.len() as u16).to_be_bytes());
        pseudo.extend(&tcp);
        let sum = checksum(&pseudo);
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
        let mut packet = vec![0x45, 0];
        packet.extend(((IP + tcp.len()) as u16).to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        packet.extend(from);
        packet.extend(to);
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend(tcp);
        set_ecn(&mut packet, ecn);
        packet
    }

    fn put_options(&self, tcp: &mut Vec<u8>) {
        let opens = self.flags & SYN != 0;
        // Options of a SYN: largest segment 1460, SACK.
        tcp.extend(if opens { &[2, 4, 0x05, 0xb4, 4, 2][..] } else { &[1, 1] });
        tcp.extend([8, 10]);
        tcp.extend(self.times.0.to_be_bytes());
        tcp.extend(self.times.1.to_be_bytes());
        if opens {
            // A window scale of 8.
            tcp.extend([1, 3, 3, 8]);
        }
        if !self.sacks.is_empty() {
            tcp.extend([1, 1, 5, 2 + 8 * self.sacks.len() as u8]);
            for (start, end) in &self.sacks {
                tcp.extend(start.to_be_bytes());
                tcp.extend(end.to_be_bytes());
            }
        }
    }

    /// The segment of an IPv4 packet; `None` of any other.
    pub(super) fn read(packet: &[u8]) -> Option<Segment> {
        let ip = usize::from(*packet.first()? & 15) * 4;
        if packet[0] >> 4 != 4 || *packet.get(9)? != 6 {
            return None;
        }
        let tcp = packet.get(ip..)?;
        let header = usize::from(*tcp.get(12)? >> 4) * 4;
        let short = |at: usize| Some(u16::from_be_bytes([*tcp.get(at)?, *tcp.get(at + 1)?]));
        let mut segment = Segment {
            ports: [short(0)?, short(2)?],
            seq: number(tcp, 4)?,
            ack: number(tcp, 8)?,
            flags: *tcp.get(13)?,
            window: short(14)?,
            payload: tcp.len().checked_sub(header)?,
            ..Segment::default()
        };
        segment.take_options(tcp.get(TCP..header)?);
        Some(segment)
    }

    fn take_options(&mut self, mut options: &[u8]) {
        while let [kind, rest @ ..] = options {
            if *kind == 1 {
                options = rest;
                continue;
            }
            let length = usize::from(rest.first().copied().unwrap_or(0));
            let (true, Some(body)) = (*kind != 0 && length >= 2, rest.get(1..length.max(2) - 1))
            else {
                return;
            };
            match kind {
                8 => self.times = (number(body, 0).unwrap_or(0), number(body, 4).unwrap_or(0)),
                5 => {
                    let block = |at: &[u8]| Some((number(at, 0)?, number(at, 4)?));
                    self.sacks = body.chunks_exact(8).filter_map(block).collect();
                }
                _ => {}
            }
            options = &rest[length - 1..];
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let segment = Segment {
            ports: [10_000, 40_000],
            seq: 5,
            ack: u32::MAX,
            flags: ACK | ECE,
            window: 7,
            times: (1, 2),
            sacks: vec![(3, 9), (20, 30)],
            payload: 101,
        };
        let syn = Segment { flags: SYN, sacks: vec![], payload: 0, ..segment.clone() };
        for segment in [segment, syn] {
            let packet = segment.packet([10, 77, 0, 2], [10, 77, 0, 1], Ecn::Ect0);
            assert_eq!(checksum(&packet[..20]), 0);
            let mut pseudo = packet[12..20].to_vec();
            pseudo.extend([0, 6]);
            pseudo.extend(((packet.len() - 20) as u16).to_be_bytes());
            pseudo.extend(&packet[20..]);
            assert_eq!(checksum(&pseudo), 0);
            for length in 0..40 {
                assert_eq!(Segment::read(&packet[..length]), None);
            }
            assert_eq!(Segment::read(&packet), Some(segment));
        }
    }
}
