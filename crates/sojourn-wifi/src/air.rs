//! The medium: which station transmits when, collisions, exchanges of frames.
//!
//! All stations hear each other, so the network allocation vector silences only stations that are
//! silent anyway: none counts slots during an exchange. Time passes from one exchange to the next:
//! at the end of one, the next slot of every station is known until one of them gets new data to
//! send.

use std::collections::VecDeque;

use super::contender::{Contender, Transmission};
use super::phy::Phy;
use sojourn_base::counters::histogram::Histogram;
use sojourn_base::packet::{Backlog, Packet};
use sojourn_base::units::{Span, Time};
use sojourn_net::edge::medium::lanes::Lanes;
use sojourn_net::edge::{Departure, Medium};
use sojourn_net::record::LinkCounters;
use sojourn_net::record::live::Watch;

/// Rules of all stations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Whether stations contend as in Bianchi's model: no retry limit, no EIFS.
    pub idealised: bool,
    /// Whether a slot in which someone else transmits is counted as well.
    pub counts_busy: bool,
    /// Maximum attempts of a frame.
    pub attempts: u8,
    /// PSDUs larger than this number of bytes are protected by RTS and CTS.
    pub rts_threshold: u32,
    /// Maximum duration of a data frame.
    pub longest: Span,
}

/// State of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No station transmits; the next one will at this time, or never.
    Idle(Time),
    /// Data is on the air until then.
    Data(Time),
    /// An answer, or a collision, is on the air until then.
    Answer(Time),
    /// The station that holds the medium waits until then (SIFS) before its next frame.
    Kept(Time),
}

/// A shared half-duplex medium.
pub struct Air {
    pub(super) phy: Phy,
    pub(super) rules: Rules,
    pub(super) contenders: Vec<Contender>,
    /// The earliest of their timers: it is asked for with every packet, and mostly there is none.
    timer: Time,
    pub(super) lanes: Lanes,
    /// For each channel, its peer in each of the contenders that send on it, by access category.
    senders: Vec<[Option<(usize, usize)>; 4]>,
    /// For each flow, its access category.
    categories: Vec<u8>,
    pub(super) phase: Phase,
    /// Transmissions on the air; more than one collide.
    pub(super) sending: Vec<Transmission>,
    /// For a single transmission: the MPDUs that have arrived.
    pub(super) arrived: u64,
    /// Number of MPDUs dropped after their last attempt.
    pub(super) dropped: u32,
    /// The contender that holds the medium, and until when.
    pub(super) kept: Option<(usize, Time)>,
    arrivals: VecDeque<(Time, usize, Packet)>,
    /// Names of each channel's stations, and the recorder of which of them sends.
    names: Vec<[String; 2]>,
    watch: Option<Watch>,
    /// Packets and bytes in `arrivals`, by channel.
    arriving: Vec<Backlog>,
}

impl Air {
    /// An idle medium.
    pub(super) fn new(
        phy: Phy,
        rules: Rules,
        contenders: Vec<Contender>,
        lanes: Lanes,
        senders: Vec<[Option<(usize, usize)>; 4]>,
        categories: Vec<u8>,
    ) -> Self {
        let arriving = vec![Backlog::default(); senders.len()];
        Air {
            phy,
            rules,
            contenders,
            timer: Time::NEVER,
            lanes,
            senders,
            categories,
            phase: Phase::Idle(Time::NEVER),
            sending: Vec::new(),
            arrived: 0,
            dropped: 0,
            kept: None,
            arrivals: VecDeque::new(),
            names: Vec::new(),
            watch: None,
            arriving,
        }
    }

    /// The same, recorded by `watch`; `names` are the stations of each channel.
    pub(super) fn watched(self, names: Vec<[String; 2]>, watch: Option<Watch>) -> Self {
        Air { names, watch, ..self }
    }

    /// Records which stations send.
    pub(super) fn show(&mut self, now: Time) {
        let Some(watch) = &mut self.watch else { return };
        let channel =
            |sent: &Transmission| self.contenders[sent.contender].peers[sent.peer].channel;
        let ends = |end: usize| {
            let names = self.sending.iter().map(|sent| self.names[channel(sent)][end].as_str());
            names.collect::<Vec<_>>().join("+")
        };
        let [senders, receivers] = [ends(0), ends(1)];
        let mpdus: u32 = self.sending.iter().map(|sent| sent.frame.count).sum();
        watch.look(now, |out| {
            if !senders.is_empty() {
                out("sender", senders.as_str().into());
                out("receiver", receivers.as_str().into());
                out("mpdus", f64::from(mpdus).into());
            }
        });
    }

    /// Processes all that is due by `now`.
    fn advance(&mut self, now: Time) {
        let mut last_timers = None;
        loop {
            let due = self.next_event();
            // A timer that requests the same instant again waits for the next call.
            if due > now || last_timers == Some(due) {
                return;
            }
            match self.phase {
                Phase::Data(end) if end == due => self.on_data_end(end),
                Phase::Answer(end) if end == due => self.finish(end),
                Phase::Kept(start) if start == due => self.send_on(start),
                Phase::Idle(start) if start == due => self.begin(start),
                _ => {
                    last_timers = Some(due);
                    self.run_timers(due);
                }
            }
        }
    }

    fn next_event(&self) -> Time {
        let (Phase::Idle(next) | Phase::Data(next) | Phase::Answer(next) | Phase::Kept(next)) =
            self.phase;
        next.min(self.timer)
    }

    /// To be called when the timer of a contender may have changed.
    pub(super) fn look_at_timers(&mut self) {
        let timers = self.contenders.iter().map(|contender| contender.timer);
        self.timer = timers.fold(Time::NEVER, Time::min);
    }

    /// Runs the timers of queues: one that held everything back may release packets.
    fn run_timers(&mut self, now: Time) {
        for contender in &mut self.contenders {
            contender.run_timers(now, &mut self.lanes);
            if contender.ready_at == Time::NEVER && contender.is_ready() {
                contender.ready_at = now;
            }
        }
        self.look_at_timers();
        self.look_ahead();
    }

    /// The receiver forwards the packets that are in order.
    fn on_data_end(&mut self, now: Time) {
        let sent = self.sending[0];
        self.dropped = self.mark(now, &sent, self.arrived);
        let answer = if self.arrived == 0 { Span::ZERO } else { self.answer(&sent) };
        self.phase = Phase::Answer(now + answer);
    }

    /// The receiver of a frame forwards the packets that are complete.
    pub(super) fn release(&mut self, now: Time, contender: usize, peer: usize) {
        let peer = &mut self.contenders[contender].peers[peer];
        let mut packet = Packet::default();
        while peer.window.release(&mut packet) {
            self.arriving[peer.channel].add(&packet);
            self.lanes.carried(&packet);
            self.arrivals.push_back((now, peer.channel, packet));
        }
    }
}

impl Medium for Air {
    fn offer(&mut self, now: Time, channel: usize, packet: Packet) {
        self.advance(now);
        let packet = Packet { lane: channel as u8, ..packet };
        self.lanes.offered(&packet);
        let category = self.categories.get(packet.flow as usize).copied().unwrap_or(BEST_EFFORT);
        let Some((index, peer)) = self.senders[channel][usize::from(category)] else { return };
        let contender = &mut self.contenders[index];
        let timer = contender.timer;
        contender.enqueue(now, peer, packet, &mut self.lanes);
        let other_timer = contender.timer != timer;
        if contender.ready_at == Time::NEVER && contender.is_ready() {
            contender.ready_at = now;
            match self.phase {
                Phase::Idle(next) => {
                    self.phase = Phase::Idle(next.min(contender.start(self.phy.slot())));
                }
                // A station that finds the medium busy must not go first afterwards (10.3.4.2).
                _ if contender.backoff == 0 => contender.draw(),
                _ => {}
            }
        }
        if other_timer {
            self.look_at_timers();
        }
    }

    fn poll(&mut self, now: Time) -> Option<(usize, Packet)> {
        let mut packet = Packet::default();
        self.poll_into(now, &mut packet).map(|channel| (channel, packet))
    }

    fn poll_into(&mut self, now: Time, packet: &mut Packet) -> Option<usize> {
        self.advance(now);
        let (_, channel, first) = self.arrivals.front().filter(|arrival| arrival.0 <= now)?;
        let channel = *channel;
        *packet = *first;
        self.arrivals.pop_front();
        self.arriving[channel].remove(packet);
        self.lanes.arrived(packet);
        Some(channel)
    }

    fn departure(&mut self) -> Option<Departure> {
        self.lanes.departure()
    }

    fn next_wakeup(&self) -> Option<Time> {
        let arrival = self.arrivals.front().map_or(Time::NEVER, |arrival| arrival.0);
        let next = self.next_event().min(arrival);
        (next != Time::NEVER).then_some(next)
    }

    fn report(&mut self, now: Time, channel: usize) -> LinkCounters {
        self.advance(now);
        self.lanes[channel].report(now)
    }

    fn held(&self, channel: usize) -> Backlog {
        let mut held = self.lanes[channel].waiting();
        let mut add = |more: Backlog| {
            held.packets += more.packets;
            held.bytes += more.bytes;
        };
        for (contender, peer) in self.senders[channel].iter().flatten() {
            add(self.contenders[*contender].peers[*peer].held());
        }
        add(self.arriving[channel]);
        held
    }

    fn sojourn_histogram(&self, channel: usize) -> Option<&Histogram> {
        Some(&self.lanes[channel].sojourn)
    }

    fn end_warmup(&mut self, now: Time) {
        self.advance(now);
        self.lanes.end_warmup();
    }
}

/// The category of packets whose flow names none.
const BEST_EFFORT: u8 = 1;
