//! Samples of the kernel's state of its connections: the part of the counters that packets do not
//! show. Integrals over time and recoveries have the resolution of the sampling.

use nix::libc::tcp_info;
use sojourn_base::units::{Rate, Span, Time};
use sojourn_net::record::WindowCounters;

use crate::observed::Counters;

/// Interval of sampling.
pub(crate) const INTERVAL: Span = Span::from_millis(10);

const ESTABLISHED: u8 = 1;
const CLOSE: u8 = 7;
/// First congestion state in which a connection recovers from loss: `TCP_CA_Recovery`,
/// `TCP_CA_Loss`.
const RECOVERY: u8 = 3;
/// `pacing_rate` of a connection that is not paced.
const UNPACED: u64 = u64::MAX;

/// Samples of one connection.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    last: Option<Time>,
    recovering: bool,
    /// Time in which it has had data to send.
    busy: Span,
}

impl Followed {
    /// Brings `counters` up to the kernel's state at `now`.
    pub(crate) fn sample(&mut self, now: Time, info: &tcp_info, counters: &mut Counters) {
        if !(ESTABLISHED..CLOSE).contains(&info.tcpi_state) || counters.established_at.is_none() {
            return;
        }
        let since = self.last.replace(now).or(counters.established_at).unwrap_or(now);
        let before = (counters.window, counters.rtt.srtt);
        gauges(info, counters);
        self.integrals(info, before, now.since(since), counters);
    }

    /// Between two samples the mean of both is taken; the first holds for the time before it.
    fn integrals(
        &mut self,
        info: &tcp_info,
        (before, srtt_before): (WindowCounters, Span),
        time: Span,
        counters: &mut Counters,
    ) {
        let seconds = time.as_secs_f64();
        let (window, srtt) = (&mut counters.window, counters.rtt.srtt);
        let first = before.cwnd == 0;
        let mean = |before: u32, now: u32| match first {
            true => f64::from(now),
            false => f64::midpoint(before.into(), now.into()),
        };
        window.cwnd_time += seconds * mean(before.cwnd, window.cwnd);
        window.in_flight_time += seconds * mean(before.in_flight, window.in_flight);
        if srtt > Span::ZERO {
            let before = if srtt_before > Span::ZERO { srtt_before } else { srtt };
            let mean = f64::midpoint(before.as_secs_f64(), srtt.as_secs_f64());
            counters.rtt.srtt_time += seconds * mean;
            counters.rtt.srtt_known += seconds;
        }
        if counters.rate.delivery_rate > 0.0 {
            counters.rate.delivery_rate_sum += counters.rate.delivery_rate;
            counters.rate.delivery_rate_count += 1;
        }
        let recovering = info.tcpi_ca_state >= RECOVERY;
        if recovering {
            counters.recovery.recovery_time += time;
            counters.recovery.recoveries += u64::from(!self.recovering);
        }
        self.recovering = recovering;
        let busy = Span::from_micros(info.tcpi_busy_time);
        let worked = busy.saturating_sub(std::mem::replace(&mut self.busy, busy));
        let idle = time.saturating_sub(worked);
        if counters.completed_at.is_none() {
            counters.limits.limited_by_application += idle;
        }
        counters.limits.limited_by_receiver = Span::from_micros(info.tcpi_rwnd_limited);
        counters.limits.limited_by_send_buffer = Span::from_micros(info.tcpi_sndbuf_limited);
    }
}

fn gauges(info: &tcp_info, counters: &mut Counters) {
    let (known, lost) = (info.tcpi_unacked + info.tcpi_retrans, info.tcpi_sacked + info.tcpi_lost);
    counters.window.cwnd = info.tcpi_snd_cwnd;
    counters.window.ssthresh = info.tcpi_snd_ssthresh;
    counters.window.in_flight = known.saturating_sub(lost);
    counters.rtt.srtt = Span::from_micros(info.tcpi_rtt.into());
    if info.tcpi_min_rtt != u32::MAX {
        counters.rtt.min_rtt = Span::from_micros(info.tcpi_min_rtt.into());
    }
    counters.rate.delivery_rate = 8.0 * info.tcpi_delivery_rate as f64;
    let paced = info.tcpi_pacing_rate != UNPACED;
    counters.rate.pacing_rate =
        paced.then(|| Rate::from_bps(info.tcpi_pacing_rate.saturating_mul(8)));
    counters.recovery.spurious_retransmissions = info.tcpi_dsack_dups.into();
    counters.recovery.rtos = info.tcpi_total_rto.into();
}
