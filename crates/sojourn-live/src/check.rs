//! Checks before a live run: scenarios that it cannot run are refused, with the alternatives.

use sojourn_base::error::FieldError;
use sojourn_sim::arrivals::ArrivalsSpec;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::spec::{
    BufferSize, Cca, Controls, EcnMode, Flow, FlowSpec, Pacing, Recorded, Spec,
};

use crate::controls::{is_bpf, kernel_name, paces_itself, tcp_ecn};
use crate::flows::MOST_FLOWS;
use crate::iproute;

/// What packets, the network and `TCP_INFO` give to be recorded.
const RECORDED: [Recorded; 4] = [Recorded::Cc, Recorded::Queue, Recorded::Packets, Recorded::Pcap];

/// Checks that this kernel's endpoints support the scenario's flows and arrivals.
///
/// # Errors Names the field, and the supported values.
pub(crate) fn check(scenario: &Scenario) -> Result<(), FieldError> {
    if let Some(kind) = scenario.record.iter().find(|kind| !RECORDED.contains(kind)) {
        let there = RECORDED.map(Recorded::name).join(", ");
        let message =
            format!("{} given; on a kernel there are: {there}; or use --backend sim", kind.name());
        return Err(FieldError::new("record", message));
    }
    let paths = scenario.paths();
    let count = paths.len();
    if count > MOST_FLOWS {
        let message = format!(
            "{count} flows given; a live run allows up to {MOST_FLOWS}, variants of arrivals \
             included"
        );
        return Err(FieldError::new("flows", message));
    }
    check_send_buffers(&paths)?;
    for (entry, flow) in scenario.flows.iter().enumerate() {
        check_flow(flow, scenario).map_err(|error| error.within(&format!("flows.{entry}")))?;
    }
    for (entry, arrivals) in scenario.arrivals.iter().enumerate() {
        let within = |error: FieldError| error.within(&format!("arrivals.{entry}"));
        check_arrivals(arrivals, scenario).map_err(within)?;
    }
    Ok(())
}

/// Refuses programs, which share no clock with this machine.
///
/// # Errors If there are any.
pub(crate) fn check_programs(scenario: &Scenario) -> Result<(), FieldError> {
    if scenario.programs.is_empty() {
        return Ok(());
    }
    let message = "given; only a kernel in virtual time runs them: use --backend kernel";
    Err(FieldError::new("programs", message))
}

/// Packets show where transfers end, and over TCP the kernel tells their senders of it. Nothing tells
/// those of datagrams, so that no other transfer can wait for it.
fn check_arrivals(entry: &ArrivalsSpec, scenario: &Scenario) -> Result<(), FieldError> {
    let variants = entry.variants();
    for (number, (_, flow)) in variants.iter().enumerate() {
        let field = if entry.mix.is_empty() { String::new() } else { format!("mix.{number}") };
        check_flow(flow, scenario).map_err(|error| error.within(&field))?;
    }
    let keys = &entry.keys;
    let follow = [("process", keys.process.is_closed()), ("session", keys.session.is_some())];
    let all_tcp = variants.iter().all(|(_, flow)| flow.transport.kind == "tcp");
    match follow.into_iter().find(|(_, given)| *given && !all_tcp) {
        Some((key, _)) => {
            let message = "given with transport udp, whose senders do not hear on a kernel when a \
                           transfer has ended; use tcp, or --backend sim";
            Err(FieldError::new(key, message))
        }
        None => Ok(()),
    }
}

/// The maximum of send buffers is a setting of the senders' host, which all flows share.
fn check_send_buffers(paths: &[Flow<'_>]) -> Result<(), FieldError> {
    let first = |size| paths.iter().find(|path| path.spec.send_buffer == size).map(Flow::field);
    match (first(BufferSize::Stack), first(BufferSize::Auto)) {
        (Some(stack), Some(auto)) => {
            let message = format!(
                "stack given, and auto in {auto}; in a live run, give all flows the same of the \
                 two, or sizes"
            );
            Err(FieldError::new(format!("{stack}.send_buffer"), message))
        }
        _ => Ok(()),
    }
}

fn check_flow(flow: &FlowSpec, scenario: &Scenario) -> Result<(), FieldError> {
    let wrong = |field: &str, message: String| Err(FieldError::new(field, message));
    if !matches!(flow.transport.kind.as_str(), "tcp" | "udp") {
        let kind = &flow.transport.kind;
        return wrong("transport", format!("'{kind}' given; a live run has: tcp, udp"));
    }
    if let Some(mode) = flow.ecn.filter(|mode| tcp_ecn(*mode).is_none()) {
        return wrong("ecn", format!("{} given; a live run has: off, classic, dctcp", mode.name()));
    }
    let counts = |cca: &Spec<Cca>| cca.kind == "dctcp" || is_bpf(cca);
    if flow.ecn == Some(EcnMode::Dctcp)
        && !flow.cca.as_ref().and_then(Controls::only).is_some_and(counts)
    {
        let message = "dctcp given; the kernel echoes each mark with the control dctcp only; \
                       allowed: classic, or cca = \"dctcp\"";
        return wrong("ecn", message.to_owned());
    }
    if flow.initial_ssthresh.is_some() {
        let message = "given; a kernel begins with none, or with what it remembers (tcp_metrics): \
                       leave it out, or use --backend sim";
        return wrong("initial_ssthresh", message.to_owned());
    }
    if flow.initial_window.is_some() && iproute::program("ip").is_none() {
        let message = "given; it needs the program ip(8), which is missing: apt install iproute2";
        return wrong("initial_window", message.to_owned());
    }
    let control = flow.cca.as_ref().and_then(Controls::only);
    if let Some(cca) = control.filter(|cca| paces_itself(cca))
        && flow.pacing == Some(Pacing::Off)
    {
        let name = kernel_name(cca);
        let message =
            format!("off given; '{name}' decides itself whether it is paced: leave it out");
        return wrong("pacing", message);
    }
    control.map_or(Ok(()), |cca| check_control(cca, scenario))
}

/// A control of the kernel has the kernel's parameters. The version of a control to simulate, which
/// `stack` implies, is ignored.
fn check_control(cca: &Spec<Cca>, scenario: &Scenario) -> Result<(), FieldError> {
    if is_bpf(cca) {
        return Ok(());
    }
    let mut usual = Spec::<Cca>::named(&cca.kind);
    usual.resolve(scenario.catalogue()).map_err(|error| error.within("cca"))?;
    let changed = |(name, value): &(&String, _)| {
        name.as_str() != "version" && usual.params.get(*name) != Some(*value)
    };
    match cca.params.iter().find(changed) {
        Some((name, _)) => Err(FieldError::new(
            format!("cca.{name}"),
            "a live run has the kernel's own parameters: leave it at its default",
        )),
        None => Ok(()),
    }
}
