//! How the agent tells the calendar's process what happens: by datagrams through its cards.
//!
//! A connection must be heard of before its first packet. Both are sent by one host: where clients ask,
//! that is the receivers', else the senders'. The datagrams come before the packets that wait for the
//! same card, behind which they would be late where a link is slow. They still wait until the card has
//! room, for as long as one packet takes: an end may be heard that much late.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::Priority;
use sojourn_sim::scenario::Scenario;

use super::control::Said;
use super::failure::doing;
use super::frames::{CONTROL, CONTROL_PORT};
use crate::error::Error;
use crate::news::{News, Tell};

/// Priority of packets in the first band of `pfifo_fast` (`TC_PRIO_CONTROL`).
const FIRST: i32 = 7;

/// A socket that tells through the card of the calling thread's namespace.
///
/// # Errors
/// Those of the kernel.
pub(super) fn telling() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    setsockopt(&socket, Priority, &FIRST)?;
    socket.connect((Ipv4Addr::from(CONTROL), CONTROL_PORT))?;
    Ok(socket)
}

/// Tells something.
///
/// # Errors
/// Those of the kernel.
pub(super) fn say(socket: &UdpSocket, what: &Said<'_>) -> Result<(), Error> {
    let said = socket.send(&what.to_bytes());
    said.map(|_| ()).map_err(|error| doing("reporting from inside the kernel", error))
}

/// Tells of transfers, by the senders' host or by the receivers'.
pub(super) fn teller<'a>(
    [senders, receivers]: [&'a UdpSocket; 2],
    scenario: &Scenario,
) -> Tell<'a> {
    let asks = scenario.arrivals.iter().map(|entry| entry.keys.request.is_some());
    let asks: Vec<bool> = asks.collect();
    let asked = move |entry: u16| asks.get(usize::from(entry)) == Some(&true);
    Box::new(move |news| {
        let by_receivers = match &news {
            News::Begun(begun) => asked(begun.entry),
            News::Waits(waits) => asked(waits.entry),
            News::Written(_) | News::Ended(_) | News::Closed(_) => false,
        };
        say(if by_receivers { receivers } else { senders }, &Said::News(news))
    })
}
