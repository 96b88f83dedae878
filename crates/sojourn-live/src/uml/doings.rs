//! What the programs of a run have done so far.

use sojourn_base::units::Time;

use super::digest::{Digest, Event};

/// Most bytes of output that are kept.
const MOST_OUTPUT: usize = 64 << 20;
/// What a program is made to say whose output is not kept any more.
const CUT: &[u8] = b"\nsojourn: the run's output is left out from here, as it is beyond 64 MB\n";
/// The stream on which it is made to say that.
const ERRORS: u8 = 2;

/// Is told what programs write as they do: the program's number, 1 for its standard output or 2 for
/// its standard error, when, and what.
pub type Heard = Box<dyn FnMut(u32, u8, Time, &[u8]) + Send>;

/// What a program wrote at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The program's number.
    pub program: u32,
    /// 1 for its standard output, 2 for its standard error.
    pub stream: u8,
    /// When.
    pub time: Time,
    /// What.
    pub bytes: Vec<u8>,
}

/// The end of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The program's number.
    pub program: u32,
    /// Its exit status, as a shell returns it.
    pub status: i32,
    /// When.
    pub time: Time,
}

/// What programs have done.
#[derive(Default)]
pub(super) struct Doings {
    /// Of all that has happened.
    pub digest: Digest,
    /// In the order of time.
    pub output: Vec<Written>,
    /// In the order of time.
    pub ended: Vec<Ended>,
    /// Whether all have ended that the run waits for.
    pub finished: bool,
    heard: Option<Heard>,
    /// Bytes of the output.
    size: usize,
}

impl Doings {
    /// Nothing yet; `heard` is told what programs will write.
    pub(super) fn new(heard: Option<Heard>) -> Self {
        Doings { heard, ..Doings::default() }
    }

    /// A packet left a card.
    pub(super) fn sent(&mut self, now: Time, card: usize, packet: &[u8]) {
        self.digest.add(now, Event::Sent(card), packet);
    }

    /// A packet reached a card.
    pub(super) fn received(&mut self, now: Time, card: usize, packet: &[u8]) {
        self.digest.add(now, Event::Received(card), packet);
    }

    /// A program became a process of this number.
    pub(super) fn started(&mut self, time: Time, program: u32, process: u32) {
        self.digest.add(time, Event::Started(program, process), &[]);
    }

    /// A program wrote something.
    pub(super) fn wrote(&mut self, time: Time, (program, stream): (u32, u8), bytes: &[u8]) {
        self.digest.add(time, Event::Wrote(program, stream), bytes);
        let (before, most) = (self.size, MOST_OUTPUT);
        self.size += bytes.len();
        if self.size <= most {
            self.keep(Written { program, stream, time, bytes: bytes.to_vec() });
        } else if before <= most {
            self.keep(Written { program, stream: ERRORS, time, bytes: CUT.to_vec() });
        }
    }

    fn keep(&mut self, written: Written) {
        if let Some(heard) = &mut self.heard {
            heard(written.program, written.stream, written.time, &written.bytes);
        }
        self.output.push(written);
    }

    /// A program ended.
    pub(super) fn ended(&mut self, time: Time, program: u32, status: i32) {
        self.digest.add(time, Event::Ended(program, status), &[]);
        self.ended.push(Ended { program, status, time });
    }

    /// The programs of so many that have not ended.
    pub(super) fn unfinished(&self, count: usize) -> Vec<u32> {
        let has_ended = |number: &u32| self.ended.iter().any(|ended| ended.program == *number);
        (0..count as u32).filter(|number| !has_ended(number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn at(ns: u64) -> Time {
        Time::from_nanos(ns)
    }

    #[test]
    fn what_programs_write_is_kept_and_passed_on() {
        let all = Arc::new(Mutex::new(Vec::new()));
        let passed = Arc::clone(&all);
        let heard = move |program, stream, time, bytes: &[u8]| {
            passed.lock().unwrap().push(Written { program, stream, time, bytes: bytes.to_vec() });
        };
        let mut doings = Doings::new(Some(Box::new(heard)));
        doings.wrote(at(3), (1, 2), b"no");
        doings.wrote(at(4), (0, 1), b"yes");
        let first = Written { program: 1, stream: 2, time: at(3), bytes: b"no".to_vec() };
        assert_eq!((doings.output.len(), &doings.output[0]), (2, &first));
        assert_eq!(*all.lock().unwrap(), doings.output);
    }

    #[test]
    fn endless_output_is_cut_once_and_stays_in_the_digest() {
        let mut doings = Doings::default();
        doings.wrote(at(1), (5, 1), &vec![b'x'; MOST_OUTPUT]);
        doings.wrote(at(2), (5, 1), b"a");
        let before = doings.digest.text();
        doings.wrote(at(3), (5, 1), b"b");
        let streams: Vec<_> = doings.output.iter().map(|written| written.stream).collect();
        assert_eq!(streams, [1, ERRORS]);
        assert_ne!(doings.digest.text(), before);
    }

    #[test]
    fn programs_without_an_end_are_unfinished() {
        let mut doings = Doings::default();
        doings.ended(at(9), 1, 3);
        assert_eq!(doings.ended, [Ended { program: 1, status: 3, time: at(9) }]);
        assert_eq!(doings.unfinished(3), [0, 2]);
    }
}
