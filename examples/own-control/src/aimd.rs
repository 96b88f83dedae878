//! Additive increase, multiplicative decrease, in whole numbers and without undo: the law of
//! `examples/own-control-c/aimd.c`.

use sojourn_tcp::cc::{
    AckSample, CongestionControl, ControlInit, Decision, Event, INFINITE_SSTHRESH, Registered,
};
use sojourn_tcp::registry::NoParams;
use sojourn_tcp::units::Time;

/// The control.
pub(crate) struct Aimd {
    cwnd: u32,
    ssthresh: u32,
    credit: u32,
}

impl Registered for Aimd {
    type Params = NoParams;

    fn new(_params: NoParams, init: &ControlInit) -> Self {
        Aimd { cwnd: init.initial_window, ssthresh: INFINITE_SSTHRESH, credit: 0 }
    }
}

impl Aimd {
    fn cut(&mut self) {
        self.ssthresh = (self.cwnd / 2).max(2);
        self.credit = 0;
    }
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, _now: Time, ack: &AckSample) {
        if !(ack.may_grow && ack.cwnd_limited) {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd += ack.acked;
            return;
        }
        self.credit += ack.acked;
        if self.credit >= self.cwnd {
            self.credit -= self.cwnd;
            self.cwnd += 1;
        }
    }

    fn on_congestion(&mut self, _now: Time, event: &Event) {
        match *event {
            Event::Loss { .. } | Event::Ecn { .. } => self.cut(),
            Event::Rto { cwnd, reduce, .. } => {
                if reduce {
                    self.cut();
                }
                self.cwnd = cwnd;
            }
            Event::ReductionEnd { cwnd } => self.cwnd = cwnd,
            Event::Restart { cwnd, ssthresh } => {
                self.cwnd = cwnd;
                self.ssthresh = ssthresh;
            }
            _ => {}
        }
    }

    fn decision(&self) -> Decision {
        Decision::new(self.cwnd, self.ssthresh)
    }
}
