//! What the programs of a run have done so far.

use std::collections::BTreeMap;

use sojourn_base::units::Time;

use super::digest::{Digest, Event};

/// Most bytes of a program's output that are kept.
const MOST_OUTPUT: usize = 64 << 20;

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

/// The start of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// The program's number.
    pub program: u32,
    /// When.
    pub time: Time,
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
    pub started: Vec<Started>,
    /// In the order of time, as far as it is kept.
    pub output: Vec<Written>,
    /// In the order of time.
    pub ended: Vec<Ended>,
    /// Whether all have ended that the run waits for.
    pub finished: bool,
    heard: Option<Heard>,
    /// Bytes that each program has written.
    sizes: BTreeMap<u32, usize>,
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
        self.started.push(Started { program, time });
    }

    /// A program wrote something.
    pub(super) fn wrote(&mut self, time: Time, (program, stream): (u32, u8), bytes: &[u8]) {
        self.digest.add(time, Event::Wrote(program, stream), bytes);
        if let Some(heard) = &mut self.heard {
            heard(program, stream, time, bytes);
        }
        let size = self.sizes.entry(program).or_default();
        *size += bytes.len();
        if *size <= MOST_OUTPUT {
            self.output.push(Written { program, stream, time, bytes: bytes.to_vec() });
        }
    }

    /// A program ended.
    pub(super) fn ended(&mut self, time: Time, program: u32, status: i32) {
        self.digest.add(time, Event::Ended(program, status), &[]);
        self.ended.push(Ended { program, status, time });
    }

    /// The programs of whose output only the beginning is kept.
    pub(super) fn cut(&self) -> Vec<u32> {
        let beyond = self.sizes.iter().filter(|(_, size)| **size > MOST_OUTPUT);
        beyond.map(|(program, _)| *program).collect()
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
    fn endless_output_is_not_all_kept_but_heard_and_in_the_digest() {
        let all = Arc::new(Mutex::new(Vec::new()));
        let passed = Arc::clone(&all);
        let heard = move |program, stream, _, bytes: &[u8]| {
            passed.lock().unwrap().push((program, stream, bytes.len()));
        };
        let mut doings = Doings::new(Some(Box::new(heard)));
        doings.wrote(at(1), (5, 1), &vec![b'x'; MOST_OUTPUT]);
        assert!(doings.cut().is_empty());
        doings.wrote(at(2), (5, 1), b"a");
        let before = doings.digest.text();
        doings.wrote(at(3), (5, 2), b"bc");
        assert_ne!(doings.digest.text(), before);
        doings.wrote(at(4), (0, 1), b"of another");
        let kept: Vec<_> = doings.output.iter().map(|written| written.program).collect();
        assert_eq!((kept, doings.cut()), (vec![5, 0], vec![5]));
        assert_eq!(*all.lock().unwrap(), [(5, 1, MOST_OUTPUT), (5, 1, 1), (5, 2, 2), (0, 1, 10)]);
    }

    #[test]
    fn starts_and_ends_have_their_times() {
        let mut doings = Doings::default();
        doings.started(at(4), 1, 41);
        doings.ended(at(9), 1, 3);
        assert_eq!(doings.started, [Started { program: 1, time: at(4) }]);
        assert_eq!(doings.ended, [Ended { program: 1, status: 3, time: at(9) }]);
    }
}
