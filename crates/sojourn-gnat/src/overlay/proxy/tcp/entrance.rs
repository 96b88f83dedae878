//! Entrance of a TCP flow: data is forwarded from its host's connection at the admitted rate.

use super::connection::{BETWEEN, sender};
use crate::overlay::admission::Admission;
use sojourn_base::endpoint::Endpoint;
use sojourn_base::units::{Span, Time};
use sojourn_tcp::tcp::{HEADER, Receiver, Sender, TcpInit};

/// Shortest and longest time for which a rate holds before it is evaluated again.
const SHORTEST_LOOK: Span = Span::from_micros(100);
const LONGEST_LOOK: Span = Span::from_millis(20);

/// A flow at the node where it enters the overlay.
pub(super) struct Entrance {
    /// Its host's connection.
    pub host: Receiver,
    /// The connection to the other proxy.
    pub between: Sender,
    /// Its admission control.
    pub admission: Admission,
    credit: f64,
    counted: Time,
    /// Bits forwarded.
    pub admitted: f64,
}

impl Entrance {
    /// An entrance with these connections.
    pub(super) fn new(host: TcpInit, between: TcpInit, admission: Admission) -> Self {
        Entrance {
            host: Receiver::new(host).with_reader(),
            between: sender(between, Some(BETWEEN)),
            admission,
            credit: 0.0,
            counted: Time::ZERO,
            admitted: 0.0,
        }
    }

    /// Forwards as much data as its rate permits; returns the time of the next call.
    pub(super) fn admit(&mut self, now: Time, mss: u32, depth: f64) -> Option<Time> {
        let rate = self.admission.rate(depth);
        let full = 8.0 * f64::from(mss + HEADER);
        let passed = now.since(self.counted).as_secs_f64();
        self.credit = (self.credit + rate * passed).min(full + rate * 1e-3);
        self.counted = now;
        loop {
            let bytes = self.host.readable().min(u64::from(mss)).min(self.between.room());
            if bytes == 0 {
                return None;
            }
            let bits = 8.0 * (bytes as f64 + f64::from(HEADER));
            if self.credit + 1e-6 < bits {
                let wait = Span::from_secs_f64(((bits - self.credit) / rate.max(1.0)).min(1.0));
                return Some(now + (wait + Span::from_nanos(1)).clamp(SHORTEST_LOOK, LONGEST_LOOK));
            }
            self.credit -= bits;
            self.admitted += bits;
            self.host.read(now, bytes);
            self.between.write(now, bytes);
        }
    }
}
