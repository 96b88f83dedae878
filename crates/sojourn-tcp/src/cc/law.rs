//! Laws of a congestion window: what a window-based control adds to what the stack does for all.
//!
//! A control that sets nothing but the window says how it grows on an ACK ([`WindowLaw::on_ack`])
//! and which threshold congestion leaves ([`WindowLaw::ssthresh`]). [`Windowed`] keeps the window,
//! applies the stack's part to it and makes a [`CongestionControl`] of both.

use super::window::Window;
use super::{
    AckSample, CaState, CongestionControl, ControlInit, Decision, EcnMode, Event, Measured,
    Observer, Registered, SenderView, Step,
};
use crate::registry::Params;
use crate::units::{Span, Time};

/// How a window grows, and what congestion leaves of it.
pub trait WindowLaw: Send + Sized + 'static {
    /// Its parameters.
    type Params: Params;

    /// ECN feedback it needs.
    const ECN: EcnMode = EcnMode::Off;

    /// Whether its `version` is that of the flow's stack unless it is given.
    const FOLLOWS_STACK: bool = false;

    /// Whether it keeps the window for an undo in every era, as `undo_cwnd` of its kernel module.
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

    /// An ACK has been measured; the reduction that it may begin or end comes after this, and then
    /// `on_ack`.
    fn on_measured(&mut self, _now: Time, _measured: &Measured, _view: &SenderView) {}

    /// The sender's recovery state, still that of the view, becomes another.
    fn on_state(&mut self, _window: &mut Window, _next: CaState, _view: &SenderView) {}

    /// The threshold that congestion leaves: a loss, a mark, or the first timeout of an episode.
    fn ssthresh(&mut self, window: &Window, now: Time, event: &Event) -> u32;

    /// Something other than an ACK happened. A law that does more than the stack wraps this.
    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        window.on_event(event, |window| self.ssthresh(window, now, event));
    }

    /// The connection is established.
    fn on_established(&mut self, _window: &mut Window, _now: Time, _rtt: Span) {}

    /// The reductions since the last save were made for nothing.
    fn undo(&mut self, window: &mut Window) {
        window.undo();
    }

    /// Names and values of its state worth recording.
    fn observe(&self, _window: &Window, _out: &mut Observer<'_>) {}
}

/// The congestion control that a law makes of a window.
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
            Step::Measured(measured) => self.law.on_measured(now, measured, view),
            Step::State(next) => self.law.on_state(&mut self.window, *next, view),
            Step::Callback => {}
        }
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.law.observe(&self.window, out);
    }
}
