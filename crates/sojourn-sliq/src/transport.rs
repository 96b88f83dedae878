//! SLIQ: messages over UDP, under several congestion controls at once, repaired by retransmission,
//! by an erasure code, or by both, against a deadline.
//!
//! Model: chapters 3.1 to 3.3 of the GNAT report (Raytheon BBN, 2021), and where it does not
//! specify a detail the program behind it (raytheonbbn/IRON, `iron/sliq`). `mss` is the payload of
//! a message packet; `cca` names one control or several, in the order of preference: each packet
//! belongs to the first that permits it, and so do its ACK and its loss. `cubic` and `copa` are
//! SLIQ's own versions; any other control of the catalogue can be listed.
//!
//! | part | file |
//! | --- | --- |
//! | headers, and how they are written as bytes | `wire/` |
//! | handshake, ACKs, timeouts, outages, choice of the next packet | `connection/` |
//! | packets sent and received, losses, groups of the code | `stream/` |
//! | SLIQ's Cubic and Copa; controls of the catalogue | `control/` |
//! | choice and amount of error control | `aec/` |
//! | RTT; error rate, one-way delay; capacity | `rtt`, `measure`, `capacity` |
//! | the ends of a flow in the simulator | `endpoint/`, `build` |
//!
//! Keys under `stream` of the flow:
//!
//! | key | meaning and default |
//! | --- | --- |
//! | `reliability` | `reliable` (default), `best-effort`, `semi-reliable` (up to `retransmissions`), `adaptive` (retransmission and erasure code against a deadline) |
//! | `retransmissions` | of a packet, in semi-reliable and adaptive streams; default 2 |
//! | `deadline` | adaptive: time from writing to delivery |
//! | `rounds` | adaptive: rounds instead of a deadline, 1 to 7 |
//! | `probability` | adaptive: share to be delivered in time, 0.95 to 0.999; default 0.995 |
//! | `priority` | 0 (highest, default) to 7 |
//! | `ordered` | whether messages are delivered in order; default: if reliable |
//! | `queue` | messages that wait before the application writes more; default 16 |
//! | `reject_outliers` | whether the largest RTT, which decides if there is time for another round, is the median of the largest of the last five intervals instead of the largest of two |
//! | `both_ways` | whether the receiving end sends as well, without end; links' samples show it |
//!
//! A flow is one connection with one stream. A data packet has 16 bytes of SLIQ's header, in an
//! adaptive stream 24; a coded one two and its protected sequence number more. Not modelled:
//! remaining times to the deadline of single packets, direct connections, forced changes of a
//! stream while it is open. Deviations from the program: timers are exact, but as there a packet
//! may be sent up to 1 ms early; datagrams are processed one by one; the end of a stream is sent
//! once and retransmitted like data, not 32 times; a datagram has at most one ACK.
//!
//! The application offers messages as `iron/sliq/test/test_app.cc` does: without a pause as long as
//! there are any, whether the queue has room or not. `Connection::Send` (`sliq_connection.cc`) first
//! sends what waits and `TimeUntilSend` permits, which is what is due within 1 ms; so a packet that
//! pacing alone holds back goes 1 ms early, and alone, where the send timer would have sent it in
//! time with all others of the next 1 ms. Once all is written, the timer decides.
//!
//! Observes: of the connection `capacity` (bit/s), `error_rate`, `outage`; of each control, by its
//! name, `NAME.sent_packets`, `NAME.window` and `NAME.in_flight` (bytes) and what it observes
//! itself; of an adaptive stream `mode` (`pure-arq`, `coded-arq`, `pure-fec`) and
//! `groups_pure_arq`, `groups_coded_arq`, `groups_pure_fec`.

use super::connection::{Config, Connection, Role};
use super::control::{Catalogued, Control, Copa, Cubic};
use super::endpoint::{End, EndInit};
use super::mailbox::{self, Mailbox};
use super::section::{self, FlowKeys};
use super::virtual_payload::Virtual;
use super::wire::{DATA_LEN, MAX_DATAGRAM, UNDERLAY, WINDOW};
use sojourn_base::endpoint::Endpoint;
use sojourn_base::error::FieldError;
use sojourn_base::packet::Ecn;
use sojourn_base::registry::{Catalogue, NoParams};
use sojourn_base::units::Time;
use sojourn_sim::spec::{Cca, EcnMode, Spec};
use sojourn_sim::transport::{Registered, TransportInit};
use sojourn_tcp::cc::ControlInit;

/// IPv4, UDP and SLIQ's data header.
const HEADERS: u32 = UNDERLAY + DATA_LEN as u32;

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
    const PACES: bool = true;

    fn endpoints(
        _params: NoParams,
        init: &TransportInit<'_>,
        catalogue: &Catalogue,
    ) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
        let flow = init.flow;
        let spec = flow.own.get::<FlowKeys>().stream.unwrap_or_default();
        let stream = section::check(flow.mss, &spec)?;
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
            let config = Config {
                role,
                client: 1,
                initial_seq: 0,
                controls,
                reject_outliers: spec.reject_outliers,
                window: WINDOW,
                largest: MAX_DATAGRAM,
            };
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
    let mut told = control_init(init.flow.mss);
    told.now = Time::ZERO + init.flow.start;
    told.base_rtt = init.base_rtt;
    told.random = random.index(u64::from(role == Role::Server));
    told.flow = init.addresses[0].flow;
    make_control(spec, &told, catalogue)
}

/// Parameters of a connection of SLIQ with messages of `mss` bytes for a control of the catalogue.
pub fn control_init(mss: u32) -> ControlInit {
    let mut init = ControlInit::new(mss, mss + HEADERS);
    init.paced = true;
    init
}

/// A control for a connection: SLIQ's own `cubic` or `copa`, or one of the catalogue.
///
/// # Errors
/// There is no control of that name, or a parameter is not allowed.
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
