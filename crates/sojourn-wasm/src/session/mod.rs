//! A run as a page does it: opened from a text, advanced bit by bit, finished as a block.

use serde_json::{Map, Value, json};
use sojourn_base::units::{Span, Time};
use sojourn_catalogue::builtin;
use sojourn_sim::spec::{Flow, FlowSpec, toml_to_json};
use sojourn_sim::topology::Routes;
use sojourn_sim::{Scenario, Simulation};

use crate::block::block;
use crate::modes::{EVERY, Modes};
use crate::refusal::Refusal;
use crate::summary::summary;
use crate::{elsewhere, limits, version};

/// A scenario, its run, and what was seen of it.
pub struct Session {
    scenario: Scenario,
    /// What [`Session::told`] says, made while the text is there.
    warnings: Vec<Value>,
    simulation: Simulation,
    modes: Modes,
}

impl Session {
    /// Reads a scenario file and builds its run.
    ///
    /// # Errors
    /// If the text is no scenario, one that only the command line runs, or one beyond [`limits`].
    pub fn open(text: &str) -> Result<Session, Refusal> {
        let at = |error| Refusal::of(error, text);
        let file = toml_to_json(text).map_err(at)?;
        elsewhere::check(&file).map_err(|(error, how)| at(error).locally(how))?;
        let scenario = Scenario::from_json(&file, builtin()).map_err(at)?;
        limits::check(&scenario).map_err(|error| at(error).locally(elsewhere::RUN))?;
        let simulation = Simulation::new(&scenario).map_err(at)?;
        let warnings = scenario.warnings().into_iter().map(|warning| at(warning).to_json());
        let (warnings, mut modes) = (warnings.collect(), Modes::new(scenario.flow_count()));
        modes.look(&simulation);
        Ok(Session { scenario, warnings, simulation, modes })
    }

    /// What a page is told of a scenario that was opened (*opened* of [`crate::abi`]).
    pub fn told(&self) -> Value {
        json!({
            "scenario": self.scenario.to_json(),
            "warnings": self.warnings,
            "flows": self.flows(),
            "links": self.links(),
            "end": self.simulation.end().as_secs_f64(),
            "warmup": self.scenario.warmup.as_secs_f64(),
            "sample_interval": self.scenario.sample_interval.as_secs_f64(),
            "modes_every": EVERY.as_secs_f64(),
            "limits": limits::to_json(),
            "build": version::build(),
        })
    }

    fn flows(&self) -> Vec<Value> {
        let flows = self.scenario.flows_expanded();
        let flows = flows.iter().zip(&self.scenario.plan().routes);
        flows.map(|(flow, routes)| self.flow(flow, routes)).collect()
    }

    fn flow(&self, flow: &Flow<'_>, routes: &Routes) -> Value {
        let plan = self.scenario.plan();
        let recorded = |link: &&u32| plan.links[**link as usize].recorded;
        let stop = flow.spec.stop.unwrap_or(self.scenario.duration);
        json!({
            "name": name(flow.spec),
            "cca": control(flow.spec),
            "transport": flow.spec.transport.kind,
            "entry": flow.entry,
            "base_rtt": plan.delay(routes).as_secs_f64(),
            "start": flow.spec.start.as_secs_f64(),
            "stop": stop.as_secs_f64(),
            "path": routes.forward.iter().filter(recorded).collect::<Vec<_>>(),
        })
    }

    fn links(&self) -> Vec<Value> {
        let plan = self.scenario.plan();
        let node = |end: Option<u16>| end.map(|node| &plan.nodes[usize::from(node)].name);
        let recorded = plan.links.iter().filter(|link| link.recorded);
        let told = recorded.map(|link| {
            json!({
                "id": link.id,
                "rate": link.spec.rate.map(|rate| rate.as_bps() as f64),
                "overhead": link.spec.overhead.0 as f64,
                "ends": link.ends.map(node),
            })
        });
        told.collect()
    }

    /// Simulates up to `until` seconds, at most to the end; the time that was reached.
    ///
    /// # Errors
    /// If the run becomes too long for a page, or the simulator is at fault. It cannot go on then.
    pub fn advance(&mut self, until: f64) -> Result<f64, Refusal> {
        let until = (Time::ZERO + Span::from_secs_f64(until)).min(self.simulation.end());
        while self.simulation.now() < until {
            let next = Modes::next(self.simulation.now());
            let advanced = self.simulation.advance(next.min(until));
            advanced.map_err(|fault| Refusal::broken(&fault))?;
            if next <= until {
                self.modes.look(&self.simulation);
            }
            let events = self.simulation.events();
            limits::check_events(events)
                .map_err(|message| Refusal::plain(message).locally(elsewhere::RUN))?;
        }
        Ok(self.simulation.now().as_secs_f64())
    }

    /// Ends the run where it is; its results as a block (*block* of [`crate::abi`]).
    ///
    /// # Errors
    /// If the simulator is at fault.
    pub fn finish(self) -> Result<Vec<u8>, Refusal> {
        let outcome = self.simulation.outcome().map_err(|fault| Refusal::broken(&fault))?;
        let beside = [
            ("modes".to_owned(), self.modes.to_json()),
            ("summary".to_owned(), summary(&self.scenario, &outcome)),
        ];
        Ok(block(&outcome.into_tables(), Map::from_iter(beside)))
    }
}

/// The names of a flow's controls, if it has any.
fn control(flow: &FlowSpec) -> Option<String> {
    let names = flow.cca.as_ref()?.iter().map(|control| control.kind.as_str());
    Some(names.collect::<Vec<_>>().join("+"))
}

/// What a flow is called: its label, else its control or its transport.
fn name(flow: &FlowSpec) -> String {
    let label = flow.label.clone();
    label.or_else(|| control(flow)).unwrap_or_else(|| flow.transport.kind.clone())
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
