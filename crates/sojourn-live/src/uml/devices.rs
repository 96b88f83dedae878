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

/// Moves a device of the calling thread's namespace into another (rtnetlink(7), `RTM_NEWLINK`).
///
/// # Errors
/// Those of the kernel.
pub(super) fn move_to(device: &str, to: &Namespace) -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const NAMESPACE: u16 = 28;
    const HEADER: usize = 16;
    let index = if_nametoindex(device)?;
    let mut message = Vec::new();
    let mut add = |bytes: &[u8]| message.extend_from_slice(bytes);
    add(&[0; 4]); // its length
    add(&NEW_LINK.to_ne_bytes());
    add(&REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    add(&[0; 8 + 4]); // number, sender, and of the device its family and type
    add(&index.to_ne_bytes());
    add(&[0; 8]); // its flags, and which are changed
    add(&8u16.to_ne_bytes());
    add(&NAMESPACE.to_ne_bytes());
    add(&to.as_fd().as_raw_fd().to_ne_bytes());
    let length = message.len() as u32;
    message[..4].copy_from_slice(&length.to_ne_bytes());
    let route = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )?;
    send(route.as_raw_fd(), &message, MsgFlags::empty())?;
    let mut answer = [0; 256];
    recv(route.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    let code = [0, 1, 2, 3].map(|at| answer[HEADER + at]);
    match i32::from_ne_bytes(code) {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}
