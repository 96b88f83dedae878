//! Metrics cache of a host for its connections to another one (Linux `tcp_metrics.c`).
//!
//! A connection that ends stores its RTT, its degree of reordering and its slow-start threshold
//! (`tcp_update_metrics`), and the next one to the same host begins with them (`tcp_init_metrics`):
//! with the threshold and the degree, and with the RTT's timeout until its first data are
//! acknowledged, if that RTT was longer than the handshake's. Windows and variances are kept in
//! Linux as well, where nothing reads them but `ip tcp_metrics`.
//!
//! A connection ends here when all its data is acknowledged, a round trip before Linux's, which
//! waits for the other end's FIN. Nothing is stored of receivers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::profile::Profile;
use crate::cc::{CaState, INFINITE_SSTHRESH};
use crate::packet::FiveTuple;
use crate::spec::TcpMetrics;
use crate::units::{Span, Time};

/// Lifetime of an entry (`TCP_METRICS_TIMEOUT`).
const LIFETIME: Span = Span::from_secs(3600);

/// State of a connection at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// Smoothed RTT; `None` if there is none, or the timeout is backed off.
    pub srtt: Option<Span>,
    pub cwnd: u32,
    pub ssthresh: u32,
    pub state: CaState,
    pub reordering: u32,
}

/// Cached metrics of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Remembered {
    pub rtt: Option<Span>,
    pub ssthresh: Option<u32>,
    pub reordering: Option<u32>,
}

impl Remembered {
    fn update(&mut self, ended: &Ended, usual_reordering: u32) {
        let Some(srtt) = ended.srtt else {
            self.rtt = None;
            return;
        };
        // A longer RTT replaces the entry, a shorter one is smoothed.
        self.rtt = Some(match self.rtt {
            Some(rtt) if rtt > srtt => rtt - (rtt - srtt) / 8,
            _ => srtt,
        });
        if ended.ssthresh >= INFINITE_SSTHRESH {
            self.raise_threshold(ended.cwnd / 2);
        } else if ended.cwnd >= ended.ssthresh && ended.state == CaState::Open {
            self.ssthresh = Some(ended.ssthresh.max(ended.cwnd / 2));
        } else {
            self.raise_threshold(ended.ssthresh);
            if ended.reordering != usual_reordering {
                self.reordering = self.reordering.max(Some(ended.reordering));
            }
        }
    }

    /// Slow start that did not end shows only that a known threshold is too low.
    fn raise_threshold(&mut self, to: u32) {
        self.ssthresh = self.ssthresh.map(|known| known.max(to));
    }
}

type Table = BTreeMap<(u16, u16), (Time, Remembered)>;

/// Metrics caches of all hosts of a run.
#[derive(Clone, Debug)]
pub struct HostMemory {
    paths: Arc<Mutex<Table>>,
    thresholds: bool,
}

impl HostMemory {
    /// The caches of the hosts of a run; `None` if they have none.
    pub fn new(asked: TcpMetrics) -> Option<Self> {
        let thresholds = asked == TcpMetrics::All;
        (asked != TcpMetrics::Off).then(|| HostMemory { paths: Arc::default(), thresholds })
    }

    /// The entry of a connection's path; `None` if the stack has no cache.
    pub(super) fn path(&self, tuple: FiveTuple, profile: &'static Profile) -> Option<Path> {
        let thresholds = self.thresholds || profile.remembers_threshold;
        let memory = self.clone();
        let hosts = (tuple.source, tuple.destination);
        (thresholds || profile.remembers_paths).then_some(Path {
            memory,
            hosts,
            thresholds,
            usual_reordering: profile.dupthresh,
        })
    }
}

/// The entry of one path, as a connection accesses it.
#[derive(Debug)]
pub(super) struct Path {
    memory: HostMemory,
    hosts: (u16, u16),
    thresholds: bool,
    usual_reordering: u32,
}

impl Path {
    /// The metrics cached now.
    pub(super) fn recall(&self, now: Time) -> Remembered {
        let paths = self.memory.paths.lock().unwrap_or_else(PoisonError::into_inner);
        paths.get(&self.hosts).copied().map_or_else(Remembered::default, |path| fresh(path, now))
    }

    /// A connection has ended.
    pub(super) fn keep(&self, now: Time, ended: &Ended) {
        let mut paths = self.memory.paths.lock().unwrap_or_else(PoisonError::into_inner);
        let known = paths.get(&self.hosts).copied();
        let mut path = known.map_or_else(Remembered::default, |path| fresh(path, now));
        path.update(ended, self.usual_reordering);
        if !self.thresholds {
            path.ssthresh = None;
        }
        paths.insert(self.hosts, (now, path));
    }
}

fn fresh((kept_at, path): (Time, Remembered), now: Time) -> Remembered {
    if now.since(kept_at) > LIFETIME { Remembered::default() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TUPLE: FiveTuple = FiveTuple { source: 1, destination: 2, ports: 0 };
    const ENDED: Ended = Ended {
        srtt: Some(Span::from_millis(40)),
        cwnd: 30,
        ssthresh: 20,
        state: CaState::Open,
        reordering: 3,
    };

    fn path(asked: TcpMetrics, stack: &str) -> Path {
        let memory = HostMemory::new(asked).unwrap();
        memory.path(TUPLE, Profile::named(stack).unwrap()).unwrap()
    }

    fn after(path: &Path, ended: &[Ended]) -> Remembered {
        ended.iter().for_each(|ended| path.keep(Time::ZERO, ended));
        path.recall(Time::ZERO)
    }

    #[test]
    fn a_threshold_is_kept_by_those_that_keep_it() {
        assert_eq!(after(&path(TcpMetrics::Stack, "linux-6"), &[ENDED]).ssthresh, None);
        assert_eq!(after(&path(TcpMetrics::Stack, "linux-5.1"), &[ENDED]).ssthresh, Some(20));
        assert_eq!(after(&path(TcpMetrics::All, "linux-6"), &[ENDED]).ssthresh, Some(20));
        let memory = HostMemory::new(TcpMetrics::Stack).unwrap();
        assert!(memory.path(TUPLE, Profile::named("rfc").unwrap()).is_none());
        assert!(HostMemory::new(TcpMetrics::Off).is_none());
    }

    #[test]
    fn the_window_may_raise_the_threshold_that_is_kept() {
        let path = path(TcpMetrics::All, "linux-6");
        assert_eq!(after(&path, &[Ended { cwnd: 90, ..ENDED }]).ssthresh, Some(45));
        // Slow start that has not ended, and a recovery, do not lower the threshold.
        let unended = Ended { ssthresh: INFINITE_SSTHRESH, cwnd: 60, ..ENDED };
        assert_eq!(after(&path, &[unended]).ssthresh, Some(45));
        assert_eq!(after(&path, &[Ended { cwnd: 200, ..unended }]).ssthresh, Some(100));
        let recovering = Ended { state: CaState::Recovery, ..ENDED };
        assert_eq!(after(&path, &[recovering]).ssthresh, Some(100));
    }

    #[test]
    fn slow_start_that_has_not_ended_leaves_no_threshold() {
        let path = path(TcpMetrics::All, "linux-6");
        let unended = Ended { ssthresh: INFINITE_SSTHRESH, ..ENDED };
        assert_eq!(after(&path, &[unended]).ssthresh, None);
    }

    #[test]
    fn a_longer_rtt_is_believed_sooner_than_a_shorter_one() {
        let path = path(TcpMetrics::Stack, "linux-6");
        let at = |ms| Ended { srtt: Some(Span::from_millis(ms)), ..ENDED };
        assert_eq!(after(&path, &[at(40), at(120)]).rtt, Some(Span::from_millis(120)));
        assert_eq!(after(&path, &[at(40)]).rtt, Some(Span::from_millis(110)));
        assert_eq!(after(&path, &[Ended { srtt: None, ..ENDED }]).rtt, None);
    }

    #[test]
    fn reordering_is_kept_of_connections_that_end_in_a_recovery() {
        let path = path(TcpMetrics::Stack, "linux-6");
        assert_eq!(after(&path, &[Ended { reordering: 9, ..ENDED }]).reordering, None);
        let recovering = Ended { reordering: 9, state: CaState::Recovery, ..ENDED };
        assert_eq!(after(&path, &[recovering]).reordering, Some(9));
    }

    #[test]
    fn it_is_forgotten_after_an_hour() {
        let path = path(TcpMetrics::All, "linux-6");
        path.keep(Time::ZERO, &ENDED);
        assert_ne!(path.recall(Time::ZERO + LIFETIME), Remembered::default());
        let later = Time::ZERO + LIFETIME + Span::from_secs(1);
        assert_eq!(path.recall(later), Remembered::default());
    }

    #[test]
    fn hosts_do_not_share_it() {
        let memory = HostMemory::new(TcpMetrics::All).unwrap();
        let profile = Profile::named("linux-6").unwrap();
        memory.path(TUPLE, profile).unwrap().keep(Time::ZERO, &ENDED);
        let other = FiveTuple { destination: 3, ..TUPLE };
        let known = memory.path(other, profile).unwrap().recall(Time::ZERO);
        assert_eq!(known, Remembered::default());
    }
}
