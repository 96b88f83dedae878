//! The two endpoints of a flow.

use crate::cc::{self, ControlInit, EcnMode};
use crate::error::FieldError;
use crate::quantity::Limit;
use crate::rng::StreamKey;
use crate::scenario::{BufferSize, Flow, HostQueue, Stack, Transport};
use crate::topology::Network;
use crate::transport::{Endpoint, tcp, udp};
use crate::units::Time;

/// Never the limit unless the network holds more: Linux's usual maximum of a send buffer.
const LEAST_AUTO_BUFFER: u64 = 4_000_000;

/// Size of a full IP packet of `flow` in bytes.
pub fn full_packet(flow: &Flow<'_>) -> u32 {
    let headers = match flow.spec.transport {
        Transport::Tcp => tcp::HEADER,
        Transport::Udp => udp::HEADERS,
    };
    flow.spec.mss + headers
}

/// Sender and receiver of `flow`.
///
/// # Errors
/// If the congestion control or one of its parameters is wrong; never for a scenario that was
/// read. The field is relative to the flow.
pub fn build(
    flow: &Flow<'_>,
    network: &Network,
    random: StreamKey,
) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
    match flow.spec.transport {
        Transport::Udp => Ok(udp_ends(flow, network)),
        Transport::Tcp => tcp_ends(flow, network, random),
    }
}

fn udp_ends(flow: &Flow<'_>, network: &Network) -> [Box<dyn Endpoint>; 2] {
    let routes = &network.routes[flow.id as usize];
    let init = udp::UdpInit {
        flow: flow.id,
        source: routes.source,
        destination: routes.destination,
        mss: flow.spec.mss,
        ecn: flow.spec.ecn.unwrap_or(EcnMode::Off),
    };
    [Box::new(udp::Sender::new(init)), Box::new(udp::Receiver::new())]
}

fn tcp_ends(
    flow: &Flow<'_>,
    network: &Network,
    random: StreamKey,
) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
    let init = tcp_init(flow, network)?;
    let missing = || FieldError::new("cca", "is missing; name a congestion control");
    let cca = flow.spec.cca.as_ref().ok_or_else(missing)?;
    let control = ControlInit {
        initial_window: init.profile.initial_window,
        mss: init.mss,
        packet_size: full_packet(flow),
        now: init.now,
        paced: init.paced,
        base_rtt: network.base_rtt(flow.id as usize),
        random: random.child("cca"),
    };
    let control = cc::find(&cca.kind)
        .and_then(|entry| entry.build(&cca.params, &control))
        .map_err(|e| e.within("cca"))?;
    Ok([Box::new(tcp::Sender::new(init, control)), Box::new(tcp::Receiver::new(init))])
}

fn tcp_init(flow: &Flow<'_>, network: &Network) -> Result<tcp::TcpInit, FieldError> {
    let spec = flow.spec;
    let routes = &network.routes[flow.id as usize];
    let stack = spec.stack.unwrap_or(Stack::Linux6).name();
    let unknown = || FieldError::new("stack", format!("no profile for {stack}"));
    let profile = tcp::Profile::named(stack).ok_or_else(unknown)?;
    let auto = auto_buffer(flow, network);
    let size = |buffer, auto, stack| match buffer {
        BufferSize::Auto => auto,
        BufferSize::Stack => stack,
        BufferSize::Bytes(bytes) => bytes,
    };
    Ok(tcp::TcpInit {
        flow: flow.id,
        source: routes.source,
        destination: routes.destination,
        mss: spec.mss,
        profile,
        ecn: spec.ecn.unwrap_or(EcnMode::Off),
        ack_every: spec.ack_every,
        send_buffer: Some(size(spec.send_buffer, auto, LEAST_AUTO_BUFFER)),
        receive_buffer: Some(size(
            spec.receive_buffer,
            // So that the window is no tighter than the send buffer.
            (auto as f64 / profile.window_share) as u64,
            profile.receive_buffer_max,
        )),
        paced: spec.host_queue == HostQueue::Fq,
        offload: spec.offload.unwrap_or(profile.offload),
        gro: spec.gro,
        now: Time::ZERO + spec.start,
    })
}

/// The larger of 4 MB and what the path holds: twice the bandwidth-delay product at its lowest
/// rate, and the queues of its recorded links as far as they have a limit.
fn auto_buffer(flow: &Flow<'_>, network: &Network) -> u64 {
    let base_rtt = network.base_rtt(flow.id as usize);
    let path = &network.routes[flow.id as usize].forward;
    let links = || path.iter().map(|link| &network.links[*link as usize]);
    let lowest = links().filter_map(|link| link.spec.rate).min();
    let product = lowest.map_or(0, |rate| rate.bytes_in(base_rtt));
    let queues = links().filter(|link| link.recorded).flat_map(|link| {
        link.spec.queue_limits().map(|(_, limit)| match limit {
            Limit::Packets(packets) => packets.saturating_mul(full_packet(flow).into()),
            Limit::Bytes(bytes) => bytes,
            Limit::Bdp(share) => (share * product as f64) as u64,
        })
    });
    queues.fold(2 * product, u64::saturating_add).max(LEAST_AUTO_BUFFER)
}
