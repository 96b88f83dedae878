//! The device by which programs reach other nodes: a network interface whose packets a node reads and writes.

use std::env;
use std::io::{self, ErrorKind, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Command, Stdio};

use tun_rs::{DeviceBuilder, SyncDevice};

use super::nat::PHANTOM;
use super::reach::Reach;

/// Bytes of the longest packet, which fits into a sealed datagram between two nodes with all that the
/// overlay adds to it.
pub(super) const MTU: usize = 1_388;
/// Packets that wait in the device until they are read.
const WAITING: usize = 1_000;

/// The device.
pub(super) struct Device(SyncDevice);

impl Device {
    /// A new one, with the node's address, and with routes to all that is reached by it.
    ///
    /// # Errors
    /// The system refuses, or `ip` is missing; with the remedy.
    pub(super) fn open(name: &str, reach: &Reach) -> io::Result<Self> {
        let opened = DeviceBuilder::new().name(name).packet_information(false).enable(false);
        let device = opened.build_sync().map_err(|error| {
            let message = format!(
                "{error}; a device for [applications] needs /dev/net/tun (`modprobe tun`), the right to \
                 CAP_NET_ADMIN, as in namespaces of one's own, and a name that no other device has"
            );
            io::Error::new(error.kind(), message)
        })?;
        device.set_nonblocking(true)?;
        configure(&commands(name, reach))?;
        Ok(Device(device))
    }

    /// Reads the next packet; `None` if there is none.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn read(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        match self.0.recv(bytes) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a packet. One that the kernel does not take is lost, as in a network.
    pub(super) fn write(&self, packet: &[u8]) {
        let _ = self.0.send(packet);
    }

    /// What tells that there are packets.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What `ip` is to do.
fn commands(name: &str, reach: &Reach) -> String {
    let node = reach.address();
    let mut lines = vec![
        format!("link set dev {name} mtu {MTU} txqueuelen {WAITING} up"),
        format!("address add {node}/32 dev {name}"),
    ];
    let mut route = |to: Ipv4Addr, bits: u8| {
        lines.push(format!("route add {to}/{bits} dev {name} src {node}"));
    };
    route(PHANTOM, 32);
    reach.others().for_each(|prefix| route(prefix.address, prefix.bits));
    reach.groups().iter().for_each(|group| route(group.address, 32));
    lines.join("\n")
}

fn configure(commands: &str) -> io::Result<()> {
    let path = env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let mut ip = Command::new("ip");
    ip.args(["-batch", "-"]).env("PATH", path);
    ip.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut ip = ip.spawn().map_err(|error| {
        io::Error::new(error.kind(), format!("ip: {error}; install it (Debian: iproute2)"))
    })?;
    // If it has ended before, it says why.
    let _ = ip.stdin.take().map(|mut to| to.write_all(commands.as_bytes()));
    let done = ip.wait_with_output()?;
    if done.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&done.stderr);
    let message = format!(
        "ip: {}; prefixes and groups of [applications] are those that nothing else on this machine has",
        why.lines().next().unwrap_or_default()
    );
    Err(io::Error::other(message))
}
