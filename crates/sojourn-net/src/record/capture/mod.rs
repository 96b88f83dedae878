//! Captures of packets in pcapng, which other programs read.
//!
//! A capture has an interface for each host, with the packets that it sends and receives, and three
//! for each link: `ID:near` for what is offered to it, `ID:far` for what arrives, `ID:lost` for what
//! it drops, with the reason as a comment. Packets of one interface are in the order of time, and so
//! are those of all but `ID:lost`: a link is driven only when something depends on it, and tells
//! then what it has dropped before.
//!
//! | part | file |
//! | --- | --- |
//! | blocks of the format | `blocks` |
//! | IP and UDP headers; TCP headers with their options | `headers`, `tcp` |
//! | numbers of bytes, where the core numbers segments; connections of a flow | `ledger`, `legs` |
//! | places at which packets are captured | `ends` |

mod blocks;
mod ends;
mod headers;
mod ledger;
mod legs;
mod recent;
mod tcp;

pub use ends::{HostTap, LinkEnds};
pub use headers::{Headers, address, seal};

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::endpoint::Datagrams;
use crate::packet::Packet;
use crate::spec::EcnMode;
use crate::units::Time;
use blocks::Passage;

/// Bytes from which on they are passed on.
const BATCH: usize = 1 << 20;
/// What the last packet of a batch may add to it.
const MARGIN: usize = 1 << 10;

/// Receives the next bytes of the file.
pub type Pass = Box<dyn FnMut(Vec<u8>) + Send>;

/// Which way a packet goes, seen from its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Towards {
    /// It arrives.
    In = 1,
    /// It leaves.
    Out = 2,
}

/// The two ends of a TCP connection, as far as they show in headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// ECN feedback.
    pub ecn: EcnMode,
    /// Largest window in bytes that a receiver may announce.
    pub buffer: u64,
    /// Whether both ends send data.
    pub both: bool,
    /// Numbers of its hosts, the sender's first.
    pub hosts: [u16; 2],
}

/// What is in the datagrams that the sender of a flow and its receiver send, where their packets carry
/// only numbers.
pub type Carried = [Option<Arc<dyn Datagrams>>; 2];

/// Writes packets as the bytes that they are on the wire.
pub trait Wire: Send {
    /// A connection of flow number `flow` begins.
    fn open(&mut self, _flow: u32, _ends: Conversation) {}

    /// What the packets of flow number `flow` carry.
    fn carry(&mut self, _flow: u32, _carried: Carried) {}

    /// What packets carry that are of no flow: those that nodes send each other.
    fn carry_between_nodes(&mut self, _carried: Arc<dyn Datagrams>) {}

    /// No more packets of that flow come.
    fn close(&mut self, _flow: u32) {}

    /// The first bytes of a packet, at most `snap`, from its IP header on; its payload is zero. `None`
    /// of one that it cannot write.
    fn bytes(&mut self, packet: &Packet, snap: usize) -> Option<&[u8]>;
}

/// Addresses of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Of IPv4.
    pub v4: [u8; 4],
    /// Of IPv6, if it has one.
    pub v6: Option<[u8; 16]>,
}

impl From<[u8; 4]> for Addresses {
    fn from(v4: [u8; 4]) -> Self {
        Addresses { v4, v6: None }
    }
}

/// What a capture consists of.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// What the file says of itself.
    pub comment: String,
    /// The program that writes it.
    pub application: String,
    /// Bytes of each packet that are kept.
    pub snap: u32,
    /// Numbers of the flows whose packets it has; `None` for all.
    pub flows: Option<Vec<u32>>,
    /// Names and addresses of hosts.
    pub hosts: Vec<(String, Addresses)>,
    /// Ids of links.
    pub links: Vec<String>,
}

/// A capture that is being made; clones share it.
#[derive(Clone)]
pub struct Capture {
    setup: Arc<Setup>,
    state: Arc<Mutex<State>>,
}

struct State {
    wire: Box<dyn Wire>,
    out: Vec<u8>,
    pass: Pass,
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("setup", &self.setup).finish_non_exhaustive()
    }
}

impl State {
    fn pass(&mut self) {
        if !self.out.is_empty() {
            (self.pass)(std::mem::take(&mut self.out));
            // Now that the receiver may have let go of its own: memory that is used again needs no
            // pages that the system has to clear.
            self.out.reserve(BATCH + MARGIN);
        }
    }
}

impl Capture {
    /// A capture without packets yet, whose bytes go to `pass`.
    pub fn new(setup: Setup, wire: Box<dyn Wire>, pass: Pass) -> Self {
        let mut out = Vec::new();
        blocks::section(&mut out, &setup.comment, &setup.application);
        for (name, addresses) in &setup.hosts {
            let told = format!("what host {name} sends and receives");
            blocks::interface(&mut out, setup.snap, [name, &told], Some(*addresses));
        }
        for id in &setup.links {
            let ends = [
                ("near", "what is offered to"),
                ("far", "what arrives at the far end of"),
                ("lost", "what is lost at"),
            ];
            for (end, told) in ends {
                let (name, told) = (format!("{id}:{end}"), format!("{told} link {id}"));
                blocks::interface(&mut out, setup.snap, [&name, &told], None);
            }
        }
        let state = State { wire, out, pass };
        Capture { setup: Arc::new(setup), state: Arc::new(Mutex::new(state)) }
    }

    /// Whether it has the packets of a flow.
    #[inline]
    pub fn wants(&self, flow: u32) -> bool {
        self.setup.flows.as_ref().is_none_or(|flows| flows.contains(&flow))
    }

    /// The interface of the host called `name`, if it has one.
    pub fn host(&self, name: &str) -> Option<HostTap> {
        let place = self.setup.hosts.iter().position(|(host, _)| host == name)?;
        Some(HostTap { capture: self.clone(), interface: place as u32 })
    }

    /// The interfaces of the link called `id`, if it has some.
    pub fn link(&self, id: &str) -> Option<LinkEnds> {
        let place = self.setup.links.iter().position(|link| link == id)?;
        let interface = (self.setup.hosts.len() + 3 * place) as u32;
        Some(LinkEnds { capture: self.clone(), interface })
    }

    /// A connection of flow number `flow` begins.
    pub fn open(&self, flow: u32, ends: Conversation) {
        self.state().wire.open(flow, ends);
    }

    /// The packets of flow number `flow` carry these datagrams.
    pub fn carry(&self, flow: u32, carried: Carried) {
        self.state().wire.carry(flow, carried);
    }

    /// The packets that nodes send each other carry these datagrams.
    pub fn carry_between_nodes(&self, carried: Arc<dyn Datagrams>) {
        self.state().wire.carry_between_nodes(carried);
    }

    /// No more packets of that flow come.
    pub fn close(&self, flow: u32) {
        self.state().wire.close(flow);
    }

    /// Passes the bytes of all packets so far on.
    pub fn flush(&self) {
        self.state().pass();
    }

    /// A packet passes an interface.
    #[inline]
    fn packet(
        &self,
        now: Time,
        interface: u32,
        towards: Towards,
        packet: &Packet,
        comment: Option<&str>,
    ) {
        if !self.wants(packet.flow) {
            return;
        }
        let snap = self.setup.snap as usize;
        let mut state = self.state();
        let State { wire, out, .. } = &mut *state;
        let (time, size) = (now.as_nanos(), packet.size);
        let passage = Passage { interface, time, size, towards, comment };
        if let Some(bytes) = wire.bytes(packet, snap) {
            blocks::packet(out, &passage, bytes);
        }
        if out.len() >= BATCH {
            state.pass();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    /// Writes the packet's size, in a byte.
    struct Sizes([u8; 1]);

    impl Wire for Sizes {
        fn bytes(&mut self, packet: &Packet, _snap: usize) -> Option<&[u8]> {
            self.0 = [packet.size as u8];
            (packet.size < 100).then_some(&self.0)
        }
    }

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// The blocks of a file, each with its kind.
    fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut blocks = Vec::new();
        while !bytes.is_empty() {
            let length = word(bytes, 4) as usize;
            assert_eq!(word(bytes, length - 4) as usize, length);
            blocks.push((word(bytes, 0), bytes[8..length - 4].to_vec()));
            bytes = &bytes[length..];
        }
        blocks
    }

    #[test]
    fn packets_are_at_the_interfaces_that_they_pass() {
        let file = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&file);
        let setup = Setup {
            snap: 96,
            flows: Some(vec![4]),
            hosts: ["left", "right"].map(|name| (name.to_owned(), address(0).into())).to_vec(),
            links: vec!["up".to_owned(), "down".to_owned()],
            ..Setup::default()
        };
        let pass = Box::new(move |bytes: Vec<u8>| written.lock().unwrap().extend(bytes));
        let capture = Capture::new(setup, Box::new(Sizes([0])), pass);
        assert!(capture.host("up").is_none() && capture.link("left").is_none());
        let packet = Packet { flow: 4, size: 60, ..Packet::default() };
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let down = capture.link("down").unwrap();
        capture.host("right").unwrap().sent(at(1), &packet);
        down.near(at(2), &packet);
        down.far(at(3), &packet);
        down.lost(at(5_000), &packet, "aqm");
        capture.host("left").unwrap().received(at(6_000), &packet);
        down.near(at(7_000), &Packet { flow: 3, ..packet });
        down.near(at(7_000), &Packet { size: 100, ..packet });
        assert!(file.lock().unwrap().is_empty(), "they gather");
        capture.flush();
        let blocks = blocks(&file.lock().unwrap());
        let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds[0], 0x0a0d_0d0a);
        assert_eq!(kinds[1..], [[1; 8].as_slice(), &[6; 5]].concat());
        let names = |(_, body): &(u32, Vec<u8>)| String::from_utf8_lossy(&body[12..]).into_owned();
        let names: Vec<String> = blocks[1..9].iter().map(names).collect();
        let expected =
            ["left", "right", "up:near", "up:far", "up:lost", "down:near", "down:far", "down:lost"];
        assert!(names.iter().zip(expected).all(|(name, expected)| name.starts_with(expected)));
        let passed: Vec<_> = blocks[9..]
            .iter()
            .map(|(_, body)| {
                let time = u64::from(word(body, 4)) << 32 | u64::from(word(body, 8));
                (word(body, 0), time / 1_000_000, word(body, 12), word(body, 28))
            })
            .collect();
        let expected =
            [(1, 1, 1, 2), (5, 2, 1, 2), (6, 3, 1, 1), (7, 5_000, 1, 2), (0, 6_000, 1, 1)];
        assert_eq!(passed, expected);
        assert!(blocks[12].1.windows(3).any(|word| word == b"aqm"));
    }
}
