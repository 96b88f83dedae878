//! Ethernet frames of a card, and the datagrams between the agent inside a kernel and this process.

use sojourn_base::packet::headers;

use super::card::mac;
use crate::wire::checksum;

/// Bytes before the IP packet.
pub(super) const ETHERNET: usize = headers::ETHERNET as usize;
const IPV4: [u8; 2] = [8, 0];
const IPV6: [u8; 2] = [0x86, 0xdd];
/// Bytes of IPv6's header, which its length does not count.
const IPV6_HEADER: usize = 40;
const HEADERS: usize = (headers::IP + headers::UDP) as usize;
const UDP: u8 = 17;
/// Address to which the agent sends its messages.
pub(super) const CONTROL: [u8; 4] = [10, 77, 0, 254];
/// UDP port of both ends.
pub(super) const CONTROL_PORT: u16 = 9;

/// The IP packet in a frame.
pub(super) fn packet_of(frame: &[u8]) -> Option<&[u8]> {
    let (ethernet, packet) = frame.split_at_checked(ETHERNET)?;
    let word = |at: usize| {
        let bytes = packet.get(at..at + 2)?;
        Some(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    };
    let length = match [ethernet[12], ethernet[13]] {
        IPV4 => word(2)?,
        IPV6 => IPV6_HEADER + word(4)?,
        _ => return None,
    };
    Some(packet.get(..length).unwrap_or(packet))
}

/// A frame to the card with this number: an Ethernet header and an IP packet.
pub(super) fn frame_to(card: u8, packet: &[u8], frame: &mut Vec<u8>) {
    let version = packet.first().map_or(4, |first| first >> 4);
    frame.clear();
    frame.extend_from_slice(&mac(card));
    frame.extend_from_slice(&mac(u8::MAX));
    frame.extend_from_slice(if version == 6 { &IPV6 } else { &IPV4 });
    frame.extend_from_slice(packet);
}

/// The agent's message in a packet, if the packet is addressed to this process.
pub(super) fn said(packet: &[u8]) -> Option<&[u8]> {
    let is_for_us = packet.first()? >> 4 == 4 && packet.get(16..20)? == CONTROL;
    is_for_us.then(|| packet.get(HEADERS..)).flatten()
}

/// A packet that answers the agent's message in `question`.
pub(super) fn answer(question: &[u8], content: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; HEADERS];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&((HEADERS + content.len()) as u16).to_be_bytes());
    packet[8..10].copy_from_slice(&[64, UDP]);
    packet[12..16].copy_from_slice(&question[16..20]);
    packet[16..20].copy_from_slice(&question[12..16]);
    let sum = checksum(&packet[..20]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet[20..22].copy_from_slice(&question[22..24]);
    packet[22..24].copy_from_slice(&question[20..22]);
    packet[24..26].copy_from_slice(&((HEADERS - 20 + content.len()) as u16).to_be_bytes());
    packet.extend_from_slice(content); // a UDP checksum of zero stands for none
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_goes_back_where_the_question_came_from() {
        let mut question = answer(&[0; HEADERS], b"question");
        question[12..20].copy_from_slice(&[10, 77, 0, 1, 10, 77, 0, 254]);
        question[20..24].copy_from_slice(&[4, 0, 0, 9]);
        assert_eq!(said(&question), Some(&b"question"[..]));
        let answered = answer(&question, b"yes");
        assert_eq!(answered[12..20], [10, 77, 0, 254, 10, 77, 0, 1]);
        assert_eq!(answered[20..24], [0, 9, 4, 0]);
        assert_eq!(checksum(&answered[..20]), 0);
        let mut frame = Vec::new();
        frame_to(1, &answered, &mut frame);
        frame.extend_from_slice(&[0; 9]); // short frames are padded
        assert_eq!(packet_of(&frame), Some(&answered[..]));
        assert_eq!(said(&answered), None);
    }

    #[test]
    fn packets_of_both_versions_are_as_long_as_they_say() {
        let mut packet = vec![0x60, 0, 0, 0, 0, 3, 17, 64];
        packet.resize(IPV6_HEADER + 3, 9);
        packet[16..20].copy_from_slice(&CONTROL); // a part of the source's address
        let mut frame = Vec::new();
        frame_to(2, &packet, &mut frame);
        assert_eq!(frame[12..14], IPV6);
        frame.extend_from_slice(&[0; 9]);
        assert_eq!(packet_of(&frame), Some(&packet[..]));
        assert_eq!(said(&packet), None);
    }

    #[test]
    fn what_is_no_ip_is_no_packet() {
        assert_eq!(packet_of(&[0; 60]), None);
        assert_eq!(packet_of(&[0; 5]), None);
        let cut: Vec<u8> = [&[0_u8; 12][..], &IPV4, &[0x45, 0, 0]].concat();
        assert_eq!(packet_of(&cut), None);
    }
}
