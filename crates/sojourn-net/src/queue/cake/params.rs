//! Parameters of Cake.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::cobalt::check_rtt;
use super::super::cobalt::law::{FOUR_STEPS, NEAREST, Roots};
use super::ack_filter::AckFilter;
use super::diffserv::Diffserv;
use super::overhead::{Framing, Overhead};
use super::sce::{RampText, Sce};
use super::shaper::Bandwidth;
use crate::error::FieldError;
use crate::quantity::{Bytes, Limit};
use crate::spec::Stack;
use crate::units::Span;

/// Parameters of Cake; names and defaults as `tc-cake(8)` where it has them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Rate of the shaper, such as "10 Mbit/s", or "unlimited". By default the link's rate; the
    /// link then adds no serialisation time of its own.
    pub bandwidth: Option<Bandwidth>,
    /// Tins, which packets get into by their codepoint (`dscp` of a flow). Default: `diffserv3`.
    #[serde(skip_serializing_if = "is_usual")]
    pub diffserv: Diffserv,
    /// Whether the codepoint is cleared once a packet has its tin. Default: false.
    #[serde(skip_serializing_if = "is_usual")]
    pub wash: bool,
    /// Flows or hosts that are isolated from each other.
    pub isolation: Isolation,
    /// Address that a NAT in the same router has replaced by the router's own before packets come
    /// here: the `source`, on the way out; the `destination`, on the way in, when packets are shaped
    /// before the NAT has its turn. Default: `none`.
    #[serde(skip_serializing_if = "is_usual")]
    pub masquerade: Masquerade,
    /// Whether hosts behind that NAT are told apart all the same. Default: false.
    #[serde(skip_serializing_if = "is_usual")]
    pub nat: bool,
    /// Whether a waiting acknowledgment goes of which a later one of its connection tells all: the
    /// first of two that could go, or with `ack-filter-aggressive` of one. They count as dropped by
    /// the AQM. Default: `no-ack-filter`.
    #[serde(skip_serializing_if = "is_usual")]
    pub ack_filter: AckFilter,
    /// Round-trip time that COBALT is tuned for.
    pub rtt: Span,
    /// Bytes added to each IP packet, from -64 B to 256 B, or keywords that stand for them, for a
    /// framing and an `mpu`: `raw`, `conservative`, `ethernet`, `ether-vlan` (which may be
    /// repeated), `docsis`, `pppoe-ptm`, `bridged-ptm`, `pppoa-vcmux`, `pppoa-llc`, `pppoe-vcmux`,
    /// `pppoe-llcsnap`, `bridged-vcmux`, `bridged-llcsnap`, `ipoa-vcmux`, `ipoa-llcsnap`,
    /// `via-ethernet`; "pppoe-ptm ether-vlan". By default `raw`: what the link counts (14 B, as a
    /// Linux qdisc on Ethernet).
    pub overhead: Option<Overhead>,
    /// Smallest size on the wire, after overhead; 0 B: that of the keywords of `overhead`.
    pub mpu: Bytes,
    /// Link-layer framing for which the shaper compensates; `none`: that of the keywords of
    /// `overhead`.
    pub framing: Framing,
    /// Buffer memory; packets and bandwidth-delay products are converted with the memory of a full
    /// packet. By default four intervals at the rate, at least 4 MiB.
    pub memory: Option<Limit>,
    /// Whether Cake shapes traffic that has already passed the bottleneck: drops then count as
    /// sent, and the target grows with the number of bulk flows.
    pub ingress: bool,
    /// SCE marking: "off", "sce" (ramp certain at target), "sce-single" (for a single queue), or
    /// "sce-thresh N" with N in 1 to 1024.
    pub sce: Sce,
    /// Which description of the SCE ramp to follow.
    pub ramp: RampText,
    /// Version of the table of roots: `linux-6`, or `linux-5.1` for all until 6.11. With SCE always
    /// the latter.
    pub version: Stack,
}

impl Params {
    /// COBALT's table of roots.
    pub(super) fn roots(&self) -> &'static Roots {
        let old = matches!(self.version, Stack::Linux49 | Stack::Linux51);
        if old || self.sce != Sce::Off { &FOUR_STEPS } else { &NEAREST }
    }
}

impl Default for Params {
    fn default() -> Self {
        Params {
            bandwidth: None,
            diffserv: Diffserv::default(),
            wash: false,
            isolation: Isolation::TripleIsolate,
            masquerade: Masquerade::default(),
            nat: false,
            ack_filter: AckFilter::default(),
            rtt: Span::from_millis(100),
            overhead: None,
            mpu: Bytes(0),
            framing: Framing::None,
            memory: None,
            ingress: false,
            sce: Sce::Off,
            ramp: RampText::Code,
            version: Stack::Linux6,
        }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.mpu > Bytes(256) {
            let message = format!("{} is outside 0 B to 256 B", self.mpu);
            return Err(FieldError::new("mpu", message));
        }
        if self.nat && self.masquerade == Masquerade::None {
            let message = "true given without masquerade, so that no address is replaced; give \
                           masquerade, or leave it out";
            return Err(FieldError::new("nat", message));
        }
        check_rtt(self.rtt)
    }
}

/// Such keys are not in the canonical form.
fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Isolation modes, as the keywords of `tc-cake(8)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Nothing: one queue.
    Flowblind,
    /// A queue per source host.
    Srchost,
    /// A queue per destination host.
    Dsthost,
    /// A queue per pair of hosts.
    Hosts,
    /// A queue per flow.
    Flows,
    /// A queue per flow, and fairness between source hosts above it.
    DualSrchost,
    /// A queue per flow, and fairness between destination hosts above it.
    DualDsthost,
    /// A queue per flow, and fairness between source and between destination hosts.
    TripleIsolate,
}

/// Addresses that a NAT hides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Masquerade {
    /// None: there is no NAT.
    #[default]
    None,
    /// Those of sources.
    Source,
    /// Those of destinations.
    Destination,
}
