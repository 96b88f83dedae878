//! One exchange of frames: its duration, the MPDUs that arrive, and the consequences.

use rand::RngExt;

use super::air::{Air, Phase};
use super::contender::{Contender, Transmission};
use sojourn_base::units::{Span, Time};

/// Lengths of control frames in bytes: ACK and CTS, RTS, compressed block ACK.
const ACK: u32 = 14;
const RTS: u32 = 20;
const BLOCK_ACK: u32 = 32;

impl Air {
    /// Duration before the data: RTS, CTS and the spaces between them.
    pub(super) fn protection(&self, transmission: &Transmission) -> Span {
        if !transmission.protected {
            return Span::ZERO;
        }
        let answer = |bytes| self.phy.answer(transmission.mode, bytes);
        answer(RTS) + answer(ACK) + self.phy.sifs() * 2
    }

    /// Time between the end of the data and the end of its answer.
    pub(super) fn answer(&self, transmission: &Transmission) -> Span {
        let single = self.contenders[transmission.contender].limits.frames == 1;
        let bytes = if single { ACK } else { BLOCK_ACK };
        self.phy.sifs() + self.phy.answer(transmission.mode, bytes)
    }

    /// Time for which the medium is occupied.
    pub(super) fn occupancy(&self, transmission: &Transmission) -> Span {
        self.protection(transmission) + transmission.duration + self.answer(transmission)
    }

    /// Starts the transmissions.
    pub(super) fn transmit(&mut self, now: Time) {
        self.arrived = 0;
        self.show(now);
        if let [only] = self.sending[..] {
            let end = now + only.late + self.protection(&only) + only.duration;
            self.arrived = self.errors(end, &only);
            self.phase = Phase::Data(end);
            return;
        }
        let alone = |sent: &Transmission| match sent.protected {
            true => self.phy.answer(sent.mode, RTS),
            false => sent.duration,
        };
        let ends = self.sending.iter().map(|sent| sent.late + alone(sent));
        let longest = ends.max().unwrap_or(Span::ZERO);
        for sent in &self.sending {
            let channel = self.contenders[sent.contender].peers[sent.peer].channel;
            let air = &mut self.lanes[channel].air;
            air.collisions += 1;
            air.attempts += 1;
            air.airtime += alone(sent);
        }
        self.kept = None;
        self.phase = Phase::Answer(now + longest);
    }

    /// Which MPDUs of a frame arrive.
    fn errors(&mut self, now: Time, sent: &Transmission) -> u64 {
        let Contender { peers, random, .. } = &mut self.contenders[sent.contender];
        let peer = &mut peers[sent.peer];
        let Some(log_success) = peer.signal.log_success(now, &self.phy, sent.mode) else {
            return sent.frame.members;
        };
        let mut arrived = 0;
        for (index, bytes) in peer.window.sizes(sent.frame) {
            let success = libm::exp(8.0 * f64::from(bytes) * log_success);
            if random.random::<f64>() < success {
                arrived |= 1 << index;
            }
        }
        arrived
    }

    /// Processes the result of a frame.
    pub(super) fn settle(&mut self, now: Time, sent: &Transmission, arrived: u64, collided: bool) {
        let dropped = if collided { self.mark(now, sent, 0) } else { self.dropped };
        let held = match arrived {
            0 => self.protection(sent) + sent.duration,
            _ => self.occupancy(sent),
        };
        let contender = &mut self.contenders[sent.contender];
        let peer = &mut contender.peers[sent.peer];
        let lane = &mut self.lanes[peer.channel];
        let count = arrived.count_ones();
        if !collided {
            lane.air.attempts += 1;
            lane.air.airtime += held;
        }
        lane.air.mpdus += u64::from(sent.frame.count);
        lane.air.retries += u64::from(sent.frame.again);
        lane.air.failed += u64::from(arrived == 0);
        peer.learn(now, sent.mode, sent.frame.count, count);
        contender.charge(sent.peer, held);
        if arrived == 0 && dropped == 0 {
            contender.widen();
        } else {
            contender.reset();
        }
        contender.draw();
    }

    /// Notes which MPDUs of a frame have arrived and drops those that failed too often; returns the
    /// number of dropped ones. Packets that are complete then are forwarded.
    pub(super) fn mark(&mut self, now: Time, sent: &Transmission, arrived: u64) -> u32 {
        let attempts = if self.rules.idealised { u8::MAX } else { self.rules.attempts };
        let peer = &mut self.contenders[sent.contender].peers[sent.peer];
        peer.window.arrived(arrived);
        let dropped = match arrived == sent.frame.members {
            true => 0,
            false => peer.window.failed(now, sent.frame, attempts, &mut self.lanes),
        };
        self.release(now, sent.contender, sent.peer);
        dropped
    }
}
