//! What the two programs can be asked for.

use std::path::PathBuf;

use crate::{Reliability, StreamConfig, Target};
use clap::{Args, Subcommand, ValueEnum};
use mio::Waker;
use sojourn_base::quantity;
use sojourn_base::units::Span;

use crate::udp::error::Error;
use crate::udp::sink::Sink;
use crate::udp::source::Source;

/// One of the two programs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Connects to a server and sends.
    Client(ClientOptions),
    /// Waits for clients and takes what they send.
    Server(ServerOptions),
}

/// Options of both.
#[derive(Args, Debug)]
pub struct Common {
    /// Sends so many made-up bytes, such as "10 GB".
    #[arg(long, value_parser = bytes, group = "what")]
    pub bytes: Option<u64>,
    /// Sends made-up bytes for so long, such as "60 s".
    #[arg(long = "for", value_name = "TIME", value_parser = span, group = "what")]
    pub lasts: Option<Span>,
    /// Sends a file.
    #[arg(long, group = "what")]
    pub file: Option<PathBuf>,
    /// Writes what arrives to a file, or to standard output for "-"; else it is counted.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Tells a digest of what arrived, and of what was sent.
    #[arg(long)]
    pub digest: bool,
    /// Bytes of a message.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u16).range(1..=1_430))]
    pub payload: u16,
    /// Drops this share of the datagrams that are sent, at random.
    #[arg(long, default_value_t = 0.0, value_parser = share)]
    pub drop: f64,
    /// Takes a peer that is silent for so long for gone.
    #[arg(long, default_value = "10 s", value_parser = span)]
    pub give_up: Span,
}

/// Options of the client.
#[derive(Args, Debug)]
pub struct ClientOptions {
    /// The server, as HOST:PORT.
    pub server: String,
    /// Congestion controls, in the order of preference.
    #[arg(long, default_value = "cubic,copa", value_delimiter = ',')]
    pub cca: Vec<String>,
    /// What is done about losses.
    #[arg(long, value_enum, default_value_t = Mode::Reliable)]
    pub reliability: Mode,
    /// Retransmissions of a packet, in semi-reliable and adaptive streams.
    #[arg(long, default_value_t = 2)]
    pub retransmissions: u8,
    /// Of an adaptive stream: time from sending to delivery.
    #[arg(long, value_parser = span, required_if_eq("reliability", "adaptive"))]
    pub deadline: Option<Span>,
    /// Of an adaptive stream: share to be delivered in time.
    #[arg(long, default_value_t = 0.995)]
    pub probability: f64,
    /// Delivers messages in the order of sending, as reliable streams always do: for files.
    #[arg(long)]
    pub ordered: bool,
    /// What both programs can do.
    #[command(flatten)]
    pub common: Common,
}

/// Options of the server.
#[derive(Args, Debug)]
pub struct ServerOptions {
    /// Where to wait, as ADDRESS:PORT.
    pub address: String,
    /// Ends after the first client.
    #[arg(long)]
    pub once: bool,
    /// What both programs can do.
    #[command(flatten)]
    pub common: Common,
}

/// What is done about losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// They are retransmitted until they arrive.
    Reliable,
    /// They are retransmitted a few times.
    SemiReliable,
    /// Nothing.
    BestEffort,
    /// They are retransmitted, or coded against, so that enough arrives in time.
    Adaptive,
}

impl ClientOptions {
    /// The stream that is asked for.
    ///
    /// # Errors
    /// If an option is not allowed.
    pub fn stream(&self) -> Result<StreamConfig, Error> {
        let retransmissions = self.retransmissions;
        let reliability = match self.reliability {
            Mode::Reliable => Reliability::Reliable,
            Mode::SemiReliable => Reliability::SemiReliable { retransmissions },
            Mode::BestEffort => Reliability::BestEffort,
            Mode::Adaptive => Reliability::Adaptive {
                retransmissions,
                probability: self.probability,
                target: Target::Deadline(self.deadline.unwrap_or_default()),
            },
        };
        let ordered = self.ordered || reliability == Reliability::Reliable;
        let config = StreamConfig { priority: 0, reliability, ordered };
        let refuse = |(option, allowed)| Error::Option { option, allowed };
        config.check().map_err(refuse)?;
        Ok(config)
    }
}

impl Common {
    /// What is to be sent; `input` without any option of it.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn source(&self, input: Option<Waker>) -> Result<Source, Error> {
        if self.bytes.is_some() || self.lasts.is_some() {
            return Ok(Source::made(self.bytes, self.lasts));
        }
        if let Some(path) = &self.file {
            return Source::file(path).map_err(Error::file("file", path));
        }
        let waiting = input.map(Source::input).transpose();
        Ok(waiting.map_err(Error::Input)?.unwrap_or(Source::Nothing))
    }

    /// Where what arrives goes.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn sink(&self) -> Result<Sink, Error> {
        let Some(path) = &self.out else { return Ok(Sink::counting(self.digest)) };
        Sink::writing(path, self.digest).map_err(Error::file("out", path))
    }
}

fn span(text: &str) -> Result<Span, Error> {
    match quantity::read(text) {
        Some((seconds, "s")) if seconds > 0.0 => Ok(Span::from_secs_f64(seconds)),
        _ => Err(Error::Value("a time is expected, such as \"10 s\" or \"50 ms\"")),
    }
}

fn bytes(text: &str) -> Result<u64, Error> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    match quantity::read(text) {
        Some((bytes, "B")) => Ok(bytes as u64),
        _ => Err(Error::Value("a number of bytes is expected, such as 1000000 or \"10 GB\"")),
    }
}

fn share(text: &str) -> Result<f64, Error> {
    let number = text.parse().ok().filter(|share| (0.0..1.0).contains(share));
    number.ok_or(Error::Value("a share is expected, from 0 to below 1"))
}
