//! Network cards inside a kernel: moved into their hosts' namespaces, with addresses.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};

use crate::namespace::{self, NETMASK, Namespace};
use crate::sys::{Setting, configure};

/// Gives a card of the calling thread's namespace an address, and enables it. Without address
/// resolution, which would take a round trip: there is only one card behind it.
///
/// # Errors
/// Those of the kernel.
pub(super) fn set_up(card: &str, address: [u8; 4], mtu: u32) -> io::Result<()> {
    let control = namespace::control()?;
    for setting in [
        Setting::Address(address),
        Setting::Netmask(NETMASK),
        Setting::Mtu(mtu),
        Setting::UpWithoutArp,
    ] {
        configure(&control, card, setting)?;
    }
    Ok(())
}

/// Numbers of rtnetlink(7).
mod route {
    pub(super) const NEW_LINK: u16 = 16;
    pub(super) const NEW_ADDRESS: u16 = 20;
    pub(super) const NEW_ROUTE: u16 = 24;
    /// Flags of a request: it is one, it is answered, it makes something.
    pub(super) const ASK: u16 = 1 | 4;
    pub(super) const CREATE: u16 = 0x400;
    /// Attributes: the namespace of a device, an address, a route's device.
    pub(super) const NAMESPACE: u16 = 28;
    pub(super) const ADDRESS: u16 = 1;
    pub(super) const DEVICE: u16 = 4;
    /// The main table, a route that was set up at boot, to the device's own link or anywhere, to one
    /// host at a time.
    pub(super) const TABLE: u8 = 254;
    pub(super) const AT_BOOT: u8 = 3;
    pub(super) const LINK: u8 = 253;
    pub(super) const ANYWHERE: u8 = 0;
    pub(super) const UNICAST: u8 = 1;
    /// An address that need not be looked for on the link.
    pub(super) const NO_SEARCH: u8 = 2;
}
/// A family of addresses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Family {
    V4 = 2,
    V6 = 10,
}

/// Moves a device of the calling thread's namespace into another.
///
/// # Errors
/// Those of the kernel.
pub(super) fn move_to(device: &str, to: &Namespace) -> io::Result<()> {
    let index = if_nametoindex(device)?;
    // Its family and type, its index, its flags and which are changed.
    let head = [&[0; 4][..], &index.to_ne_bytes(), &[0; 8]].concat();
    let descriptor = to.as_fd().as_raw_fd().to_ne_bytes();
    ask(route::NEW_LINK, 0, &[head, attribute(route::NAMESPACE, &descriptor)].concat())
}

/// Gives a card of the calling thread's namespace an address of IPv6, of a network of 64 bits.
///
/// # Errors
/// Those of the kernel.
pub(super) fn add_address(card: &str, address: [u8; 16]) -> io::Result<()> {
    let index = if_nametoindex(card)?;
    let head =
        [&[Family::V6 as u8, 64, route::NO_SEARCH, route::ANYWHERE][..], &index.to_ne_bytes()]
            .concat();
    let content = [head, attribute(route::ADDRESS, &address)].concat();
    ask(route::NEW_ADDRESS, route::CREATE, &content)
}

/// Makes a card of the calling thread's namespace that of all packets of a family to other networks.
///
/// # Errors
/// Those of the kernel.
pub(super) fn add_default_route(card: &str, family: Family) -> io::Result<()> {
    let index = if_nametoindex(card)?.to_ne_bytes();
    let scope = match family {
        Family::V4 => route::LINK,
        Family::V6 => route::ANYWHERE,
    };
    // Its family, the lengths of its destination and source, its class; then what it is; flags.
    let kind = [route::TABLE, route::AT_BOOT, scope, route::UNICAST];
    let head = [&[family as u8, 0, 0, 0][..], &kind, &[0; 4]].concat();
    ask(route::NEW_ROUTE, route::CREATE, &[head, attribute(route::DEVICE, &index)].concat())
}

/// An attribute of a request, of a whole number of words.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    const HEADER: usize = 4;
    debug_assert_eq!(value.len() % 4, 0, "without padding");
    let length = (HEADER + value.len()) as u16;
    [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat()
}

/// Makes a request of rtnetlink(7), and waits for its answer.
fn ask(kind: u16, flags: u16, content: &[u8]) -> io::Result<()> {
    const HEADER: usize = 16;
    let length = (HEADER + content.len()) as u32;
    let mut message = length.to_ne_bytes().to_vec();
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(&(route::ASK | flags).to_ne_bytes());
    message.extend_from_slice(&[0; 8]); // its number and sender
    message.extend_from_slice(content);
    let socket = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )?;
    send(socket.as_raw_fd(), &message, MsgFlags::empty())?;
    let mut answer = [0; 256];
    recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    let code = [0, 1, 2, 3].map(|at| answer[HEADER + at]);
    match i32::from_ne_bytes(code) {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}
