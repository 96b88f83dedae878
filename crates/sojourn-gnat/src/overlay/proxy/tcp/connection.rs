//! The connections that proxies have with hosts and with each other.

use crate::overlay::config::OverlayFlow;
use sojourn_base::packet::{Address, Direction, Dscp, FiveTuple, Route};
use sojourn_base::quantity::Packets;
use sojourn_base::rng::StreamKey;
use sojourn_base::units::{Span, Time};
use sojourn_sim::spec::BufferSize;
use sojourn_tcp::cc::{CongestionControl, Registered, cubic, fixed_window};
use sojourn_tcp::tcp::{Duplex, HEADER, LossDetection, Profile, RFC, Receiver, Sender, TcpInit};

/// Largest IP packet between proxies: 1,280 bytes of payload, as they ask of their hosts.
const MTU: u32 = 1_332;
/// Bytes that a proxy keeps for a connection to a host, and between proxies.
const HOST_BUFFER: u64 = 1_000_000;
pub(crate) const BETWEEN: u64 = 3_000_000;
/// Payload of a full segment between proxies.
pub(crate) const MSS: u32 = MTU - HEADER;

/// TCP between proxies: `iron/tcp_proxy/src/socket.cc` and `send_buffer.cc` of raytheonbbn/IRON. A
/// second retransmission waits for two RTTs here, for one there; a flow with nothing new to send
/// does not repeat at once missing data that has left its node.
static PROXY: Profile = Profile {
    loss_detection: LossDetection::ReorderingTolerant,
    rto_initial: Span::from_secs(6),
    ..RFC
};

/// The connections of a flow with its host here, and with the other proxy.
pub(super) fn connections(flow: &OverlayFlow, mss: u32) -> (TcpInit, TcpInit) {
    let profile = Profile::named("linux-6").unwrap_or_else(|| unreachable!());
    let host = init(flow.flow, flow.start, mss, profile);
    (host, between(host))
}

/// An end of a connection between the nodes of two applications: the one that asks, or that answers.
pub(crate) fn duplex(flow: u32, now: Time, asks: bool) -> Duplex {
    let mut init = between(init(flow, now, MSS, &PROXY));
    let own = if asks { init.forward } else { init.backward };
    (init.forward, init.backward) = (own, own);
    let (sender, receiver) = (sender(init, Some(BETWEEN)), Receiver::new(init).with_reader());
    if asks { Duplex::asks(sender, receiver) } else { Duplex::answers(sender, receiver) }
}

/// As the connection to a host, between proxies.
fn between(host: TcpInit) -> TcpInit {
    let mut between = host;
    between.mss = host.mss.min(MSS);
    between.send_buffer = BufferSize::Bytes(BETWEEN);
    between.receive_buffer = BufferSize::Bytes(2 * BETWEEN);
    between.profile = &PROXY;
    between
}

fn init(id: u32, start: Time, mss: u32, profile: &'static Profile) -> TcpInit {
    let address = |direction, socket| Address {
        flow: id,
        direction,
        dscp: Dscp::BEST_EFFORT,
        route: Route::default(),
        socket,
        tuple: FiveTuple::of_flow(id),
    };
    let mut init = TcpInit::new(profile);
    init.forward = address(Direction::Forward, 2 * id + 1);
    init.backward = address(Direction::Backward, 2 * id);
    init.mss = mss;
    // `kDefaultLanIfAckBehave`, `kDefaultWanIfAckBehave`.
    init.ack_every = 1;
    init.send_buffer = BufferSize::Bytes(HOST_BUFFER);
    init.receive_buffer = BufferSize::Bytes(HOST_BUFFER);
    init.nagle = false;
    init.now = start;
    init
}

/// A sender without congestion control, with this window in bytes, or with Cubic.
pub(super) fn sender(init: TcpInit, window: Option<u64>) -> Sender {
    let about = Sender::control_init(&init, Span::ZERO, StreamKey::root(0));
    let control: Box<dyn CongestionControl> = match window {
        Some(bytes) => {
            let window = Packets((bytes / u64::from(init.mss)).max(1));
            Box::new(fixed_window::FixedWindow::new(fixed_window::Params { window }, &about))
        }
        None => Box::new(cubic::Cubic::new(Default::default(), &about)),
    };
    Sender::new(init, control)
}
