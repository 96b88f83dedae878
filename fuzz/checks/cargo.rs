//! Any bytes are a message between overlay nodes or nothing. A message takes as many bytes as the input
//! has, and is read again from what is written of it; and what is allowed has no member, group, stream
//! or flow that its overlay does not have, applications' included.

use std::sync::{Arc, LazyLock};

use sojourn_base::units::Time;
use sojourn_gnat::ServiceSpec;
use sojourn_gnat::overlay::message::{Bounds, Cargo, Carried};
use sojourn_gnat::overlay::{FlowTransport, GroupOfApplications, OverlayConfig, OverlayFlow};
use sojourn_net::multicast::{Groups, Receiver, Stream};
use sojourn_sliq::Payload;

/// Members of the overlay.
const MEMBERS: usize = 3;
/// The first number of applications' flows.
const FIRST: u32 = 1 << 30;

/// Flows 0 to 2, of datagrams, of TCP, and of a stream, from the first member to the others.
static BOUNDS: LazyLock<Bounds> = LazyLock::new(|| {
    let receivers = [1, 2].map(|member| {
        let flow = 1 + u32::from(member);
        Receiver { flow, member, start: Time::ZERO, stop: Time::NEVER }
    });
    let known = Groups {
        members: vec![0, 1, 2],
        streams: vec![Stream { group: 0, receivers: receivers.into() }],
        groups: vec!["group".to_owned()],
        ..Groups::default()
    };
    let udp = FlowTransport::Udp;
    let kinds = [udp, FlowTransport::Tcp { mss: 1_000 }, FlowTransport::Stream { index: 0 }];
    let flows = kinds.into_iter().zip(0..).map(|(transport, flow)| {
        let service = ServiceSpec::default();
        OverlayFlow { flow, ends: [0, 1], service, transport, start: Time::ZERO }
    });
    let groups = [GroupOfApplications { address: 0xef01_0101, receivers: vec![0, 1] }];
    let config = OverlayConfig::new(known, flows.collect()).with_application_groups(&groups);
    Bounds::new(Arc::new(config)).with_applications()
});

pub(crate) fn check(bytes: &[u8]) {
    let cargo = Cargo::from(bytes);
    if matches!(cargo, Cargo::Nothing) {
        return;
    }
    assert_eq!(cargo.len(), bytes.len());
    let mut written = Vec::new();
    cargo.put(&mut written);
    assert_eq!(written.len(), bytes.len());
    let again = Cargo::from(&written[..]);
    assert_eq!(format!("{again:?}"), format!("{cargo:?}"));
    if BOUNDS.allows(&cargo) {
        is_known(&cargo);
    }
}

/// What a node takes as an index is one.
fn is_known(cargo: &Cargo) {
    match cargo {
        Cargo::Parcel(parcel) => {
            assert!(usize::from(parcel.to) < MEMBERS && parcel.seen >> MEMBERS == 0);
            let Carried { packet, bytes } = &*parcel.packet;
            let held = bytes.as_ref().map_or(0, |bytes| bytes.len());
            assert!(held <= packet.size as usize);
            if packet.flow < 2 {
                return assert!(bytes.is_none());
            }
            // Of an application: a datagram, or a connection from one member to another.
            let member = (packet.flow - FIRST) >> 24;
            assert!(packet.flow >= FIRST && (member as usize) < MEMBERS);
            if packet.flow != FIRST {
                assert!((packet.index as usize) < MEMBERS && packet.index != u32::from(parcel.to));
            }
        }
        Cargo::Copies(copies) => {
            let of_application = copies.packet.bytes.is_some();
            assert!((copies.stream > 0) == of_application && copies.to >> MEMBERS == 0);
            assert!(usize::from(copies.stream) <= MEMBERS);
        }
        Cargo::Depths(depths) => {
            assert!(depths.bytes.len() <= MEMBERS && depths.groups.len() <= 2);
            assert!(depths.groups.iter().all(|group| group.len() <= MEMBERS));
        }
        Cargo::LinkState(state) => {
            let ends = state.links.iter().map(|(to, _)| *to);
            assert!(ends.chain([state.origin]).all(|member| usize::from(member) < MEMBERS));
        }
        Cargo::Nothing | Cargo::Zombie(_) | Cargo::Coded(..) => {}
    }
}
