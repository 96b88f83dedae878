//! A datagram of SLIQ. What is read of any bytes is written in no more bytes than they are, and read
//! of those again.

use sojourn_sliq::udp::Message;
use sojourn_sliq::wire::{Datagram, decode, encode};

pub(crate) fn check(bytes: &[u8]) {
    let Ok(datagram) = decode::<Message>(bytes) else { return };
    let mut written = Vec::new();
    encode(&datagram, &mut written);
    assert_eq!(written.len(), datagram.size());
    assert!(written.len() <= bytes.len(), "{datagram:?}");
    assert_eq!(decode::<Message>(&written), Ok::<Datagram<Message>, _>(datagram));
}
