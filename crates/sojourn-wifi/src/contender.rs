//! An access category of a station: contends for the medium and builds frames (EDCAF, 802.11-2016
//! 10.22.2; with a single category, DCF, 10.3).
//!
//! Its queues, by `queueing`:
//! - `driver`: one queue discipline for all receivers (a network device's qdisc), below it the
//!   driver's FIFO for each receiver, of which `driver_queue` packets are shared; receivers take
//!   turns frame by frame. Linux drivers until ath9k's conversion (4.10), and firmware.
//! - `mac80211`: a queue discipline for each receiver, from which frames are built directly, and
//!   turns by airtime (Hoiland-Jorgensen et al., "Ending the Anomaly", USENIX ATC 2017; ath9k since
//!   4.11, all of mac80211 since 5.1): deficit round robin with a quantum of 300 us times the
//!   receiver's weight, and receivers that were silent first.

use std::collections::VecDeque;

use super::category::Contention;
use super::peer::Peer;
use super::supply::Supply;
use super::window::{Frame, Limits};
use sojourn_base::packet::Packet;
use sojourn_base::rng::Stream;
use sojourn_base::units::{Span, Time};
use sojourn_net::edge::medium::lanes::{Lanes, Queue};

/// Airtime that a receiver gets with each turn.
const QUANTUM: Span = Span::from_micros(300);

/// A frame that a contender sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    /// Index of the sending contender.
    pub contender: usize,
    /// Index of the receiver among its peers.
    pub peer: usize,
    /// Index of the mode.
    pub mode: usize,
    /// The frame.
    pub frame: Frame,
    /// Duration of the data on the air.
    pub duration: Span,
    /// Whether RTS and CTS come first.
    pub protected: bool,
    /// Delay of its start after the first of the same collision.
    pub late: Span,
}

/// How receivers take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turns {
    /// Frame by frame; the driver holds packets of its own.
    Frames {
        /// Packets in the driver.
        driver_queue: usize,
    },
    /// Frame by frame, each receiver with a queue of its own.
    Queues,
    /// By airtime.
    Airtime,
}

/// An access category of a station.
pub(crate) struct Contender {
    /// Number of the station.
    pub station: usize,
    /// Its contention parameters.
    pub rules: Contention,
    /// Limits of its frames.
    pub limits: Limits,
    /// How its receivers take turns.
    pub turns: Turns,
    /// Receivers.
    pub peers: Vec<Peer>,
    /// Their queues.
    pub queues: Vec<Queue>,
    /// Remaining backoff slots.
    pub backoff: u32,
    /// Present contention window.
    pub window: u32,
    /// Consecutive failures.
    pub failures: u32,
    /// Time from which idle slots count.
    pub counts_from: Time,
    /// Earliest timer of a queue with packets.
    pub timer: Time,
    /// Time since which it has data to send; [`Time::NEVER`] if it has none.
    pub ready_at: Time,
    /// Draws backoffs and errors.
    pub random: Stream,
    /// Packets that the driver holds for all peers.
    pub staged: usize,
    /// Share of airtime of each peer, 1 by default.
    pub weights: Vec<f64>,
    /// Peers that were silent, and other peers, in the order of their turns.
    pub fresh: VecDeque<usize>,
    pub rotation: VecDeque<usize>,
}

impl Contender {
    /// Time at which it transmits if the medium stays idle; [`Time::NEVER`] with nothing to send.
    pub(crate) fn start(&self, slot: Span) -> Time {
        if self.ready_at == Time::NEVER {
            return Time::NEVER;
        }
        let late = self.ready_at.since(self.counts_from).as_nanos().div_ceil(slot.as_nanos());
        self.counts_from + slot * late.max(self.backoff.into())
    }

    /// Another station transmits at `now`: counts the slots that were idle, and in EDCA (or
    /// idealised) contention the present one.
    pub(crate) fn interrupt(&mut self, now: Time, slot: Span, counts_busy: bool) {
        if now < self.counts_from {
            return;
        }
        let idle = now.since(self.counts_from).as_nanos() / slot.as_nanos();
        let counted = idle + u64::from(counts_busy);
        self.backoff = self.backoff.saturating_sub(counted.min(u64::from(u32::MAX)) as u32);
    }

    /// Draws a backoff from the present window.
    pub(crate) fn draw(&mut self) {
        use rand::RngExt;
        self.backoff = self.random.random_range(0..=self.window);
    }

    /// A transmission failed.
    pub(crate) fn widen(&mut self) {
        self.window = (2 * self.window + 1).min(self.rules.cw_max);
        self.failures += 1;
    }

    /// A transmission succeeded, or its frame was dropped.
    pub(crate) fn reset(&mut self) {
        self.window = self.rules.cw_min;
        self.failures = 0;
    }

    /// A packet for one of its receivers, whose lane is set.
    pub(crate) fn enqueue(&mut self, now: Time, peer: usize, packet: Packet, lanes: &mut Lanes) {
        let queue = self.peers[peer].queue;
        self.queues[queue].enqueue(now, packet, lanes);
        self.list(peer);
        self.stage(now, lanes);
        self.look_at_timers();
    }

    /// The driver takes packets from the queue while it has room.
    pub(crate) fn stage(&mut self, now: Time, lanes: &mut Lanes) {
        let Turns::Frames { driver_queue } = self.turns else { return };
        debug_assert_eq!(
            self.staged,
            self.peers.iter().map(|peer| peer.staged.len()).sum::<usize>()
        );
        let mut packet = Packet::default();
        for _ in self.staged..driver_queue {
            if !self.queues[0].dequeue_into(now, &mut packet, lanes) {
                return;
            }
            let lane = usize::from(packet.lane);
            if let Some(peer) = self.peers.iter_mut().position(|peer| peer.channel == lane) {
                self.peers[peer].staged.push_back(packet);
                self.staged += 1;
                self.list(peer);
            }
        }
    }

    /// Whether there is data to send to a receiver.
    fn has_work(&self, peer: usize) -> bool {
        let Peer { window, staged, queue, .. } = &self.peers[peer];
        let direct = !matches!(self.turns, Turns::Frames { .. });
        window.has_retries() || !staged.is_empty() || (direct && !self.queues[*queue].is_empty())
    }

    /// Whether there is data to send.
    pub(crate) fn is_ready(&self) -> bool {
        (0..self.peers.len()).any(|peer| self.has_work(peer))
    }

    fn list(&mut self, peer: usize) {
        if !self.peers[peer].listed {
            self.peers[peer].listed = true;
            self.fresh.push_back(peer);
        }
    }

    /// The next receiver to serve.
    fn next_peer(&mut self) -> Option<usize> {
        loop {
            let (peer, fresh) = match (self.fresh.front(), self.rotation.front()) {
                (Some(peer), _) => (*peer, true),
                (None, Some(peer)) => (*peer, false),
                (None, None) => return None,
            };
            if self.turns == Turns::Airtime && self.peers[peer].deficit <= 0 {
                let quantum = QUANTUM.mul_f64(self.weights[peer]).as_nanos().max(1);
                self.peers[peer].deficit += quantum as i64;
                self.pass_turn(fresh);
                continue;
            }
            if self.has_work(peer) {
                return Some(peer);
            }
            // Those that were silent keep a place, so that they are not first with every packet.
            if fresh && !self.rotation.is_empty() {
                self.pass_turn(true);
                continue;
            }
            let list = if fresh { &mut self.fresh } else { &mut self.rotation };
            list.pop_front();
            self.peers[peer].listed = false;
        }
    }

    fn pass_turn(&mut self, fresh: bool) {
        let list = if fresh { &mut self.fresh } else { &mut self.rotation };
        if let Some(peer) = list.pop_front() {
            self.rotation.push_back(peer);
        }
    }

    /// Builds the frame to send at `now`, by `plan`: the mode and whether this is a sample give the
    /// bytes that the airtime allows. `None` if the queues returned no packets.
    pub(crate) fn build(
        &mut self,
        now: Time,
        lanes: &mut Lanes,
        room: impl Fn(usize) -> u32,
    ) -> Option<(usize, usize, Frame)> {
        while let Some(index) = self.next_peer() {
            let failures = self.failures;
            let direct = !matches!(self.turns, Turns::Frames { .. });
            let peer = &mut self.peers[index];
            let choice = peer.choose(failures);
            let most = if choice.sample { 1 } else { self.limits.frames };
            let limits = Limits { frames: most, ..self.limits };
            let queue = &mut self.queues[peer.queue];
            let (staged, held) = (&mut peer.staged, &mut self.staged);
            let mut supply = Supply { now, staged, held, queue, lanes, direct };
            let room = room(choice.mode);
            let frame = peer.window.build(limits, room, &mut supply, Supply::next, Supply::back);
            if frame.count > 0 {
                self.stage(now, lanes);
                self.look_at_timers();
                return Some((index, choice.mode, frame));
            }
            self.delist(index);
        }
        self.look_at_timers();
        None
    }

    /// A receiver whose queue returns no packets has no turn until it is listed again.
    fn delist(&mut self, peer: usize) {
        self.fresh.retain(|listed| *listed != peer);
        self.rotation.retain(|listed| *listed != peer);
        self.peers[peer].listed = false;
    }

    /// Runs the queues' timers, after which receivers may have data again.
    pub(crate) fn run_timers(&mut self, now: Time, lanes: &mut Lanes) {
        if !self.queues.iter().any(|queue| queue.next_timer().is_some_and(|at| at <= now)) {
            return;
        }
        self.queues.iter_mut().for_each(|queue| queue.run_timer(now, lanes));
        self.stage(now, lanes);
        for peer in 0..self.peers.len() {
            if self.has_work(peer) {
                self.list(peer);
            }
        }
        self.look_at_timers();
    }

    /// Updates the earliest timer of the queues with packets.
    fn look_at_timers(&mut self) {
        let holding = self.queues.iter().filter(|queue| !queue.is_empty());
        self.timer = holding.filter_map(Queue::next_timer).min().unwrap_or(Time::NEVER);
    }

    /// Charges `peer` for a frame of duration `span`.
    pub(crate) fn charge(&mut self, peer: usize, span: Span) {
        self.peers[peer].deficit -= span.as_nanos() as i64;
        if self.turns != Turns::Airtime {
            let fresh = self.fresh.front() == Some(&peer);
            if fresh || self.rotation.front() == Some(&peer) {
                self.pass_turn(fresh);
            }
        }
    }
}
