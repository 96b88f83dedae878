//! A private network namespace with TUN devices, entered by a thread of its own.
//!
//! The namespace has no name: the thread in it and the descriptors made there keep it alive, so
//! that it ends with the process in every case. The host's network is not touched.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use nix::sys::stat::Mode;
use sojourn_sim::spec::{BufferSize, Flow, TcpMetrics};

use crate::error::{Error, failed, missing};
use crate::sys::{Setting, configure};

/// The device's name in a namespace that has one.
pub const DEVICE: &str = "sojourn";
/// Device of local traffic, which never leaves the kernel.
const LOOPBACK: &str = "lo";
/// Columns of `/proc/net/dev` after the name.
const RECEIVED_BYTES: usize = 0;
const RECEIVE_DROPS: usize = 3;
const TRANSMIT_DROPS: usize = 11;
/// Packets that wait for the loop: more are lost, which makes a run invalid.
const QUEUE_LENGTH: u32 = 10_000;
/// Network mask of both addresses.
pub const NETMASK: [u8; 4] = [255, 255, 255, 0];
/// Address of all senders.
pub const SENDERS: [u8; 4] = [10, 77, 0, 1];
/// Address of all receivers.
pub const RECEIVERS: [u8; 4] = [10, 77, 0, 2];

/// A network namespace of the kernel.
#[derive(Debug)]
pub(crate) struct Namespace(File);

impl Namespace {
    /// The namespace of the calling thread.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(crate) fn current() -> io::Result<Self> {
        File::open("/proc/thread-self/ns/net").map(Namespace)
    }

    /// A new namespace, which the calling thread enters.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(crate) fn enter_new() -> io::Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        settings()?;
        Namespace::current()
    }

    /// Moves the calling thread into it.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(crate) fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.0, CloneFlags::CLONE_NEWNET)?)
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Namespaces of the senders and of the receivers.
#[derive(Debug)]
pub(crate) struct Namespaces {
    /// That of the senders.
    pub senders: Namespace,
    /// That of the receivers.
    pub receivers: Namespace,
}

impl Namespaces {
    /// Does something in the receivers' namespace; the calling thread is in the senders', and returns
    /// there.
    ///
    /// # Errors
    /// Those of the work, or of the kernel.
    pub(crate) fn among_receivers<T>(
        &self,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let failed = failed("changing the network namespace");
        self.receivers.enter().map_err(&failed)?;
        let done = work();
        self.senders.enter().map_err(&failed)?;
        done
    }
}

/// Moves the calling thread into a new namespace without devices.
///
/// # Errors If that is not allowed; names the missing permission.
pub fn enter() -> Result<(), Error> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|error| {
        missing(
            "a network namespace of its own",
            error.into(),
            "run as root, or within a user namespace: unshare --user --map-root-user sojourn ...",
        )
    })?;
    settings().map_err(|e| missing("the namespace's settings", e, "mount /proc writable"))
}

/// Makes a TUN device in the calling thread's namespace. The device ends when it is closed.
///
/// # Errors If there are no TUN devices; names what is missing.
pub fn device(name: &str, address: [u8; 4], mtu: u32) -> Result<OwnedFd, Error> {
    let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let remedy = "load the module tun and make /dev/net/tun accessible";
    let tun = open("/dev/net/tun", flags, Mode::empty())
        .map_err(|error| missing("/dev/net/tun", error.into(), remedy))?;
    let made = set_up(&tun, name, address, mtu);
    made.map_err(|error| missing("a TUN device", error, remedy))?;
    Ok(tun)
}

fn set_up(tun: &OwnedFd, name: &str, address: [u8; 4], mtu: u32) -> io::Result<()> {
    configure(tun, name, Setting::AttachTun)?;
    let control = control()?;
    for setting in
        [Setting::Address(address), Setting::Netmask(NETMASK), Setting::Mtu(mtu), Setting::Up]
    {
        configure(&control, name, setting)?;
    }
    // A user namespace is not allowed to set it: a run that needs more than the default of 500
    // loses packets, and is reported as invalid.
    let _ = configure(&control, name, Setting::QueueLength(QUEUE_LENGTH));
    Ok(())
}

/// A socket for settings of devices.
///
/// # Errors
/// Those of the kernel.
pub fn control() -> io::Result<OwnedFd> {
    Ok(socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?)
}

/// Enables the loopback device of the calling thread's namespace.
///
/// # Errors
/// Those of the kernel.
pub fn loopback() -> io::Result<()> {
    configure(&control()?, LOOPBACK, Setting::Up)
}

/// Settings of a run: connections do not use metrics of earlier ones, unless [`remember`] is
/// called, and buffers are not limited, except by [`limit_send_buffers`].
///
/// # Errors
/// If they cannot be written.
pub fn settings() -> io::Result<()> {
    settings_of_connections()?;
    match set("ipv6/conf/all/disable_ipv6", "1") {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The same for a namespace of programs, which have IPv6 as well; to be called before it has devices. A
/// host has the addresses that it is given and no others, at once: it asks nobody for them, or whether
/// somebody else has the same.
///
/// # Errors
/// If they cannot be written.
pub fn settings_of_programs() -> io::Result<()> {
    settings_of_connections()?;
    without_discovery()
}

/// Makes the calling thread's namespace, which has no devices yet, a router of IPv6.
///
/// # Errors
/// If that is not allowed.
pub fn forward_ipv6() -> io::Result<()> {
    set("ipv6/conf/all/disable_ipv6", "0")?;
    set("ipv6/conf/all/forwarding", "1")?;
    without_discovery()
}

/// Devices to come have the addresses of IPv6 that they are given, and no others.
fn without_discovery() -> io::Result<()> {
    const WITHOUT_LINK_LOCAL: &str = "1";
    set("ipv6/conf/default/addr_gen_mode", WITHOUT_LINK_LOCAL)?;
    set("ipv6/conf/default/accept_ra", "0")?;
    set("ipv6/conf/default/dad_transmits", "0")
}

fn settings_of_connections() -> io::Result<()> {
    set("ipv4/tcp_no_metrics_save", "1")?;
    set("ipv4/tcp_rmem", "4096 131072 33554432")?;
    set("ipv4/tcp_wmem", "4096 65536 33554432")?;
    set("ipv4/tcp_ecn", "2")
}

/// Limits send buffers to Linux's default maximum from now on, if flows ask for it.
///
/// # Errors
/// If it cannot be written.
pub fn limit_send_buffers(flows: &[Flow<'_>]) -> io::Result<()> {
    if flows.iter().any(|flow| flow.spec.send_buffer == BufferSize::Stack) {
        set("ipv4/tcp_wmem", "4096 16384 4194304")?;
    }
    Ok(())
}

/// Sets what the calling thread's namespace remembers of connections from now on.
///
/// # Errors
/// If it cannot be written.
pub fn remember(asked: TcpMetrics) -> io::Result<()> {
    if asked != TcpMetrics::Off {
        set("ipv4/tcp_no_metrics_save", "0")?;
    }
    if asked == TcpMetrics::All {
        set("ipv4/tcp_no_ssthresh_metrics_save", "0")?;
    }
    Ok(())
}

/// Sets an entry below `/proc/sys/net` for the namespace of the calling thread.
///
/// # Errors
/// If it cannot be written.
pub fn set(name: &str, value: &str) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/{name}"), value)
}

/// Number of packets that the TUN devices of the calling thread's namespace have lost.
///
/// # Errors
/// If the kernel does not report it.
pub fn device_drops() -> io::Result<u64> {
    counted(DEVICE, &[RECEIVE_DROPS, TRANSMIT_DROPS])
}

/// Number of datagrams that the sockets of the calling thread's namespace have lost.
///
/// # Errors
/// If the kernel does not report it.
pub fn socket_drops() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/snmp")?;
    let sum = named_in(&text, "Udp", &["RcvbufErrors", "SndbufErrors"]);
    sum.ok_or_else(|| io::Error::other(format!("no counters of UDP: {text}")))
}

/// The sum of some counters of a protocol in `/proc/net/snmp`, which has a line of names before that of
/// numbers.
fn named_in(table: &str, protocol: &str, names: &[&str]) -> Option<u64> {
    let mut lines = table.lines().filter_map(|line| line.split_once(": "));
    let mut line = || lines.find(|(of, _)| *of == protocol).map(|(_, line)| line.split(' '));
    let found = line()?.zip(line()?).filter(|(name, _)| names.contains(name));
    found.map(|(_, number)| number.parse::<u64>().ok()).sum()
}

/// Bytes that have passed the loopback device of the calling thread's namespace.
///
/// # Errors
/// If the kernel does not report it.
pub fn loopback_bytes() -> io::Result<u64> {
    counted(LOOPBACK, &[RECEIVED_BYTES])
}

fn counted(device: &str, columns: &[usize]) -> io::Result<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/dev")?;
    let sum = sum_in(&text, device, columns);
    sum.ok_or_else(|| io::Error::other(format!("no counters of devices: {text}")))
}

/// The sum of some columns of `/proc/net/dev`, over the devices whose names have this prefix.
fn sum_in(table: &str, device: &str, columns: &[usize]) -> Option<u64> {
    let devices = table.lines().filter_map(|line| line.trim().strip_prefix(device));
    let sums: Vec<u64> = devices.flat_map(|line| sum_of(line, columns)).collect();
    if sums.is_empty() { None } else { Some(sums.iter().sum()) }
}

fn sum_of(line: &str, columns: &[usize]) -> Option<u64> {
    let (_, counters) = line.split_once(':')?;
    let counters: Vec<u64> = counters.split_whitespace().flat_map(str::parse).collect();
    columns.iter().map(|column| counters.get(*column).copied()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_a_protocol_are_found_by_their_names() {
        let table =
            "Tcp: RcvbufErrors\nTcp: 5\nUdp: InErrors RcvbufErrors SndbufErrors\nUdp: 1 2 3\n";
        assert_eq!(named_in(table, "Udp", &["RcvbufErrors", "SndbufErrors"]), Some(5));
        assert_eq!(named_in(table, "UdpLite", &["RcvbufErrors"]), None);
    }

    #[test]
    fn counters_are_those_of_the_devices_asked_for() {
        let table = "Inter-|  Receive  |  Transmit\n face |bytes ...\n    lo: 7 0 0 9 0 0 0 0 7 0 0 9 0 0 0 0\nsojourn: 10 2 0 3 0 0 0 0 20 4 0 5 0 0 0 0\nsojourn1: 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0\n";
        assert_eq!(sum_in(table, DEVICE, &[RECEIVE_DROPS, TRANSMIT_DROPS]), Some(9));
        assert_eq!(sum_in(table, LOOPBACK, &[RECEIVED_BYTES]), Some(7));
        assert_eq!(sum_in("nothing", DEVICE, &[RECEIVE_DROPS]), None);
    }
}
