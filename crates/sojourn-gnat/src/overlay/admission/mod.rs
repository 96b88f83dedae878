//! Admission control: the rate at which a flow's packets enter the overlay, from its utility and
//! from the depth of the queue that they join, which is the price.

mod flog;
mod log;
mod source;
mod strap;

pub(super) use source::Source;
pub(super) use strap::Strap;

use flog::Flog;
use log::Log;

use crate::{ServiceSpec, Utility};
use sojourn_base::units::Time;

/// Whether a flow is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is admitted.
    On,
    /// Suspended: its queue is too deep.
    Triaged,
    /// Suspended: too many of its packets arrived late or not at all.
    Missed,
    /// Turned off, until it is turned on.
    Off,
}

/// State of a flow for supervisory control.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Bits admitted so far.
    pub admitted: f64,
    /// When the last packet arrived.
    pub came_at: Time,
    /// Whether it is admitted.
    pub standing: Standing,
    /// Number of times that this changed.
    pub toggles: u32,
    /// Rate of its source, in bit/s.
    pub nominal: f64,
}

/// An admission control.
#[derive(Clone, Copy, Debug)]
pub(super) enum Admission {
    /// Elastic.
    Log(Log),
    /// Elastic down to a floor.
    Flog(Flog),
    /// Inelastic.
    Strap(Strap),
}

impl Admission {
    /// The admission control of a service; `k` weighs utility against queues, in bits squared per
    /// second; `chance` in [0, 1) spreads the intervals of equal flows.
    pub(super) fn new(service: &ServiceSpec, k: f64, chance: f64) -> Self {
        match service.utility {
            Utility::Log => Admission::Log(Log::new(service, k)),
            Utility::Flog => Admission::Flog(Flog::new(service, k)),
            Utility::Strap => Admission::Strap(Strap::new(service, k, chance)),
        }
    }

    /// Checks the queue, `depth` bits deep, and the source; to be called at [`Admission::look_at`]
    /// and before each use of the rate.
    pub(super) fn look(&mut self, now: Time, depth: f64, source: &Source) {
        match self {
            Admission::Log(_) => {}
            Admission::Flog(flog) => flog.look(now, depth, source),
            Admission::Strap(strap) => strap.look(now, depth, source),
        }
    }

    /// Sets the flow's priority.
    pub(super) fn set_priority(&mut self, priority: f64) {
        match self {
            Admission::Log(log) => log.set_priority(priority),
            Admission::Flog(flog) => flog.set_priority(priority),
            Admission::Strap(strap) => strap.set_priority(priority),
        }
    }

    /// Time of the next check, if there are periodic ones.
    pub(super) fn look_at(&self) -> Option<Time> {
        match self {
            Admission::Log(_) => None,
            Admission::Flog(flog) => flog.look_at(),
            Admission::Strap(strap) => Some(strap.look_at()),
        }
    }

    /// The rate in bit/s when the queue is `depth` bits deep.
    pub(super) fn rate(&self, depth: f64) -> f64 {
        match self {
            Admission::Log(log) => log.rate(depth),
            Admission::Flog(flog) => flog.rate(depth),
            Admission::Strap(strap) => strap.rate(),
        }
    }

    /// Whether the flow is admitted.
    pub(super) fn standing(&self) -> Standing {
        match self {
            Admission::Log(_) => Standing::On,
            Admission::Flog(flog) if flog.is_off() => Standing::Off,
            Admission::Flog(_) => Standing::On,
            Admission::Strap(strap) => strap.standing(),
        }
    }

    /// The admission control as that of an inelastic flow, if it is one.
    pub(super) fn strap(&mut self) -> Option<&mut Strap> {
        match self {
            Admission::Strap(strap) => Some(strap),
            Admission::Log(_) | Admission::Flog(_) => None,
        }
    }
}
