//! The calendar of a kernel in virtual time: controls when the kernel runs, and what its time is.
//!
//! Messages of 16 bytes over a socket (Linux, `include/uapi/linux/um_timetravel.h`, which specifies
//! them). A kernel from 6.11 on reads the time and writes its requests in a shared page, so that
//! two messages remain per turn: RUN, and WAIT when the kernel has nothing more to do until the
//! network has. It ends its turn at the instant at which it sends something. Beyond what those files
//! specify, our copy of such a kernel reads the rings of its later cards from the calendar's slot of
//! the page, and writes into its own which process runs.

use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

use nix::sys::memfd::{MFdFlags, memfd_create};
use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};
use vmm_sys_util::sock_ctrl_msg::ScmSocket;

use super::failure::{broken, doing};
use crate::error::Error;

const ACK: u32 = 0;
const START: u32 = 1;
const REQUEST: u32 = 2;
const WAIT: u32 = 3;
const GET: u32 = 4;
const UPDATE: u32 = 5;
const RUN: u32 = 6;
const GET_TIME_OF_DAY: u32 = 8;
const BROADCAST: u32 = 9;

/// Time of day when a kernel starts, in ns since 1970, if nobody asks for another; the value is
/// arbitrary.
const TIME_OF_DAY: u64 = 1_700_000_000_000_000_000;

/// Layout of the shared page: a header, then 128 bytes for each party.
mod page {
    pub(super) const SIZE: usize = 8192;
    pub(super) const VERSION: (u32, usize) = (2, 0);
    pub(super) const LENGTH: usize = 4;
    pub(super) const FREE_UNTIL: usize = 8;
    pub(super) const TIME: usize = 16;
    pub(super) const RUNNING: usize = 24;
    pub(super) const PARTIES: usize = 26;
    /// Index of the kernel; the calendar is 0.
    pub(super) const KERNEL: u16 = 1;
    const FIRST: usize = 4096;
    const EACH: usize = 128;
    /// Offset of the flag that the party uses the page.
    pub(super) const fn capabilities(party: usize) -> usize {
        FIRST + party * EACH
    }
    /// Offset of the flag that the party requests to run.
    pub(super) const fn flags(party: usize) -> usize {
        FIRST + party * EACH + 4
    }
    /// Offset of the time that it requests.
    pub(super) const fn request(party: usize) -> usize {
        FIRST + party * EACH + 8
    }
    /// Offset of the rings that no message has room for: those of the cards from the 17th on.
    pub(super) const RINGS: usize = FIRST + 32;
    /// Offset of the number of the process that the kernel runs; its name and its host's follow.
    pub(super) const PROCESS: usize = FIRST + EACH + 32;
    /// Offset and bytes of the process's name.
    pub(super) const NAME: (usize, usize) = (PROCESS + 4, 16);
    /// Offset and bytes of the name of its host.
    pub(super) const HOST: (usize, usize) = (PROCESS + 20, 32);
}

/// A process that a kernel runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Running {
    /// Its number inside the kernel.
    pub process: u32,
    /// Its name.
    pub name: String,
    /// The name of its host.
    pub host: String,
}

/// A calendar of one kernel.
pub(super) struct Calendar {
    socket: UnixStream,
    page: MmapRegion,
    memory: OwnedFd,
    /// Whether the kernel uses the page.
    shared: bool,
    /// Time of day when the kernel starts, in ns since 1970.
    date: u64,
    now: u64,
    request: Option<u64>,
    waiting: bool,
    /// Whether the kernel has yet to confirm that it runs.
    unconfirmed: bool,
}

impl Calendar {
    /// The calendar of the kernel at the other end of a socket, for which it is this many ns after
    /// 1970 when it starts.
    ///
    /// # Errors
    /// If there is no memory to share.
    pub(super) fn new(socket: UnixStream, date: Option<u64>) -> Result<Self, Error> {
        let memory = memfd_create(c"sojourn-calendar", MFdFlags::MFD_CLOEXEC)
            .map_err(|error| doing("sharing memory", error.into()))?;
        let file = std::fs::File::from(memory.try_clone().map_err(|e| doing("sharing memory", e))?);
        file.set_len(page::SIZE as u64).map_err(|error| doing("sharing memory", error))?;
        let page = MmapRegion::from_file(FileOffset::new(file, 0), page::SIZE)
            .map_err(|error| broken(&format!("sharing memory: {error}")))?;
        let calendar = Calendar {
            socket,
            page,
            memory,
            shared: false,
            date: date.unwrap_or(TIME_OF_DAY),
            now: 0,
            request: None,
            waiting: false,
            unconfirmed: false,
        };
        calendar.store(page::VERSION.0, page::VERSION.1);
        calendar.store(page::SIZE as u32, page::LENGTH);
        calendar.store(2u16, page::PARTIES);
        calendar.store(1u32, page::capabilities(0));
        calendar.store(page::KERNEL, page::RUNNING);
        Ok(calendar)
    }

    /// Time in ns since the kernel was started.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// Whether the kernel has nothing more to do now.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// When the waiting kernel requests to run next.
    pub(super) fn request(&self) -> Option<u64> {
        if !self.shared {
            return self.request;
        }
        let asks = self.load::<u32>(page::flags(usize::from(page::KERNEL))) & 1 != 0;
        asks.then(|| self.load(page::request(usize::from(page::KERNEL))))
    }

    /// Advances the time, while the kernel waits.
    pub(super) fn set_time(&mut self, time: u64) {
        debug_assert!(self.waiting && time >= self.now, "{time} after {}", self.now);
        self.now = time;
        self.store(0u16, page::RUNNING);
        self.store(time, page::TIME);
    }

    /// Whether the kernel uses the shared page.
    pub(super) fn is_shared(&self) -> bool {
        self.shared
    }

    /// The process that the kernel runs, or ran last, if it tells that.
    pub(super) fn running(&self) -> Option<Running> {
        let process = self.load::<u32>(page::PROCESS);
        let running =
            || Running { process, name: self.text(page::NAME), host: self.text(page::HOST) };
        (self.shared && process != 0).then(running)
    }

    /// The time that the kernel has reached while it runs alone.
    pub(super) fn reached(&self) -> u64 {
        if self.shared { self.now.max(self.load(page::TIME)) } else { self.now }
    }

    /// Lets the kernel run now and process its cards' input: a bit for each of their rings. The
    /// message has room for those of 16 cards, because an answer is recognised by its type; those of
    /// further ones are in the page. If the kernel shares that it may run on alone until
    /// `free_until`, or until it sends something.
    ///
    /// # Errors
    /// If it is gone.
    pub(super) fn run(&mut self, rings: u64, free_until: u64) -> Result<(), Error> {
        self.store((rings >> 32) as u32, page::RINGS);
        self.store(page::KERNEL, page::RUNNING);
        self.store(free_until.max(self.now + 1), page::FREE_UNTIL);
        self.request = None;
        self.waiting = false;
        self.unconfirmed = !self.shared;
        self.write(RUN, rings as u32, self.now)?;
        while self.unconfirmed {
            self.listen()?;
        }
        Ok(())
    }

    /// Waits for a message of the kernel and answers it; returns whether one came in time.
    ///
    /// # Errors
    /// If the kernel is gone.
    pub(super) fn listen(&mut self) -> Result<bool, Error> {
        let mut message = [0; 16];
        match self.socket.read(&mut message) {
            Ok(16) => {}
            Ok(0) => return Err(broken("the kernel has ended")),
            Ok(read) => {
                let rest = self.socket.read_exact(&mut message[read..]);
                rest.map_err(|error| doing("listening to the kernel", error))?;
            }
            Err(error) if is_late(&error) => return Ok(false),
            Err(error) => return Err(doing("listening to the kernel", error)),
        }
        let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| message[at + i]));
        let time = u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| message[8 + i]));
        self.answer(word(0), word(4), time)?;
        Ok(true)
    }

    fn answer(&mut self, operation: u32, number: u32, time: u64) -> Result<(), Error> {
        let mut answer = 0;
        match operation {
            ACK => {
                self.unconfirmed = false;
                return Ok(());
            }
            START => return self.greet(number),
            REQUEST => self.request = Some(time),
            WAIT => {
                self.shared = self.load::<u32>(page::capabilities(1)) & 1 != 0;
                self.waiting = true;
                if self.shared {
                    self.now = self.now.max(self.load(page::TIME));
                    return Ok(());
                }
            }
            GET => answer = self.now,
            UPDATE => self.now = self.now.max(time),
            GET_TIME_OF_DAY => answer = self.date,
            BROADCAST => {}
            other => return Err(broken(&format!("unknown time request {other}"))),
        }
        self.write(ACK, number, answer)
    }

    /// Answers the first message with the shared page. The second descriptor would be for a log.
    fn greet(&mut self, number: u32) -> Result<(), Error> {
        let message = bytes(ACK, number, page::KERNEL.into());
        let log = std::fs::File::open("/dev/null").map_err(|e| doing("opening /dev/null", e))?;
        let descriptors = [self.memory.as_raw_fd(), log.as_raw_fd()];
        let sent = self.socket.send_with_fds(&[&message[..]], &descriptors);
        sent.map(|_| ()).map_err(|error| doing("answering the kernel", error.into()))
    }

    fn write(&mut self, operation: u32, number: u32, time: u64) -> Result<(), Error> {
        self.socket
            .write_all(&bytes(operation, number, time))
            .map_err(|error| doing("telling the kernel the time", error))
    }

    fn store<T: vm_memory::AtomicAccess>(&self, value: T, at: usize) {
        let stored = self.page.as_volatile_slice().store(value, at, Ordering::SeqCst);
        debug_assert!(stored.is_ok(), "within the page");
    }

    fn load<T: vm_memory::AtomicAccess + Default>(&self, at: usize) -> T {
        self.page.as_volatile_slice().load(at, Ordering::SeqCst).unwrap_or_default()
    }

    /// A text that ends with a zero, in this many bytes of the page.
    fn text(&self, (at, length): (usize, usize)) -> String {
        let mut bytes = vec![0; length];
        let read = self.page.as_volatile_slice().read_slice(&mut bytes, at);
        debug_assert!(read.is_ok(), "within the page");
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(length);
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }
}

impl AsFd for Calendar {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn bytes(operation: u32, number: u32, time: u64) -> [u8; 16] {
    let mut message = [0; 16];
    message[..4].copy_from_slice(&operation.to_ne_bytes());
    message[4..8].copy_from_slice(&number.to_ne_bytes());
    message[8..].copy_from_slice(&time.to_ne_bytes());
    message
}

fn is_late(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calendar(date: Option<u64>) -> (Calendar, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Calendar::new(ours, date).unwrap(), theirs)
    }

    fn received(socket: &mut UnixStream) -> (u32, u32, u64) {
        let mut message = [0; 16];
        socket.read_exact(&mut message).unwrap();
        let word = |at: usize| u32::from_ne_bytes(message[at..at + 4].try_into().unwrap());
        (word(0), word(4), u64::from_ne_bytes(message[8..].try_into().unwrap()))
    }

    #[test]
    fn rings_of_later_cards_are_in_the_page() {
        let (mut calendar, mut kernel) = calendar(None);
        calendar.shared = true;
        calendar.waiting = true;
        calendar.set_time(7);
        calendar.run(1 << 33 | 3, 0).unwrap();
        assert_eq!(received(&mut kernel), (RUN, 3, 7));
        assert_eq!(calendar.load::<u32>(4128), 2);
        calendar.run(0, 0).unwrap();
        assert_eq!(calendar.load::<u32>(4128), 0);
    }

    #[test]
    fn the_running_process_is_read_from_the_page() {
        let (mut calendar, _kernel) = calendar(None);
        calendar.store(41_u32, 4256);
        calendar.page.as_volatile_slice().write_slice(b"openssl\0", 4260).unwrap();
        calendar.page.as_volatile_slice().write_slice(b"sender\0", 4276).unwrap();
        assert_eq!(calendar.running(), None, "an older kernel shares no page");
        calendar.shared = true;
        let (name, host) = ("openssl".to_owned(), "sender".to_owned());
        assert_eq!(calendar.running(), Some(Running { process: 41, name, host }));
    }

    #[test]
    fn the_time_of_day_is_what_was_asked_for() {
        for (date, expected) in [(None, TIME_OF_DAY), (Some(5), 5)] {
            let (mut calendar, mut kernel) = calendar(date);
            kernel.write_all(&bytes(GET_TIME_OF_DAY, 9, 0)).unwrap();
            assert!(calendar.listen().unwrap());
            assert_eq!(received(&mut kernel), (ACK, 9, expected));
        }
    }
}
