//! The simulation: runs a scenario to its outcome.

mod application;
pub mod arrivals;
mod build;
mod hosts;
mod inspect;
mod part;
mod recorded;
mod sampler;
mod sockets;
mod timer;
mod uncarried;

use crate::error::{Ended, Fault, FieldError, unless_ended};
use crate::net::Regions;
use crate::record::live::{Log, Sink};
use crate::record::{Chunks, Outcome, TableSink};
use crate::scenario::Scenario;
use crate::units::{Span, Time};

pub use application::Application;
pub use build::Surroundings;
pub use part::{Neighbour, Part};
pub use recorded::setup as capture_setup;
pub use uncarried::Uncarried;

use hosts::FlowHosts;
use sampler::Sampler;

/// A network with its flows, and the time it has reached.
pub struct Simulation {
    regions: Regions<FlowHosts>,
    sampler: Sampler,
    now: Time,
    end: Time,
    log: Option<Log>,
}

impl Simulation {
    /// Number of regions of its network, which threads may share.
    pub fn regions(&self) -> usize {
        self.regions.iter().count()
    }

    /// Builds the network of a scenario and the flows on it.
    ///
    /// # Errors
    /// If the scenario has programs, which only a kernel runs, or cannot be built; never for another
    /// that was read by [`Scenario::from_json`].
    pub fn new(scenario: &Scenario) -> Result<Self, FieldError> {
        Simulation::build(scenario, None, None)
    }

    /// The same; `sink` receives the records that the scenario asks for, some tens of thousands of
    /// rows at a time, and the last when [`Simulation::outcome`] is called.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn recording(scenario: &Scenario, sink: Sink) -> Result<Self, FieldError> {
        Simulation::build(scenario, Some(recorded::log(scenario, sink)), None)
    }

    /// The same, or without a record; samples and transfers do not wait for the end, however many
    /// they become: `tables` receives their tables by name, [`CHUNK`](crate::record::CHUNK) rows at
    /// a time or a few more. [`Simulation::outcome`] has the rest.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn streaming(
        scenario: &Scenario,
        record: Option<Sink>,
        tables: TableSink,
    ) -> Result<Self, FieldError> {
        let log = record.map(|sink| recorded::log(scenario, sink));
        Simulation::build(scenario, log, Some(Chunks::new(tables)))
    }

    fn build(
        scenario: &Scenario,
        log: Option<Log>,
        chunks: Option<Chunks>,
    ) -> Result<Self, FieldError> {
        build::refuse_programs(scenario)?;
        let parts = unless_ended(|| build::parts(scenario, log.as_ref(), chunks.as_ref()));
        let (regions, sampler) = parts.map_err(Ended::before_the_run)??;
        Ok(Simulation { log, ..Simulation::of(regions, sampler, Time::ZERO + scenario.duration) })
    }

    fn of(mut regions: Regions<FlowHosts>, sampler: Sampler, end: Time) -> Self {
        regions.iter_mut().for_each(|(net, hosts)| hosts.start(net, &sampler.flows, end));
        Simulation { regions, sampler, now: Time::ZERO, end, log: None }
    }

    /// Uses up to `threads` threads, where the network is partitioned into regions that are worth
    /// them; the results are the same.
    pub fn use_threads(&mut self, threads: usize) {
        self.regions.use_threads(threads);
    }

    /// The simulated time that has been reached.
    pub fn now(&self) -> Time {
        self.now
    }

    /// End of the run.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Names of the active nodes, in the order of samples of nodes.
    pub fn nodes(&self) -> Vec<String> {
        let named = |net: &crate::net::Network| -> Vec<_> {
            net.sample_nodes().map(|(node, _)| (node, net.node_name(node).to_owned())).collect()
        };
        let mut nodes: Vec<_> = self.regions.iter().flat_map(|(net, _)| named(net)).collect();
        nodes.sort();
        nodes.into_iter().map(|(_, name)| name).collect()
    }

    /// Events scheduled so far.
    pub fn events(&self) -> u64 {
        self.regions.events()
    }

    /// Simulates up to and including `until`, at most to the end.
    ///
    /// # Errors
    /// If an invariant of the simulator is broken, or a component ends the run. The simulation
    /// cannot be continued then.
    pub fn advance(&mut self, until: Time) -> Result<(), Fault> {
        let until = until.min(self.end);
        let beyond = until + Span::from_nanos(1);
        while self.regions.reached() < beyond {
            let next = self.sampler.next().min(beyond);
            self.regions.advance(next).map_err(|fault| *fault)?;
            self.now = next.min(until);
            if next < beyond {
                self.sampler.act(next, &mut self.regions).map_err(|fault| *fault)?;
            }
        }
        Ok(())
    }

    /// Simulates to the end.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn run(mut self) -> Result<Outcome, Fault> {
        self.advance(self.end)?;
        self.outcome()
    }

    /// The outcome of the time simulated so far.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn outcome(mut self) -> Result<Outcome, Fault> {
        if self.sampler.recorder.last() < self.now {
            self.sampler.sample(self.now, &mut self.regions).map_err(|fault| *fault)?;
        }
        if let Some(log) = &self.log {
            log.flush();
        }
        Ok(self.sampler.outcome(self.regions))
    }
}

#[cfg(test)]
mod tests;
