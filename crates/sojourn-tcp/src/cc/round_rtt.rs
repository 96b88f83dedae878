//! RTT bookkeeping shared by Vegas, Veno and YeAH: the minimum RTT ever and that of the present
//! round (Linux `struct vegas`, `net/ipv4/tcp_vegas.c`).

use super::{AckSample, CaState, Event};
use crate::observe::Observer;

/// No RTT known (the kernel's 0x7fffffff).
pub const UNKNOWN: u32 = 0x7fff_ffff;

/// Minimum RTTs in microseconds. As in the kernel, each is one more than measured, so never zero.
#[derive(Clone, Copy, Debug)]
pub struct RoundRtt {
    /// Minimum RTT since the start, or since the last idle period.
    pub base: u32,
    /// Minimum RTT of the present round.
    pub lowest: u32,
    /// RTT samples of the present round.
    pub samples: u32,
    /// Whether the delay may be used: only in the Open state.
    pub enabled: bool,
    state: CaState,
    round_end: u32,
    next: u32,
}

impl Default for RoundRtt {
    /// At the start of a connection, whose first data segment is number 1.
    fn default() -> Self {
        RoundRtt {
            base: UNKNOWN,
            lowest: UNKNOWN,
            samples: 0,
            enabled: true,
            state: CaState::Open,
            round_end: 1,
            next: 1,
        }
    }
}

impl RoundRtt {
    /// Takes an ACK's RTT sample and recovery state.
    pub fn on_ack(&mut self, ack: &AckSample) {
        self.next = ack.next;
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_micros().min(u64::from(UNKNOWN) - 1) as u32 + 1;
            self.base = self.base.min(rtt);
            self.lowest = self.lowest.min(rtt);
            self.samples += 1;
        }
        if ack.state != self.state {
            self.state = ack.state;
            self.enabled = false;
            if ack.state == CaState::Open {
                self.enable();
            }
        }
    }

    /// Resets all delays when the connection resumes after an idle time.
    pub fn on_event(&mut self, event: &Event) {
        if let Event::TxStart { .. } | Event::Restart { .. } = event {
            self.base = UNKNOWN;
            self.enable();
        }
    }

    /// Reports the RTTs.
    pub fn observe(&self, out: &mut Observer<'_>) {
        for (name, rtt) in [("base_rtt", self.base), ("round_min_rtt", self.lowest)] {
            if rtt < UNKNOWN {
                out(name, (f64::from(rtt) / 1e6).into());
            }
        }
    }

    fn enable(&mut self) {
        self.enabled = true;
        self.begin_round();
    }

    /// Whether the ACK acknowledges the first segment sent in this round.
    pub fn round_ended(&self, ack: &AckSample) -> bool {
        ack.una > self.round_end
    }

    /// Starts a round with the next segment to be sent.
    pub fn begin_round(&mut self) {
        self.round_end = self.next;
        self.lowest = UNKNOWN;
        self.samples = 0;
    }
}
