//! One receiver of a station's frames, with its queue, window and mode.

use std::collections::VecDeque;

use super::errors::log_bit_success;
use super::minstrel::{Choice, Minstrel};
use super::phy::Phy;
use super::window::Window;
use sojourn_base::packet::{Backlog, Packet};
use sojourn_base::quantity::Decibels;
use sojourn_base::units::Time;
use sojourn_net::edge::link::schedule::Schedule;

/// How the mode of frames is chosen.
#[derive(Debug)]
pub(crate) enum RateControl {
    /// Always this one.
    Fixed(usize),
    /// By the share of MPDUs that arrive.
    Minstrel(Box<Minstrel>),
}

/// The signal-to-noise ratio between two stations: the lesser of theirs. Without any, only
/// collisions cause loss.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    ratios: Vec<Schedule<Decibels>>,
    /// Until when the last result holds, and its value for each mode.
    until: Time,
    log_success: Vec<f64>,
}

impl Signal {
    /// The lesser of these ratios.
    pub(crate) fn new(ratios: Vec<Schedule<Decibels>>) -> Self {
        Signal { ratios, until: Time::ZERO, log_success: Vec::new() }
    }

    /// Natural logarithm of a bit's success in `mode` at `now`; `None` without noise.
    pub(crate) fn log_success(&mut self, now: Time, phy: &Phy, mode: usize) -> Option<f64> {
        if self.ratios.is_empty() {
            return None;
        }
        if now >= self.until {
            let least =
                self.ratios.iter_mut().map(|ratio| ratio.at(now).0).fold(f64::MAX, f64::min);
            let of_mode = |mode| log_bit_success(phy, mode, least);
            self.log_success = phy.modes.iter().map(of_mode).collect();
            let changes = self.ratios.iter().map(Schedule::next_change);
            self.until = changes.min().unwrap_or(Time::NEVER);
        }
        Some(self.log_success[mode])
    }
}

/// A receiver of one access category of a station.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The channel that leads to it.
    pub channel: usize,
    /// Index of the category's queue that has its packets.
    pub queue: usize,
    /// Packets that the driver has taken from the queue.
    pub staged: VecDeque<Packet>,
    /// Frames in transit and unacknowledged MPDUs.
    pub window: Window,
    /// Choice of the mode.
    pub rate: RateControl,
    /// Loss by noise.
    pub signal: Signal,
    /// Airtime that it may use before its turn ends, in nanoseconds.
    pub deficit: i64,
    /// Whether it is in the rotation.
    pub listed: bool,
}

impl Peer {
    /// The mode of the next frame.
    pub(crate) fn choose(&mut self, failures: u32) -> Choice {
        match &mut self.rate {
            RateControl::Fixed(mode) => Choice { mode: *mode, sample: false },
            RateControl::Minstrel(minstrel) => minstrel.choose(failures),
        }
    }

    /// Result of a frame.
    pub(crate) fn learn(&mut self, now: Time, mode: usize, sent: u32, arrived: u32) {
        if let RateControl::Minstrel(minstrel) = &mut self.rate {
            minstrel.learn(now, mode, sent, arrived);
        }
    }

    /// Packets that it holds beyond the queue.
    pub(crate) fn held(&self) -> Backlog {
        let mut held = self.window.held();
        self.staged.iter().for_each(|packet| held.add(packet));
        held
    }
}
