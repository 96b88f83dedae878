//! Runs of a scenario on overlay nodes that are programs.

use pyo3::prelude::*;
use pyo3::types::PyDict;

#[cfg(not(all(target_os = "linux", feature = "wings")))]
use crate::error::scenario_error;

/// Runs a scenario (JSON) on its overlay nodes, as programs that the scenario's links join. Returns the
/// same as `run_live`; `record`, if given, is called as there.
#[cfg(all(target_os = "linux", feature = "wings"))]
#[pyfunction]
#[pyo3(signature = (scenario, progress=None, record=None))]
pub(crate) fn run_overlay<'py>(
    py: Python<'py>,
    scenario: &str,
    progress: Option<&Bound<'py, PyAny>>,
    record: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    nodes::run(py, scenario, progress, record)
}

/// Such runs need Linux, and GNAT.
#[cfg(not(all(target_os = "linux", feature = "wings")))]
#[pyfunction]
#[pyo3(signature = (scenario, progress=None, record=None))]
pub(crate) fn run_overlay<'py>(
    py: Python<'py>,
    scenario: &str,
    progress: Option<&Bound<'py, PyAny>>,
    record: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let _ = (scenario, progress, record);
    let message = "overlay nodes run on Linux, in packages that have GNAT; the simulator runs here: \
                   --backend sim";
    Err(scenario_error(py, &sojourn_base::error::FieldError::new("backend", message)))
}

#[cfg(all(target_os = "linux", feature = "wings"))]
mod nodes {
    use std::time::Instant;

    use pyo3::prelude::*;
    use pyo3::types::PyDict;
    use sojourn_base::error::FieldError;
    use sojourn_base::units::Time;
    use sojourn_gnat::daemon::{self, Membership, member_names, memberships};
    use sojourn_live::overlay::{Join, Member, Members, address, check};
    use sojourn_live::{Error, Live};
    use sojourn_sim::scenario::Scenario;
    use sojourn_sim::sim::Part;
    use sojourn_sliq::secure::SEALING;

    use crate::live::linux::{to_columns, to_exception, wait};
    use crate::parse;
    use crate::record::{Failure, sink};

    pub(super) fn run<'py>(
        py: Python<'py>,
        scenario: &str,
        progress: Option<&Bound<'py, PyAny>>,
        record: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let scenario = parse(py, scenario)?;
        let members = members(&scenario).map_err(|error| to_exception(py, &error.into()))?;
        let mut network = scenario.network();
        network["nodes"] = members.names.clone().into();
        let failure = Failure::default();
        let sink = record.map(|record| sink(record, &failure));
        let live = Live::overlay(&scenario, members, sink);
        let (outcome, quality) = wait(py, live, progress, &failure)?;
        to_columns(py, outcome, &network.to_string(), &quality)
    }

    fn members(scenario: &Scenario) -> Result<Members, FieldError> {
        let names = member_names(scenario)?;
        check(scenario, &names)?;
        let addresses: Vec<_> = (0..names.len()).map(address).collect();
        let joins = memberships(scenario, &addresses)?.into_iter().map(join).collect();
        Ok(Members { names, joins, sealing: SEALING as u32 })
    }

    fn join(membership: Membership) -> Join {
        Box::new(|scenario| {
            let member = membership.join(scenario).map_err(of_node)?;
            Ok(Box::new(Node(member)) as Box<dyn Member>)
        })
    }

    /// A node of GNAT's overlay.
    struct Node(daemon::Member);

    impl Member for Node {
        fn begin(&mut self, at: Instant) {
            self.0.begin(at);
        }

        fn part(&mut self) -> &mut Part {
            self.0.part()
        }

        fn turn(&mut self, now: Time) -> Result<bool, Error> {
            self.0.turn(now).map_err(of_node)
        }

        fn rest(&mut self, more: bool, until: Time) -> Result<(), Error> {
            self.0.rest(more, until).map_err(of_node)
        }
    }

    fn of_node(error: daemon::Error) -> Error {
        match error {
            daemon::Error::Config { error, .. } => Error::Refused(error),
            daemon::Error::Fault(fault) => Error::Fault(fault),
            other => Error::System(format!("overlay run: {other}")),
        }
    }
}
