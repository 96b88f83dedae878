//! Conversion of the core's values to those of Python.

use sojourn_base::units::Span;
use sojourn_tcp::cc::{self, AckSample, CaState, ControlInit};

use super::values::{Ack, Event, Init, Lost, RateSample, Sent, Word};

fn seconds(span: Span) -> f64 {
    if span == Span::MAX { f64::INFINITY } else { span.as_secs_f64() }
}

impl From<&ControlInit> for Init {
    fn from(init: &ControlInit) -> Self {
        Init {
            initial_window: init.initial_window,
            mss: init.mss,
            packet_size: init.packet_size,
            now: init.now.as_secs_f64(),
            paced: init.paced,
            seed: init.random.seed(),
        }
    }
}

impl From<&AckSample> for Ack {
    #[inline]
    fn from(ack: &AckSample) -> Self {
        Ack {
            state: Word(match ack.state {
                CaState::Open => "open",
                CaState::Disorder => "disorder",
                CaState::Cwr => "cwr",
                CaState::Recovery => "recovery",
                CaState::Loss => "loss",
            }),
            may_grow: ack.may_grow,
            cwnd_limited: ack.cwnd_limited,
            acked: ack.acked,
            cum_acked: ack.cum_acked,
            lost: ack.lost,
            rtt: ack.rtt.map(seconds),
            srtt: seconds(ack.srtt),
            min_rtt: seconds(ack.min_rtt),
            prior_in_flight: ack.prior_in_flight,
            in_flight: ack.in_flight,
            una: ack.una,
            next: ack.next,
            delivered: ack.delivered,
            delivered_ce: ack.delivered_ce,
            total_lost: ack.total_lost,
            ece: ack.ece,
            esce: ack.esce,
            app_limited: ack.app_limited,
            ack_delayed: ack.ack_delayed,
            rate: RateSample {
                delivered: ack.rate.delivered,
                interval: seconds(ack.rate.interval),
                prior_delivered: ack.rate.prior_delivered,
                prior_delivered_ce: ack.rate.prior_delivered_ce,
                prior_lost: ack.rate.prior_lost,
                tx_in_flight: ack.rate.tx_in_flight,
                app_limited: ack.rate.app_limited,
                retransmitted: ack.rate.retransmitted,
            },
        }
    }
}

impl Event {
    /// The event, if Python has a name for it.
    pub fn of(event: &cc::Event) -> Option<Self> {
        let of = |kind| Event::new(Word(kind), None, None, None, None, None);
        Some(match *event {
            cc::Event::Loss { in_flight } => Event { in_flight: Some(in_flight), ..of("loss") },
            cc::Event::Ecn { in_flight } => Event { in_flight: Some(in_flight), ..of("ecn") },
            cc::Event::Rto { in_flight, cwnd, reduce } => Event {
                in_flight: Some(in_flight),
                cwnd: Some(cwnd),
                reduce: Some(reduce),
                ..of("rto")
            },
            cc::Event::ReductionEnd { cwnd } => Event { cwnd: Some(cwnd), ..of("reduction_end") },
            cc::Event::Recovered => of("recovered"),
            cc::Event::TxStart { idle } => Event { idle: Some(seconds(idle)), ..of("tx_start") },
            cc::Event::Restart { cwnd, ssthresh } => {
                Event { cwnd: Some(cwnd), ssthresh: Some(ssthresh), ..of("restart") }
            }
            // An event of a later core.
            _ => return None,
        })
    }
}

impl From<&cc::Sent> for Sent {
    fn from(sent: &cc::Sent) -> Self {
        let cc::Sent { seq, in_flight, retransmission } = *sent;
        Sent { seq, in_flight, retransmission }
    }
}

impl From<&cc::Lost> for Lost {
    fn from(lost: &cc::Lost) -> Self {
        Lost {
            seq: lost.seq,
            tx_in_flight: lost.tx_in_flight,
            prior_delivered: lost.prior_delivered,
            prior_lost: lost.prior_lost,
            total_lost: lost.total_lost,
            app_limited: lost.app_limited,
        }
    }
}
