//! TCP, with Linux as the reference.
//!
//! | part | file |
//! | --- | --- |
//! | differences between stacks and eras | `profile` |
//! | what is known of each outstanding segment | `scoreboard` |
//! | loss detection by counting; of retransmissions | `dupthresh`, `retransmissions` |
//! | RTT, timeout, delivery rate, pacing, window reduction, loss detection by time | `recovery` |
//! | data the application has written | `send_buffer`, `send_memory` |
//! | the sender: ACKs, recovery, output, timers | `sender/` |
//! | the receiver: reassembly, ACK policy, echo of marks, window | `receiver`, `reassembly`, `echo`, `autotune` |
//! | an application that reads at its own pace; a proxy between two connections | `reader`, `relay` |
//! | a connection over which both ends send: requests and responses | `duplex` |
//! | what hosts remember of earlier connections | `metrics` |
//! | packets that arrive at one end, and what it must send | `script` |
//!
//! Not modelled: connection teardown (a flow is complete when all its data is acknowledged), MTU
//! probing. Receivers never renege on what they have SACKed; senders notice one that does.

use crate::cc::{EcnMode, INFINITE_SSTHRESH};
use crate::endpoint::Endpoint;
use crate::error::FieldError;
use crate::registry::{Catalogue, NoParams};
use crate::spec::{Cca, Controls, HostQueue, Pacing};
use crate::tcp::{Duplex, HEADER, Profile, Receiver, Sender, TcpInit};
use crate::transport::{Registered, TransportInit};

/// TCP between one sender and one receiver.
#[derive(Debug)]
pub struct Tcp;

impl Registered for Tcp {
    type Params = NoParams;
    const HEADERS: u32 = HEADER;
    const CONTROLLED: bool = true;
    const TUNABLE: bool = true;

    fn endpoints(
        _params: NoParams,
        init: &TransportInit<'_>,
        catalogue: &Catalogue,
    ) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
        let tcp = tcp_init(init)?;
        let (sender, receiver) = half(tcp, ["cca", "receiver"], init, catalogue)?;
        if !init.requests {
            return Ok([sender, receiver]);
        }
        let (asking, asked) = half(reversed(tcp), ["request", "asked"], init, catalogue)?;
        let [server, client] = Duplex::pair((*sender, *asked), (*asking, *receiver));
        Ok([Box::new(server), Box::new(client)])
    }
}

/// A sender, and the receiver of what it sends; their controls draw by these names. Boxed at once: they
/// are large, and each connection that comes has its own.
fn half(
    tcp: TcpInit,
    names: [&str; 2],
    init: &TransportInit<'_>,
    catalogue: &Catalogue,
) -> Result<(Box<Sender>, Box<Receiver>), FieldError> {
    let missing = || FieldError::new("cca", "is missing; name a congestion control");
    let cca = init.flow.cca.as_ref().and_then(Controls::only).ok_or_else(missing)?;
    let made = |name| {
        let control = Sender::control_init(&tcp, init.base_rtt, init.random.child(name));
        let entry = catalogue.find::<Cca>(&cca.kind);
        let made = entry.and_then(|entry| (entry.make)(&cca.params, &control, catalogue));
        made.map_err(|e| e.within("cca"))
    };
    let control = made(names[0])?;
    let serves = tcp.ecn == EcnMode::Classic && control.follows_arrivals();
    let at_receiver = if serves { Some(made(names[1])?) } else { None };
    let receiver = Receiver::new(tcp).served_by(at_receiver);
    let sender = Sender::new(tcp, control).remembering(init.memory);
    Ok((Box::new(sender), Box::new(receiver)))
}

/// The same connection the other way round. Departures are told to the flow's sender only.
fn reversed(tcp: TcpInit) -> TcpInit {
    let mut reversed = tcp;
    (reversed.forward, reversed.backward) = (tcp.backward, tcp.forward);
    reversed.small_queue = false;
    reversed
}

fn tcp_init(init: &TransportInit<'_>) -> Result<TcpInit, FieldError> {
    let flow = init.flow;
    let [forward, backward] = init.addresses;
    let stack = flow.stack.unwrap_or_default().name();
    let unknown = || FieldError::new("stack", format!("no profile for {stack}"));
    let profile = Profile::named(stack).ok_or_else(unknown)?;
    let offload = flow.offload.unwrap_or(profile.offload);
    let mut tcp = TcpInit::new(profile);
    (tcp.forward, tcp.backward) = (forward, backward);
    tcp.mss = flow.mss;
    tcp.ecn = flow.ecn.unwrap_or_default();
    tcp.ack_every = flow.ack_every;
    tcp.initial_window = flow.initial_window.unwrap_or(profile.initial_window);
    tcp.initial_ssthresh = flow.initial_ssthresh.unwrap_or(INFINITE_SSTHRESH);
    tcp.send_buffer = flow.send_buffer;
    tcp.receive_buffer = flow.receive_buffer;
    let queue = (flow.host_queue == HostQueue::Fq).then_some(Pacing::On);
    tcp.pacing = flow.pacing.or(queue);
    tcp.offload = offload;
    tcp.whole_bursts = offload && flow.whole_bursts;
    tcp.nagle = flow.nagle.unwrap_or(profile.nagle);
    tcp.gro = flow.gro.0;
    tcp.small_queue = init.small_queue;
    tcp.now = init.now;
    Ok(tcp)
}
