//! How fast a flow's packets are admitted to the overlay: by its utility, and by the depth of the
//! queue that they join, which is the price.

mod log;

use log::Log;

use crate::spec::ServiceSpec;

/// An admission control.
#[derive(Clone, Copy, Debug)]
pub enum Admission {
    /// Elastic.
    Log(Log),
}

impl Admission {
    /// That of a service; `k` weighs utility against queues, in bits squared per second.
    pub fn new(service: &ServiceSpec, k: f64) -> Self {
        Admission::Log(Log::new(service, k))
    }

    /// The rate in bit/s when the queue is `depth` bits deep.
    pub fn rate(&self, depth: f64) -> f64 {
        match self {
            Admission::Log(log) => log.rate(depth),
        }
    }
}
