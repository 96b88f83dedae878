//! The integration tests: one binary, because each one would carry the whole simulator.
// A test may compute what it expects in any way.
#![allow(clippy::disallowed_methods)]

mod buffers;
mod captured;
mod catalogue;
mod conformance;
mod corpus;
mod golden;
mod laws;
mod modules;
mod open;
mod qlog;
mod queue_conformance;
mod queue_observing;
mod queues;
mod random;
mod random_scenarios;
mod reading;
mod recorded;
mod runs;
mod scenario_docs;
mod shifted;
mod sources;
