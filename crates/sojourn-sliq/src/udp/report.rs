//! Report of a connection.

use std::fmt;
use std::net::SocketAddr;

use crate::Measured;
use serde_json::{Value, json};

use crate::udp::sink::Sink;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All was sent and has arrived.
    Finished,
    /// The peer closed it before.
    Closed(u16),
    /// There was no answer, or the server does not know the controls.
    Refused,
    /// The peer was silent for too long.
    Silent,
}

impl End {
    /// In words.
    pub fn why(self) -> String {
        match self {
            End::Finished => "finished".to_owned(),
            End::Closed(reason) => format!("the peer closed the connection (reason {reason})"),
            End::Refused => "no answer, or the server does not know these controls".to_owned(),
            End::Silent => "the peer is gone: it was silent for too long".to_owned(),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Finished => write!(f, "finished"),
            End::Closed(_) => write!(f, "closed"),
            End::Refused => write!(f, "refused"),
            End::Silent => write!(f, "silent"),
        }
    }
}

/// Report of a program on a connection.
#[derive(Debug)]
pub struct Report<'a> {
    /// How it ended.
    pub end: End,
    /// The other end.
    pub peer: SocketAddr,
    /// Data received.
    pub sink: &'a Sink,
    /// Bytes taken from what was to be sent, and their digest.
    pub sent: &'a Sink,
    /// Measurements of the connection.
    pub measured: Measured,
    /// Datagrams that were none.
    pub garbage: u64,
    /// Groups of messages that were begun in each mode, if the stream is adaptive.
    pub adaptive: bool,
}

impl Report<'_> {
    /// As one line of JSON.
    pub fn json(&self) -> Value {
        let span = self.sink.span().as_secs_f64();
        let goodput = (span > 0.0).then(|| 8e-6 * self.sink.bytes as f64 / span);
        let measured = &self.measured;
        let mut told = json!({
            "end": self.end.to_string(),
            "peer": self.peer.to_string(),
            "sent_bytes": self.sent.bytes,
            "received_bytes": self.sink.bytes,
            "received_messages": self.sink.messages,
            "seconds": span,
            "goodput_mbit": goodput,
            "retransmissions": measured.retransmissions,
            "losses": measured.losses,
            "timeouts": measured.timeouts,
            "outages": measured.outages,
            "srtt_ms": measured.srtt.as_millis_f64(),
            "error_rate": measured.error_rate,
            "first_control_packets": measured.first_control,
            "controlled_packets": measured.controlled,
            "garbage": self.garbage,
        });
        if let (Some(sent), Some(received)) = (self.sent.digest(), self.sink.digest()) {
            told["sent_digest"] = sent.into();
            told["received_digest"] = received.into();
        }
        if let Some(file) = &self.sink.file {
            told["file"] = file.to_string_lossy().into();
        }
        if self.adaptive {
            let [arq, coded, fec] = measured.groups;
            told["groups"] = json!({"pure_arq": arq, "coded_arq": coded, "pure_fec": fec});
        }
        told
    }
}
