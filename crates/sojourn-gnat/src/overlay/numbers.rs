//! Numbers of applications' flows, which no scenario's flow has.

/// Numbers of applications' flows begin here: above them, the member that has opened the flow (6 bits),
/// and its serial number (24).
pub(crate) const FIRST_APPLICATION: u32 = 1 << 30;
/// Serial numbers are below this; none is zero.
pub(crate) const SERIALS: u32 = 1 << 24;
/// The flow of all applications' datagrams, between nodes.
pub(crate) const DATAGRAMS: u32 = FIRST_APPLICATION;

/// The member that has opened an application's connection, if the number is one's.
pub(crate) fn opener(flow: u32) -> Option<u16> {
    let rest = flow.checked_sub(FIRST_APPLICATION)?;
    (rest < FIRST_APPLICATION && rest % SERIALS != 0).then_some((rest / SERIALS) as u16)
}
