//! Changes of headers, which keep checksums right.

use sojourn_base::packet::{Dscp, Ecn};

use super::{TCP, UDP, class, ipv6};

/// Writes the ECN field of a packet; updates the header's checksum.
pub fn set_ecn(bytes: &mut [u8], to: Ecn) {
    if let Some((dscp, _)) = class(bytes) {
        set_class(bytes, dscp, to);
    }
}

/// Writes the traffic class with which a packet leaves the network: codepoint and ECN field; updates
/// the checksum of a header of IPv4 (RFC 1624), the only one that has one.
pub fn set_class(bytes: &mut [u8], dscp: Dscp, ecn: Ecn) {
    let class = dscp.number() << 2 | ecn.codepoint();
    if bytes[0] >> 4 == 6 {
        [bytes[0], bytes[1]] = ipv6::with_class([bytes[0], bytes[1]], class);
        return;
    }
    if bytes[1] == class {
        return;
    }
    let before = [bytes[0], bytes[1]];
    bytes[1] = class;
    let after = [bytes[0], bytes[1]];
    amend(&mut bytes[10..12], &before, &after);
}

/// Sets the identification of an IPv4 packet; updates the header's checksum (RFC 1624).
pub fn set_identification(bytes: &mut [u8], to: u16) {
    let before = [bytes[4], bytes[5]];
    bytes[4..6].copy_from_slice(&to.to_be_bytes());
    amend(&mut bytes[10..12], &before, &to.to_be_bytes());
}

/// Sets the addresses of an IPv4 packet; updates the checksums.
pub fn readdress(bytes: &mut [u8], source: [u8; 4], destination: [u8; 4]) {
    let mut after = [0; 8];
    after[..4].copy_from_slice(&source);
    after[4..].copy_from_slice(&destination);
    let mut before = [0; 8];
    before.copy_from_slice(&bytes[12..20]);
    bytes[12..20].copy_from_slice(&after);
    amend(&mut bytes[10..12], &before, &after);
    let ip = usize::from(bytes[0] & 15) * 4;
    let place = match bytes[9] {
        TCP => ip + 16,
        UDP => ip + 6,
        _ => return,
    };
    // A UDP checksum of zero means none.
    let checksum = bytes.get_mut(place..place + 2).filter(|checksum| **checksum != [0, 0]);
    if let Some(checksum) = checksum {
        amend(checksum, &before, &after);
    }
}

/// Updates a checksum after a change (RFC 1624).
fn amend(checksum: &mut [u8], before: &[u8], after: &[u8]) {
    let words = |bytes: &[u8]| -> Vec<u16> {
        bytes.chunks_exact(2).map(|word| u16::from_be_bytes([word[0], word[1]])).collect()
    };
    let mut sum = u32::from(!u16::from_be_bytes([checksum[0], checksum[1]]));
    sum += words(before).iter().map(|word| u32::from(!word)).sum::<u32>();
    sum += words(after).iter().map(|word| u32::from(*word)).sum::<u32>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    checksum.copy_from_slice(&(!(sum as u16)).to_be_bytes());
}
