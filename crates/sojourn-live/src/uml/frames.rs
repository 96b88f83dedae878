//! Ethernet frames of a card, and the datagrams between the agent inside a kernel and this process.

use sojourn_base::packet::headers;

use super::card::mac;
use crate::wire::checksum;

/// Bytes before the IP packet.
pub(super) const ETHERNET: usize = headers::ETHERNET as usize;
const IPV4: [u8; 2] = [8, 0];
const HEADERS: usize = (headers::IP + headers::UDP) as usize;
const UDP: u8 = 17;
/// Address to which the agent sends its messages.
pub(super) const CONTROL: [u8; 4] = [10, 77, 0, 254];
/// UDP port of both ends.
pub(super) const CONTROL_PORT: u16 = 9;

/// The IPv4 packet in a frame.
pub(super) fn packet_of(frame: &[u8]) -> Option<&[u8]> {
    let ethernet = frame.get(..ETHERNET)?;
    let packet = &frame[ETHERNET..];
    let length = packet.get(2..4).filter(|_| ethernet[12..] == IPV4)?;
    let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
    Some(packet.get(..length).unwrap_or(packet))
}

/// A frame to the card with this number: an Ethernet header and an IPv4 packet.
pub(super) fn frame_to(card: u8, packet: &[u8], frame: &mut Vec<u8>) {
    frame.clear();
    frame.extend_from_slice(&mac(card));
    frame.extend_from_slice(&mac(u8::MAX));
    frame.extend_from_slice(&IPV4);
    frame.extend_from_slice(packet);
}

/// The agent's message in a packet, if the packet is addressed to this process.
pub(super) fn said(packet: &[u8]) -> Option<&[u8]> {
    (packet.get(16..20)? == CONTROL).then(|| packet.get(HEADERS..)).flatten()
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
    fn what_is_no_ipv4_is_no_packet() {
        assert_eq!(packet_of(&[0; 60]), None);
        assert_eq!(packet_of(&[0; 5]), None);
        let cut: Vec<u8> = [&[0_u8; 12][..], &IPV4, &[0x45, 0, 0]].concat();
        assert_eq!(packet_of(&cut), None);
    }
}
