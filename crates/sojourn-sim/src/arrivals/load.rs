//! What entries offer to the network: rates from loads, and warnings of too much.
//!
//! `load` counts payload, as a share of the base rate of the link named `bottleneck`, or else of
//! the slowest link on the data's way. On the wire there is more: headers and framing of every
//! segment, handshakes, acknowledgments of requests. Where all that open loops offer to a link is
//! its rate or more, transfers pile up for as long as they arrive.

use serde_json::{Value, json};

use super::{ArrivalsSpec, Connections, Sizes, Variant};
use crate::edge::link::LinkSpec;
use crate::error::FieldError;
use crate::quantity::Bytes;
use crate::registry::Catalogue;
use crate::spec::{Flow, FlowSpec, Transport};
use crate::tcp::SYN_SIZE;
use crate::topology::{Plan, Routes};
use crate::units::{Rate, Span};

/// Name of the link to which loads refer, where data passes it.
const BOTTLENECK: &str = "bottleneck";

/// What an entry offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// Arrivals per second while the entry is on: of sessions where there are any, else of
    /// transfers; NaN for a closed loop, whose users make it.
    pub rate: f64,
    /// Mean payload of a transfer in bytes.
    pub mean_size: f64,
    /// Index of the link to which loads refer, if all variants pass the same one.
    pub link: Option<u32>,
    /// Mean bytes on that link, framing included, per transfer.
    pub wire_bytes: f64,
}

/// What each entry offers to a network in which the routes of variants follow those of so many
/// `flows`.
///
/// # Errors
/// If a load refers to no rate. The field is from the root.
pub(crate) fn offers(
    entries: &[ArrivalsSpec],
    flows: usize,
    duration: Span,
    plan: &Plan,
    catalogue: &Catalogue,
) -> Result<Vec<Offer>, FieldError> {
    let mut routes = &plan.routes[flows..];
    let mut offers = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let (own, others) = routes.split_at(entry.variants().len());
        routes = others;
        let offer = offer(entry, own, plan, catalogue, duration);
        offers.push(offer.map_err(|error| error.within(&format!("arrivals.{index}")))?);
    }
    Ok(offers)
}

fn offer(
    entry: &ArrivalsSpec,
    routes: &[Routes],
    plan: &Plan,
    catalogue: &Catalogue,
    duration: Span,
) -> Result<Offer, FieldError> {
    let links: Vec<Option<u32>> = routes.iter().map(|routes| reference(routes, plan)).collect();
    let link = links[0].filter(|_| links.iter().all(|link| *link == links[0]));
    let mean_size = entry.mean_size();
    let rate = match (entry.keys.load, entry.keys.rate) {
        (Some(load), _) => {
            let bps = reference_rate(link, &links, plan)?.as_bps() as f64;
            load * bps / (8.0 * mean_size * entry.mean_transfers())
        }
        (None, Some(rate)) => rate.0,
        (None, None) => listed_rate(entry, duration),
    };
    let overhead = link.map_or(0, |link| plan.links[link as usize].spec.overhead.0);
    let wire_bytes = wire_bytes(entry, overhead, catalogue)?;
    Ok(Offer { rate, mean_size, link, wire_bytes })
}

/// The link to which the loads on a way refer.
fn reference(routes: &Routes, plan: &Plan) -> Option<u32> {
    let link = |index: &u32| &plan.links[*index as usize];
    let named = routes.forward.iter().find(|index| link(index).id == BOTTLENECK);
    let rate = |index: &&u32| link(index).spec.nominal_rate().map(|rate| rate.as_bps());
    let slowest = || {
        let limited = routes.forward.iter().filter(|index| rate(index).is_some());
        limited.min_by_key(rate)
    };
    named.or_else(slowest).copied()
}

fn reference_rate(
    link: Option<u32>,
    links: &[Option<u32>],
    plan: &Plan,
) -> Result<Rate, FieldError> {
    let wrong = |message: String| FieldError::new("load", format!("given; {message}; give rate"));
    if links.iter().any(|link| *link != links[0]) {
        return Err(wrong("its variants pass different slowest links".to_owned()));
    }
    let none = || wrong("no link on the data's way has a rate".to_owned());
    let link = &plan.links[link.ok_or_else(none)? as usize];
    let rate = link.spec.nominal_rate();
    rate.ok_or_else(|| wrong(format!("link '{}' has no rate", link.id)))
}

/// Mean rate of a list, up to the end of its entry; NaN without a list.
fn listed_rate(entry: &ArrivalsSpec, duration: Span) -> f64 {
    let Some(list) = entry.keys.process.listed() else { return f64::NAN };
    let lasts = (entry.flow.stop.unwrap_or(duration) - entry.flow.start).as_secs_f64();
    list.time.partition_point(|time| *time < lasts) as f64 / lasts
}

/// Mean bytes of a transfer on a link with so much framing, in the direction of its data.
fn wire_bytes(
    entry: &ArrivalsSpec,
    overhead: u64,
    catalogue: &Catalogue,
) -> Result<f64, FieldError> {
    let variants = entry.variants();
    let total: f64 = variants.iter().map(|(weight, _)| weight).sum();
    let mut mean = 0.0;
    for (weight, flow) in variants {
        let facts = &catalogue.find::<Transport>(&flow.transport.kind)?.facts;
        let opened = facts.controlled && entry.keys.connections == Connections::Each;
        let each = f64::from(facts.headers) + overhead as f64;
        let syn = f64::from(SYN_SIZE) + overhead as f64;
        // A SYN and the acknowledgment of its answer; with a request, that answer.
        let request = entry.keys.request.as_ref();
        let opening = match request {
            _ if !opened => 0.0,
            None => syn + each,
            Some(_) => syn,
        };
        let span = flow.mss * flow.ack_every;
        let acks = request.map_or(0.0, |request| request.mean_segments(span) * each);
        let data = entry.mean_size() + segments(entry, flow.mss) * each;
        mean += weight / total * (data + opening + acks);
    }
    Ok(mean)
}

/// Mean number of data segments of a transfer.
fn segments(entry: &ArrivalsSpec, mss: u32) -> f64 {
    let listed = entry.keys.process.listed().and_then(|list| list.size.as_ref());
    match (listed, &entry.keys.size) {
        (Some(sizes), _) => {
            let segments: u64 = sizes.iter().map(|size| size.div_ceil(mss.into())).sum();
            segments as f64 / sizes.len() as f64
        }
        (None, Some(sizes)) => Sizes::mean_segments(sizes, mss),
        (None, None) => 0.0,
    }
}

/// Warnings of links to which open loops offer their rate or more, by the entry whose arrivals make
/// it so much; `flows` are those that are declared.
pub(crate) fn warnings(
    entries: &[ArrivalsSpec],
    offers: &[Offer],
    flows: &[Flow<'_>],
    plan: &Plan,
) -> Vec<FieldError> {
    let mut warnings = Vec::new();
    for (index, (entry, offer)) in entries.iter().zip(offers).enumerate() {
        let Some(link) = offer.link.filter(|_| !offer.rate.is_nan()) else { continue };
        let link = Passed { number: link, at: entry.flow.start };
        let Some(rate) = plan.links[link.number as usize].spec.nominal_rate() else { continue };
        let offered = link.transfers(entries, offers) + link.datagrams(flows, plan);
        let load = offered / rate.as_bps() as f64;
        if load < 1.0 {
            continue;
        }
        let id = &plan.links[link.number as usize].id;
        let keys = &entry.keys;
        let key = [("load", keys.load.is_some()), ("rate", keys.rate.is_some())];
        let key = key.into_iter().find(|(_, given)| *given).map_or("process", |(key, _)| key);
        let message = format!(
            "with headers, framing and handshakes {load:.2} of the rate of link '{id}'; transfers \
             pile up without end"
        );
        warnings.push(FieldError::new(format!("arrivals.{index}.{key}"), message));
    }
    warnings
}

/// A link at an instant of the run.
#[derive(Clone, Copy)]
struct Passed {
    number: u32,
    at: Span,
}

impl Passed {
    fn is_on(self, flow: &FlowSpec) -> bool {
        flow.start <= self.at && flow.stop.is_none_or(|stop| self.at < stop)
    }

    /// Bits per second that open loops offer.
    fn transfers(self, entries: &[ArrivalsSpec], offers: &[Offer]) -> f64 {
        let passing = entries.iter().zip(offers).filter(|(entry, offer)| {
            offer.link == Some(self.number) && !offer.rate.is_nan() && self.is_on(&entry.flow)
        });
        let bytes =
            passing.map(|(entry, offer)| offer.rate * entry.mean_transfers() * offer.wire_bytes);
        8.0 * bytes.sum::<f64>()
    }

    /// Bits per second that declared flows of datagrams offer.
    fn datagrams(self, flows: &[Flow<'_>], plan: &Plan) -> f64 {
        let passing = flows.iter().zip(&plan.routes).filter(|(flow, routes)| {
            let is_here = routes.forward.contains(&self.number) && self.is_on(flow.spec);
            flow.spec.transport.kind == "udp" && is_here
        });
        let spec = &plan.links[self.number as usize].spec;
        passing.map(|(flow, _)| datagram_rate(flow.spec, spec)).sum()
    }
}

/// Bits per second on a link of a flow whose application writes at a rate of its own.
fn datagram_rate(flow: &FlowSpec, link: &LinkSpec) -> f64 {
    let params = &flow.traffic.params;
    let text = |key: &str| params.get(key).and_then(Value::as_str);
    let rate = text("rate").and_then(|text| text.parse::<Rate>().ok());
    let size = text("size").and_then(|text| text.parse::<Bytes>().ok());
    let (Some(rate), Some(size)) = (rate, size) else { return 0.0 };
    if !["cbr", "poisson"].contains(&flow.traffic.kind.as_str()) || size.0 == 0 {
        return 0.0;
    }
    let each = u64::from(crate::transport::udp::HEADERS) + link.overhead.0;
    let whole = size.0 + size.0.div_ceil(flow.mss.into()) * each;
    rate.as_bps() as f64 * whole as f64 / size.0 as f64
}

/// What results tell of entries: for each its `label`, `mean_size` (B), `rate` of arrivals (per
/// second, null for a closed loop), `wire_bytes` of a mean transfer, the recorded `link` to which
/// loads refer (its index, or null), and its `variants` with their `base_rtt` (s), `cca` and
/// `path`.
pub(crate) fn told(entries: &[ArrivalsSpec], flows: usize, offers: &[Offer], plan: &Plan) -> Value {
    let recorded = plan.links.iter().filter(|link| link.recorded).count() as u32;
    let is_recorded = |link: &u32| *link < recorded;
    let mut path = flows;
    let entries = entries.iter().zip(offers).map(|(entry, offer)| {
        let variants = Variant::of(entry, path);
        path += variants.len();
        let variants = variants.iter().map(|variant| {
            let forward = plan.routes[variant.path].forward.iter().copied();
            let controls = variant.flow.cca.as_ref().map(|controls| {
                controls.iter().map(|control| control.kind.as_str()).collect::<Vec<_>>().join("+")
            });
            json!({
                "weight": variant.weight,
                "cca": controls,
                "base_rtt": plan.base_rtt(variant.path).as_secs_f64(),
                "path": forward.filter(is_recorded).collect::<Vec<_>>(),
            })
        });
        json!({
            "label": entry.keys.label,
            "mean_size": offer.mean_size,
            "rate": Some(offer.rate).filter(|rate| !rate.is_nan()),
            "wire_bytes": offer.wire_bytes,
            "link": offer.link.filter(is_recorded),
            "variants": variants.collect::<Vec<_>>(),
        })
    });
    Value::Array(entries.collect())
}
