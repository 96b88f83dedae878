//! The controls and the ECN modes of this kernel, and the kernel's names for them.

use std::fs;

use sojourn_base::error::FieldError;
use sojourn_sim::spec::{Cca, EcnMode, Spec};

/// The kind of a control that is a BPF program.
const KIND: &str = "bpf";

/// The kernel's name of a flow's control.
pub(crate) fn kernel_name(cca: &Spec<Cca>) -> &str {
    let named = cca.params.get("name").and_then(|name| name.as_str());
    named.filter(|_| is_bpf(cca)).unwrap_or(&cca.kind)
}

/// Whether a control is a BPF program.
pub(crate) fn is_bpf(cca: &Spec<Cca>) -> bool {
    cca.kind == KIND
}

/// Whether the kernel's control switches pacing on; a BPF program may.
pub(crate) fn paces_itself(cca: &Spec<Cca>) -> bool {
    is_bpf(cca) || matches!(cca.kind.as_str(), "bbr" | "bbr3" | "prague")
}

/// The controls that this kernel has.
pub(crate) fn kernel_controls() -> Vec<String> {
    let there = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    there.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

/// Error: the kernel lacks the control of an entry, which `field` names.
pub(crate) fn no_control(field: &str, name: &str) -> FieldError {
    let there = kernel_controls().join(", ");
    let message = format!("this kernel has no '{name}'; it has: {there}");
    FieldError::new(format!("{field}.cca"), message)
}

/// The value of `tcp_ecn` for a connection that uses this mode. Without ECN it is the usual one, by
/// which hosts do not ask for it but accept it: a namespace waits for others' connections, too.
pub(crate) fn tcp_ecn(mode: EcnMode) -> Option<&'static str> {
    match mode {
        EcnMode::Off => Some("2"),
        EcnMode::Classic | EcnMode::Dctcp => Some("1"),
        _ => None,
    }
}
