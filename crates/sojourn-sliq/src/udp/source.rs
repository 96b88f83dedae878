//! Source of the data that a connection sends.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use rand::RngExt;
use sojourn_base::units::{Span, Time};

use crate::udp::message::Message;
use crate::udp::waiter::Waker;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;
/// Chunks that wait.
const CHUNKS: usize = 16;
/// Bytes that messages are cut from where the content does not matter.
const PATTERN: usize = 1 << 16;

/// Source of data.
#[derive(Debug)]
pub enum Source {
    /// Nothing.
    Nothing,
    /// Random bytes, numbered: a given amount, or for a given time from the first one on.
    Made {
        /// Bytes that remain.
        left: u64,
        /// For how long.
        lasts: Option<Span>,
        /// When that is over.
        ends: Option<Time>,
        /// Where messages are cut from.
        pattern: Vec<u8>,
        /// Messages so far.
        count: u64,
    },
    /// A file.
    File(File),
    /// Data that another thread reads.
    Pipe {
        /// Where it comes from.
        chunks: Receiver<Vec<u8>>,
        /// What has come.
        ready: VecDeque<u8>,
        /// Whether no more comes.
        over: bool,
    },
}

/// The next message, if there is one now.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// This one.
    Message(Message),
    /// Not yet.
    Later,
    /// No more.
    Over,
}

impl Source {
    /// Random bytes: a given amount, or an unlimited one for a given time.
    pub fn made(bytes: Option<u64>, lasts: Option<Span>) -> Self {
        let mut pattern = vec![0; PATTERN];
        rand::rng().fill(&mut pattern[..]);
        Source::Made { left: bytes.unwrap_or(u64::MAX), lasts, ends: None, pattern, count: 0 }
    }

    /// A file's content.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn file(path: &Path) -> io::Result<Self> {
        File::open(path).map(Source::File)
    }

    /// What can be read from standard input; the waker is woken when there is some.
    ///
    /// # Errors
    /// If there can be no thread.
    pub fn input(waker: Waker) -> io::Result<Self> {
        let (sender, chunks) = sync_channel(CHUNKS);
        thread::Builder::new().name("input".to_owned()).spawn(move || {
            let mut input = io::stdin().lock();
            let mut chunk = vec![0; CHUNK];
            while let Ok(count @ 1..) = input.read(&mut chunk) {
                if sender.send(chunk[..count].to_vec()).is_err() || waker.wake().is_err() {
                    return;
                }
            }
            drop(sender);
            // Nobody to tell if that fails: the program ends.
            let _ = waker.wake();
        })?;
        Ok(Source::Pipe { chunks, ready: VecDeque::new(), over: false })
    }

    /// The next message, of `most` bytes if there are as many.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next(&mut self, now: Time, most: usize) -> io::Result<Next> {
        Ok(match self {
            Source::Nothing => Next::Over,
            Source::Made { left, lasts, ends, pattern, count } => {
                let end = lasts.map(|lasts| *ends.get_or_insert(now + lasts));
                let length = (most as u64).min(*left) as usize;
                if length == 0 || end.is_some_and(|end| now >= end) {
                    return Ok(Next::Over);
                }
                *left -= length as u64;
                *count += 1;
                Next::Message(cut(pattern, *count, length))
            }
            Source::File(file) => {
                let mut bytes = Vec::with_capacity(most);
                file.by_ref().take(most as u64).read_to_end(&mut bytes)?;
                if bytes.is_empty() { Next::Over } else { Next::Message(Message::from(&bytes[..])) }
            }
            Source::Pipe { chunks, ready, over } => {
                while ready.len() < most && !*over {
                    match chunks.try_recv() {
                        Ok(chunk) => ready.extend(chunk),
                        Err(TryRecvError::Disconnected) => *over = true,
                        Err(TryRecvError::Empty) => break,
                    }
                }
                let bytes: Vec<u8> = ready.drain(..most.min(ready.len())).collect();
                match (bytes.is_empty(), *over) {
                    (false, _) => Next::Message(Message::from(&bytes[..])),
                    (true, true) => Next::Over,
                    (true, false) => Next::Later,
                }
            }
        })
    }
}

/// A message that differs from those before: its number, then bytes from somewhere else.
fn cut(pattern: &[u8], count: u64, length: usize) -> Message {
    let from = (count as usize).wrapping_mul(7_919) % (pattern.len() - length);
    let mut bytes = pattern[from..from + length].to_vec();
    let number = count.to_be_bytes();
    let head = length.min(number.len());
    bytes[..head].copy_from_slice(&number[number.len() - head..]);
    Message::from(&bytes[..])
}
