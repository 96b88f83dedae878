//! The real-time loop: packets read from TUN devices pass a [`Network`] and are written to another
//! device at the time that the network computes.
//!
//! The network's time determines all delays, from the moment at which a packet was read; only the
//! release waits for the clock. So release errors do not add up.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
use nix::unistd::{read, write};
use sojourn_base::packet::Packet;
use sojourn_base::units::{Span, Time};
use sojourn_net::edge::Departure;
use sojourn_net::net::{Hosts, Network, Step};

use crate::clock::Clock;
use crate::error::{Error, failed};
use crate::kept::Border;
use crate::quality::Timing;
use crate::sys::run_first;

/// Above the priority of the applications' threads.
const PRIORITY: i32 = 50;
/// Packets read from a device before due packets are released.
const BATCH: usize = 16;
/// Longest work without sleep: the kernel's limit for real-time threads would stop a thread that
/// never sleeps, for long.
const MOST_WORK: Span = Span::from_millis(1);
const REST: Duration = Duration::from_micros(60);
/// Time for which the loop polls the clock before a release, since a sleep may end late.
const SPIN: Span = Span::from_micros(20);
const LONGEST_SLEEP: Duration = Duration::from_millis(50);
const LARGEST_PACKET: usize = 65_536;

/// Handler of the packets of a loop. `Packet::socket` belongs to the loop: it identifies their
/// bytes.
pub trait Tap {
    /// A packet was read from the device number `side`: returns the packet as it enters the
    /// network, or `None` if it does not belong to the network.
    fn enters(&mut self, now: Time, side: usize, bytes: &[u8]) -> Option<Packet>;

    /// A packet has left the network: returns the side to whose device it goes. The network's marks
    /// have not been written into the bytes yet.
    fn leaves(&mut self, now: Time, packet: &Packet, bytes: &mut [u8]) -> usize;

    /// A timer of the network is due.
    ///
    /// # Errors
    /// If an invariant is broken; ends the run.
    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step;

    /// Whom this flow's packets are for, if no device leads to its hosts.
    fn without_device(&mut self, _flow: u32) -> Option<&mut dyn Hosts> {
        None
    }
}

/// Devices and the packets between them.
pub struct Loop<T> {
    clock: Clock,
    devices: Vec<OwnedFd>,
    border: Border,
    timing: Timing,
    tap: T,
}

impl<T: Tap> Loop<T> {
    /// A loop between devices; `clock` is that of the network.
    pub fn new(clock: Clock, devices: Vec<OwnedFd>, tap: T) -> Self {
        Loop { clock, devices, border: Border::default(), timing: Timing::default(), tap }
    }

    /// The same with packets that pass this border.
    pub(crate) fn across(self, border: Border) -> Self {
        Loop { border, ..self }
    }

    /// Drives `net` until `end`, or until `stop` is set.
    ///
    /// # Errors
    /// If an invariant of the network is broken, or a device fails.
    pub fn run(&mut self, net: &mut Network, end: Time, stop: &AtomicBool) -> Result<(), Error> {
        self.timing.prioritised = run_first(PRIORITY);
        let _ = set_timerslack(1); // only makes it more punctual
        let mut bytes = vec![0; LARGEST_PACKET];
        let mut rested = self.slept();
        while !stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            net.advance(now.min(end), self)?;
            if now >= end {
                break;
            }
            let mut read = 0;
            for side in 0..self.devices.len() {
                read += self.read(side, net, &mut bytes)?;
            }
            self.timing.pass(self.clock.now());
            if self.clock.now().since(rested) > MOST_WORK {
                std::thread::sleep(REST);
                rested = self.slept();
            } else if read == 0 && self.wait(net, end)? {
                rested = self.slept();
            }
        }
        Ok(())
    }

    /// Closes the devices; returns the handler and the statistics of timing.
    pub fn finish(self) -> (T, Timing) {
        (self.tap, self.timing)
    }

    /// Offers the network the packets that have arrived at a device; returns their number.
    fn read(&mut self, side: usize, net: &mut Network, bytes: &mut [u8]) -> Result<usize, Error> {
        for count in 0..BATCH {
            let length = match read(&self.devices[side], bytes) {
                Ok(length) => length,
                Err(Errno::EAGAIN | Errno::EINTR) => return Ok(count),
                Err(error) => return Err(failed("reading from a TUN device")(error.into())),
            };
            let now = self.clock.now();
            net.advance(now, self)?;
            if let Some(mut packet) = self.tap.enters(now, side, &bytes[..length]) {
                self.border.enter(now, side, &mut packet, &bytes[..length]);
                net.inject(&packet);
            }
        }
        Ok(BATCH)
    }

    /// Sleeps until work is due; returns whether the sleep was long enough to count as rest.
    fn wait(&mut self, net: &mut Network, end: Time) -> Result<bool, Error> {
        let next = net.next_wakeup().unwrap_or(end).min(end);
        let time = self.clock.until(next);
        let Some(sleep) = time.checked_sub(Duration::from_nanos(SPIN.as_nanos())) else {
            return Ok(false);
        };
        let sleep = sleep.min(LONGEST_SLEEP);
        let devices = self.devices.iter().map(OwnedFd::as_fd);
        let mut devices: Vec<_> =
            devices.map(|device| PollFd::new(device, PollFlags::POLLIN)).collect();
        match ppoll(&mut devices, Some(TimeSpec::from_duration(sleep)), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(sleep > Duration::from_micros(20)),
            Err(error) => Err(failed("waiting for TUN devices")(error.into())),
        }
    }

    fn slept(&mut self) -> Time {
        let now = self.clock.now();
        self.timing.woken(now);
        now
    }
}

impl<T: Tap> Hosts for Loop<T> {
    fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step {
        if let Some(hosts) = self.tap.without_device(packet.flow) {
            return hosts.on_packet(net, packet);
        }
        let Loop { devices, tap, .. } = self;
        let written = self.border.leave(net.now(), packet, |bytes| {
            let side = tap.leaves(net.now(), packet, bytes);
            (side, write(&devices[side], bytes))
        });
        let Some((_, written)) = written else {
            self.timing.forgotten += 1;
            return Ok(());
        };
        self.timing.refused += u64::from(written.is_err());
        self.timing.release_errors.add(self.clock.now().since(net.now()));
        Ok(())
    }

    fn on_departure(&mut self, net: &mut Network, departure: Departure) -> Step {
        match self.tap.without_device(departure.flow) {
            Some(hosts) => hosts.on_departure(net, departure),
            None => Ok(()),
        }
    }

    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
        self.tap.on_timer(net, timer)
    }

    fn component(&self, timer: u32) -> String {
        format!("timer {timer} of the live run")
    }
}
