//! A congestion control in a shared library, used through its C interface.
//!
//! Model: the library itself; `path` is its file. Further keys are the parameters that the library
//! describes. `sojourn_cca.h` is the interface.

use std::ffi::{CStr, c_char, c_void};

use serde_json::{Map, Value};
use sojourn_base::error::{FieldError, end_run};
use sojourn_base::observe::Observer;
use sojourn_base::units::{Rate, Span, Time};
use sojourn_tcp::cc::{
    AckSample, Arrival, CongestionControl, ControlInit, Decision, Echoing, Event, Lost, SenderView,
    Sent, Step, external,
};

use crate::abi::{
    NEVER, RawAck, RawControl, RawDecision, RawEvent, RawInit, RawLost, RawSent, RawView,
};
use crate::library::{load, parameters};
use crate::note::{self, Callback};
use crate::timer::Timer;

/// A control whose callbacks are a library's functions.
pub struct LibraryControl {
    functions: &'static RawControl,
    this: *mut c_void,
    flow: u32,
    /// Time of the latest callback.
    now: Time,
    timer: Timer,
}

// SAFETY: the interface requires controls without globals; each is used by one thread at a time.
unsafe impl Send for LibraryControl {}

/// Builds the control of a table, whose parameters have been checked.
///
/// # Errors
/// The library cannot be loaded, or refuses the parameters.
pub fn make(
    table: &Map<String, Value>,
    init: &ControlInit,
) -> Result<Box<dyn CongestionControl>, FieldError> {
    note::enter(init.flow, Callback::New, init.now); // to load it runs its code, too
    let created = create(table, init);
    note::leave();
    let (functions, this) = created?;
    if this.is_null() {
        let message = "the library's create() returned null: it refuses these parameters, or is out \
                       of memory";
        return Err(FieldError::new("", message));
    }
    let (flow, now, timer) = (init.flow, init.now, Timer::default());
    Ok(Box::new(LibraryControl { functions, this, flow, now, timer }))
}

/// The functions of a table's library, and what its `create` returned.
fn create(
    table: &Map<String, Value>,
    init: &ControlInit,
) -> Result<(&'static RawControl, *mut c_void), FieldError> {
    let functions = load(table)?;
    let values: Vec<f64> = parameters(functions, table)?.into_iter().map(|(_, v)| v).collect();
    let create = functions.create.expect("checked when it was loaded");
    // SAFETY: both outlive the call, and there are as many values as the description says.
    Ok((functions, unsafe { create(&RawInit::from(init), values.as_ptr()) }))
}

impl LibraryControl {
    fn decide(&self) -> RawDecision {
        let mut raw = RawDecision::default();
        note::enter(self.flow, Callback::Decision, self.now);
        if let Some(decide) = self.functions.decide {
            // SAFETY: `this` is what the library created; the decision outlives the call.
            unsafe { decide(self.this, &mut raw) }
        }
        note::leave();
        raw
    }

    /// Calls an optional function of the library, then updates the time of the next timer.
    #[inline]
    fn tell<F: Copy>(
        &mut self,
        callback: Callback,
        now: Time,
        given: Option<F>,
        call: impl FnOnce(F, *mut c_void),
    ) {
        let Some(function) = given else { return };
        self.now = now;
        note::enter(self.flow, callback, now);
        call(function, self.this);
        note::leave();
        if let Some(next_timer) = self.functions.next_timer {
            note::enter(self.flow, Callback::NextTimer, now);
            // SAFETY: `this` is what the library created.
            let next = unsafe { next_timer(self.this) };
            note::leave();
            self.timer.set((next != NEVER).then(|| Time::from_nanos(next)), now);
        }
    }
}

impl Drop for LibraryControl {
    fn drop(&mut self) {
        if let Some(destroy) = self.functions.destroy {
            // SAFETY: `this` is what the library created, and is not used again.
            unsafe { destroy(self.this) }
        }
    }
}

// SAFETY of all calls below: `this` is what the library created; arguments outlive the call.
impl CongestionControl for LibraryControl {
    #[inline]
    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        let ack = RawAck::from(ack);
        self.tell(Callback::OnAck, now, self.functions.on_ack, |on_ack, this| unsafe {
            on_ack(this, now.as_nanos(), &ack);
        });
    }

    fn on_congestion(&mut self, now: Time, event: &Event) {
        let Some(event) = RawEvent::of(event) else { return };
        let function = self.functions.on_congestion;
        self.tell(Callback::OnCongestion, now, function, |on_congestion, this| unsafe {
            on_congestion(this, now.as_nanos(), &event);
        });
    }

    #[inline]
    fn decision(&self) -> Decision {
        let raw = self.decide();
        let mut decision = Decision::new(raw.cwnd, raw.ssthresh);
        decision.pacing_rate = (raw.pacing_rate > 0).then(|| Rate::from_bps(raw.pacing_rate));
        decision.burst = (raw.burst > 0).then_some(raw.burst);
        decision.owns_recovery = raw.owns_recovery != 0;
        decision.send_windows = (raw.send_windows > 0).then_some(raw.send_windows);
        if let Err(wrong) = external::check(&decision) {
            end_run(format!("control of flow {}", self.flow), format!("decide: {wrong}"));
        }
        decision
    }

    fn on_established(&mut self, now: Time, rtt: Span) {
        let function = self.functions.on_established;
        self.tell(Callback::OnEstablished, now, function, |on_established, this| unsafe {
            on_established(this, now.as_nanos(), rtt.as_nanos());
        });
    }

    fn on_sent(&mut self, now: Time, sent: &Sent) {
        let sent = RawSent::from(sent);
        self.tell(Callback::OnSent, now, self.functions.on_sent, |on_sent, this| unsafe {
            on_sent(this, now.as_nanos(), &sent);
        });
    }

    fn on_packet_lost(&mut self, now: Time, lost: &Lost) {
        let lost = RawLost::from(lost);
        let function = self.functions.on_packet_lost;
        self.tell(Callback::OnPacketLost, now, function, |on_packet_lost, this| unsafe {
            on_packet_lost(this, now.as_nanos(), &lost);
        });
    }

    fn next_timer(&self) -> Option<Time> {
        self.timer.at()
    }

    fn on_timer(&mut self, now: Time) {
        if let Err(wrong) = self.timer.fire(now) {
            end_run(format!("control of flow {}", self.flow), format!("next_timer: {wrong}"));
        }
        self.tell(Callback::OnTimer, now, self.functions.on_timer, |on_timer, this| unsafe {
            on_timer(this, now.as_nanos());
        });
    }

    fn save(&mut self) {
        self.tell(Callback::Save, self.now, self.functions.save, |save, this| unsafe {
            save(this);
        });
    }

    fn undo(&mut self, now: Time) {
        self.tell(Callback::Undo, now, self.functions.undo, |undo, this| unsafe {
            undo(this, now.as_nanos());
        });
    }

    fn follows_steps(&self) -> bool {
        self.functions.on_step.is_some()
    }

    fn wants_reduction(&self) -> bool {
        self.functions.on_step.is_some() && self.decide().reduces != 0
    }

    fn on_step(&mut self, now: Time, step: &Step, view: &SenderView) {
        let view = RawView::of(step, view);
        self.tell(Callback::OnStep, now, self.functions.on_step, |on_step, this| unsafe {
            on_step(this, now.as_nanos(), &view);
        });
    }

    fn follows_arrivals(&self) -> bool {
        self.functions.on_step.is_some() && self.decide().follows_arrivals != 0
    }

    fn on_arrival(&mut self, now: Time, arrival: &Arrival) -> Echoing {
        let view = RawView::arrival(arrival);
        self.tell(Callback::OnStep, now, self.functions.on_step, |on_step, this| unsafe {
            on_step(this, now.as_nanos(), &view);
        });
        let raw = self.decide();
        Echoing {
            echoes: raw.echoes != 0,
            ack_first: raw.ack_first != 0,
            ack_now: raw.ack_now != 0,
        }
    }

    fn observe(&self, mut out: &mut Observer<'_>) {
        if let Some(observe) = self.functions.observe {
            note::enter(self.flow, Callback::Observe, self.now);
            unsafe { observe(self.this, (&raw mut out).cast(), tell) }
            note::leave();
        }
    }
}

/// Callback of a library's `observe`.
pub(crate) unsafe extern "C" fn tell(out: *mut c_void, name: *const c_char, value: f64) {
    // SAFETY: `out` is the observer's place that `observe` was given; names end in a zero.
    let (out, name) = unsafe { (&mut *out.cast::<&mut Observer<'_>>(), CStr::from_ptr(name)) };
    out(&name.to_string_lossy(), value.into());
}
