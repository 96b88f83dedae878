//! Window laws: the part of a window-based congestion control that is its own, in addition to what
//! the stack does for all of them.
//!
//! A control that sets nothing but the window defines its growth on an ACK ([`WindowLaw::on_ack`])
//! and the slow-start threshold after congestion ([`WindowLaw::ssthresh`]). [`Windowed`] owns the
//! window, applies the stack's part to it and implements [`CongestionControl`] with both.

use super::window::Window;
use super::{
    AckSample, CaState, CongestionControl, ControlInit, Decision, EcnMode, Event, Measured,
    Observer, Registered, SenderView, Step,
};
use crate::registry::Params;
use crate::units::{Span, Time};

/// Growth of a window and its reduction on congestion.
pub trait WindowLaw: Send + Sized + 'static {
    /// Its parameters.
    type Params: Params;

    /// ECN feedback it needs.
    const ECN: EcnMode = EcnMode::Off;

    /// Whether its `version` defaults to that of the flow's stack.
    const FOLLOWS_STACK: bool = false;

    /// Whether an undo restores the saved window in every era, as `undo_cwnd` of its kernel module
    /// does.
    const KEEPS_WINDOW: bool = false;

    /// Whether `on_measured` and `on_state` are to be called.
    const STEPS: bool = false;

    /// The law of a new connection. Parameters are validated.
    fn new(params: Self::Params, init: &ControlInit) -> Self;

    /// The window before the connection is established, in segments.
    fn initial_window(init: &ControlInit) -> u32 {
        init.initial_window
    }

    /// An ACK arrived: grows the window.
    fn on_ack(&mut self, window: &mut Window, now: Time, ack: &AckSample);

    /// An ACK has been measured. Called before the reduction that the ACK may begin or end, and
    /// before `on_ack`.
    fn on_measured(
        &mut self,
        _window: &mut Window,
        _now: Time,
        _measured: &Measured,
        _view: &SenderView,
    ) {
    }

    /// The sender's recovery state is about to change to `next`; `view` has the present one.
    fn on_state(&mut self, _window: &mut Window, _next: CaState, _view: &SenderView) {}

    /// Slow-start threshold after congestion: a loss, a mark, or the first timeout of an episode.
    fn ssthresh(&mut self, window: &Window, now: Time, event: &Event) -> u32;

    /// Something other than an ACK happened. A law that does more than the stack wraps this.
    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        window.on_event(event, |window| self.ssthresh(window, now, event));
    }

    /// The connection is established.
    fn on_established(&mut self, _window: &mut Window, _now: Time, _rtt: Span) {}

    /// Reverts the reductions since the last save, which were spurious.
    fn undo(&mut self, window: &mut Window) {
        window.undo();
    }

    /// Reports the names and values of its observable state.
    fn observe(&self, _window: &Window, _out: &mut Observer<'_>) {}
}

/// A congestion control made of a window and a law.
#[derive(Debug)]
pub struct Windowed<L> {
    /// The window.
    pub window: Window,
    /// Its law.
    pub law: L,
}

impl<L: WindowLaw> Registered for Windowed<L> {
    type Params = L::Params;
    const ECN: EcnMode = L::ECN;
    const FOLLOWS_STACK: bool = L::FOLLOWS_STACK;

    fn new(params: L::Params, init: &ControlInit) -> Self {
        let mut window = Window::new(L::initial_window(init));
        window.ssthresh = init.initial_ssthresh;
        window.undo_doubles = init.undo_doubles && !L::KEEPS_WINDOW;
        Windowed { window, law: L::new(params, init) }
    }
}

impl<L: WindowLaw> CongestionControl for Windowed<L> {
    #[inline]
    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        self.law.on_ack(&mut self.window, now, ack);
    }

    fn on_congestion(&mut self, now: Time, event: &Event) {
        self.law.on_event(&mut self.window, now, event);
    }

    #[inline]
    fn decision(&self) -> Decision {
        self.window.decision()
    }

    fn on_established(&mut self, now: Time, rtt: Span) {
        self.law.on_established(&mut self.window, now, rtt);
    }

    fn save(&mut self) {
        self.window.save();
    }

    fn undo(&mut self, _now: Time) {
        self.law.undo(&mut self.window);
    }

    fn follows_steps(&self) -> bool {
        L::STEPS
    }

    fn on_step(&mut self, now: Time, step: &Step, view: &SenderView) {
        match step {
            Step::Measured(measured) => self.law.on_measured(&mut self.window, now, measured, view),
            Step::State(next) => self.law.on_state(&mut self.window, *next, view),
            Step::Callback => {}
        }
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.law.observe(&self.window, out);
    }
}
