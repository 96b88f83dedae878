//! Replay of two congestion controls on the same series of ACKs and losses; `ours` controls the
//! sender.

use serde_json::{Map, Value};
use sojourn_base::error::FieldError;
use sojourn_base::observe::Observer;
use sojourn_base::registry::Catalogue;
use sojourn_base::units::{Span, Time};
use sojourn_tcp::cc::{
    AckSample, CaState, CongestionControl, ControlInit, Decision, Event, Lost, SenderView, Sent,
    Step,
};
use sojourn_tcp::spec::Cca;

use super::{compared, member};

/// Segments by which windows and thresholds may differ.
const TOLERANCE: u32 = 1;

struct Pair {
    ours: Box<dyn CongestionControl>,
    theirs: Box<dyn CongestionControl>,
    state: CaState,
    /// A reduction that has begun: a threshold is chosen once its state is entered.
    begun: Option<Event>,
}

pub(super) fn make(
    table: &Map<String, Value>,
    init: &ControlInit,
    catalogue: &Catalogue,
) -> Result<Box<dyn CongestionControl>, FieldError> {
    let one = |key| {
        let (entry, params) = member::<Cca>(table, key, catalogue)?;
        (entry.make)(&params, init, catalogue).map_err(|error| error.within(key))
    };
    Ok(Box::new(Pair {
        ours: one("ours")?,
        theirs: one("theirs")?,
        state: CaState::Open,
        begun: None,
    }))
}

impl Pair {
    /// Compares the decisions. In a reduction the window is the sender's.
    fn compare(&self, now: Time, after: &str) {
        let (ours, theirs) = (self.ours.decision(), self.theirs.decision());
        let reduces = matches!(self.state, CaState::Cwr | CaState::Recovery) && !ours.owns_recovery;
        let same = (reduces || ours.cwnd.abs_diff(theirs.cwnd) <= TOLERANCE)
            && ours.ssthresh.abs_diff(theirs.ssthresh) <= TOLERANCE;
        let tell = || {
            let shown = |d: Decision| format!("cwnd {}, ssthresh {}", d.cwnd, d.ssthresh);
            format!("after {after}: ours {}; theirs {}", shown(ours), shown(theirs))
        };
        compared(now, (!same).then_some(tell));
    }
}

impl CongestionControl for Pair {
    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        self.state = ack.state;
        self.ours.on_ack(now, ack);
        self.theirs.on_ack(now, ack);
        self.compare(now, "an ACK");
    }

    fn on_congestion(&mut self, now: Time, event: &Event) {
        // A reduction ends at each control's own threshold.
        let mut own = *event;
        if let Event::ReductionEnd { cwnd } = &mut own
            && *cwnd == self.ours.decision().ssthresh
        {
            *cwnd = self.theirs.decision().ssthresh;
        }
        self.ours.on_congestion(now, event);
        self.theirs.on_congestion(now, &own);
        match event {
            Event::Loss { .. } | Event::Ecn { .. } => {
                self.state = CaState::Recovery;
                self.begun = Some(*event);
            }
            // It may go out during a reduction.
            Event::TxStart { .. } => self.compare(now, &format!("{event:?}")),
            _ => {
                self.state = CaState::Open;
                self.compare(now, &format!("{event:?}"));
            }
        }
    }

    fn decision(&self) -> Decision {
        self.ours.decision()
    }

    fn on_established(&mut self, now: Time, rtt: Span) {
        self.ours.on_established(now, rtt);
        self.theirs.on_established(now, rtt);
        self.compare(now, "the handshake");
    }

    fn on_sent(&mut self, now: Time, sent: &Sent) {
        self.ours.on_sent(now, sent);
        self.theirs.on_sent(now, sent);
    }

    fn on_packet_lost(&mut self, now: Time, lost: &Lost) {
        self.ours.on_packet_lost(now, lost);
        self.theirs.on_packet_lost(now, lost);
    }

    fn next_timer(&self) -> Option<Time> {
        self.ours.next_timer()
    }

    fn on_timer(&mut self, now: Time) {
        self.ours.on_timer(now);
    }

    fn save(&mut self) {
        self.ours.save();
        self.theirs.save();
    }

    fn undo(&mut self, now: Time) {
        self.ours.undo(now);
        self.theirs.undo(now);
        self.state = CaState::Open;
        self.compare(now, "an undo");
    }

    fn follows_steps(&self) -> bool {
        true
    }

    fn on_step(&mut self, now: Time, step: &Step, view: &SenderView) {
        if self.ours.follows_steps() {
            self.ours.on_step(now, step, view);
        }
        self.theirs.on_step(now, step, view);
        if matches!(step, Step::State(_))
            && let Some(event) = self.begun.take()
        {
            self.compare(now, &format!("{event:?}"));
        }
    }

    fn wants_reduction(&self) -> bool {
        self.ours.wants_reduction()
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.ours.observe(out);
        self.theirs.observe(&mut |name, value| out(&format!("theirs.{name}"), value));
    }
}
