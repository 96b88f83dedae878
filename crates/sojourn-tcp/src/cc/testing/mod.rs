//! Senders for tests of controls, without protocol: [`Path`] takes one control through rounds,
//! losses and marks that a test chooses, [`Bottleneck`] runs several flows over a queue. Both
//! measure with [`Meter`].

mod bottleneck;
mod flow;
mod meter;
mod observing;
mod path;

pub(super) use bottleneck::Bottleneck;
pub(super) use flow::Flow;
pub(super) use meter::{Meter, Snapshot};
pub(super) use path::Path;

use super::{
    CongestionControl, ControlInit, INFINITE_SSTHRESH, Measured, Registered, SenderView, Step,
};
use crate::observe::Observed;
use crate::rng::StreamKey;
use crate::units::{Span, Time};

/// IP packet of a full segment and its payload, in bytes.
pub(super) const PACKET: u32 = 1500;
/// Payload of a full segment in bytes.
pub(super) const MSS: u32 = 1448;

/// Parameters of the connection of a control under test.
pub(super) fn init() -> ControlInit {
    ControlInit {
        initial_window: 10,
        initial_ssthresh: INFINITE_SSTHRESH,
        undo_doubles: false,
        mss: MSS,
        packet_size: PACKET,
        now: Time::ZERO,
        paced: false,
        offload: true,
        base_rtt: Span::from_millis(100),
        random: StreamKey::root(7),
        flow: 0,
    }
}

/// A control with its default parameters except for `change`.
pub(super) fn control<C: Registered>(
    change: impl FnOnce(&mut C::Params),
) -> Box<dyn CongestionControl> {
    let mut params = C::Params::default();
    change(&mut params);
    Box::new(C::new(params, &init()))
}

/// Passes the measurements of an ACK to a control that follows steps.
pub(super) fn show(
    control: &mut dyn CongestionControl,
    now: Time,
    said: Measured,
    view: &SenderView,
) {
    if control.follows_steps() {
        // The return delay of ACKs is zero.
        let view = SenderView { peer_sent_at: now, ..*view };
        control.on_step(now, &Step::Measured(said), &view);
    }
}

/// The number that a control reports under this name; NaN if none.
pub(super) fn number(control: &dyn CongestionControl, name: &str) -> f64 {
    let mut found = f64::NAN;
    control.observe(&mut |key, value| {
        if let (true, Observed::Number(value)) = (key == name, value) {
            found = value;
        }
    });
    found
}

/// The word that a control reports under this name; empty if none.
pub(super) fn word(control: &dyn CongestionControl, name: &str) -> String {
    let mut found = String::new();
    control.observe(&mut |key, value| {
        if let (true, Observed::Text(value)) = (key == name, value) {
            found = value.to_owned();
        }
    });
    found
}
