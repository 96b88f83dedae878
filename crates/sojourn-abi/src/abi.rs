//! The structures of `sojourn_cca.h`, field by field; that file documents them.
#![allow(missing_docs)]

use std::ffi::{c_char, c_void};

use sojourn_base::units::Span;
use sojourn_tcp::cc::{
    AckSample, Arrival, CaState, ControlInit, Event, Lost, SenderView, Sent, Step,
};

/// The version of the interface.
pub const ABI: u32 = 2;
/// The function that a library exports.
pub const SYMBOL: &[u8] = b"sojourn_cca\0";
pub const NEVER: u64 = u64::MAX;

fn size_of_u32<T>() -> u32 {
    size_of::<T>() as u32
}

/// Declares a structure whose first field is its size, with every other field 0 by default.
macro_rules! sized {
    ($type:ident { $($field:ident: $kind:ty),* $(,)? }) => {
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $type { pub size: u32, $(pub $field: $kind),* }

        impl Default for $type {
            #[inline]
            fn default() -> Self {
                $type { size: size_of_u32::<$type>(), $($field: 0),* }
            }
        }
    };
}

sized! {
    RawInit {
        initial_window: u32, mss: u32, packet_size: u32, now: u64, seed: u64, paced: u32,
        initial_ssthresh: u32,
    }
}
sized! {
    RawAck {
        state: u32, may_grow: u32, cwnd_limited: u32, acked: u32, cum_acked: u32, lost: u32,
        prior_in_flight: u32, in_flight: u32, una: u32, next: u32, ece: u32, esce: u32,
        app_limited: u32, ack_delayed: u32, tx_in_flight: u32, rtt: u64, srtt: u64, min_rtt: u64,
        delivered: u64, delivered_ce: u64, total_lost: u64, rate_interval: u64,
        prior_delivered: u64, prior_delivered_ce: u64, prior_lost: u64, rate_valid: u32,
        rate_delivered: u32, rate_app_limited: u32, rate_retransmitted: u32,
    }
}
sized! {
    RawEvent { kind: u32, in_flight: u32, cwnd: u32, ssthresh: u32, reduce: u32, idle: u64 }
}
sized! {
    RawSent { seq: u32, in_flight: u32, retransmission: u32 }
}
sized! {
    RawLost {
        seq: u32, tx_in_flight: u32, app_limited: u32, prior_delivered: u64, prior_lost: u64,
        total_lost: u64,
    }
}
sized! {
    RawView {
        step: u32, next_state: u32, cum_acked: u32, ack_in_flight: u32, ece: u32,
        window_update: u32, slow_path: u32, rtt: u64, state: u32, cwnd: u32, una: u32, next: u32,
        packets_out: u32, sacked_out: u32, lost_out: u32, retrans_out: u32, reordering: u32,
        max_packets_out: u32, cwnd_limited: u32, delivered: u32, delivered_ce: u32, lost: u32,
        app_limited: u32, delivered_at: u64, first_sent_at: u64, srtt: u64, mdev: u64, rttvar: u64,
        min_rtt: u64, rto: u64, last_sent_at: u64, departs_at: u64, echo: u64, peer_sent_at: u64,
        ce: u32, ack_held: u32, echoes: u32, esce: u32,
    }
}
sized! {
    RawDecision {
        cwnd: u32, ssthresh: u32, burst: u32, pacing_rate: u64, owns_recovery: u32, reduces: u32,
        send_windows: u32, follows_arrivals: u32, echoes: u32, ack_first: u32, ack_now: u32,
    }
}

#[repr(C)]
#[derive(Debug)]
pub struct RawParam {
    pub name: *const c_char,
    pub description: *const c_char,
    pub value: f64,
    pub least: f64,
    pub most: f64,
    pub whole: u32,
}

pub type Tell = unsafe extern "C" fn(*mut c_void, *const c_char, f64);
type Told<T> = unsafe extern "C" fn(*mut c_void, u64, *const T);
type AtTime = unsafe extern "C" fn(*mut c_void, u64);

/// A library's description of its control.
#[repr(C)]
#[derive(Debug)]
pub struct RawControl {
    pub abi: u32,
    pub size: u32,
    pub param_count: u32,
    pub ecn: u32,
    pub params: *const RawParam,
    pub create: Option<unsafe extern "C" fn(*const RawInit, *const f64) -> *mut c_void>,
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    pub on_ack: Option<Told<RawAck>>,
    pub on_congestion: Option<Told<RawEvent>>,
    pub decide: Option<unsafe extern "C" fn(*const c_void, *mut RawDecision)>,
    pub on_established: Option<unsafe extern "C" fn(*mut c_void, u64, u64)>,
    pub on_sent: Option<Told<RawSent>>,
    pub on_packet_lost: Option<Told<RawLost>>,
    pub next_timer: Option<unsafe extern "C" fn(*const c_void) -> u64>,
    pub on_timer: Option<AtTime>,
    pub save: Option<unsafe extern "C" fn(*mut c_void)>,
    pub undo: Option<AtTime>,
    pub observe: Option<unsafe extern "C" fn(*const c_void, *mut c_void, Tell)>,
    pub on_step: Option<Told<RawView>>,
}

fn number(state: CaState) -> u32 {
    match state {
        CaState::Open => 0,
        CaState::Disorder => 1,
        CaState::Cwr => 2,
        CaState::Recovery => 3,
        CaState::Loss => 4,
    }
}

impl From<&ControlInit> for RawInit {
    fn from(init: &ControlInit) -> Self {
        RawInit {
            initial_window: init.initial_window,
            mss: init.mss,
            packet_size: init.packet_size,
            now: init.now.as_nanos(),
            seed: init.random.seed(),
            paced: init.paced.into(),
            initial_ssthresh: init.initial_ssthresh,
            ..RawInit::default()
        }
    }
}

impl From<&AckSample> for RawAck {
    #[inline]
    fn from(ack: &AckSample) -> Self {
        RawAck {
            size: size_of_u32::<RawAck>(),
            state: number(ack.state),
            may_grow: ack.may_grow.into(),
            cwnd_limited: ack.cwnd_limited.into(),
            acked: ack.acked,
            cum_acked: ack.cum_acked,
            lost: ack.lost,
            prior_in_flight: ack.prior_in_flight,
            in_flight: ack.in_flight,
            una: ack.una,
            next: ack.next,
            ece: ack.ece.into(),
            esce: ack.esce.into(),
            app_limited: ack.app_limited.into(),
            ack_delayed: ack.ack_delayed.into(),
            tx_in_flight: ack.rate.tx_in_flight,
            rtt: ack.rtt.map_or(NEVER, Span::as_nanos),
            srtt: ack.srtt.as_nanos(),
            min_rtt: ack.min_rtt.as_nanos(),
            delivered: ack.delivered,
            delivered_ce: ack.delivered_ce,
            total_lost: ack.total_lost,
            rate_interval: ack.rate.interval.as_nanos(),
            prior_delivered: ack.rate.prior_delivered,
            prior_delivered_ce: ack.rate.prior_delivered_ce,
            prior_lost: ack.rate.prior_lost,
            rate_valid: ack.rate.delivered.is_some().into(),
            rate_delivered: ack.rate.delivered.unwrap_or(0),
            rate_app_limited: ack.rate.app_limited.into(),
            rate_retransmitted: ack.rate.retransmitted.into(),
        }
    }
}

impl RawEvent {
    /// The event, if this version of the interface has it.
    pub fn of(event: &Event) -> Option<Self> {
        let of = |kind| RawEvent { kind, ..RawEvent::default() };
        Some(match *event {
            Event::Loss { in_flight } => RawEvent { in_flight, ..of(0) },
            Event::Ecn { in_flight } => RawEvent { in_flight, ..of(1) },
            Event::Rto { in_flight, cwnd, reduce } => {
                RawEvent { in_flight, cwnd, reduce: reduce.into(), ..of(2) }
            }
            Event::ReductionEnd { cwnd } => RawEvent { cwnd, ..of(3) },
            Event::Recovered => of(4),
            Event::TxStart { idle } => RawEvent { idle: idle.as_nanos(), ..of(5) },
            Event::Restart { cwnd, ssthresh } => RawEvent { cwnd, ssthresh, ..of(6) },
            _ => return None,
        })
    }
}

impl From<&Sent> for RawSent {
    fn from(sent: &Sent) -> Self {
        RawSent {
            seq: sent.seq,
            in_flight: sent.in_flight,
            retransmission: sent.retransmission.into(),
            ..RawSent::default()
        }
    }
}

impl From<&Lost> for RawLost {
    fn from(lost: &Lost) -> Self {
        RawLost {
            seq: lost.seq,
            tx_in_flight: lost.tx_in_flight,
            app_limited: lost.app_limited.into(),
            prior_delivered: lost.prior_delivered,
            prior_lost: lost.prior_lost,
            total_lost: lost.total_lost,
            ..RawLost::default()
        }
    }
}

impl RawView {
    /// An arrival at the receiver.
    pub fn arrival(arrival: &Arrival) -> Self {
        RawView {
            step: 3,
            ce: arrival.ce.into(),
            ack_held: arrival.ack_held.into(),
            echoes: arrival.echoes.into(),
            next: arrival.next,
            ..RawView::default()
        }
    }

    /// The sender's state at a step.
    pub fn of(step: &Step, view: &SenderView) -> Self {
        let at = |step| RawView { step, ..RawView::default() };
        let shown = match *step {
            Step::Callback => at(0),
            Step::Measured(measured) => RawView {
                cum_acked: measured.cum_acked,
                ack_in_flight: measured.in_flight,
                ece: measured.ece.into(),
                esce: measured.esce.into(),
                window_update: measured.window_update.into(),
                slow_path: measured.slow_path.into(),
                rtt: measured.rtt.map_or(NEVER, Span::as_nanos),
                ..at(1)
            },
            Step::State(next) => RawView { next_state: number(next), ..at(2) },
        };
        RawView {
            state: number(view.state),
            cwnd: view.cwnd,
            una: view.una,
            next: view.next,
            packets_out: view.packets_out,
            sacked_out: view.sacked_out,
            lost_out: view.lost_out,
            retrans_out: view.retrans_out,
            reordering: view.reordering,
            max_packets_out: view.max_packets_out,
            cwnd_limited: view.cwnd_limited.into(),
            delivered: view.delivered,
            delivered_ce: view.delivered_ce,
            lost: view.lost,
            app_limited: view.app_limited,
            delivered_at: view.delivered_at.as_nanos(),
            first_sent_at: view.first_sent_at.as_nanos(),
            srtt: view.srtt.as_nanos(),
            mdev: view.mdev.as_nanos(),
            rttvar: view.rttvar.as_nanos(),
            min_rtt: view.min_rtt.as_nanos(),
            rto: view.rto.as_nanos(),
            last_sent_at: view.last_sent_at.as_nanos(),
            departs_at: view.departs_at.as_nanos(),
            echo: view.echo.as_nanos(),
            peer_sent_at: view.peer_sent_at.as_nanos(),
            ..shown
        }
    }
}
