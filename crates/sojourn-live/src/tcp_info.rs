//! Samples of the kernel's state of its connections: the part of the counters that packets do not
//! show. Integrals over time and recoveries have the resolution of the sampling.

use nix::libc::tcp_info;
use sojourn_base::observe::Observer;
use sojourn_base::units::{Rate, Span, Time};
use sojourn_net::record::WindowCounters;
use sojourn_net::record::live::Watch;
use sojourn_tcp::cc::INFINITE_SSTHRESH;

use crate::observed::Counters;
use crate::sys::NO_TIMEOUTS;

/// Interval of sampling.
pub(crate) const INTERVAL: Span = Span::from_millis(10);

const ESTABLISHED: u8 = 1;
const CLOSE: u8 = 7;
/// First congestion state in which a connection recovers from loss: `TCP_CA_Recovery`,
/// `TCP_CA_Loss`.
const RECOVERY: u8 = 3;
/// All congestion states, from `TCP_CA_Open` on.
const STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];
/// `pacing_rate` of a connection that is not paced.
const UNPACED: u64 = u64::MAX;

/// Retransmission timeouts of a connection, if the kernel counts them.
pub(crate) fn timeouts(info: &tcp_info) -> Option<u64> {
    Some(info.tcpi_total_rto).filter(|count| *count != NO_TIMEOUTS).map(u64::from)
}

/// Samples of one connection.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    /// Whether the kernel does not count its timeouts.
    pub lacks_timeouts: bool,
    last: Option<Time>,
    recovering: bool,
    /// Time in which it has had data to send.
    busy: Span,
    /// Recorder of what the kernel tells.
    pub watch: Option<Watch>,
}

impl Followed {
    /// Brings `counters` up to the kernel's state at `now`.
    pub(crate) fn sample(&mut self, now: Time, info: &tcp_info, counters: &mut Counters) {
        self.lacks_timeouts = timeouts(info).is_none();
        if !(ESTABLISHED..CLOSE).contains(&info.tcpi_state) || counters.established_at.is_none() {
            return;
        }
        let since = self.last.replace(now).or(counters.established_at).unwrap_or(now);
        let before = (counters.window, counters.rtt.srtt);
        gauges(info, counters);
        self.integrals(info, before, now.since(since), counters);
        if let Some(watch) = &mut self.watch {
            watch.look(now, |out| observe(info, counters, out));
        }
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
    counters.recovery.rtos = timeouts(info).unwrap_or(0);
}

/// What a sender of the simulator tells of its control, by the same names, and what the kernel tells in
/// the place of the control's own state: times in seconds, a number of segments.
fn observe(info: &tcp_info, counters: &Counters, out: &mut Observer<'_>) {
    out("cwnd", counters.window.cwnd.into());
    if counters.window.ssthresh != INFINITE_SSTHRESH {
        out("ssthresh", counters.window.ssthresh.into());
    }
    if let Some(rate) = counters.rate.pacing_rate {
        out("pacing_rate", (rate.as_bps() as f64).into());
    }
    if let Some(state) = STATES.get(usize::from(info.tcpi_ca_state)) {
        out("state", (*state).into());
    }
    for (name, span) in [("srtt", counters.rtt.srtt), ("min_rtt", counters.rtt.min_rtt)] {
        if span > Span::ZERO {
            out(name, span.as_secs_f64().into());
        }
    }
    out("retransmissions", info.tcpi_total_retrans.into());
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use sojourn_base::spec::Recorded;
    use sojourn_net::record::live::{Batch, Log};

    use super::*;
    use crate::sys;

    /// What a connection tells 20 ms after its handshake.
    fn told(info: &tcp_info) -> Vec<(String, f64, String)> {
        let told = Arc::new(Mutex::new(Vec::new()));
        let rows = Arc::clone(&told);
        let sink = move |batch: Batch, words: &[Arc<str>]| {
            let Batch::State(state) = batch else { panic!("{batch:?}") };
            let word = |word: u32| words[word as usize].to_string();
            for row in 0..state.time.len() {
                assert_eq!((state.time[row], &*word(state.component[row])), (0.03, "flow.3.cc"));
                let row = (word(state.name[row]), state.value[row], word(state.text[row]));
                rows.lock().unwrap().push(row);
            }
        };
        let log = Log::new(&[Recorded::Cc], Box::new(sink));
        let mut followed =
            Followed { watch: log.watch(Recorded::Cc, "flow.3.cc"), ..Followed::default() };
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let established_at = Some(at(10));
        followed.sample(at(30), info, &mut Counters { established_at, ..Counters::default() });
        log.flush();
        std::mem::take(&mut *told.lock().unwrap())
    }

    #[test]
    fn what_the_kernel_tells_is_recorded_by_the_names_of_the_simulator() {
        let mut info = sys::tcp_info_of(&[]);
        info.tcpi_state = ESTABLISHED;
        (info.tcpi_snd_cwnd, info.tcpi_snd_ssthresh) = (17, INFINITE_SSTHRESH);
        (info.tcpi_rtt, info.tcpi_min_rtt) = (20_500, u32::MAX);
        (info.tcpi_pacing_rate, info.tcpi_total_retrans) = (UNPACED, 3);
        let number = |name: &str, value: f64| (name.to_owned(), value, String::new());
        let numbers = |told: Vec<(String, f64, String)>| -> Vec<_> {
            told.into_iter().filter(|(name, ..)| name != "state").collect()
        };
        let usual = [number("cwnd", 17.0), number("srtt", 0.0205), number("retransmissions", 3.0)];
        assert_eq!(numbers(told(&info)), usual);
        (info.tcpi_snd_ssthresh, info.tcpi_pacing_rate, info.tcpi_min_rtt) = (9, 1_000, 20_000);
        info.tcpi_ca_state = RECOVERY;
        let told = told(&info);
        assert!(told.iter().any(|(name, _, text)| name == "state" && text == "recovery"));
        let more = [number("ssthresh", 9.0), number("pacing_rate", 8_000.0)];
        assert!(more.iter().all(|row| told.contains(row)), "{told:?}");
        assert!(told.contains(&number("min_rtt", 0.02)));
    }

    #[test]
    fn timeouts_are_known_where_the_kernel_counts_them() {
        // Linux 6.1 has no more than 232 bytes, 6.7 has 248.
        let [older, newer] = [232, 248].map(|length| sys::tcp_info_of(&vec![0_u8; length]));
        assert_eq!([timeouts(&older), timeouts(&newer)], [None, Some(0)]);
        let mut followed = Followed::default();
        followed.sample(Time::ZERO, &older, &mut Counters::default());
        assert!(followed.lacks_timeouts);
    }

    #[test]
    fn nothing_is_recorded_before_the_handshake() {
        assert!(told(&sys::tcp_info_of(&[])).is_empty());
    }
}
