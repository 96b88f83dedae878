//! The system calls that have no safe wrapper: every `unsafe` of the crate is here.

#![allow(unsafe_code)]

mod confined;
mod counter;
mod inside;
mod priority;

use std::io::{Error, Result};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::libc;
use nix::sys::personality::{self, Persona};
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;

pub(crate) use confined::{as_shell, confine};
pub(crate) use counter::allow_counter;
pub(crate) use inside::{Room, ended, put_in};
pub(crate) use priority::{run_early, run_first};

nix::ioctl_write_ptr_bad!(set_address, libc::SIOCSIFADDR, libc::ifreq);
nix::ioctl_write_ptr_bad!(set_netmask, libc::SIOCSIFNETMASK, libc::ifreq);
nix::ioctl_write_ptr_bad!(set_mtu, libc::SIOCSIFMTU, libc::ifreq);
nix::ioctl_write_ptr_bad!(set_queue_length, libc::SIOCSIFTXQLEN, libc::ifreq);
nix::ioctl_write_ptr_bad!(set_flags, libc::SIOCSIFFLAGS, libc::ifreq);
nix::ioctl_write_ptr_bad!(set_feature, SIOCETHTOOL, libc::ifreq);
nix::ioctl_write_ptr_bad!(attach, libc::TUNSETIFF as libc::Ioctl, libc::ifreq);
nix::ioctl_read_bad!(outstanding, libc::TIOCOUTQ, libc::c_int);

/// The request that ethtool(8) makes.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
/// `struct ethtool_value`: `ETHTOOL_SGRO`, off.
static WITHOUT_GRO: [u32; 2] = [0x2c, 0];

/// Setting of a network device; each is one request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Setting {
    /// IPv4 address.
    Address([u8; 4]),
    /// IPv4 network mask.
    Netmask([u8; 4]),
    /// Size in bytes of its largest packet.
    Mtu(u32),
    /// Number of packets that wait for it to be read.
    QueueLength(u32),
    /// Enables it.
    Up,
    /// Enables it without address resolution (ARP).
    UpWithoutArp,
    /// Disables merging of packets that arrive together (ethtool(8), generic receive offload).
    WithoutGro,
    /// Makes this descriptor a TUN device of that name, without a header before the packets.
    AttachTun,
}

/// Applies a setting to the device called `name` through `fd`.
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn configure(fd: &OwnedFd, name: &str, setting: Setting) -> Result<()> {
    let request = request(name, setting);
    let fd = fd.as_raw_fd();
    // SAFETY: each request reads one `ifreq`, whose member of the union is the one it expects; what
    // that points to is static, and only read.
    let done = unsafe {
        match setting {
            Setting::Address(_) => set_address(fd, &request),
            Setting::Netmask(_) => set_netmask(fd, &request),
            Setting::Mtu(_) => set_mtu(fd, &request),
            Setting::QueueLength(_) => set_queue_length(fd, &request),
            Setting::Up | Setting::UpWithoutArp => set_flags(fd, &request),
            Setting::WithoutGro => set_feature(fd, &request),
            Setting::AttachTun => attach(fd, &request),
        }
    };
    done.map(|_| ()).map_err(Error::from)
}

fn request(name: &str, setting: Setting) -> libc::ifreq {
    // SAFETY: an `ifreq` of zeros is valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let union = &mut request.ifr_ifru;
    match setting {
        Setting::Address(address) => union.ifru_addr = internet(address),
        Setting::Netmask(mask) => union.ifru_netmask = internet(mask),
        Setting::Mtu(bytes) => union.ifru_mtu = bytes as libc::c_int,
        // `ifr_qlen` of the C header: any integer of the union.
        Setting::QueueLength(packets) => union.ifru_metric = packets as libc::c_int,
        Setting::Up => union.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short,
        Setting::UpWithoutArp => {
            let flags = libc::IFF_UP | libc::IFF_RUNNING | libc::IFF_NOARP;
            union.ifru_flags = flags as libc::c_short;
        }
        Setting::WithoutGro => union.ifru_data = WITHOUT_GRO.as_ptr().cast_mut().cast(),
        Setting::AttachTun => {
            union.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        }
    }
    request
}

fn internet(address: [u8; 4]) -> libc::sockaddr {
    let mut data = [0; 14];
    for (to, from) in data[2..6].iter_mut().zip(address) {
        *to = from as libc::c_char;
    }
    libc::sockaddr { sa_family: libc::AF_INET as libc::sa_family_t, sa_data: data }
}

/// `tcpi_total_rto` where the kernel has not written it: Linux counts timeouts from 6.7 on.
pub(crate) const NO_TIMEOUTS: u16 = u16::MAX;

/// A `TCP_INFO` of which the kernel has written nothing.
fn unwritten() -> libc::tcp_info {
    // SAFETY: a `tcp_info` of zeros is valid.
    let mut info: libc::tcp_info = unsafe { zeroed() };
    info.tcpi_total_rto = NO_TIMEOUTS;
    info
}

/// The kernel's `TCP_INFO` of a connection; fields that this kernel lacks are zero, but for
/// [`NO_TIMEOUTS`].
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn tcp_info(socket: &OwnedFd) -> Result<libc::tcp_info> {
    let mut info = unwritten();
    // SAFETY: the kernel writes at most `length` bytes of it.
    unsafe {
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let (level, name) = (libc::IPPROTO_TCP, libc::TCP_INFO);
        let place = (&raw mut info).cast();
        match libc::getsockopt(socket.as_raw_fd(), level, name, place, &mut length) {
            0 => Ok(info),
            _ => Err(Error::last_os_error()),
        }
    }
}

/// The largest pacing rate: a larger number switches pacing off.
pub(crate) const FASTEST: u64 = u64::MAX - 1;

/// Paces a socket, at most at a rate in bytes per second (`SO_MAX_PACING_RATE`; 64 bits since Linux
/// 4.20).
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn pace(socket: &OwnedFd, rate: u64) -> Result<()> {
    set_option(socket, (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE), &rate)
}

/// Lets a TCP socket report in its error queue that the last byte of a call has been acknowledged,
/// without that byte (`SO_TIMESTAMPING`).
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn report_acknowledgments(socket: &OwnedFd) -> Result<()> {
    let flags: libc::c_uint = libc::SOF_TIMESTAMPING_TX_ACK | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    set_option(socket, (libc::SOL_SOCKET, libc::SO_TIMESTAMPING), &flags)
}

/// Lets a TCP socket accept no more while it has so many bytes that have not been sent
/// (`TCP_NOTSENT_LOWAT`).
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn limit_unsent(socket: &OwnedFd, bytes: u32) -> Result<()> {
    set_option(socket, (libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT), &bytes)
}

/// Sets an option, whose value is an integer, to one of its length.
fn set_option<T>(
    socket: &OwnedFd,
    (level, name): (libc::c_int, libc::c_int),
    value: &T,
) -> Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: the kernel reads `length` bytes of the value.
    match unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value, length) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Bytes written to a TCP socket that have not been acknowledged, its end counting as one (`SIOCOUTQ`).
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn unacknowledged(socket: &OwnedFd) -> Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the request writes one integer.
    unsafe { outstanding(socket.as_raw_fd(), &raw mut bytes) }.map_err(Error::from)?;
    Ok(bytes as u64) // it is not negative
}

/// Resets a connection: data that has been written and not sent is discarded.
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn disconnect(socket: &OwnedFd) -> Result<()> {
    let nowhere =
        libc::sockaddr { sa_family: libc::AF_UNSPEC as libc::sa_family_t, sa_data: [0; 14] };
    let length = size_of::<libc::sockaddr>() as libc::socklen_t;
    // SAFETY: the address is valid for `length` bytes.
    match unsafe { libc::connect(socket.as_raw_fd(), &nowhere, length) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Makes a command a kernel's process: it ends with the thread that starts it, leaves no core dump,
/// and has its memory at the same addresses each time, where that is allowed. It has these files
/// under the numbers from `first` on, and may open as many as it is allowed, since each file that
/// is used inside is one that it has open.
pub(crate) fn become_guest(command: &mut Command, files: Vec<RawFd>, first: RawFd) {
    let prepare = move || {
        let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).map_err(Error::from)?;
        setrlimit(Resource::RLIMIT_NOFILE, most, most).map_err(Error::from)?;
        for (&file, number) in files.iter().zip(first..) {
            // SAFETY: the numbers are those of open files, and nobody else's.
            if unsafe { libc::dup2(file, number) } < 0 {
                return Err(Error::last_os_error());
            }
        }
        prctl::set_pdeathsig(Signal::SIGKILL).map_err(Error::from)?;
        setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(Error::from)?;
        let fixed = personality::get().map(|flags| flags | Persona::ADDR_NO_RANDOMIZE);
        let _ = fixed.and_then(personality::set); // containers may not allow it
        Ok(())
    };
    // SAFETY: between fork and exec there are only system calls, and no memory is allocated.
    unsafe { command.pre_exec(prepare) };
}

/// Like [`tcp_info`]: the bytes that the kernel returns.
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn tcp_info_bytes(socket: &OwnedFd, bytes: &mut Vec<u8>) -> Result<()> {
    bytes.resize(size_of::<libc::tcp_info>(), 0);
    let mut length = bytes.len() as libc::socklen_t;
    let (level, name) = (libc::IPPROTO_TCP, libc::TCP_INFO);
    // SAFETY: the kernel writes at most `length` bytes.
    let done = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, name, bytes.as_mut_ptr().cast(), &mut length)
    };
    bytes.truncate(length as usize);
    if done == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// A `TCP_INFO` from its bytes; missing ones are as in [`tcp_info`].
pub(crate) fn tcp_info_of(bytes: &[u8]) -> libc::tcp_info {
    let mut info = unwritten();
    // SAFETY: any bytes are a valid `tcp_info`, and no more are copied than it has.
    unsafe {
        let length = bytes.len().min(size_of::<libc::tcp_info>());
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), (&raw mut info).cast(), length);
        info
    }
}

/// Waits until a TCP socket has received a large amount, or its end, and discards data as it
/// arrives; returns the number of bytes.
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn discard(socket: &impl AsRawFd) -> Result<usize> {
    const MOST: usize = 1 << 30;
    let flags = libc::MSG_WAITALL | libc::MSG_TRUNC;
    // SAFETY: data that is truncated to nothing is not written anywhere (tcp(7)).
    match unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), MOST, flags) } {
        -1 => Err(Error::last_os_error()),
        bytes => Ok(bytes as usize),
    }
}

/// Takes ownership of a descriptor that a system call has just returned.
pub(crate) fn owned(fd: std::os::fd::RawFd) -> OwnedFd {
    // SAFETY: nothing else owns what `accept4` returned.
    unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) }
}
