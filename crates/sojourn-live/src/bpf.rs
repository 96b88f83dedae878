//! Congestion controls that are BPF programs (struct_ops), registered with the kernel for a run.
//!
//! A registration is visible to the whole machine. It is a link whose descriptor the run holds, so
//! that it ends with the process, in whatever way that ends.

use sojourn_base::error::FieldError;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::spec::Controls;

use crate::controls::{is_bpf, kernel_controls};

/// The registered controls of a run; they are registered until this is dropped.
#[derive(Default)]
pub(crate) struct Registered {
    // Fields are dropped in this order.
    _links: Vec<loader::Link>,
}

impl Registered {
    /// Registers the BPF controls of a scenario.
    ///
    /// # Errors
    /// If an object cannot be loaded or has no such control, or this is not allowed.
    pub(crate) fn of(scenario: &Scenario) -> Result<Self, FieldError> {
        let mut done: Vec<[&str; 2]> = Vec::new();
        let mut links = Vec::new();
        for flow in scenario.paths() {
            let only = flow.spec.cca.as_ref().and_then(Controls::only);
            let Some(cca) = only.filter(|cca| is_bpf(cca)) else { continue };
            let text = |key: &str| cca.params.get(key).and_then(|v| v.as_str()).unwrap_or_default();
            let control = [text("object"), text("name")];
            if !done.contains(&control) {
                let within = |error: FieldError| error.within(&format!("{}.cca", flow.field()));
                links.push(register(control).map_err(within)?);
                done.push(control);
            }
        }
        Ok(Registered { _links: links })
    }
}

fn register([object, name]: [&str; 2]) -> Result<loader::Link, FieldError> {
    if kernel_controls().iter().any(|there| there == name) {
        let message = format!(
            "this kernel has a control '{name}' already, its own or one that another run has \
             registered; give this one another name"
        );
        return Err(FieldError::new("name", message));
    }
    let link = loader::register(object, name)?;
    if kernel_controls().iter().any(|there| there == name) {
        return Ok(link);
    }
    Err(FieldError::new(
        "name",
        format!(
            "{object} registers no control '{name}'; expected the name in its struct tcp_congestion_ops"
        ),
    ))
}

#[cfg(feature = "bpf")]
mod loader {
    use std::path::Path;
    use std::sync::Mutex;

    pub(super) use libbpf_rs::Link;
    use libbpf_rs::{ErrorKind, MapCore, MapType, Object, ObjectBuilder, PrintLevel, set_print};
    use sojourn_base::error::FieldError;

    /// `BPF_F_LINK`: the map is registered through a link.
    const LINKED: u32 = 1 << 13;
    /// Lines of libbpf's messages that errors quote.
    const TOLD: usize = 12;

    /// Messages of libbpf since its last call.
    static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

    fn listen() {
        SAID.lock().unwrap_or_else(|held| held.into_inner()).clear();
        set_print(Some((PrintLevel::Warn, |_, line| {
            let line = line.trim_end().to_owned();
            SAID.lock().unwrap_or_else(|held| held.into_inner()).push(line);
        })));
    }

    fn said() -> String {
        let lines = SAID.lock().unwrap_or_else(|held| held.into_inner());
        let last = lines.len().saturating_sub(TOLD);
        lines[last..].iter().map(|line| format!("\n  {line}")).collect()
    }

    /// Loads an object and registers the control `name`: the only one, or that of this variable.
    pub(super) fn register(path: &str, name: &str) -> Result<Link, FieldError> {
        listen();
        let wrong = |field: &str, message: String| FieldError::new(field, message);
        let opened = ObjectBuilder::default().open_file(Path::new(path));
        let opened = opened.map_err(|e| wrong("object", format!("{path}: {e}{}", said())))?;
        let mut object = opened.load().map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => wrong(
                "",
                "loading BPF programs needs root of the whole machine: a user namespace cannot"
                    .to_owned(),
            ),
            _ => wrong("object", format!("{path}: the kernel refuses it: {error}{}", said())),
        })?;
        attach(&mut object, name).map_err(|message| wrong("object", format!("{path}: {message}")))
    }

    fn attach(object: &mut Object, name: &str) -> Result<Link, String> {
        let controls: Vec<_> =
            object.maps_mut().filter(|map| map.map_type() == MapType::StructOps).collect();
        let only = controls.len() == 1;
        let mut fitting = controls.into_iter().filter(|map| only || map.name() == name);
        let Some(mut control) = fitting.next() else {
            return Err(format!("has no struct tcp_congestion_ops called '{name}'"));
        };
        let flags = control.info().map_err(|error| error.to_string())?.info.map_flags;
        if flags & LINKED == 0 {
            return Err("its control would outlive the run: put it into the section \
                        .struct_ops.link in the place of .struct_ops"
                .to_owned());
        }
        control.attach_struct_ops().map_err(|error| format!("{error}{}", said()))
    }
}

#[cfg(not(feature = "bpf"))]
mod loader {
    use sojourn_base::error::FieldError;

    /// An uninhabited type: there are no links.
    pub(super) enum Link {}

    pub(super) fn register(_: &str, _: &str) -> Result<Link, FieldError> {
        let message = "this build of Sojourn loads no BPF programs: install libelf-dev and \
                       zlib1g-dev, and build it again with make setup";
        Err(FieldError::new("", message))
    }
}
