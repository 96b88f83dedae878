//! Waiting until a datagram comes to one of several ports, or until a time is over, to the
//! microsecond.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::udp::port::Port;

/// The longest time for which it waits at once: timers far ahead need no exact end.
const LONGEST: Duration = Duration::from_secs(3_600);
/// What is told of descriptors: none, since ports are asked in turn; but a waker's is to be emptied.
const PORT: u64 = 0;
const WAKER: u64 = 1;
/// Descriptors that are told of at once.
const EVENTS: usize = 8;

/// Waits for several ports. What a port has not passed on yet ends the wait at once.
#[derive(Debug)]
pub struct Waiter {
    poll: Epoll,
    /// The system's waits end at whole milliseconds; its timers are exact.
    timer: TimerFd,
    woken: Arc<EventFd>,
}

/// Ends a wait from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<EventFd>);

impl Waker {
    /// Ends the present wait, or the next one.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn wake(&self) -> io::Result<()> {
        match self.0.write(1) {
            // It has been woken more often than it can count.
            Err(Errno::EAGAIN) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Waiter {
    /// For no port yet.
    ///
    /// # Errors
    /// If the system has none.
    pub fn new() -> io::Result<Self> {
        let poll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer = TimerFd::new(
            ClockId::CLOCK_MONOTONIC,
            TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK,
        )?;
        let woken = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        poll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, PORT))?;
        poll.add(&woken, EpollEvent::new(EpollFlags::EPOLLIN, WAKER))?;
        Ok(Waiter { poll, timer, woken: Arc::new(woken) })
    }

    /// Waits for this port as well, until it is dropped.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn add(&self, port: &Port) -> io::Result<()> {
        Ok(self.poll.add(port.socket(), EpollEvent::new(EpollFlags::EPOLLIN, PORT))?)
    }

    /// Waits until this can be read from as well, as long as it is open.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn also(&self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        Ok(self.poll.add(descriptor, EpollEvent::new(EpollFlags::EPOLLIN, PORT))?)
    }

    /// What ends its waits from another thread.
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.woken))
    }

    /// Waits until a datagram is at a port, until it is woken, or until the time is over.
    ///
    /// # Errors
    /// If the system cannot wait.
    pub fn wait(&self, time: Duration) -> io::Result<()> {
        let timeout = if time.is_zero() {
            EpollTimeout::ZERO
        } else {
            let end = Expiration::OneShot(TimeSpec::from_duration(time.min(LONGEST)));
            self.timer.set(end, TimerSetTimeFlags::empty())?;
            EpollTimeout::NONE
        };
        let mut events = [EpollEvent::empty(); EVENTS];
        let count = match self.poll.wait(&mut events, timeout) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        if events[..count].iter().any(|event| event.data() == WAKER) {
            // It counts what it was woken; another wait has emptied it, if there is nothing.
            let _ = self.woken.read();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{SocketAddr, UdpSocket};

    use crate::udp::Clock;

    fn local() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    /// What has come to a port, within a second.
    fn received(waiter: &Waiter, port: &mut Port) -> Vec<Vec<u8>> {
        let (mut all, clock) = (Vec::new(), Clock::start());
        while all.is_empty() && clock.now().as_nanos() < 1_000_000_000 {
            waiter.wait(Duration::from_millis(100)).unwrap();
            let take = |_: &mut _, _, bytes: &[u8]| {
                all.push(bytes.to_vec());
                Ok(())
            };
            port.receive(take).unwrap();
        }
        all
    }

    #[test]
    fn a_peer_has_a_port_of_its_own_at_the_same_address() {
        let mut open = Port::open(local()).unwrap();
        let address = open.address().unwrap();
        let [peer, stranger] = [0, 1].map(|_| UdpSocket::bind(local()).unwrap());
        let mut own = open.connected(peer.local_addr().unwrap()).unwrap();
        assert_eq!(own.address().unwrap(), address);
        let waiter = Waiter::new().unwrap();
        waiter.add(&open).unwrap();
        waiter.add(&own).unwrap();
        for _ in 0..3 {
            stranger.send_to(b"stranger", address).unwrap();
            peer.send_to(b"peer", address).unwrap();
            assert_eq!(received(&waiter, &mut own), [b"peer"]);
            assert_eq!(received(&waiter, &mut open), [b"stranger"]);
        }
        let to = peer.local_addr().unwrap();
        (0..3).for_each(|_| own.out.push(to, b"answer").unwrap());
        own.out.flush().unwrap();
        let mut bytes = [0; 16];
        for _ in 0..3 {
            assert_eq!(peer.recv_from(&mut bytes).unwrap(), (6, address));
        }
        assert!(Port::open(address).is_err(), "another program's");
    }

    #[test]
    fn waits_end_when_the_time_is_over_or_it_is_woken() {
        let (waiter, clock) = (Waiter::new().unwrap(), Clock::start());
        (0..20).for_each(|_| waiter.wait(Duration::from_micros(100)).unwrap());
        let passed = clock.now().as_nanos() / 1_000;
        assert!(passed >= 2_000, "{passed} us");
        waiter.waker().wake().unwrap();
        waiter.wait(Duration::from_secs(60)).unwrap();
        waiter.wait(Duration::ZERO).unwrap();
        assert!(clock.now().as_nanos() < 30_000_000_000);
    }
}
