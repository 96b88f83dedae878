//! The other end of a script's connection: makes its packets, and reads the kernel's.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sojourn_base::packet::Ecn;
use sojourn_base::units::Time;
use sojourn_sim::spec::EcnMode;
use sojourn_tcp::tcp::script::{Ack, Data, MSS, Script, WINDOW, span};

use super::PORT;
use super::segment::{self as tcp, Segment};
use crate::namespace::{RECEIVERS, SENDERS};

/// Our first sequence number, and our clock's first timestamp.
const OURS: u32 = 1_000;
const EPOCH: u32 = 500_000;
/// Scale of our windows, as our SYN announces it.
const SCALE: u32 = 8;
/// Our port where we open the connection.
const CLIENT: u16 = 40_000;

/// The script's end of the connection.
pub(super) struct Peer {
    receiver: bool,
    ecn: bool,
    ports: [u16; 2],
    /// The kernel's first sequence number.
    theirs: u32,
    /// Starts of the data's segments, counted from the first byte: the kernel's, or ours.
    edges: Vec<u32>,
    /// The timestamp of the kernel's segments, and of its latest packet.
    stamps: BTreeMap<u32, u32>,
    first_stamp: Option<u32>,
    latest: u32,
    /// The left edge that we have acknowledged, and the timestamp that we echo.
    edge: u32,
    echo: u32,
}

impl Peer {
    pub(super) fn new(script: &Script) -> Self {
        Peer {
            receiver: script.receiver,
            ecn: script.ecn == EcnMode::Classic,
            ports: if script.receiver { [CLIENT, PORT] } else { [PORT, 0] },
            theirs: 0,
            edges: vec![0],
            stamps: BTreeMap::new(),
            first_stamp: None,
            latest: 0,
            edge: 1,
            echo: 0,
        }
    }

    /// The timestamp of the kernel's latest packet.
    pub(super) fn latest(&self) -> u32 {
        self.latest
    }

    fn packet(&self, now: Time, segment: Segment, ecn: Ecn) -> Vec<u8> {
        let stamp = EPOCH + (now.as_nanos() / 1_000_000) as u32;
        let times = (stamp, segment.times.1);
        Segment { ports: self.ports, times, ..segment }.packet(RECEIVERS, SENDERS, ecn)
    }

    /// Our SYN, or with `answer` our SYN-ACK.
    pub(super) fn opening(&self, now: Time, answer: bool) -> Vec<u8> {
        let ece = match (self.ecn, answer) {
            (false, _) => 0,
            (true, true) => tcp::ECE,
            (true, false) => tcp::ECE | tcp::CWR,
        };
        let acks = if answer { tcp::ACK } else { 0 };
        let segment = Segment {
            seq: OURS,
            ack: if answer { self.theirs + 1 } else { 0 },
            flags: tcp::SYN | acks | ece,
            window: u16::MAX,
            times: (0, self.echo),
            ..Segment::default()
        };
        self.packet(now, segment, Ecn::NotEct)
    }

    /// The handshake's last packet.
    pub(super) fn handshake_ack(&self, now: Time) -> Vec<u8> {
        self.packet(now, self.established(), Ecn::NotEct)
    }

    fn established(&self) -> Segment {
        Segment {
            seq: OURS + 1,
            ack: self.theirs + 1,
            flags: tcp::ACK,
            window: (WINDOW >> SCALE) as u16,
            times: (0, self.latest),
            ..Segment::default()
        }
    }

    pub(super) fn acknowledgment(&mut self, now: Time, ack: &Ack) -> Vec<u8> {
        if ack.next > self.edge {
            self.echo = self.stamps.get(&self.edge).copied().unwrap_or(self.echo);
            self.edge = ack.next;
        }
        let place = |seq: u32| self.theirs.wrapping_add(1 + self.start(seq));
        let sacks = ack.blocks.iter().map(|&(first, last)| (place(first), place(last + 1)));
        let echo = self.first_stamp.filter(|_| ack.original).unwrap_or(self.echo);
        let segment = Segment {
            ack: place(ack.next),
            flags: tcp::ACK | if ack.ece { tcp::ECE } else { 0 },
            window: (ack.window.unwrap_or(WINDOW) >> SCALE) as u16,
            times: (0, echo),
            sacks: sacks.collect(),
            ..self.established()
        };
        self.packet(now, segment, Ecn::NotEct)
    }

    /// `echo` is the timestamp of the latest packet when the first of the segments was made.
    pub(super) fn data(&mut self, now: Time, data: &Data, seq: u32, echo: u32) -> Vec<u8> {
        let start = self.start(seq);
        self.edges.truncate(seq as usize);
        for next in self.edges.len() as u32..seq {
            self.edges.push(next * MSS);
        }
        self.edges.push(start + data.bytes);
        let psh = data.psh && seq == data.last;
        let flags = if psh { tcp::PSH } else { 0 } | if data.cwr { tcp::CWR } else { 0 };
        let segment = Segment {
            seq: OURS + 1 + start,
            flags: tcp::ACK | flags,
            payload: data.bytes as usize,
            times: (0, echo),
            ..self.established()
        };
        let ecn = match (self.ecn, data.ce) {
            (false, _) => Ecn::NotEct,
            (true, false) => Ecn::Ect0,
            (true, true) => Ecn::Ce,
        };
        self.packet(now, segment, ecn)
    }

    /// Start of a segment; segments that have not been observed count as full.
    fn start(&self, seq: u32) -> u32 {
        let (known, place) = (self.edges.len() as u32, seq - 1);
        match self.edges.get(place as usize) {
            Some(&start) => start,
            None => self.edges[known as usize - 1] + (place - known + 1) * MSS,
        }
    }

    /// Number of the segment that begins at `offset`.
    fn number(&self, offset: u32) -> u32 {
        let place = self.edges.partition_point(|&edge| edge < offset) as u32;
        let last = self.edges[self.edges.len() - 1];
        if offset > last { place + (offset - last).div_ceil(MSS) } else { place + 1 }
    }

    /// Reads a packet of the kernel; returns it as scripts write it.
    pub(super) fn hear(&mut self, packet: &[u8]) -> Vec<String> {
        let Some(segment) = Segment::read(packet) else { return Vec::new() };
        self.latest = segment.times.0;
        let has = |flag| segment.flags & flag != 0;
        if has(tcp::RST) {
            return vec!["rst".to_owned()];
        }
        if has(tcp::SYN) {
            self.theirs = segment.seq;
            self.echo = segment.times.0;
            if !self.receiver {
                self.ports[1] = segment.ports[0];
            }
            return vec![if has(tcp::ACK) { "syn-ack" } else { "syn" }.to_owned()];
        }
        let mut what = Vec::new();
        if self.receiver {
            what.push(self.acknowledged(&segment));
        } else if segment.payload > 0 || !has(tcp::FIN) {
            what.push(self.sent(&segment));
        }
        if has(tcp::FIN) {
            what.push("fin".to_owned());
        }
        what
    }

    fn sent(&mut self, segment: &Segment) -> String {
        let offset = segment.seq.wrapping_sub(self.theirs.wrapping_add(1));
        let sent_all = self.edges[self.edges.len() - 1];
        if segment.payload == 0 {
            return if offset == sent_all { "ack" } else { "probe" }.to_owned();
        }
        if offset == sent_all {
            self.edges.push(offset + segment.payload as u32);
        }
        let number = self.number(offset);
        self.stamps.insert(number, segment.times.0);
        self.first_stamp.get_or_insert(segment.times.0);
        let mut what = number.to_string();
        if segment.flags & tcp::CWR != 0 {
            what.push_str(":cwr");
        }
        what
    }

    fn acknowledged(&self, segment: &Segment) -> String {
        let number = |seq: u32| self.number(seq.wrapping_sub(OURS + 1));
        let next = number(segment.ack);
        let mut what = next.to_string();
        for (place, &(start, end)) in segment.sacks.iter().enumerate() {
            let (first, past) = (number(start), number(end));
            let within = |other: &(u32, u32)| other.0 <= start && end <= other.1;
            let duplicate = place == 0 && (past <= next || segment.sacks[1..].iter().any(within));
            let name = if duplicate { "dsack" } else { "sack" };
            let _ = write!(what, " {name} {}", span(first, past - 1));
        }
        if segment.flags & tcp::ECE != 0 {
            what.push_str(" ece");
        }
        what
    }
}
