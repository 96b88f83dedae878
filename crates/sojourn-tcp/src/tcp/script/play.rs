//! Execution of a script with the core's endpoints.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Ack, Data, Event, Line, MSS, Script, Step, WINDOW};
use crate::cc::{CongestionControl, INFINITE_SSTHRESH};
use crate::counters::FlowCounters;
use crate::endpoint::Endpoint;
use crate::packet::{
    Address, Direction, Ecn, Flags, Header, Packet, SackBlock, TcpAck, TcpSegment,
};
use crate::registry::Catalogue;
use crate::rng::StreamKey;
use crate::spec::{BufferSize, Cca};
use crate::tcp::{HEADER, Profile, Receiver, Sender, TcpInit};
use crate::units::{Span, Time};

/// End of the handshake of a script that contains none; it begins at 0.
const OPENED: Time = Time::from_nanos(100_000_000);

/// Record of an end in a script.
#[derive(Debug)]
pub struct Played {
    /// Packets sent, and the window where the script asks for it.
    pub events: Vec<Event>,
    /// Number of events at each line `sent`.
    pub looks: Vec<usize>,
    /// Its counters.
    pub counters: FlowCounters,
}

/// Runs the script with the core's end and a control of the catalogue.
///
/// # Errors
/// There is no such stack or control.
pub fn play(script: &Script, catalogue: &Catalogue) -> Result<Played, String> {
    let init = init(script)?;
    let mut player = Player::new(script, init, catalogue)?;
    player.begin(script);
    for line in &script.lines {
        player.line(line);
    }
    let mut counters = FlowCounters::default();
    player.end.report(player.now, &mut counters);
    Ok(Played { events: player.events, looks: player.looks, counters })
}

fn init(script: &Script) -> Result<TcpInit, String> {
    let profile =
        Profile::named(&script.stack).ok_or(format!("unknown stack '{}'", script.stack))?;
    Ok(TcpInit {
        forward: Address::default(),
        backward: Address { direction: Direction::Backward, ..Address::default() },
        mss: MSS,
        profile,
        ecn: script.ecn,
        ack_every: 2,
        initial_window: profile.initial_window,
        initial_ssthresh: INFINITE_SSTHRESH,
        send_buffer: BufferSize::Auto,
        receive_buffer: BufferSize::Stack,
        pacing: None,
        offload: script.offload.unwrap_or(profile.offload),
        whole_bursts: false,
        nagle: profile.nagle,
        gro: None,
        small_queue: false,
        now: Time::ZERO,
    })
}

struct Player {
    end: Box<dyn Endpoint>,
    now: Time,
    events: Vec<Event>,
    looks: Vec<usize>,
    /// The peer's left edge, and the timestamp that it echoes.
    edge: u32,
    echo: Time,
    /// When the first segments, and each, were last sent.
    first_sent: Option<Time>,
    sent_at: BTreeMap<u32, Time>,
    /// When the latest packet of the tested end was sent.
    heard: Time,
}

impl Player {
    fn new(script: &Script, init: TcpInit, catalogue: &Catalogue) -> Result<Self, String> {
        let end: Box<dyn Endpoint> = if script.receiver {
            Box::new(Receiver::new(init))
        } else {
            Box::new(Sender::new(init, control(&script.control, &init, catalogue)?))
        };
        Ok(Player {
            end,
            now: Time::ZERO,
            events: Vec::new(),
            looks: Vec::new(),
            edge: 1,
            echo: Time::ZERO,
            first_sent: None,
            sent_at: BTreeMap::new(),
            heard: Time::ZERO,
        })
    }

    /// Opens the connection, unless the script contains the handshake.
    fn begin(&mut self, script: &Script) {
        self.end.open(Time::ZERO);
        self.pump(Time::ZERO);
        if script.open {
            return;
        }
        if script.receiver {
            self.step(Time::ZERO, &Step::Syn);
        } else {
            for line in script.lines.iter().take_while(|line| line.at == Time::ZERO) {
                self.step(line.at, &line.step);
            }
            self.run_until(OPENED);
            self.step(OPENED, &Step::SynAck);
        }
        self.events.retain(|event| event.what != "syn" && event.what != "syn-ack");
    }

    fn line(&mut self, line: &Line) {
        self.run_until(line.at);
        // Data written at the beginning has already been written.
        if line.at > Time::ZERO || self.now == Time::ZERO {
            self.step(line.at, &line.step);
        }
    }

    fn step(&mut self, now: Time, step: &Step) {
        match step {
            Step::SynAck => {
                let flags = Flags::SYN.with(Flags::ACK, true);
                self.answer(now, TcpAck { flags, next: 1, window: WINDOW, ..TcpAck::default() });
            }
            Step::Ack(ack) => self.acknowledge(now, ack),
            Step::Write(bytes) => self.end.write(now, *bytes),
            Step::Close => self.end.close(now),
            Step::Syn => self.deliver(
                now,
                Ecn::NotEct,
                60,
                TcpSegment { flags: Flags::SYN, ..self.segment(now) },
            ),
            Step::Data(data) => self.data(now, data),
            Step::Cwnd(_) => self.note_window(now),
            Step::Sent(_) => self.looks.push(self.events.len()),
        }
        self.pump(now);
    }

    fn note_window(&mut self, now: Time) {
        let mut counters = FlowCounters::default();
        self.end.report(now, &mut counters);
        let cwnd = counters.window.map_or(0, |window| window.cwnd);
        self.events.push(Event { at: now, what: format!("cwnd {cwnd}") });
    }

    fn acknowledge(&mut self, now: Time, told: &Ack) {
        if told.next > self.edge {
            self.echo = self.sent_at.get(&self.edge).copied().unwrap_or(self.echo);
            self.edge = told.next;
        }
        let flags = Flags::ACK.with(Flags::DSACK, told.dsack).with(Flags::ECE, told.ece);
        let mut ack = TcpAck {
            flags,
            next: told.next,
            window: told.window.unwrap_or(WINDOW),
            ..TcpAck::default()
        };
        ack.set_sacks(told.blocks.iter().map(|&(start, last)| SackBlock { start, end: last + 1 }));
        let echo = self.first_sent.filter(|_| told.original).unwrap_or(self.echo);
        self.answer(now, TcpAck { echo, ..ack });
    }

    fn answer(&mut self, now: Time, ack: TcpAck) {
        let echo = if ack.flags.has(Flags::SYN) { self.echo } else { ack.echo };
        let header = Header::Ack(TcpAck { sent_at: now, echo, ..ack });
        self.end.on_packet(now, &Packet { header, ..Packet::default() });
    }

    fn segment(&self, now: Time) -> TcpSegment {
        TcpSegment { sent_at: now, echo: self.heard, ..TcpSegment::default() }
    }

    fn data(&mut self, now: Time, data: &Data) {
        // Packets sent at the same time answer the same packet of the other end.
        let about = self.segment(now);
        for seq in data.first..=data.last {
            let flags = Flags::ACK
                .with(Flags::CWR, data.cwr)
                .with(Flags::PSH, data.psh && seq == data.last);
            let segment = TcpSegment { flags, seq, payload: data.bytes as u16, ..about };
            let ecn = if data.ce { Ecn::Ce } else { Ecn::Ect0 };
            self.deliver(now, ecn, HEADER + data.bytes, segment);
            self.pump(now);
        }
    }

    fn deliver(&mut self, now: Time, ecn: Ecn, size: u32, segment: TcpSegment) {
        let header = Header::Segment(segment);
        self.end.on_packet(now, &Packet { header, size, ecn, ..Packet::default() });
    }

    fn run_until(&mut self, end: Time) {
        while let Some(next) = self.end.next_timeout().filter(|&next| next <= end) {
            self.end.on_timeout(next);
            self.pump(next);
        }
        self.now = self.now.max(end);
    }

    fn pump(&mut self, now: Time) {
        while let Some(packet) = self.end.poll_transmit(now) {
            let what = match packet.header {
                Header::Segment(segment) => self.sent(now, &segment),
                Header::Ack(ack) => acknowledged(&ack),
                _ => continue,
            };
            self.heard = now;
            self.events.push(Event { at: now, what });
        }
    }

    fn sent(&mut self, now: Time, segment: &TcpSegment) -> String {
        if segment.flags.has(Flags::SYN) {
            self.echo = now;
            return "syn".to_owned();
        }
        if segment.payload == 0 {
            let probe = segment.flags.has(Flags::PROBE);
            return if probe { "probe" } else { "ack" }.to_owned();
        }
        self.first_sent.get_or_insert(now);
        self.sent_at.insert(segment.seq, now);
        let mut what = segment.seq.to_string();
        if segment.flags.has(Flags::CWR) {
            what.push_str(":cwr");
        }
        what
    }
}

fn control(
    name: &str,
    init: &TcpInit,
    catalogue: &Catalogue,
) -> Result<Box<dyn CongestionControl>, String> {
    let about = Sender::control_init(init, Span::from_millis(100), StreamKey::root(1));
    let entry = catalogue.find::<Cca>(name);
    let made = entry.and_then(|entry| (entry.make)(&serde_json::Map::new(), &about, catalogue));
    made.map_err(|error| error.to_string())
}

/// An ACK, as scripts write it.
fn acknowledged(ack: &TcpAck) -> String {
    if ack.flags.has(Flags::SYN) {
        return "syn-ack".to_owned();
    }
    let mut what = ack.next.to_string();
    for (place, block) in ack.sacks().iter().enumerate() {
        let duplicate = place == 0 && ack.flags.has(Flags::DSACK);
        let name = if duplicate { "dsack" } else { "sack" };
        let _ = write!(what, " {name} {}", span(block.start, block.end - 1));
    }
    if ack.flags.has(Flags::ECE) {
        what.push_str(" ece");
    }
    what
}

/// Segments from `first` to `last`, as scripts write them.
pub fn span(first: u32, last: u32) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}
