//! Packet scripts, played by this machine's kernel.
//!
//! One end of a connection is a socket in a network namespace of its own, the other is the script:
//! it reads the kernel's packets from a TUN device, and writes the other end's packets to it.

mod peer;
mod segment;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::thread;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::sockopt::TcpCongestion;
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, Shutdown, SockFlag, SockType, SockaddrIn, accept4, bind,
    connect, listen, recv, send, setsockopt, shutdown, socket,
};
use nix::sys::time::TimeSpec;
use sojourn_base::units::{Span, Time};
use sojourn_sim::spec::EcnMode;
use sojourn_tcp::tcp::script::{Event, Script, Step};

use crate::clock::Clock;
use crate::error::{Error, failed};
use crate::namespace::{self, DEVICE, RECEIVERS, SENDERS};
use crate::sys;

use peer::Peer;

const PORT: u16 = 10_000;
const MTU: u32 = 1500;
/// End of the handshake, from 0 on, of a script without one.
const OPENED: Time = Time::from_nanos(100_000_000);
/// Above all ordinary threads, as in the loop of `sojourn_live`.
const PRIORITY: i32 = 1;

/// Plays the script; returns the events of the kernel's end.
///
/// # Errors
/// If there are no namespaces or TUN devices here, or the kernel lacks the control.
pub fn play(script: &Script) -> Result<Vec<Event>, Error> {
    let played = thread::scope(|scope| scope.spawn(|| Kernel::new(script)?.play(script)).join());
    played.unwrap_or_else(|_| Err(Error::System("a packet script ended its thread".to_owned())))
}

/// The kernel's end, and the device between it and the script.
struct Kernel {
    clock: Clock,
    tun: OwnedFd,
    socket: OwnedFd,
    /// The listening socket, if the connection is accepted.
    listening: bool,
    peer: Peer,
    events: Vec<Event>,
    unwritten: u64,
}

impl Kernel {
    /// A kernel's end in a namespace of the calling thread.
    fn new(script: &Script) -> Result<Self, Error> {
        namespace::enter()?;
        sys::run_first(PRIORITY);
        let ecn = if script.ecn == EcnMode::Classic { "1" } else { "0" };
        namespace::set("ipv4/tcp_ecn", ecn).map_err(failed("setting tcp_ecn"))?;
        let tun = namespace::device(DEVICE, SENDERS, MTU)?;
        let socket = opened(script).map_err(failed("opening a socket"))?;
        Ok(Kernel {
            clock: Clock::start(),
            tun,
            socket,
            listening: script.receiver,
            peer: Peer::new(script),
            events: Vec::new(),
            unwritten: 0,
        })
    }

    fn play(mut self, script: &Script) -> Result<Vec<Event>, Error> {
        self.clock = Clock::start();
        self.run(script).map_err(failed("a packet script"))?;
        Ok(self.events)
    }

    fn run(&mut self, script: &Script) -> io::Result<()> {
        if !script.receiver {
            let [a, b, c, d] = RECEIVERS;
            match connect(self.socket.as_raw_fd(), &SockaddrIn::new(a, b, c, d, PORT)) {
                Ok(()) | Err(Errno::EINPROGRESS) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if !script.open {
            self.open(script)?;
        }
        for line in &script.lines {
            self.wait_until(line.at)?;
            self.step(&line.step)?;
        }
        Ok(())
    }

    /// The handshake, if the script does not contain one.
    fn open(&mut self, script: &Script) -> io::Result<()> {
        if script.receiver {
            self.step(&Step::Syn)?;
        }
        // Nothing can be written before the end of the handshake.
        self.wait_until(OPENED - Span::from_millis(5))?;
        if script.receiver {
            let bytes = self.peer.handshake_ack(self.clock.now());
            self.inject(&bytes)?;
            self.wait_until(OPENED)?;
        } else {
            self.wait_until(OPENED)?;
            self.step(&Step::SynAck)?;
        }
        self.events.retain(|event| event.what != "syn" && event.what != "syn-ack");
        Ok(())
    }

    fn step(&mut self, step: &Step) -> io::Result<()> {
        let now = self.clock.now();
        match step {
            Step::Syn | Step::SynAck => {
                let bytes = self.peer.opening(now, *step == Step::SynAck);
                self.inject(&bytes)?;
            }
            Step::Ack(ack) => {
                let bytes = self.peer.acknowledgment(now, ack);
                self.inject(&bytes)?;
            }
            Step::Data(data) => {
                let echo = self.peer.latest();
                for seq in data.first..=data.last {
                    let bytes = self.peer.data(self.clock.now(), data, seq, echo);
                    self.inject(&bytes)?;
                }
            }
            Step::Write(bytes) => self.unwritten += bytes,
            Step::Close => shutdown(self.socket.as_raw_fd(), Shutdown::Write)?,
            Step::Cwnd(_) => {
                let cwnd = sys::tcp_info(&self.socket)?.tcpi_snd_cwnd;
                self.events.push(Event { at: now, what: format!("cwnd {cwnd}") });
            }
            Step::Sent(_) => {}
        }
        self.attend()
    }

    fn inject(&mut self, packet: &[u8]) -> io::Result<()> {
        nix::unistd::write(&self.tun, packet)?;
        self.attend()
    }

    /// Acts as the application, and reads the kernel's packets.
    fn attend(&mut self) -> io::Result<()> {
        self.read()?;
        self.write()?;
        let mut packet = [0; 2048];
        loop {
            match nix::unistd::read(&self.tun, &mut packet) {
                Ok(length) => {
                    let at = self.clock.now();
                    let sent = self.peer.hear(&packet[..length]);
                    self.events.extend(sent.into_iter().map(|what| Event { at, what }));
                }
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads the available data, from an established connection.
    fn read(&mut self) -> io::Result<()> {
        if self.listening {
            let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
            match accept4(self.socket.as_raw_fd(), flags) {
                Ok(fd) => {
                    self.socket = sys::owned(fd);
                    self.listening = false;
                }
                Err(_) => return Ok(()),
            }
        }
        let mut bytes = [0; 1 << 16];
        while matches!(recv(self.socket.as_raw_fd(), &mut bytes, MsgFlags::empty()), Ok(1..)) {}
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        let zeros = [0; 1 << 16];
        while self.unwritten > 0 {
            let bytes = &zeros[..self.unwritten.min(zeros.len() as u64) as usize];
            match send(self.socket.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL) {
                Ok(count) => self.unwritten -= count as u64,
                Err(Errno::EAGAIN | Errno::ENOTCONN | Errno::EINTR) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn wait_until(&mut self, time: Time) -> io::Result<()> {
        loop {
            self.attend()?;
            let left = self.clock.until(time);
            if left.is_zero() {
                return Ok(());
            }
            let mut wanted = [PollFd::new(self.tun.as_fd(), PollFlags::POLLIN)];
            match ppoll(&mut wanted, Some(TimeSpec::from_duration(left)), None) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// A socket at which the script's connection begins or ends.
fn opened(script: &Script) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&socket, TcpCongestion, &OsString::from(&script.control))?;
    if script.receiver {
        let [a, b, c, d] = SENDERS;
        bind(socket.as_raw_fd(), &SockaddrIn::new(a, b, c, d, PORT))?;
        listen(&socket, Backlog::MAXALLOWABLE)?;
    }
    Ok(socket)
}
