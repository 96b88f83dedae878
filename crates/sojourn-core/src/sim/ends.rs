//! The two endpoints of a flow.

use crate::cc::{self, ControlInit, EcnMode};
use crate::error::FieldError;
use crate::packet::Address;
use crate::rng::StreamKey;
use crate::scenario::{BufferSize, Flow, HostQueue, Stack, Transport};
use crate::topology::Plan;
use crate::transport::{Endpoint, tcp, udp};
use crate::units::Time;

/// Linux's usual maximum of a send buffer (`tcp_wmem[2]`).
const SEND_BUFFER_MAX: u64 = 4_000_000;

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
    plan: &Plan,
    addresses: [Address; 2],
    random: StreamKey,
) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
    match flow.spec.transport {
        Transport::Udp => Ok(udp_ends(flow, addresses)),
        Transport::Tcp => tcp_ends(flow, plan, addresses, random),
    }
}

fn udp_ends(flow: &Flow<'_>, [forward, _]: [Address; 2]) -> [Box<dyn Endpoint>; 2] {
    let init =
        udp::UdpInit { forward, mss: flow.spec.mss, ecn: flow.spec.ecn.unwrap_or(EcnMode::Off) };
    [Box::new(udp::Sender::new(init)), Box::new(udp::Receiver::new())]
}

fn tcp_ends(
    flow: &Flow<'_>,
    plan: &Plan,
    addresses: [Address; 2],
    random: StreamKey,
) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
    let init = tcp_init(flow, addresses)?;
    let missing = || FieldError::new("cca", "is missing; name a congestion control");
    let cca = flow.spec.cca.as_ref().ok_or_else(missing)?;
    let control = ControlInit {
        initial_window: init.profile.initial_window,
        mss: init.mss,
        packet_size: full_packet(flow),
        now: init.now,
        paced: init.paced,
        base_rtt: plan.base_rtt(flow.id as usize),
        random: random.child("cca"),
    };
    let control = cc::find(&cca.kind)
        .and_then(|entry| entry.build(&cca.params, &control))
        .map_err(|e| e.within("cca"))?;
    Ok([Box::new(tcp::Sender::new(init, control)), Box::new(tcp::Receiver::new(init))])
}

fn tcp_init(
    flow: &Flow<'_>,
    [forward, backward]: [Address; 2],
) -> Result<tcp::TcpInit, FieldError> {
    let spec = flow.spec;
    let stack = spec.stack.unwrap_or(Stack::Linux6).name();
    let unknown = || FieldError::new("stack", format!("no profile for {stack}"));
    let profile = tcp::Profile::named(stack).ok_or_else(unknown)?;
    let size = |buffer, stack| match buffer {
        BufferSize::Auto => None,
        BufferSize::Stack => Some(stack),
        BufferSize::Bytes(bytes) => Some(bytes),
    };
    Ok(tcp::TcpInit {
        forward,
        backward,
        mss: spec.mss,
        profile,
        ecn: spec.ecn.unwrap_or(EcnMode::Off),
        ack_every: spec.ack_every,
        send_buffer: size(spec.send_buffer, SEND_BUFFER_MAX),
        receive_buffer: size(spec.receive_buffer, profile.receive_buffer_max),
        paced: spec.host_queue == HostQueue::Fq,
        offload: spec.offload.unwrap_or(profile.offload),
        gro: spec.gro,
        now: Time::ZERO + spec.start,
    })
}
