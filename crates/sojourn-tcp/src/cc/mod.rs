//! Congestion controls: one file each, one registry line each.
//!
//! A control receives measurements and events ([`AckSample`], [`Event`]) and *returns* its decision
//! ([`Decision`]); it cannot change the sender. Loss detection, RTT, rate sampling, pacing and
//! proportional rate reduction are the sender's, written once, so that every control gets the same
//! measurements. Windows count segments, as in Linux.
//!
//! How this maps to a Linux module (`struct tcp_congestion_ops`):
//!
//! | Linux | here |
//! | --- | --- |
//! | `cong_avoid` | `on_ack`, if `ack.may_grow` |
//! | `pkts_acked` | `on_ack`, `ack.rtt` and `ack.cum_acked`, in every state |
//! | `cong_control` | `on_ack` of a control whose `owns_recovery` is true |
//! | `in_ack_event` | `on_ack`, `ack.ece`, `ack.delivered_ce`; [`Step::Measured`] where it must precede loss detection |
//! | `ssthresh` | `on_congestion` with [`Event::Loss`], [`Event::Ecn`] or [`Event::Rto`]; read back from `decision().ssthresh` |
//! | `undo_cwnd` | `undo` |
//! | `set_state`, `cwnd_event` | the other events |
//! | `cwnd_event` of a receiver | `on_arrival` |
//! | `sndbuf_expand`, `min_tso_segs` | `decision().send_windows`, `decision().burst` |
//!
//! # The order of calls
//!
//! After it has reported an event, the sender reads `decision` before it acts on it.
//!
//! 1. When the handshake is complete: `on_established`, before any data is sent.
//! 2. On an ACK while data is outstanding, after the sender's own measurements:
//!    - a tail loss probe that repaired a loss: `save`, [`Event::Loss`], [`Event::ReductionEnd`],
//!      [`Event::Recovered`];
//!    - the end of an episode whose last segment it acknowledges: [`Event::ReductionEnd`] (not told
//!      to a control that owns recovery), or `undo` if the reduction was spurious; then
//!      [`Event::Recovered`];
//!    - `on_packet_lost` for every segment newly marked lost;
//!    - where a reduction begins, `save` and then [`Event::Loss`] or [`Event::Ecn`];
//!    - last `on_ack`, whose sample contains the resulting recovery state.
//! 3. When the retransmission timer fires: `on_packet_lost` for every segment, `save` if a new
//!    threshold is due, [`Event::Rto`]; no `on_ack`. RACK's reordering timer likewise, with
//!    [`Event::Loss`].
//! 4. Before data is sent: [`Event::Restart`] after idle or an unused window, [`Event::TxStart`] if
//!    nothing is in flight. `on_sent` after each segment, thus after the calls for the ACK or timer
//!    that released it.
//! 5. At `next_timer`: `on_timer`, before timers of the sender's own that are due as well.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::FieldError;
use crate::observe::Observer;
use crate::registry::{self, Catalogue, Entry, Listing, Params, members};
use crate::spec::Cca;
pub use crate::spec::EcnMode;
use crate::units::{Span, Time};

pub use interface::{
    Arrival, ControlInit, Decision, Echoing, Event, INFINITE_SSTHRESH, Lost, Measured, SenderView,
    Sent, Step,
};
pub use sample::{AckSample, CaState, RateSample};

pub mod cubic_curve;
pub mod cubic_ns3;
pub mod external;
pub mod filter;
pub mod hystart;
pub mod hystart_pp;
mod interface;
pub mod jiffies;
mod kind;
pub mod law;
pub mod linux_only;
pub mod observed;
pub mod round_rtt;
mod sample;
pub mod sce_window;
/// The template of `sojourn new cca` must compile and pass its own test.
#[cfg(test)]
#[path = "../../../../python/sojourn/templates/cca.rs"]
#[allow(clippy::upper_case_acronyms)]
mod template;
#[cfg(test)]
mod testing;
pub mod window;

members! {
    Cca;
    "reno" reno::Reno,
    "cubic" cubic::Cubic,
    "bic" bic::Bic,
    "highspeed" highspeed::HighSpeed,
    "scalable" scalable::Scalable,
    "hybla" hybla::Hybla,
    "htcp" htcp::HTcp,
    "westwood" westwood::Westwood,
    "veno" veno::Veno,
    "vegas" vegas::Vegas,
    "yeah" yeah::Yeah,
    "illinois" illinois::Illinois,
    "bbr" bbr::Bbr folder,
    "bbr3" bbr3::Bbr3 folder,
    "dctcp" dctcp::Dctcp,
    "reno-sce" reno_sce::RenoSce,
    "dctcp-sce" dctcp_sce::DctcpSce,
    "cubic-sce" cubic_sce::CubicSce,
    "copa" copa::Copa folder,
    "ledbat" ledbat::Ledbat,
    "prague" prague::Prague,
    "fixed-window" fixed_window::FixedWindow,
    "fixed-rate" fixed_rate::FixedRate,
}

/// A congestion control.
pub trait CongestionControl: Send {
    /// An ACK arrived and was processed.
    fn on_ack(&mut self, now: Time, ack: &AckSample);

    /// Something else happened.
    fn on_congestion(&mut self, now: Time, event: &Event);

    /// The present decision.
    fn decision(&self) -> Decision;

    /// The connection is established; `rtt` is that of the handshake. Linux initialises its modules
    /// here, before the first data is sent.
    fn on_established(&mut self, _now: Time, _rtt: Span) {}

    /// A segment was sent or retransmitted.
    fn on_sent(&mut self, _now: Time, _sent: &Sent) {}

    /// A segment was marked lost; called before the reduction that follows and the ACK's `on_ack`.
    fn on_packet_lost(&mut self, _now: Time, _lost: &Lost) {}

    /// Time of the next call of `on_timer`, if any.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The time that `next_timer` returned has come.
    fn on_timer(&mut self, _now: Time) {}

    /// A reduction is about to be made: saves what `undo` needs.
    fn save(&mut self) {}

    /// The reductions since `save` were spurious: reverts them.
    fn undo(&mut self, _now: Time) {}

    /// Whether the sender exposes its state at every step (`on_step`). A control should decide by
    /// the other callbacks; this is for code that was written to read a sender's state, and for
    /// controls whose threshold needs the ACK that begins the reduction ([`Step::Measured`]).
    fn follows_steps(&self) -> bool {
        false
    }

    /// Whether it wants a reduction as after an ECN echo (Linux `tcp_enter_cwr`); asked after `on_ack`
    /// of a control that follows steps.
    fn wants_reduction(&self) -> bool {
        false
    }

    /// The sender's state, before each of the other callbacks and at the steps between them.
    fn on_step(&mut self, _now: Time, _step: &Step, _view: &SenderView) {}

    /// Whether a second instance runs at the flow's receiver, with classic ECN: there
    /// `on_established` is called when the SYN arrives, and then only `on_arrival`.
    fn follows_arrivals(&self) -> bool {
        false
    }

    /// At the receiver: an ECN-capable data segment has arrived (Linux `CA_EVENT_ECN_IS_CE` and
    /// `CA_EVENT_ECN_NO_CE`).
    fn on_arrival(&mut self, _now: Time, arrival: &Arrival) -> Echoing {
        Echoing { echoes: arrival.echoes, ..Echoing::default() }
    }

    /// Reports the names and values of its observable state.
    fn observe(&self, _out: &mut Observer<'_>) {}
}

/// A control that can be registered.
pub trait Registered: CongestionControl + Sized + 'static {
    /// Its parameters.
    type Params: Params;

    /// ECN feedback it needs; `Off` when it needs none (ECN may still be switched on).
    const ECN: EcnMode = EcnMode::Off;

    /// Whether its `version` defaults to that of the flow's stack.
    const FOLLOWS_STACK: bool = false;

    /// Whether pacing alone limits its sending.
    const ONLY_PACED: bool = false;

    /// Builds it for a new connection. Parameters are validated.
    fn new(params: Self::Params, init: &ControlInit) -> Self;
}

/// Static properties of a congestion control besides its listing.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct CcaFacts {
    /// ECN feedback it needs.
    pub ecn: EcnMode,
    /// Whether its `version` defaults to that of the flow's stack.
    pub follows_stack: bool,
    /// Whether pacing alone limits its sending.
    pub only_paced: bool,
}

/// Constructor of a congestion control. Errors: a parameter is unknown, of the wrong type or out of
/// range.
pub type Make = fn(
    &Map<String, Value>,
    &ControlInit,
    &Catalogue,
) -> Result<Box<dyn CongestionControl>, FieldError>;

/// The entry of the control `C`, whose `source` begins with its documentation.
pub fn entry<C: Registered>(name: &'static str, source: &'static str) -> Entry<Cca> {
    Entry {
        listing: Listing::new::<C::Params>(name, source),
        facts: CcaFacts { ecn: C::ECN, follows_stack: C::FOLLOWS_STACK, only_paced: C::ONLY_PACED },
        make: |params, init, catalogue| {
            Ok(Box::new(C::new(registry::parse_params(params, catalogue)?, init)))
        },
    }
}

/// Checks that a share is strictly between 0 and 1.
fn check_share(field: &str, value: f64) -> Result<(), FieldError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(FieldError::new(field, format!("{value} is not between 0 and 1")))
}
