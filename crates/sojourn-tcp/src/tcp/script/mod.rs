//! Packet scripts: the packets that arrive at one end of a TCP connection and those that it must
//! send, line by line, in the manner of packetdrill. The core's endpoints play them here, a
//! kernel's in `sojourn-live`.
//!
//! A script has directives first, then lines: a time in milliseconds, and an event or an
//! expectation:
//!
//! | directive | meaning |
//! | --- | --- |
//! | `end sender`, `end receiver` | the end that is tested (sender); the script plays the other |
//! | `stack`, `control`, `ecn` | of that end (`linux-6`, `reno`, `off`) |
//! | `write BYTES` | written at once (nothing) |
//! | `open` | the script contains the handshake's packets; else the handshake takes from 0 to 100 ms |
//! | `from MS` | comparison begins at this time; earlier lines prepare the script |
//! | `known REASON` | why a kernel's end differs |
//!
//! | line | of | meaning |
//! | --- | --- | --- |
//! | `syn-ack`, `ack NEXT [sack A-B ...] [dsack A-B] [ece] [original] [window BYTES]` | sender | arrives; `original` echoes the timestamp of the first segments |
//! | `write BYTES`, `close` | sender | the application writes, closes the connection |
//! | `cwnd N` | sender | the window must be N |
//! | `syn`, `data A-B [ce] [cwr] [psh] [of BYTES]` | receiver | arrives; B included, all at once |
//! | `sent ...` | both | all that was sent since the last such line: segments' numbers, ranges of them, `syn`, `ack`, `probe`, `fin`; a receiver's ACKs, separated by commas: `syn-ack`, `NEXT [dsack A-B] [sack A-B ...] [ece]`. `-` for nothing |
//!
//! Segments have 1448 bytes unless less was written; a line names at most 1000. An end marks what it sends with `:cwr`, and with
//! `:psh` if the line says `sent psh`.

mod compare;
mod play;
mod words;

use std::fmt::Write as _;

use crate::spec::EcnMode;
use crate::units::{Span, Time};

pub use compare::Difference;
pub use play::{Played, play, span};
use words::{expanded, few, listed, read};

/// Payload of a segment.
pub const MSS: u32 = 1448;
/// Segments that one line names at most.
pub const MOST_SEGMENTS: u32 = 1_000;
/// Window of an ACK without a `window`.
pub const WINDOW: u32 = 10_000_000;

/// A script.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Its first comment, which describes it.
    pub about: String,
    /// Whether the receiving end is tested.
    pub receiver: bool,
    /// Name of the tested end's stack.
    pub stack: String,
    /// Name of the control.
    pub control: String,
    /// ECN feedback.
    pub ecn: EcnMode,
    /// Whether the script contains the handshake's packets.
    pub open: bool,
    /// Time from which ends are compared.
    pub from: Time,
    /// Whether the end sends large segments; `None`: as the stack does.
    offload: Option<bool>,
    /// Reason for which a kernel differs.
    pub known: Option<String>,
    /// Events and expectations.
    pub lines: Vec<Line>,
}

/// One line of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The time.
    pub at: Time,
    /// The event or expectation.
    pub step: Step,
}

/// An event or an expectation.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The answer to the SYN arrives.
    SynAck,
    /// An acknowledgment arrives.
    Ack(Ack),
    /// The application writes this number of bytes.
    Write(u64),
    /// It closes the connection.
    Close,
    /// A connection is opened.
    Syn,
    /// Segments arrive.
    Data(Data),
    /// These packets must have been sent since the last such line.
    Sent(Vec<String>),
    /// The congestion window must have this value.
    Cwnd(u32),
}

/// An arriving acknowledgment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ack {
    /// Next segment expected.
    pub next: u32,
    /// SACK blocks, last segments included; the first reports a duplicate if `dsack`.
    pub blocks: Vec<(u32, u32)>,
    /// A duplicate is reported.
    pub dsack: bool,
    /// Congestion is echoed.
    pub ece: bool,
    /// The timestamp echoed is that of the first segments.
    pub original: bool,
    /// Receive window in bytes.
    pub window: Option<u32>,
}

/// Arriving segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// First one.
    pub first: u32,
    /// Last one.
    pub last: u32,
    /// Payload of each.
    pub bytes: u32,
    /// CE-marked by the path.
    pub ce: bool,
    /// The sender has answered an echo.
    pub cwr: bool,
    /// The last one ends a write.
    pub psh: bool,
}

/// Something that an end sent, or a value that was asked for, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The time.
    pub at: Time,
    /// Its text, as in a line `sent`, or `cwnd N`.
    pub what: String,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// A line is malformed: the message names it and the reason.
    pub fn parse(text: &str) -> Result<Script, String> {
        let mut script = Script {
            about: String::new(),
            receiver: false,
            stack: "linux-6".to_owned(),
            control: "reno".to_owned(),
            ecn: EcnMode::Off,
            open: false,
            from: Time::ZERO,
            offload: None,
            known: None,
            lines: Vec::new(),
        };
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            script.take(line).map_err(|why| format!("line {}: '{line}': {why}", number + 1))?;
        }
        Ok(script)
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        if let Some(comment) = line.strip_prefix('#') {
            if self.lines.is_empty() {
                let space = if self.about.is_empty() { "" } else { " " };
                let _ = write!(self.about, "{space}{}", comment.trim());
            }
            return Ok(());
        }
        let Some((word, rest)) = line.split_once(char::is_whitespace).or(match line {
            "" => None,
            word => Some((word, "")),
        }) else {
            return Ok(());
        };
        let rest = rest.trim();
        match word {
            "end" => self.receiver = rest == "receiver",
            "stack" => rest.clone_into(&mut self.stack),
            "control" => rest.clone_into(&mut self.control),
            "ecn" if rest == "classic" => self.ecn = EcnMode::Classic,
            "open" => self.open = true,
            "from" => {
                self.from = Time::ZERO + Span::from_secs_f64(read::<f64>(rest)? / 1e3);
            }
            "known" => self.known = Some(rest.to_owned()),
            "write" => {
                let step = Step::Write(read(rest)?);
                self.lines.push(Line { at: Time::ZERO, step });
            }
            time => {
                let ms: f64 = read(time)?;
                let step = self.step(rest)?;
                self.lines.push(Line { at: Time::ZERO + Span::from_secs_f64(ms / 1e3), step });
            }
        }
        Ok(())
    }

    fn step(&self, text: &str) -> Result<Step, String> {
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let words: Vec<&str> = rest.split_whitespace().collect();
        Ok(match verb {
            "syn-ack" => Step::SynAck,
            "syn" => Step::Syn,
            "close" => Step::Close,
            "write" => Step::Write(read(rest)?),
            "cwnd" => Step::Cwnd(read(rest)?),
            "ack" => Step::Ack(Ack::read(&words)?),
            "data" => Step::Data(Data::read(&words)?),
            "sent" if self.receiver => Step::Sent(few(listed(rest.split(',')))?),
            "sent" => Step::Sent(expanded(&words)?),
            _ => {
                let allowed = "syn-ack, syn, ack, data, write, close, cwnd, sent";
                return Err(format!("unknown step '{verb}'; allowed: {allowed}"));
            }
        })
    }
}

#[cfg(test)]
mod tests;
