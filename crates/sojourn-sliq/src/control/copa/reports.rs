//! Reports of minimum RTTs to the peer.

use sojourn_base::units::{Span, Time};

pub(super) const REPORT_PERIOD: f64 = 4.0;
/// Unit in which minimum RTTs are reported.
pub(super) const REPORT_UNIT: f64 = 1e-4;

/// Reports of minimum RTTs to the peer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reports {
    due: Option<u16>,
    last: u16,
    next_at: Time,
    sent: u16,
    received: u16,
}

impl Reports {
    fn encoded(rtt: f64) -> Option<u16> {
        let value = rtt / REPORT_UNIT + 0.5;
        (1.5..65_535.0).contains(&value).then_some(value as u16)
    }

    pub(super) fn on_change(&mut self, rtt: f64) {
        match Self::encoded(rtt) {
            None => self.last = 0,
            Some(value) if self.due.is_some() || value != self.last => self.due = Some(value),
            Some(_) => {}
        }
    }

    pub(super) fn on_time(&mut self, now: Time, rtt: f64) {
        if self.due.is_some() || now <= self.next_at {
            return;
        }
        self.due = Self::encoded(rtt);
        if self.due.is_none() {
            self.last = 0;
        }
        self.next_at = now + Span::from_secs_f64(REPORT_PERIOD);
    }

    pub(super) fn poll(&mut self, now: Time) -> Option<(u16, u32)> {
        let value = self.due.take()?;
        self.sent = self.sent.wrapping_add(1);
        self.last = value;
        self.next_at = now + Span::from_secs_f64(REPORT_PERIOD);
        Some((self.sent, value.into()))
    }

    pub(super) fn accepts(&mut self, seq: u16) -> bool {
        let newer = (seq.wrapping_sub(self.received) as i16) > 0;
        if newer {
            self.received = seq;
        }
        newer
    }
}
