//! The keys of an entry of `arrivals`, besides those of a flow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Listed, ProcessSpec, SessionSpec, Sizes, Times};
use crate::quantity::PerSecond;
use crate::registry::named;
use crate::spec::FlowSpec;
use crate::units::Span;

/// Most connections of a pool that speaks HTTP/1: what browsers open to one host.
const POOL: u32 = 6;

/// An entry of `arrivals`.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivalsSpec {
    /// Its own keys.
    pub keys: ArrivalKeys,
    /// Keys of a flow: those of every connection, unless there is a mix. `start` and `stop` are the
    /// entry's; `traffic` and `count` mean nothing.
    pub flow: FlowSpec,
    /// Weights and keys of the variants of a mix, each with all of its keys.
    pub mix: Vec<(f64, FlowSpec)>,
}

/// Keys that an entry has besides those of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArrivalKeys {
    /// Name for tables and figures, which names the entry's random draws as well. Default:
    /// `arrivals-N`, where N counts entries from 0.
    #[schemars(with = "Option<String>")]
    pub label: String,
    /// When transfers (or sessions) arrive.
    #[serde(default)]
    pub process: ProcessSpec,
    /// Arrivals per second: of sessions where there are any, else of transfers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<PerSecond>,
    /// In place of `rate`: mean payload that arrives, as a share of the base rate of the link named
    /// `bottleneck`, or else of the slowest link on the data's way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// With process `closed`, in place of `rate`: number of users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// With process `closed`: time from the end of a user's transfer or session to the next one's
    /// arrival; each user begins with one. Default: exponential, of mean `1 s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Times>,
    /// Payload of a transfer. Required, unless a file gives the sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Sizes>,
    /// What arrives are sessions: sequences of transfers. Default: single transfers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionSpec>,
    /// Whether each transfer has a connection of its own, or uses one of a pool of persistent ones.
    #[serde(default)]
    pub connections: Connections,
    /// The pool: one for each variant, and where there are users or sessions for each of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolSpec>,
    /// Payload of a request, which the receiver of the data sends for each transfer: it opens the
    /// connection, too. Default: no requests, and the sender of the data opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Sizes>,
    /// Time from the arrival of the last byte of a request to the first of the response. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_time: Option<Times>,
}

named! {
    /// What connections the transfers of an entry use.
    #[derive(Default)]
    Connections, "use of connections" {
        /// A connection, with its handshake, for each transfer.
        #[default]
        Each = "each",
        /// Persistent connections, opened when they are needed.
        Pool = "pool",
    }
}

named! {
    /// How transfers share the connections of a pool.
    Protocol, "protocol of a pool" {
        /// One transfer at a time on each connection; others wait, first come first served.
        Http1 = "http/1",
        /// All transfers at once on a connection, in frames that take turns.
        Http2 = "http/2",
    }
}

/// A pool of persistent connections.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(default, deny_unknown_fields)]
pub struct PoolSpec {
    /// What its connections speak: `http/1` carries one transfer at a time on each, `http/2` all at
    /// once, in frames of 16 kB that take turns.
    pub protocol: Protocol,
    /// Most connections at once. Default: 6 with `http/1`, 1 with `http/2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// Time without a transfer after which a connection is closed.
    pub idle: Span,
}

impl Default for PoolSpec {
    fn default() -> Self {
        PoolSpec { protocol: Protocol::Http1, size: None, idle: Span::from_secs(60) }
    }
}

impl PoolSpec {
    /// Most connections at once.
    pub fn size(&self) -> u32 {
        self.size.unwrap_or(match self.protocol {
            Protocol::Http1 => POOL,
            Protocol::Http2 => 1,
        })
    }
}

impl ArrivalKeys {
    /// Names of the keys.
    pub(super) const NAMES: &'static [&'static str] = &[
        "label",
        "process",
        "rate",
        "load",
        "users",
        "think",
        "size",
        "session",
        "connections",
        "pool",
        "request",
        "server_time",
    ];
}

impl ArrivalsSpec {
    /// The keys of every variant, each with its field relative to the entry.
    pub(crate) fn flows(&self) -> Vec<(String, &FlowSpec)> {
        let mix = self.mix.iter().enumerate();
        let mix = mix.map(|(index, (_, flow))| (format!("mix.{index}"), flow));
        let only = self.mix.is_empty().then_some((String::new(), &self.flow));
        only.into_iter().chain(mix).collect()
    }

    /// The same, to be changed.
    pub(crate) fn flows_mut(&mut self) -> Vec<(String, &mut FlowSpec)> {
        let only = self.mix.is_empty().then_some((String::new(), &mut self.flow));
        let mix = self.mix.iter_mut().enumerate();
        let mix = mix.map(|(index, (_, flow))| (format!("mix.{index}"), flow));
        only.into_iter().chain(mix).collect()
    }

    /// Weights and keys of the variants, of which there is at least one.
    pub fn variants(&self) -> Vec<(f64, &FlowSpec)> {
        match self.mix.is_empty() {
            true => vec![(1.0, &self.flow)],
            false => self.mix.iter().map(|(weight, flow)| (*weight, flow)).collect(),
        }
    }

    /// Mean number of transfers of an arrival: of a session, or 1.
    pub fn mean_transfers(&self) -> f64 {
        self.keys.session.as_ref().map_or(1.0, |session| session.transfers.mean())
    }

    /// Mean payload of a transfer in bytes.
    pub fn mean_size(&self) -> f64 {
        let listed = self.keys.process.listed().and_then(Listed::mean_size);
        listed.or(self.keys.size.as_ref().map(Sizes::mean)).unwrap_or(f64::NAN)
    }
}
