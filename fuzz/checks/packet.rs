//! An IP packet of a kernel. Whatever its bytes are, those that are read as headers stay the same but
//! for what is set, and right checksums stay right.

use sojourn_base::packet::Ecn;
use sojourn_live::wire::{
    Headers, checksum, destination, parse, place, readdress, set_ecn, set_identification,
};

pub(crate) fn check(bytes: &[u8]) {
    let Some(headers) = parse(bytes) else { return };
    assert_eq!(headers.size as usize, bytes.len());
    let mut packet = bytes.to_vec();
    for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
        set_ecn(&mut packet, ecn);
        assert_eq!(parse(&packet), Some(Headers { ecn, ..headers }));
    }
    set_ecn(&mut packet, headers.ecn);
    assert_eq!(place(&packet), place(bytes));
    assert_eq!(destination(&packet), destination(bytes));
    if bytes[0] >> 4 == 4 {
        check_4(bytes, packet);
    } else {
        assert_eq!(packet, bytes);
    }
}

/// What only IPv4 has.
fn check_4(bytes: &[u8], mut packet: Vec<u8>) {
    let headers = parse(bytes);
    let ip = usize::from(bytes[0] & 15) * 4;
    let right = checksum(&bytes[..ip]) == 0;
    set_identification(&mut packet, 0xbeef);
    readdress(&mut packet, [10, 77, 1, 2], [10, 77, 1, 1]);
    assert_eq!(parse(&packet), headers);
    assert_eq!(packet[12..20], [10, 77, 1, 2, 10, 77, 1, 1]);
    assert!(!right || checksum(&packet[..ip]) == 0);
}
