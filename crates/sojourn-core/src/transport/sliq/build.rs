//! From a scenario's flow to its two ends.

use super::connection::{Config, Connection, Role};
use super::control::{Catalogued, Control, Copa, Cubic};
use super::endpoint::{End, EndInit};
use super::mailbox::{self, Mailbox};
use super::section::{FlowKeys, ReliabilityMode, StreamSpec};
use super::stream::{Reliability, StreamConfig, Target};
use super::virtual_payload::Virtual;
use super::wire::MAX_DATAGRAM;
use crate::cc::{ControlInit, INFINITE_SSTHRESH};
use crate::error::FieldError;
use crate::packet::Ecn;
use crate::registry::{Catalogue, NoParams};
use crate::rng::StreamKey;
use crate::spec::{Cca, EcnMode, Spec};
use crate::transport::{Endpoint, Registered, TransportInit};
use crate::units::{Span, Time};

/// IPv4, UDP and SLIQ's data header.
const HEADERS: u32 = 44;
/// SLIQ's largest data header.
const DATA_HEADER: usize = 30;
/// Bytes by which a coded packet is longer than its longest source packet, at most.
const CODED: usize = 5;

/// SLIQ between one sender and one receiver.
#[derive(Debug)]
pub struct Sliq;

impl Registered for Sliq {
    type Params = NoParams;
    const HEADERS: u32 = HEADERS;
    const CONTROLLED: bool = true;
    const OWN_CONTROLS: &'static [&'static str] = &["cubic", "copa"];
    const SEVERAL_CONTROLS: bool = true;
    const STREAM: bool = true;

    fn endpoints(
        _params: NoParams,
        init: &TransportInit<'_>,
        catalogue: &Catalogue,
    ) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
        let flow = init.flow;
        let most = MAX_DATAGRAM - DATA_HEADER - CODED;
        if flow.mss as usize > most {
            let message = format!("{} B given; sliq's messages have at most {most} B", flow.mss);
            return Err(FieldError::new("mss", message));
        }
        let spec = flow.own.get::<FlowKeys>().stream.unwrap_or_default();
        let stream = stream(&spec)?;
        let mailbox =
            || if init.copied { Mailbox::default() } else { Mailbox::once(mailbox::REORDERED) };
        let boxes = [mailbox(), mailbox()];
        let ecn = match flow.ecn.unwrap_or_default() {
            EcnMode::Off => Ecn::NotEct,
            _ => Ecn::Ect0,
        };
        let end = |role: Role| -> Result<Box<dyn Endpoint>, FieldError> {
            let client = role == Role::Client;
            let [first, second] = boxes.clone();
            let end = EndInit {
                address: init.addresses[usize::from(!client)],
                boxes: if client { [first, second] } else { [second, first] },
                mss: flow.mss as u16,
                queue: spec.queue.0.max(1) as usize,
                stream: client.then_some(stream),
                greedy: !client && spec.both_ways,
                ecn,
                deadline: spec.deadline,
            };
            let controls = controls(role, init, catalogue)?;
            let reject_outliers = spec.reject_outliers;
            let config = Config { role, client: 1, initial_seq: 0, controls, reject_outliers };
            Ok(Box::new(End::new(end, Connection::<Virtual>::new(config))))
        };
        Ok([end(Role::Client)?, end(Role::Server)?])
    }
}

type Named = (String, Box<dyn Control>);

fn controls(
    role: Role,
    init: &TransportInit<'_>,
    catalogue: &Catalogue,
) -> Result<Vec<Named>, FieldError> {
    let missing = || FieldError::new("cca", "is missing; name a congestion control");
    let named = init.flow.cca.as_ref().ok_or_else(missing)?;
    let several = named.iter().count() > 1;
    let within = |index: usize| if several { format!("cca.{index}") } else { "cca".to_owned() };
    let make = |(index, spec): (usize, &Spec<Cca>)| {
        let control = control(spec, role, init, catalogue).map_err(|e| e.within(&within(index)))?;
        Ok((spec.kind.clone(), control))
    };
    named.iter().enumerate().map(make).collect()
}

fn control(
    spec: &Spec<Cca>,
    role: Role,
    init: &TransportInit<'_>,
    catalogue: &Catalogue,
) -> Result<Box<dyn Control>, FieldError> {
    let random = init.random.child("cca").child(&spec.kind);
    let init = ControlInit {
        now: Time::ZERO + init.flow.start,
        base_rtt: init.base_rtt,
        random: random.index(u64::from(role == Role::Server)),
        flow: init.addresses[0].flow,
        ..control_init(init.flow.mss)
    };
    make_control(spec, &init, catalogue)
}

/// What a control of the catalogue is told on a connection of SLIQ with messages of `mss` bytes.
pub fn control_init(mss: u32) -> ControlInit {
    ControlInit {
        initial_window: 10,
        initial_ssthresh: INFINITE_SSTHRESH,
        undo_doubles: false,
        mss,
        packet_size: mss + HEADERS,
        now: Time::ZERO,
        paced: true,
        offload: true,
        base_rtt: Span::ZERO,
        random: StreamKey::root(0),
        flow: 0,
    }
}

/// A control for a connection: SLIQ's own `cubic` or `copa`, or one of the catalogue.
///
/// # Errors
/// If there is none of that name, or a parameter is not allowed.
pub fn make_control(
    spec: &Spec<Cca>,
    init: &ControlInit,
    catalogue: &Catalogue,
) -> Result<Box<dyn Control>, FieldError> {
    Ok(match spec.kind.as_str() {
        "cubic" => Box::new(Cubic::new(init.now)),
        "copa" => Box::new(Copa::default()),
        _ => {
            let entry = catalogue.find::<Cca>(&spec.kind)?;
            let control = (entry.make)(&spec.params, init, catalogue)?;
            Box::new(Catalogued::new(control, init.mss))
        }
    })
}

fn stream(spec: &StreamSpec) -> Result<StreamConfig, FieldError> {
    let retransmissions = spec.retransmissions;
    let reliability = match spec.reliability {
        ReliabilityMode::BestEffort => Reliability::BestEffort,
        ReliabilityMode::SemiReliable => Reliability::SemiReliable { retransmissions },
        ReliabilityMode::Reliable => Reliability::Reliable,
        ReliabilityMode::Adaptive => {
            let target = match (spec.deadline, spec.rounds) {
                (Some(deadline), None) => Target::Deadline(deadline),
                (None, Some(rounds)) => Target::Rounds(rounds),
                _ => {
                    let message = "adaptive needs either a deadline or a number of rounds";
                    return Err(FieldError::new("stream", message));
                }
            };
            let probability = spec.probability;
            Reliability::Adaptive { retransmissions, probability, target }
        }
    };
    let ordered = spec.ordered.unwrap_or(reliability == Reliability::Reliable);
    let config = StreamConfig { priority: spec.priority, reliability, ordered };
    let refuse = |(field, allowed)| {
        FieldError::new(format!("stream.{field}"), format!("not allowed; allowed: {allowed}"))
    };
    config.check().map_err(refuse)?;
    Ok(config)
}
