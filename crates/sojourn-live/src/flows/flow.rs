//! One flow: its sender, which can be queried, and what its packets show.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sojourn_base::packet::Address;
use sojourn_base::units::Time;
use sojourn_net::record::FlowCounters;

use crate::observed::Observed;
use crate::sys;
use crate::tcp_info::Followed;

/// State of a flow's application, as its thread reports it.
#[derive(Debug)]
pub struct Told {
    /// Payload that the socket has accepted.
    pub written: AtomicU64,
    /// Payload of a flow that has ended, else the largest number.
    pub total: AtomicU64,
}

impl Default for Told {
    fn default() -> Self {
        Told { written: AtomicU64::new(0), total: AtomicU64::new(u64::MAX) }
    }
}

/// A flow's connection.
#[derive(Clone, Debug, Default)]
pub enum Connection {
    /// No connection: it sends datagrams.
    #[default]
    Datagrams,
    /// The connection of a socket of this kernel.
    Socket(Arc<OwnedFd>),
    /// A connection of another kernel, which reports.
    Reported,
}

/// The sending end of a flow that can be queried: its application's state, and its connection.
#[derive(Clone, Debug, Default)]
pub struct Sender {
    /// State of its application.
    pub told: Arc<Told>,
    /// Its connection.
    pub connection: Connection,
}

/// One flow.
pub(super) struct LiveFlow {
    pub addresses: [Address; 2],
    /// Packets that entered the network, there and back.
    pub entered: [u32; 2],
    pub sender: Sender,
    pub seen: Observed,
    pub followed: Followed,
}

impl LiveFlow {
    pub(super) fn new(addresses: [Address; 2], sender: Sender) -> Self {
        let (seen, followed) = (Observed::default(), Followed::default());
        LiveFlow { addresses, entered: [0; 2], sender, seen, followed }
    }

    pub(super) fn counters(&self) -> FlowCounters {
        let tcp = !matches!(self.sender.connection, Connection::Datagrams);
        self.seen.counters.report(tcp)
    }

    pub(super) fn update(&mut self, now: Time) {
        let (told, counters) = (&self.sender.told, &mut self.seen.counters);
        if let Connection::Socket(socket) = &self.sender.connection
            && let Ok(info) = sys::tcp_info(socket)
        {
            self.followed.sample(now, &info, counters);
        }
        counters.sent.written_bytes = told.written.load(Ordering::Relaxed);
        let (acked, at) = self.seen.acked();
        if acked >= told.total.load(Ordering::Relaxed) {
            self.seen.counters.completed_at.get_or_insert(at);
        }
    }
}
