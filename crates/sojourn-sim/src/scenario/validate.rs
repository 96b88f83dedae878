//! Checks across keys: the order of times, combinations, and limits on sizes.

use super::{ScenarioSpec, pcap, programs, rtt};
use crate::arrivals;
use crate::cc::INFINITE_SSTHRESH;
use crate::cc::external::needed_ecn;
use crate::edge::link::LinkSpec;
use crate::error::FieldError;
use crate::quantity::{Bytes, Limit};
use crate::registry::Catalogue;
use crate::section;
use crate::spec::limits::{
    FASTEST, LONGEST_DELAY, MOST_BYTES, MOST_PACKETS, SMALL_PACKET, refuse, require, require_label,
};
use crate::spec::{
    BufferSize, Cca, EcnMode, FlowSpec, HostQueue, Pacing, Spec, Traffic, Transport,
};
use crate::tcp::Profile;
use crate::topology::{Plan, Routes};
use crate::traffic;
use crate::transport::TransportFacts;
use crate::units::{Rate, Span};

type Check = Result<(), FieldError>;

const LONGEST_RUN: Span = Span::from_secs(1_000_000);
const MOST_FLOWS: u64 = 100_000;
/// Most rows of samples in a run; each takes a few hundred bytes on disk.
const MOST_ROWS: u64 = 100_000_000;
const LARGEST_MSS: u32 = 65_000;
const LARGEST_INITIAL_WINDOW: u32 = 10_000;
const LEAST_SSTHRESH: u32 = 2;
const MOST_PER_ACK: u32 = 1_000;
const LONGEST_NAME: usize = 100;

/// Refuses scenarios that cannot be run.
pub(super) fn check(scenario: &ScenarioSpec, catalogue: &Catalogue) -> Check {
    check_name(&scenario.name)?;
    check_times(scenario)?;
    let copies: u64 = scenario.flows.iter().map(|flow| u64::from(flow.count)).sum();
    let any = !scenario.flows.is_empty() || !scenario.arrivals.is_empty();
    require(any, "flows", "no flow", "at least one, or arrivals")?;
    require(copies <= MOST_FLOWS, "flows", format!("{copies} flows"), "at most 100000")?;
    for (index, flow) in scenario.flows.iter().enumerate() {
        check_flow(flow, scenario.duration, catalogue)
            .map_err(|e| e.within(&format!("flows.{index}")))?;
    }
    arrivals::check(&scenario.arrivals)?;
    for (index, entry) in scenario.arrivals.iter().enumerate() {
        for (field, flow) in entry.flows() {
            check_ends(flow, scenario.duration, catalogue)
                .map_err(|e| e.within(&field).within(&format!("arrivals.{index}")))?;
        }
    }
    Ok(())
}

/// The name is used as a directory's name.
fn check_name(name: &str) -> Check {
    let plain = !name.chars().any(|c| c.is_control() || "/\\".contains(c));
    let fits = (1..=LONGEST_NAME).contains(&name.chars().count());
    let allowed = "1 to 100 characters without slashes, not beginning with a dot";
    require(plain && fits && !name.starts_with('.'), "name", format!("{name:?}"), allowed)
}

fn check_times(scenario: &ScenarioSpec) -> Check {
    let (duration, interval) = (scenario.duration, scenario.sample_interval);
    let within = Span::ZERO < duration && duration <= LONGEST_RUN;
    require(within, "duration", duration, "above zero, at most 1000000 s")?;
    require(interval > Span::ZERO, "sample_interval", interval, "above zero")?;
    let warmup = scenario.warmup;
    require(warmup < duration, "warmup", warmup, &format!("less than the duration, {duration}"))
}

/// Texts that tables, figures and messages show.
fn check_labels(flow: &FlowSpec) -> Check {
    let labels = [
        ("label", &flow.label),
        ("from", &flow.from),
        ("to", &flow.to),
        ("service.group", &flow.group),
    ];
    labels.iter().try_for_each(|(field, text)| match text {
        Some(text) => require_label(field, text),
        None => Ok(()),
    })
}

fn check_flow(flow: &FlowSpec, duration: Span, catalogue: &Catalogue) -> Check {
    check_ends(flow, duration, catalogue)?;
    match catalogue.find::<Transport>(&flow.transport.kind)?.facts.controlled {
        true => Ok(()),
        false => check_self_paced(flow, catalogue),
    }
}

/// What does not concern the flow's traffic.
fn check_ends(flow: &FlowSpec, duration: Span, catalogue: &Catalogue) -> Check {
    check_labels(flow)?;
    let (start, stop) = (flow.start, flow.stop.unwrap_or(duration));
    require(start < duration, "start", start, &format!("before the end of the run, {duration}"))?;
    require(start < stop, "stop", stop, &format!("after start, {start}"))?;
    require(stop <= duration, "stop", stop, &format!("at most the duration, {duration}"))?;
    require(flow.count > 0, "count", flow.count, "at least 1")?;
    require(flow.rtt() <= LONGEST_DELAY, "rtt", flow.rtt(), "at most 1 hour")?;
    require((1..=LARGEST_MSS).contains(&flow.mss), "mss", flow.mss, "1 to 65000 bytes")?;
    let acks = (1..=MOST_PER_ACK).contains(&flow.ack_every);
    require(acks, "ack_every", flow.ack_every, "1 to 1000 segments")?;
    let bursts = flow.offload != Some(false) || !flow.whole_bursts;
    require(bursts, "whole_bursts", true, "false, since offload = false makes no bursts")?;
    check_buffer("send_buffer", flow.send_buffer, flow.mss)?;
    check_buffer("receive_buffer", flow.receive_buffer, flow.mss)?;
    let transport = &catalogue.find::<Transport>(&flow.transport.kind)?.facts;
    check_tuning(flow, transport)?;
    match transport.controlled {
        true => check_control(flow, catalogue),
        false => check_uncontrolled(flow),
    }
}

/// Checks how a connection begins, and whether it is paced.
fn check_tuning(flow: &FlowSpec, transport: &TransportFacts) -> Check {
    let threshold = flow.initial_ssthresh.unwrap_or(LEAST_SSTHRESH);
    let within = (LEAST_SSTHRESH..=INFINITE_SSTHRESH).contains(&threshold);
    require(within, "initial_ssthresh", threshold, "2 to 2147483647 segments")?;
    let window = flow.initial_window.unwrap_or(1);
    let within = (1..=LARGEST_INITIAL_WINDOW).contains(&window);
    require(within, "initial_window", window, "1 to 10000 segments")?;
    let given =
        [("initial_window", flow.initial_window.is_some()), ("pacing", flow.pacing.is_some())];
    if let Some((key, _)) = given.iter().find(|(_, given)| *given && !transport.tunable) {
        let name = &flow.transport.kind;
        let message = format!("given with transport {name}, which ignores it; leave it out");
        return Err(FieldError::new(*key, message));
    }
    match flow.pacing {
        Some(Pacing::AtMost(rate)) => {
            require(rate <= FASTEST, "pacing", rate, &format!("at most {FASTEST}"))
        }
        Some(Pacing::Off) => {
            let allowed = "on or a rate, since host_queue = \"fq\" paces every control";
            require(flow.host_queue != HostQueue::Fq, "pacing", Pacing::Off, allowed)
        }
        _ => Ok(()),
    }
}

fn check_buffer(field: &str, size: BufferSize, mss: u32) -> Check {
    let BufferSize::Bytes(bytes) = size else { return Ok(()) };
    let most = MOST_BYTES.min(MOST_PACKETS * u64::from(mss));
    let allowed = format!("{mss} B (one segment) to {}", Bytes(most));
    require((u64::from(mss)..=most).contains(&bytes), field, size, &allowed)
}

/// The flow's feedback must include the signals that its control needs.
fn check_control(flow: &FlowSpec, catalogue: &Catalogue) -> Check {
    let (Some(controls), Some(ecn)) = (&flow.cca, flow.ecn) else { return Ok(()) };
    controls.iter().try_for_each(|cca| {
        check_feedback(cca, ecn, catalogue)?;
        check_pacing(flow, cca, catalogue)
    })
}

/// A control that is bounded only by pacing needs a sender or host queue that paces.
fn check_pacing(flow: &FlowSpec, cca: &Spec<Cca>, catalogue: &Catalogue) -> Check {
    let paces = catalogue.find::<Transport>(&flow.transport.kind)?.facts.paces;
    if paces || !catalogue.find::<Cca>(&cca.kind)?.facts.only_paced {
        return Ok(());
    }
    let why = format!("since {} is bounded by pacing alone", cca.kind);
    let allowed = format!("on or a rate, {why}");
    require(flow.pacing != Some(Pacing::Off), "pacing", Pacing::Off, &allowed)?;
    let stack = flow.stack.unwrap_or_default().name();
    let paced = Profile::named(stack).is_none_or(|profile| profile.internal_pacing)
        || flow.host_queue == HostQueue::Fq
        || flow.pacing.is_some();
    let allowed = format!("fq, {why} and {stack} leaves that to the host's queue");
    require(paced, "host_queue", flow.host_queue.name(), &allowed)
}

fn check_feedback(cca: &Spec<Cca>, ecn: EcnMode, catalogue: &Catalogue) -> Check {
    let facts = &catalogue.find::<Cca>(&cca.kind)?.facts;
    let allowed: &[EcnMode] = match needed_ecn(facts, &cca.params) {
        EcnMode::Off => return Ok(()),
        EcnMode::Classic => &[EcnMode::Classic, EcnMode::Accurate, EcnMode::Dctcp, EcnMode::Sce],
        EcnMode::Sce => &[EcnMode::Sce],
        EcnMode::Dctcp => &[
            EcnMode::Classic,
            EcnMode::Accurate,
            EcnMode::Dctcp,
            EcnMode::DctcpSce,
            EcnMode::Sce,
            EcnMode::L4s,
        ],
        // All of these modes count marks.
        EcnMode::Accurate | EcnMode::DctcpSce | EcnMode::L4s => {
            &[EcnMode::Accurate, EcnMode::Dctcp, EcnMode::DctcpSce, EcnMode::L4s]
        }
    };
    let names: Vec<&str> = allowed.iter().map(|mode| mode.name()).collect();
    let allowed_text = format!("{} (required by {})", names.join(", "), cca.kind);
    require(allowed.contains(&ecn), "ecn", ecn.name(), &allowed_text)
}

/// A sender without congestion control gets no feedback.
fn check_uncontrolled(flow: &FlowSpec) -> Check {
    let transport = &flow.transport.kind;
    let ecn = flow.ecn.unwrap_or_default();
    let plain = matches!(ecn, EcnMode::Off | EcnMode::Classic | EcnMode::L4s);
    let allowed = format!("off, classic or l4s with transport {transport}");
    require(plain, "ecn", ecn.name(), &allowed)
}

/// Without feedback, the application sets the rate.
fn check_self_paced(flow: &FlowSpec, catalogue: &Catalogue) -> Check {
    let transport = &flow.transport.kind;
    let models = catalogue.members::<Traffic>().iter();
    let paced: Vec<&str> =
        models.filter(|entry| entry.facts.self_paced).map(|entry| entry.listing.name).collect();
    let allowed = format!("{} with transport {transport}", paced.join(", "));
    let given = catalogue.find::<Traffic>(&flow.traffic.kind)?;
    require(given.facts.self_paced, "traffic", given.listing.name, &allowed)?;
    let rate = flow.traffic.params.get("rate").and_then(|rate| rate.as_str()?.parse().ok());
    let most = Rate::from_bps(traffic::MOST_WRITES * 8 * u64::from(flow.mss));
    let Some(rate) = rate.filter(|rate: &Rate| *rate > most) else { return Ok(()) };
    refuse("traffic.rate", rate, format!("up to {most} in datagrams of {} B (mss)", flow.mss))
}

/// Refuses scenarios that cannot be run on the network that the topology makes.
pub(super) fn check_plan(scenario: &ScenarioSpec, plan: &Plan, catalogue: &Catalogue) -> Check {
    check_rows(scenario, plan)?;
    pcap::check(scenario, plan)?;
    programs::check(scenario, plan)?;
    plan.check_media(&scenario.media, catalogue)?;
    section::give(scenario, plan, catalogue)?;
    let carried = programs::carried(scenario, plan);
    for (flow, routes) in scenario.paths().iter().zip(&plan.routes) {
        let back = carried.get(flow.id as usize).is_some_and(|carried| *carried);
        check_path((flow.spec, back), routes, plan, catalogue)
            .and_then(|()| rtt::check(flow.spec, routes, plan))
            .map_err(|e| e.within(&flow.field()))?;
    }
    for (link, base_rtt) in plan.links.iter().zip(plan.largest_base_rtts()) {
        check_products(&link.spec, base_rtt).map_err(|e| {
            FieldError::new("topology", format!("{} of link '{}': {}", e.field, link.id, e.message))
        })?;
    }
    Ok(())
}

fn check_rows(scenario: &ScenarioSpec, plan: &Plan) -> Check {
    let recorded = plan.links.iter().filter(|link| link.recorded).count();
    let told = scenario.flow_count() + scenario.arrivals.len();
    let interval = scenario.sample_interval;
    let samples = scenario.duration.as_nanos().div_ceil(interval.as_nanos());
    let rows = samples.saturating_mul((told + recorded) as u64);
    let given = format!("{interval}, and with it {rows} rows of samples,");
    let allowed = format!("at most {MOST_ROWS} rows, one per sample and flow or link");
    require(rows <= MOST_ROWS, "sample_interval", given, &allowed)
}

/// Without a rate on its path, data would be sent without end in no time; that of programs may be sent
/// `back` as well.
fn check_path(
    (flow, back): (&FlowSpec, bool),
    routes: &Routes,
    plan: &Plan,
    catalogue: &Catalogue,
) -> Check {
    let spec = |link: &u32| &plan.links[*link as usize].spec;
    let paced = |links: &[u32]| links.iter().any(|link| spec(link).is_paced());
    if !(paced(&routes.forward) || back && paced(&routes.backward)) {
        let message =
            "its data passes no link with a rate; give one of the links on its way a rate";
        return Err(FieldError::new("", message));
    }
    let transport = catalogue.find::<Transport>(&flow.transport.kind)?;
    let packet = u64::from(flow.mss + transport.facts.headers);
    let mtus = routes.forward.iter().filter_map(|link| spec(link).mtu);
    let Some(mtu) = mtus.min().filter(|mtu| packet > mtu.0) else { return Ok(()) };
    let allowed = format!("IP packets of at most {mtu}, the smallest mtu on its way");
    refuse("mss", format!("{} bytes, in packets of {packet} B,", flow.mss), allowed)
}

/// Checks of products of rate and delay.
fn check_products(link: &LinkSpec, base_rtt: Span) -> Check {
    let Some(rate) = link.rate else { return Ok(()) };
    let packets = rate.bytes_in(base_rtt) / SMALL_PACKET;
    let given = format!("{rate} and, with the base RTT of {base_rtt}, {packets} packets in flight");
    let allowed = format!("at most {MOST_PACKETS} packets in flight");
    require(packets <= MOST_PACKETS, "rate", given, &allowed)?;
    for (key, limit) in link.queue_sizes() {
        let Limit::Bdp(share) = limit else { continue };
        let packets = (packets as f64 * share) as u64;
        let given = format!("{limit}, {packets} packets,");
        let allowed = format!("at most {MOST_PACKETS} packets");
        require(packets <= MOST_PACKETS, &format!("queue.{key}"), given, &allowed)?;
    }
    Ok(())
}
