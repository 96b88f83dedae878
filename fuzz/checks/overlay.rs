//! A live overlay of three nodes, of which one is hostile: what it sends the others is replaced by
//! messages of the input, as far as their bounds allow these, or changed by it. Nothing panics, no node
//! breaks an invariant or goes on without end, and what waits at nodes is bounded.
//!
//! The input is how long the overlay has been running, and steps: each a byte, of which the lowest seven
//! bits are a length, and so many bytes: a message; or, with the highest bit, places and changes in the
//! next of the node's own messages. With length zero time passes: a byte tells how much.

use std::collections::VecDeque;
use std::sync::Arc;

use sojourn_base::packet::{Header, Opaque, Packet};
use sojourn_base::units::{Span, Time};
use sojourn_gnat::overlay::message::{Bounds, Cargo};
use sojourn_gnat::overlay::{Mailboxes, OverlayConfig};
use sojourn_net::net::Links;
use sojourn_sim::catalogue::core;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Part;
use sojourn_sliq::wire::Datagram;
use sojourn_sliq::{Payload, Spare};

/// All nodes; the first is the hostile one.
const NODES: [&str; 3] = ["1", "2", "3"];
const HOSTILE: usize = 0;
/// So long is a turn, in which nodes hand over what they have to send.
const TURN: Span = Span::from_micros(250);
/// Turns that an input may take to bring its messages, besides those that it lets pass.
const TURNS: usize = 400;
/// Turns without them in the end.
const REST: usize = 20;
/// Times that the input lets pass.
const PASSES: usize = 2;
/// A node that has more to do at one instant has no end.
const MOST_AT_ONCE: usize = 10_000;
/// More packets do not wait at a node.
const MOST_WAITING: u64 = 20_000;

/// Flows of all kinds, also between the honest nodes.
const OVERLAY: &str = r#"
duration = "1000 s"
sample_interval = "100 s"
[topology]
kind = "graph"
nodes = [
    { id = "1", kind = "overlay" },
    { id = "2", kind = "overlay" },
    { id = "3", kind = "overlay" },
]
[[topology.links]]
id = "12"
from = "1"
to = "2"
rate = "10 Gbit/s"
delay = "1 ms"
[[topology.links]]
id = "13"
from = "1"
to = "3"
rate = "10 Gbit/s"
delay = "1 ms"
[[topology.links]]
id = "32"
from = "3"
to = "2"
rate = "10 Gbit/s"
delay = "1 ms"
[[flows]]
from = "1"
to = "2"
transport = "udp"
mss = 1024
traffic = { kind = "cbr", rate = "20 Mbit/s", size = "1024 B" }
service = { ceiling = "1 Gbit/s" }
[[flows]]
from = "1"
to = "3"
cca = "cubic"
service = {}
[[flows]]
from = "2"
to = "1"
cca = "cubic"
service = {}
[[flows]]
from = "2"
to = "3"
transport = "udp"
mss = 1024
traffic = { kind = "cbr", rate = "5 Mbit/s", size = "1024 B" }
service = { utility = "strap", deadline = "60 ms" }
[[flows]]
from = "3"
to = "1"
transport = "udp"
mss = 1024
traffic = { kind = "cbr", rate = "5 Mbit/s", size = "1024 B" }
service = { deadline = "60 ms" }
[[flows]]
from = "1"
to = "2"
transport = "udp"
label = "stream"
mss = 1024
traffic = { kind = "cbr", rate = "5 Mbit/s", size = "1024 B" }
service = { group = "g" }
[[flows]]
from = "1"
to = "3"
transport = "udp"
label = "stream"
mss = 1024
traffic = { kind = "cbr", rate = "5 Mbit/s", size = "1024 B" }
service = { group = "g" }
"#;

thread_local! {
    static SCENARIO: Scenario = {
        let catalogue = Arc::new(sojourn_gnat::add(sojourn_sliq::add(core())));
        Scenario::from_toml(OVERLAY, &catalogue).unwrap_or_else(|error| panic!("{error}"))
    };
}

/// Returns how many of its messages have reached a node.
pub(crate) fn check(bytes: &[u8]) -> usize {
    let Some((ran, steps)) = bytes.split_first() else { return 0 };
    let mut live = Live::new();
    (0..*ran).for_each(|_| live.turn());
    live.read(steps);
    for _ in 0..TURNS {
        if live.steps.is_empty() {
            break;
        }
        live.turn();
    }
    live.steps.clear();
    (0..REST).for_each(|_| live.turn());
    live.is_sound();
    live.came
}

/// What the hostile node does.
enum Step {
    Replace(Cargo),
    Change(Vec<(u8, u8)>),
}

struct Live {
    parts: Vec<Part>,
    boxes: Arc<Mailboxes>,
    bounds: Bounds,
    datagram: Box<Datagram<Cargo>>,
    spare: Spare<Cargo>,
    steps: VecDeque<Step>,
    now: Time,
    came: usize,
}

impl Live {
    fn new() -> Self {
        SCENARIO.with(|scenario| {
            let given = scenario.gift().unwrap().nodes;
            let boxes = Arc::new(Mailboxes::default());
            let mut shared = given.clone();
            shared.give(Arc::clone(&boxes));
            let part = |node| Part::new(scenario, node, Links::Outside, &shared).unwrap();
            let config = given.get::<OverlayConfig>().expect("an overlay");
            Live {
                parts: NODES.map(part).into(),
                boxes,
                bounds: Bounds::new(config),
                datagram: Box::default(),
                spare: Spare::default(),
                steps: VecDeque::new(),
                now: Time::ZERO,
                came: 0,
            }
        })
    }

    /// Reads the steps; time passes where they say so.
    fn read(&mut self, mut steps: &[u8]) {
        let mut passes = 0;
        while let Some((first, rest)) = steps.split_first() {
            let (bytes, after) = rest.split_at(usize::from(first & 127).min(rest.len()));
            steps = after;
            if bytes.is_empty() {
                let Some((turns, after)) = after.split_first() else { break };
                (steps, passes) = (after, passes + 1);
                if passes <= PASSES {
                    (0..*turns).for_each(|_| self.turn());
                }
            } else if first & 128 == 0 {
                let cargo = Cargo::from(bytes);
                if self.bounds.allows(&cargo) {
                    self.steps.push_back(Step::Replace(cargo));
                }
            } else {
                let changes = bytes.chunks_exact(2).map(|pair| (pair[0], pair[1]));
                self.steps.push_back(Step::Change(changes.collect()));
            }
        }
    }

    fn turn(&mut self) {
        self.now += TURN;
        let now = self.now;
        self.parts.iter_mut().for_each(|part| part.approach(now).unwrap());
        self.exchange();
        self.parts.iter_mut().for_each(|part| part.advance(now).unwrap());
    }

    fn exchange(&mut self) {
        for from in 0..self.parts.len() {
            for place in 0..self.parts[from].neighbours().len() {
                let to = usize::from(self.parts[from].neighbours()[place].node);
                let mut others = self.parts[to].neighbours().iter();
                let back = others.position(|other| usize::from(other.node) == from).unwrap();
                let mut count = 0;
                while let Some(mut packet) = self.parts[from].take(place) {
                    if from == HOSTILE {
                        self.harm(&mut packet);
                    }
                    self.parts[to].arrive(back, packet);
                    count += 1;
                    assert!(count < MOST_AT_ONCE, "{from} goes on and on");
                }
            }
        }
    }

    /// The next step is done to what a packet carries.
    fn harm(&mut self, packet: &mut Packet) {
        let Header::Opaque(opaque) = packet.header else { return };
        let mailbox = self.boxes.between(packet.tuple.source, packet.tuple.destination);
        if self.steps.is_empty() || !mailbox.get(opaque.handle, &mut self.datagram, &mut self.spare)
        {
            return;
        }
        if let Datagram::Message(message) = &mut *self.datagram
            && let Some((_, payload)) = &mut message.data
            && let Some(cargo) = self.steps.pop_front().and_then(|step| step.of(payload))
            && self.bounds.allows(&cargo)
        {
            *payload = cargo;
            self.came += 1;
        }
        let handle = mailbox.put(&mut self.datagram, &mut self.spare);
        packet.header = Header::Opaque(Opaque { handle, ..opaque });
    }

    fn is_sound(&mut self) {
        for part in &mut self.parts {
            part.check().unwrap();
            let waiting = part.sample().waiting.packets;
            assert!(waiting < MOST_WAITING, "{waiting} packets wait");
        }
    }
}

impl Step {
    /// What becomes of a message.
    fn of(self, payload: &Cargo) -> Option<Cargo> {
        let changes = match self {
            Step::Replace(cargo) => return Some(cargo),
            Step::Change(changes) => changes,
        };
        let mut bytes = Vec::new();
        payload.put(&mut bytes);
        for (place, change) in changes {
            let length = bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(usize::from(place) % length) {
                *byte ^= change;
            }
        }
        Some(Cargo::from(&bytes[..]))
    }
}
