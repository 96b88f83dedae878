//! Initial windows. Linux has them as a property of routes, so that the receivers of flows with the
//! same one have an address of their own.

use std::collections::BTreeSet;
use std::io;
use std::net::Ipv4Addr;

use sojourn_sim::spec::Flow;

use crate::iproute;
use crate::namespace::RECEIVERS;

/// First half of the addresses of receivers with a given window; the second one is the window.
const NETWORK: [u8; 2] = [10, 79];

/// Address of the receivers of flows with this initial window; `None` is the kernel's own.
pub(crate) fn receiver(window: Option<u32>) -> [u8; 4] {
    let Some(window) = window else { return RECEIVERS };
    let ([a, b], [.., c, d]) = (NETWORK, window.to_be_bytes());
    [a, b, c, d]
}

/// Gives the receivers' device their addresses, in the namespace of the calling thread.
///
/// # Errors
/// If ip(8) is missing or fails.
pub(crate) fn add_addresses(flows: &[Flow<'_>], device: &str) -> io::Result<()> {
    each(flows, |_, address| format!("address add {address}/32 dev {device}"))
}

/// Adds the routes of the senders' device to them, in the namespace of the calling thread.
///
/// # Errors
/// If ip(8) is missing or fails.
pub(crate) fn add_routes(flows: &[Flow<'_>], device: &str) -> io::Result<()> {
    each(flows, |window, to| format!("route add {to}/32 dev {device} initcwnd {window}"))
}

fn each(flows: &[Flow<'_>], line: impl Fn(u32, Ipv4Addr) -> String) -> io::Result<()> {
    let windows: BTreeSet<u32> = flows.iter().filter_map(|flow| flow.spec.initial_window).collect();
    windows.into_iter().try_for_each(|window| {
        let address = Ipv4Addr::from(receiver(Some(window)));
        iproute::run("ip", &line(window, address))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_addresses_of_their_own() {
        assert_eq!(receiver(None), RECEIVERS);
        assert_eq!(receiver(Some(30)), [10, 79, 0, 30]);
        assert_eq!(receiver(Some(10_000)), [10, 79, 39, 16]);
    }
}
