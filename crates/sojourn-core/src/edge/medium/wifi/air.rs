//! The medium itself: who transmits when, collisions, exchanges of frames.
//!
//! All stations hear each other, so that the network allocation vector keeps no one silent who would
//! not be so anyway; it is why nobody counts during an exchange. Time passes from one exchange to the next:
//! at the end of one, everyone's next slot is known as long as nobody gets something new to send.

use std::collections::VecDeque;

use super::contender::{Contender, Transmission};
use super::lanes::Lane;
use super::phy::{OFDM_PREAMBLE, Phy};
use crate::edge::{Departure, Medium};
use crate::packet::{Backlog, Packet};
use crate::record::LinkCounters;
use crate::record::histogram::Histogram;
use crate::record::live::Watch;
use crate::units::{Span, Time};

/// Rules that hold for all.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whether stations contend as in Bianchi's model: no retry limit, no EIFS.
    pub idealised: bool,
    /// Whether a slot in which someone else transmits is counted as well.
    pub counts_busy: bool,
    /// Attempts of a frame.
    pub attempts: u8,
    /// PSDUs of more bytes are protected by RTS and CTS.
    pub rts_threshold: u32,
    /// The longest data frame.
    pub longest: Span,
}

/// What the medium does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nobody transmits; the next one will at this time, or never.
    Idle(Time),
    /// Data is on the air until then.
    Data(Time),
    /// The answer, or what collides, until then.
    Answer(Time),
    /// Who keeps the medium waits until then (SIFS) before it sends on.
    Kept(Time),
}

/// A shared half-duplex medium.
pub struct Air {
    pub(super) phy: Phy,
    pub(super) rules: Rules,
    pub(super) contenders: Vec<Contender>,
    pub(super) lanes: Vec<Lane>,
    /// For each channel, its peer in each of the contenders that send on it, by access category.
    senders: Vec<[Option<(usize, usize)>; 4]>,
    /// For each flow, its access category.
    categories: Vec<u8>,
    pub(super) phase: Phase,
    /// What is on the air; more than one collide.
    pub(super) sending: Vec<Transmission>,
    /// Of a single one: which MPDUs have arrived.
    pub(super) arrived: u64,
    /// How many were given up.
    pub(super) dropped: u32,
    /// Who keeps the medium, and until when.
    pub(super) kept: Option<(usize, Time)>,
    arrivals: VecDeque<(Time, usize, Packet)>,
    departures: VecDeque<Departure>,
    /// The stations' names, and who watches which of them sends.
    names: Vec<String>,
    watch: Option<Watch>,
    /// Packets and bytes in `arrivals`, by channel.
    arriving: Vec<Backlog>,
}

impl Air {
    /// A silent medium.
    pub(super) fn new(
        phy: Phy,
        rules: Rules,
        contenders: Vec<Contender>,
        lanes: Vec<Lane>,
        senders: Vec<[Option<(usize, usize)>; 4]>,
        categories: Vec<u8>,
    ) -> Self {
        let arriving = vec![Backlog::default(); lanes.len()];
        Air {
            phy,
            rules,
            contenders,
            lanes,
            senders,
            categories,
            phase: Phase::Idle(Time::NEVER),
            sending: Vec::new(),
            arrived: 0,
            dropped: 0,
            kept: None,
            arrivals: VecDeque::new(),
            departures: VecDeque::new(),
            names: Vec::new(),
            watch: None,
            arriving,
        }
    }

    /// The same, watched by `watch`, in which stations have these names.
    pub(super) fn watched(self, names: Vec<String>, watch: Option<Watch>) -> Self {
        Air { names, watch, ..self }
    }

    /// Lets who watches see which stations send.
    pub(super) fn show(&mut self, now: Time) {
        let Some(watch) = &mut self.watch else { return };
        let senders = self.sending.iter().map(|sent| self.contenders[sent.contender].station);
        let senders: Vec<&str> = senders.map(|station| self.names[station].as_str()).collect();
        let mpdus: u32 = self.sending.iter().map(|sent| sent.frame.count).sum();
        watch.look(now, |out| {
            if !senders.is_empty() {
                out("sender", senders.join("+").as_str().into());
                out("mpdus", f64::from(mpdus).into());
            }
        });
    }

    /// Lets happen what is due by `now`.
    fn advance(&mut self, now: Time) {
        let mut last_timers = None;
        loop {
            let due = self.next_event();
            // A timer that asks for the same instant again is left to the next call.
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
        let timers = self.contenders.iter().filter_map(Contender::next_timer);
        timers.fold(next, Time::min)
    }

    /// Queues that held everything back may have something now.
    fn run_timers(&mut self, now: Time) {
        for contender in &mut self.contenders {
            contender.run_timers(now, &mut self.lanes);
            if contender.ready_at == Time::NEVER && contender.is_ready() {
                contender.ready_at = now;
            }
        }
        self.look_ahead();
    }

    /// Finds out who transmits next, if the medium is idle.
    fn look_ahead(&mut self) {
        if let Phase::Idle(_) = self.phase {
            let slot = self.phy.slot();
            let starts = self.contenders.iter().map(|contender| contender.start(slot));
            self.phase = Phase::Idle(starts.min().unwrap_or(Time::NEVER));
        }
    }

    /// Someone's counter has run out.
    fn begin(&mut self, now: Time) {
        let slot = self.phy.slot();
        let mut winners: Vec<usize> = (0..self.contenders.len())
            .filter(|index| self.contenders[*index].start(slot) == now)
            .collect();
        self.sending.clear();
        // Within a station the highest category goes first, the others have collided (10.22.2.4).
        winners.sort_by_key(|index| (self.contenders[*index].station, std::cmp::Reverse(*index)));
        let mut beaten = Vec::new();
        for (place, index) in winners.iter().enumerate() {
            let station = self.contenders[*index].station;
            let higher = winners[..place].iter().any(|other| {
                self.contenders[*other].station == station
                    && self.sending.iter().any(|sent| sent.contender == *other)
            });
            match (higher, self.build(now, *index, self.rules.longest)) {
                (true, Some(_)) => beaten.push(*index),
                (false, Some(transmission)) => self.sending.push(transmission),
                (_, None) => {
                    self.contenders[*index].ready_at = Time::NEVER;
                    self.contenders[*index].backoff = 0;
                }
            }
        }
        if self.sending.is_empty() {
            return self.look_ahead();
        }
        for (index, contender) in self.contenders.iter_mut().enumerate() {
            if !winners.contains(&index) {
                contender.interrupt(now, slot, self.rules.counts_busy);
            }
        }
        for index in beaten {
            self.contenders[index].widen();
            self.contenders[index].draw();
        }
        if let [only] = self.sending[..] {
            let txop = self.contenders[only.contender].rules.txop;
            self.kept = (txop > Span::ZERO).then(|| (only.contender, now + txop));
        }
        self.transmit(now);
    }

    /// The frame that a contender sends.
    fn build(&mut self, now: Time, index: usize, longest: Span) -> Option<Transmission> {
        let phy = &self.phy;
        let longest = longest.min(self.rules.longest);
        let contender = &mut self.contenders[index];
        let built = contender.build(now, &mut self.lanes, |mode| phy.largest(mode, longest));
        let (peer, mode, frame) = built?;
        let duration = phy.duration(mode, frame.bytes);
        let protected = frame.bytes > self.rules.rts_threshold;
        Some(Transmission { contender: index, peer, mode, frame, duration, protected })
    }

    /// The receiver passes on what has come in order.
    fn on_data_end(&mut self, now: Time) {
        let sent = self.sending[0];
        self.dropped = self.mark(now, &sent, self.arrived);
        self.phase = Phase::Answer(now + self.answer(&sent));
    }

    /// An exchange is over: everyone counts again.
    fn finish(&mut self, now: Time) {
        let collided = self.sending.len() > 1;
        let sending = std::mem::take(&mut self.sending);
        for sent in &sending {
            let arrived = if collided { 0 } else { self.arrived };
            self.settle(now, sent, arrived, collided);
        }
        let (sifs, slot) = (self.phy.sifs(), self.phy.slot());
        // Who heard a collision allows for an answer that it could not understand (10.3.2.3.7);
        // who took part in it has waited for one.
        let heard = match collided && !self.rules.idealised {
            true => sifs + self.phy.slowest_ack(),
            false => Span::ZERO,
        };
        let waited = match collided && !self.rules.idealised {
            true => sifs + slot + OFDM_PREAMBLE,
            false => Span::ZERO,
        };
        for (index, contender) in self.contenders.iter_mut().enumerate() {
            let took_part = sending.iter().any(|sent| sent.contender == index);
            let penalty = if took_part { waited } else { heard };
            let space = sifs + slot * u64::from(contender.rules.aifsn);
            contender.counts_from = now + penalty + space;
            contender.ready_at = if contender.is_ready() { Time::ZERO } else { Time::NEVER };
        }
        self.show(now);
        self.sending = sending;
        let keeps = self.kept.is_some_and(|(index, until)| {
            self.arrived != 0 && now + sifs < until && self.contenders[index].is_ready()
        });
        if keeps {
            self.phase = Phase::Kept(now + sifs);
        } else {
            self.go_idle();
        }
    }

    /// The next exchange of the station that keeps the medium, if it ends in time.
    fn send_on(&mut self, now: Time) {
        let sent = self.sending[0];
        let Some((index, until)) = self.kept else { return self.go_idle() };
        let left = until.since(now) - self.answer(&sent) - self.protection(&sent);
        let built = (left > Span::ZERO).then(|| self.build(now, index, left)).flatten();
        let Some(next) = built.filter(|next| now + self.occupancy(next) <= until) else {
            return self.go_idle();
        };
        self.sending.clear();
        self.sending.push(next);
        self.transmit(now);
    }

    /// Nobody keeps the medium: who counts down first will be next.
    fn go_idle(&mut self) {
        self.kept = None;
        self.phase = Phase::Idle(Time::NEVER);
        self.look_ahead();
    }

    /// The receiver of a frame passes on what is complete.
    pub(super) fn release(&mut self, now: Time, contender: usize, peer: usize) {
        let peer = &mut self.contenders[contender].peers[peer];
        let lane = &mut self.lanes[peer.channel];
        while let Some(packet) = peer.window.release() {
            self.arriving[peer.channel].add(&packet);
            lane.depart(&packet);
            self.arrivals.push_back((now, peer.channel, packet));
        }
    }

    fn collect_departures(&mut self) {
        for lane in &mut self.lanes {
            self.departures.extend(lane.departed.drain(..));
        }
    }
}

impl Medium for Air {
    fn offer(&mut self, now: Time, channel: usize, packet: Packet) {
        self.advance(now);
        let lane = &mut self.lanes[channel];
        lane.counters.offered_packets += 1;
        lane.counters.offered_bytes += u64::from(packet.size);
        let category = self.categories.get(packet.flow as usize).copied().unwrap_or(BEST_EFFORT);
        let Some((index, peer)) = self.senders[channel][usize::from(category)] else { return };
        let contender = &mut self.contenders[index];
        let packet = Packet { lane: channel as u8, ..packet };
        contender.enqueue(now, peer, packet, &mut self.lanes);
        if contender.ready_at == Time::NEVER && contender.is_ready() {
            contender.ready_at = now;
            match self.phase {
                Phase::Idle(next) => {
                    self.phase = Phase::Idle(next.min(contender.start(self.phy.slot())));
                }
                // Who finds the medium busy must not go first afterwards (10.3.4.2).
                _ if contender.backoff == 0 => contender.draw(),
                _ => {}
            }
        }
        self.collect_departures();
    }

    fn poll(&mut self, now: Time) -> Option<(usize, Packet)> {
        self.advance(now);
        self.arrivals.front().filter(|arrival| arrival.0 <= now)?;
        let (_, channel, packet) = self.arrivals.pop_front()?;
        self.arriving[channel].remove(&packet);
        let counters = &mut self.lanes[channel].counters;
        counters.arrived_packets += 1;
        counters.arrived_bytes += u64::from(packet.size);
        Some((channel, packet))
    }

    fn departure(&mut self) -> Option<Departure> {
        self.collect_departures();
        self.departures.pop_front()
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
        self.lanes.iter_mut().for_each(|lane| lane.sojourn.clear());
    }
}

/// The category of packets whose flow names none.
const BEST_EFFORT: u8 = 1;
