//! A congestion control that is a class in a Python file, used as it is.
//!
//! Model: the class itself; `path` is its file and `class` its name. Further keys are the fields of
//! the class's dataclass `Params`. `sojourn.cca` defines the classes of its arguments and results.

mod border;
pub(crate) mod bpf;
mod convert;
mod linux;
mod schemas;
pub(crate) mod values;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use sojourn_abi::note::{self, Callback};
use sojourn_abi::timer::Timer;
use sojourn_base::error::{FieldError, end_run};
use sojourn_base::observe::Observer;
use sojourn_base::registry::{Catalogue, Entry, Listing};
use sojourn_base::units::{Span, Time};
use sojourn_net::queue::{Discipline, QueueFacts};
use sojourn_sim::spec::{Cca, Queue};
use sojourn_tcp::cc::{self, AckSample, CongestionControl, ControlInit, Event, Lost, Make, Sent};

use crate::error::field_error;

/// The entry `python`.
pub(crate) fn entry() -> Entry<Cca> {
    let make: Make = |params, init, _| Ok(Box::new(PythonControl::new(params, init)?));
    Entry {
        listing: Listing {
            name: "python",
            source: include_str!("mod.rs"),
            schema: schemas::python,
            canonical: |params, _: &Catalogue| canonical("python", params),
        },
        facts: cc::CcaFacts::default(),
        make,
    }
}

/// The entry `library`, whose code only worker processes run.
pub(crate) fn library_entry() -> Entry<Cca> {
    let mut entry = sojourn_abi::entry();
    entry.listing.schema = schemas::library;
    entry.listing.canonical = |params, _| canonical("library", params);
    entry
}

/// The entry `linux`: a library that the package has compiled.
pub(crate) fn linux_entry() -> Entry<Cca> {
    Entry {
        listing: Listing {
            name: "linux",
            source: include_str!("linux.rs"),
            schema: schemas::linux,
            canonical: |params, _| canonical("linux", params),
        },
        facts: cc::CcaFacts::default(),
        make: |params, init, _| {
            sojourn_abi::control::make(&linux::loadable("control", params)?, init)
        },
    }
}

/// The entry `linux` for queue disciplines.
pub(crate) fn linux_queue_entry() -> Entry<Queue> {
    Entry {
        listing: Listing {
            name: "linux",
            source: sojourn_abi::queue::SOURCE,
            schema: schemas::linux_queue,
            canonical: |params, _| canonical("linux queue", params),
        },
        facts: QueueFacts { marks: true, reorders: true },
        make: |params, init, _| {
            let queue = sojourn_abi::queue::make(&linux::loadable("queue", params)?, init)?;
            Ok(Discipline::Other(Box::new(queue)))
        },
    }
}

/// The parameters of an external control with every default filled in, by the package.
pub(crate) fn canonical(kind: &str, params: &Map<String, Value>) -> Result<Value, FieldError> {
    Python::attach(|py| {
        let text = Value::from_iter(params.clone()).to_string();
        let hook = py.import("sojourn.external.hooks")?.getattr("canonical")?;
        hook.call1((kind, text))?.extract::<String>()
    })
    .map_err(|error| Python::attach(|py| field_error(py, &error)))
    .and_then(|text| {
        serde_json::from_str(&text).map_err(|error| FieldError::new("", error.to_string()))
    })
}

/// A control whose callbacks are Python methods.
struct PythonControl {
    flow: u32,
    class: String,
    /// Its bound methods by callback; `None` for those that it leaves to the base class.
    methods: [Option<Py<PyAny>>; note::NAMES.len()],
    /// Time of the latest callback.
    now: Time,
    timer: Timer,
}

impl PythonControl {
    fn new(params: &Map<String, Value>, init: &ControlInit) -> Result<Self, FieldError> {
        note::enter(init.flow, Callback::New, init.now);
        let made = Python::attach(|py| {
            let text = Value::from_iter(params.clone()).to_string();
            let hook = py.import("sojourn.external.hooks")?.getattr("make")?;
            methods(&hook.call1((text, values::Init::from(init)))?)
        });
        note::leave();
        let methods = made.map_err(|error| Python::attach(|py| field_error(py, &error)))?;
        let class = params.get("class").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (now, timer) = (init.now, Timer::default());
        Ok(PythonControl { flow: init.flow, class, methods, now, timer })
    }

    /// Calls a method, if the class has it; any error in it ends the run.
    fn call<'py, A: PyCallArgs<'py>, T>(
        &self,
        py: Python<'py>,
        callback: Callback,
        arguments: A,
        read: impl FnOnce(&Bound<'py, PyAny>) -> Result<T, String>,
    ) -> Option<T> {
        let method = self.methods[callback as usize].as_ref()?;
        note::enter(self.flow, callback, self.now);
        // Reading what it returned or raised may run its code as well.
        let told = match method.bind(py).call1(arguments) {
            Ok(answer) => read(&answer),
            Err(error) => Err(raised(py, &error)),
        };
        note::leave();
        Some(told.unwrap_or_else(|wrong| self.end(callback, &wrong)))
    }

    /// Ends the run for what a callback has done.
    fn end(&self, callback: Callback, wrong: &str) -> ! {
        let component = format!("control of flow {}", self.flow);
        end_run(component, format!("{}.{}: {wrong}", self.class, callback.name()))
    }

    /// Calls a callback at `now`, then updates the time of the next timer.
    fn tell<A: for<'py> PyCallArgs<'py>>(&mut self, callback: Callback, now: Time, arguments: A) {
        if self.methods[callback as usize].is_none() {
            return;
        }
        self.now = now;
        let timer = Python::attach(|py| {
            self.call(py, callback, arguments, |_| Ok(()));
            self.call(py, Callback::NextTimer, (), border::timer)
        });
        self.timer.set(timer.flatten(), now);
    }
}

/// The methods that a control defines itself.
fn methods(control: &Bound<'_, PyAny>) -> PyResult<[Option<Py<PyAny>>; note::NAMES.len()]> {
    let base = control.py().import("sojourn.cca")?.getattr("Control")?;
    let mut methods = [const { None }; note::NAMES.len()];
    for (name, method) in note::NAMES.iter().zip(&mut methods).skip(Callback::OnAck as usize) {
        let Ok(own) = control.get_type().getattr(name) else { continue };
        if !base.getattr(name).is_ok_and(|inherited| own.is(&inherited)) {
            *method = Some(control.getattr(name)?.unbind());
        }
    }
    Ok(methods)
}

/// The exception's message, and the line of the control that raised it.
fn raised(py: Python<'_>, error: &PyErr) -> String {
    let told = || -> PyResult<String> {
        // With its traceback.
        let value = error.clone_ref(py).into_value(py);
        py.import("sojourn.external.raised")?.getattr("told")?.call1((value,))?.extract()
    };
    told().unwrap_or_else(|_| error.to_string())
}

impl CongestionControl for PythonControl {
    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        self.tell(Callback::OnAck, now, (now.as_secs_f64(), values::Ack::from(ack)));
    }

    fn on_congestion(&mut self, now: Time, event: &Event) {
        if let Some(event) = values::Event::of(event) {
            self.tell(Callback::OnCongestion, now, (now.as_secs_f64(), event));
        }
    }

    fn decision(&self) -> cc::Decision {
        let decided = Python::attach(|py| self.call(py, Callback::Decision, (), border::decision));
        decided.expect("a class without this method is refused")
    }

    fn on_established(&mut self, now: Time, rtt: Span) {
        self.tell(Callback::OnEstablished, now, (now.as_secs_f64(), rtt.as_secs_f64()));
    }

    fn on_sent(&mut self, now: Time, sent: &Sent) {
        self.tell(Callback::OnSent, now, (now.as_secs_f64(), values::Sent::from(sent)));
    }

    fn on_packet_lost(&mut self, now: Time, lost: &Lost) {
        self.tell(Callback::OnPacketLost, now, (now.as_secs_f64(), values::Lost::from(lost)));
    }

    fn next_timer(&self) -> Option<Time> {
        self.timer.at()
    }

    fn on_timer(&mut self, now: Time) {
        if let Err(wrong) = self.timer.fire(now) {
            self.end(Callback::NextTimer, &wrong);
        }
        self.tell(Callback::OnTimer, now, (now.as_secs_f64(),));
    }

    fn save(&mut self) {
        self.tell(Callback::Save, self.now, ());
    }

    fn undo(&mut self, now: Time) {
        self.tell(Callback::Undo, now, (now.as_secs_f64(),));
    }

    fn observe(&self, out: &mut Observer<'_>) {
        Python::attach(|py| {
            self.call(py, Callback::Observe, (), |answer| {
                let values = answer.cast::<PyDict>();
                let values = values.map_err(|_| "did not return a dict of names and values")?;
                for (name, value) in values {
                    if let Some(value) = border::observed(&value)? {
                        out(&name.to_string(), value);
                    }
                }
                Ok(())
            })
        });
    }
}
