//! From a scenario's [`LinkSpec`] to a [`Link`].

use serde_json::Map;

use super::{Discipline, Egress, Exit, FlowDrops, Link, RandomLoss, Transmitter};
use crate::error::FieldError;
use crate::queue::QueueInit;
use crate::rng::StreamKey;
use crate::scenario::LinkSpec;
use crate::units::Span;

/// What a link has to know about the network around it.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Size of a full IP packet of its flows in bytes.
    pub full_packet: u32,
    /// Largest base RTT of the flows that pass, for limits in BDP.
    pub base_rtt: Span,
    /// Whether its flows are ECN-capable.
    pub ecn: bool,
    /// Whether its counters belong in the results.
    pub recorded: bool,
    /// Data packets to lose by their number.
    pub drops: Vec<FlowDrops>,
    /// Names the link's random draws.
    pub random: StreamKey,
}

impl Link {
    /// Builds the link that `spec` describes. A link without rate and queue only delays, and has
    /// no transmitter unless it is to be recorded.
    ///
    /// # Errors
    /// If the queue discipline or one of its parameters is wrong; never for a scenario that was
    /// read.
    pub fn build(spec: &LinkSpec, around: Surroundings) -> Result<Link, FieldError> {
        let only_delays = spec.rate.is_none() && spec.queue.is_none();
        let transmitter = match only_delays && !around.recorded {
            true => None,
            false => Some(transmitter(spec, &around)?),
        };
        let loss = spec.loss.fraction();
        let loss = (loss > 0.0).then(|| RandomLoss::new(loss, around.random));
        Ok(Link::new(transmitter, Exit::new(loss, around.drops), spec.delay))
    }
}

fn transmitter(spec: &LinkSpec, around: &Surroundings) -> Result<Transmitter, FieldError> {
    let init = QueueInit {
        rate: spec.rate,
        overhead: spec.overhead.0 as u32,
        full_packet: around.full_packet,
        base_rtt: around.base_rtt,
        ecn: around.ecn,
        random: around.random.child("queue"),
    };
    let discipline = match &spec.queue {
        Some(queue) => Discipline::build(&queue.kind, &queue.params, &init),
        None => Discipline::build("fifo", &Map::new(), &init),
    };
    let discipline = discipline.map_err(|e| e.within("queue"))?;
    let egress = Egress::new(discipline, spec.device_queue.0 as usize);
    Ok(Transmitter::new(egress, spec.rate, init.overhead))
}
