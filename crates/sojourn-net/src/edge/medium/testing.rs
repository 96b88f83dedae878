//! Two stations and a link from each to the other, for tests of media.

use std::sync::LazyLock;

use super::{Channel, MediumInit};
use crate::edge::link::LinkSpec;
use crate::packet::{Address, Header, Packet};
use crate::queue::QueueInit;
use crate::rng::StreamKey;
use crate::units::Span;

/// Parameters of a medium that joins them.
pub(super) fn init() -> MediumInit<'static> {
    static LINK: LazyLock<LinkSpec> = LazyLock::new(LinkSpec::default);
    let random = StreamKey::root(1);
    let channel = |id, stations| Channel {
        id,
        stations,
        link: &LINK,
        queue: QueueInit {
            rate: None,
            overhead: 0,
            full_packet: 1500,
            base_rtt: Span::from_millis(10),
            ecn: false,
            random,
        },
        watch: None,
        tap: None,
    };
    let channels = vec![channel("out", ["a", "b"]), channel("back", ["b", "a"])];
    MediumInit { channels, categories: Vec::new(), random, watch: None }
}

/// A packet of `size` bytes.
pub(super) fn packet(size: u32) -> Packet {
    Address::default().packet(0, size, Header::opaque(0))
}
