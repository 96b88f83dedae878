//! Contention: counting down to a frame, and the waiting times after one.

use std::cmp::Reverse;

use super::air::{Air, Phase};
use super::contender::Transmission;
use super::phy::OFDM_PREAMBLE;
use sojourn_base::units::{Span, Time};

impl Air {
    /// Determines which station transmits next, if the medium is idle.
    pub(super) fn look_ahead(&mut self) {
        if let Phase::Idle(_) = self.phase {
            let slot = self.phy.slot();
            let starts = self.contenders.iter().map(|contender| contender.start(slot));
            self.phase = Phase::Idle(starts.min().unwrap_or(Time::NEVER));
        }
    }

    /// A backoff counter has reached zero.
    pub(super) fn begin(&mut self, now: Time) {
        let winners = self.winners(now);
        let beaten = self.choose_senders(now, &winners);
        if self.sending.is_empty() {
            return self.look_ahead();
        }
        let (slot, counts_busy) = (self.phy.slot(), self.rules.counts_busy);
        for (index, contender) in self.contenders.iter_mut().enumerate() {
            if !winners.contains(&index) {
                contender.interrupt(now, slot, counts_busy);
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

    /// Contenders that start at `now`, or before they could hear a start at `now`: slots are not
    /// aligned after a collision. By station, the highest category first.
    fn winners(&self, now: Time) -> Vec<usize> {
        let (slot, heard_at) = (self.phy.slot(), now + self.phy.sensing());
        let starts = |index: &usize| self.contenders[*index].start(slot) < heard_at;
        let mut winners: Vec<usize> = (0..self.contenders.len()).filter(starts).collect();
        winners.sort_by_key(|index| (self.contenders[*index].station, Reverse(*index)));
        winners
    }

    /// Builds the frames of the senders. Within a station the highest category sends; the others
    /// have collided (10.22.2.4) and are returned.
    fn choose_senders(&mut self, now: Time, winners: &[usize]) -> Vec<usize> {
        self.sending.clear();
        let mut beaten = Vec::new();
        for index in winners {
            let station = self.contenders[*index].station;
            let late = self.contenders[*index].start(self.phy.slot()).since(now);
            let is_beaten =
                self.sending.iter().any(|sent| self.contenders[sent.contender].station == station);
            match self.build(now, *index, self.rules.longest) {
                Some(_) if is_beaten => beaten.push(*index),
                Some(transmission) => self.sending.push(Transmission { late, ..transmission }),
                None => {
                    self.contenders[*index].ready_at = Time::NEVER;
                    self.contenders[*index].backoff = 0;
                }
            }
        }
        self.look_at_timers();
        beaten
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
        let late = Span::ZERO;
        Some(Transmission { contender: index, peer, mode, frame, duration, protected, late })
    }

    /// An exchange is over: all contenders count again.
    pub(super) fn finish(&mut self, now: Time) {
        let collided = self.sending.len() > 1;
        let sending = std::mem::take(&mut self.sending);
        for sent in &sending {
            let arrived = if collided { 0 } else { self.arrived };
            self.settle(now, sent, arrived, collided);
        }
        let answered = !collided && self.arrived != 0;
        let [waited, heard] = self.penalties(answered);
        let (sifs, slot) = (self.phy.sifs(), self.phy.slot());
        for (index, contender) in self.contenders.iter_mut().enumerate() {
            let took_part = sending.iter().any(|sent| sent.contender == index);
            let penalty = if took_part { waited } else { heard };
            contender.counts_from = now + penalty + sifs + slot * u64::from(contender.rules.aifsn);
            contender.ready_at = if contender.is_ready() { Time::ZERO } else { Time::NEVER };
        }
        self.show(now);
        self.sending = sending;
        let ready = |index: usize| self.contenders[index].is_ready();
        match self.kept {
            Some((index, until)) if answered && now + sifs < until && ready(index) => {
                self.phase = Phase::Kept(now + sifs);
            }
            _ => self.go_idle(),
        }
    }

    /// Additional waiting times before the usual space, of senders and of other stations. Without
    /// an answer the former time out (10.22.2.4), and the latter allow for an answer that they
    /// could not decode (EIFS, 10.3.2.3.7).
    fn penalties(&self, answered: bool) -> [Span; 2] {
        if answered || self.rules.idealised {
            return [Span::ZERO; 2];
        }
        let sifs = self.phy.sifs();
        [sifs + self.phy.slot() + OFDM_PREAMBLE, sifs + self.phy.slowest_ack()]
    }

    /// The next exchange of the station that holds the medium, if it ends in time.
    pub(super) fn send_on(&mut self, now: Time) {
        let sent = self.sending[0];
        let Some((index, until)) = self.kept else { return self.go_idle() };
        let left = until.since(now) - self.answer(&sent) - self.protection(&sent);
        let built = (left > Span::ZERO).then(|| self.build(now, index, left)).flatten();
        self.look_at_timers();
        let Some(next) = built.filter(|next| now + self.occupancy(next) <= until) else {
            return self.go_idle();
        };
        self.sending.clear();
        self.sending.push(next);
        self.transmit(now);
    }

    /// No station holds the medium: the next is the first whose counter reaches zero.
    fn go_idle(&mut self) {
        self.kept = None;
        self.phase = Phase::Idle(Time::NEVER);
        self.look_ahead();
    }
}
