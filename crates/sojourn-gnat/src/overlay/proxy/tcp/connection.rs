//! The connections that proxies have with hosts and with each other.

use crate::overlay::config::OverlayFlow;
use sojourn_base::packet::{Address, Direction, Dscp, FiveTuple, Route};
use sojourn_base::quantity::Packets;
use sojourn_base::rng::StreamKey;
use sojourn_base::units::Span;
use sojourn_sim::spec::BufferSize;
use sojourn_tcp::cc::{CongestionControl, Registered, cubic, fixed_window};
use sojourn_tcp::tcp::{HEADER, LossDetection, Profile, RFC, Sender, TcpInit};

/// Largest IP packet between proxies: 1,280 bytes of payload, as they ask of their hosts.
const MTU: u32 = 1_332;
/// Bytes that a proxy keeps for a connection to a host, and between proxies.
const HOST_BUFFER: u64 = 1_000_000;
pub(super) const BETWEEN: u64 = 3_000_000;

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
    let host = init(flow, mss, profile);
    let mut between = host;
    between.mss = mss.min(MTU - HEADER);
    between.send_buffer = BufferSize::Bytes(BETWEEN);
    between.receive_buffer = BufferSize::Bytes(2 * BETWEEN);
    between.profile = &PROXY;
    (host, between)
}

fn init(flow: &OverlayFlow, mss: u32, profile: &'static Profile) -> TcpInit {
    let id = flow.flow;
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
    init.now = flow.start;
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
