//! The simulation: a network with flows on it, from a scenario to its outcome.

mod application;
mod build;
mod hosts;
mod inspect;
#[cfg(test)]
mod overlay_runs;
#[cfg(test)]
mod random_runs;
#[cfg(test)]
mod recorded_runs;
mod timer;

use crate::error::{Ended, Fault, FieldError, unless_ended};
use crate::net::Network;
use crate::record::Outcome;
use crate::record::live::{Log, Sink};
use crate::scenario::Scenario;
use crate::units::Time;

pub use application::Application;
pub use build::Surroundings;

use hosts::FlowHosts;

/// A network with flows on it, and how far it has been simulated.
pub struct Simulation {
    net: Network,
    hosts: FlowHosts,
    end: Time,
    log: Option<Log>,
}

impl Simulation {
    /// Builds the network of a scenario and the flows on it.
    ///
    /// # Errors
    /// If the scenario cannot be built; never for one that was read by [`Scenario::from_json`].
    pub fn new(scenario: &Scenario) -> Result<Self, FieldError> {
        Simulation::build(scenario, None)
    }

    /// The same; `sink` is given what the scenario asks to be recorded, some tens of thousands of
    /// rows at a time, and the last when [`Simulation::outcome`] is asked for.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn recording(scenario: &Scenario, sink: Sink) -> Result<Self, FieldError> {
        Simulation::build(scenario, Some(Log::new(&scenario.record, sink)))
    }

    fn build(scenario: &Scenario, log: Option<Log>) -> Result<Self, FieldError> {
        let parts = unless_ended(|| build::parts(scenario, log.as_ref()));
        let (net, hosts) = parts.map_err(Ended::before_the_run)??;
        Ok(Simulation { log, ..Simulation::of(net, hosts, Time::ZERO + scenario.duration) })
    }

    fn of(mut net: Network, hosts: FlowHosts, end: Time) -> Self {
        hosts.start(&mut net, end);
        Simulation { net, hosts, end, log: None }
    }

    /// How far it has been simulated.
    pub fn now(&self) -> Time {
        self.net.now()
    }

    /// Until when it can be simulated.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Names of the nodes that decide themselves, in the order of samples of nodes.
    pub fn nodes(&self) -> Vec<String> {
        self.net.sample_nodes().map(|(name, _)| name.to_owned()).collect()
    }

    /// Events scheduled so far.
    pub fn events(&self) -> u64 {
        self.net.events()
    }

    /// Simulates up to and including `until`, at most to the end.
    ///
    /// # Errors
    /// If an invariant of the simulator is broken, or a component ends the run. The simulation
    /// cannot be continued then.
    pub fn advance(&mut self, until: Time) -> Result<(), Fault> {
        let end = until.min(self.end);
        match unless_ended(|| self.net.advance(end, &mut self.hosts)) {
            Ok(step) => step.map_err(|fault| *fault),
            Err(ended) => Err(ended.at(self.now())),
        }
    }

    /// Simulates to the end.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn run(mut self) -> Result<Outcome, Fault> {
        self.advance(self.end)?;
        self.outcome()
    }

    /// What has been recorded so far.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn outcome(mut self) -> Result<Outcome, Fault> {
        if self.hosts.recorder.last() < self.now() {
            self.hosts.sample(&mut self.net).map_err(|fault| *fault)?;
        }
        if let Some(log) = &self.log {
            log.flush();
        }
        Ok(self.hosts.outcome(&self.net))
    }
}

#[cfg(test)]
mod tests;
