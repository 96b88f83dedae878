//! GNAT's section of the scenario: the services of an overlay for flows, by flow or by port.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::overlay::message::{NUMBER, NUMBER_AND_SET, TIMED};
use super::overlay::{FlowTransport, Largest, Mailboxes, OverlayConfig, OverlayFlow};
use super::service::{PortService, ServiceSpec};
use sojourn_base::error::FieldError;
use sojourn_base::registry::Entry;
use sojourn_base::units::Time;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::section::multicast::{Joining, SERVICE, TREE, check_rendezvous, members};
use sojourn_sim::section::{self, Gift, ScenarioSpec, Section, Sections};
use sojourn_sim::spec::own::{Keys, Place};
use sojourn_sim::spec::{Flow, FlowSpec};
use sojourn_sim::topology::Plan;
use sojourn_sliq::wire::{DATA_LEN, UNDERLAY};

const OVERLAY: &str = "overlay";
/// The header of data that may be given up: with the first number that is not.
const DATA_HEADER: usize = DATA_LEN + 4;

/// Keys of the scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioKeys {
    /// Services of an overlay for flows by their `port`; a port that several name has the first
    /// one's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<PortService>,
}

/// Keys of a flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlowKeys {
    /// Service of the overlay between its hosts; without one, the overlay does not carry the flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceSpec>,
    /// Destination port, in place of `service`: the service of the scenario's `services` with that port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

impl Keys for ScenarioKeys {
    const PLACES: &'static [Place] = &[("services", Some("flows"))];
}

impl Keys for FlowKeys {
    const PLACES: &'static [Place] = &[(SERVICE, None), ("port", None)];

    fn group(&self) -> Option<&str> {
        self.service.as_ref()?.group.as_deref()
    }
}

enum Services {}

/// The section, in the place of that of shared trees alone.
pub(crate) fn section() -> Entry<Sections> {
    section::entry::<Services>(SERVICE)
}

impl Section for Services {
    type OfScenario = ScenarioKeys;
    type OfFlow = FlowKeys;

    /// Replaces each flow's port by its service; the canonical form contains services only.
    fn arrange(own: ScenarioKeys, flows: &mut [FlowSpec]) -> Result<(), FieldError> {
        let ranges = ranges(&own.services)?;
        for (index, flow) in flows.iter_mut().enumerate() {
            let mut keys: FlowKeys = flow.own.get();
            let Some(port) = keys.port.take() else { continue };
            let field = format!("flows.{index}.port");
            if keys.service.is_some() {
                let message = "given as well as service; give one of them";
                return Err(FieldError::new(field, message));
            }
            let of_port = |(first, last): &(u16, u16)| (*first..=*last).contains(&port);
            let Some(place) = ranges.iter().position(of_port) else {
                let message = format!("{port} given; no entry of services has it among its ports");
                return Err(FieldError::new(field, message));
            };
            keys.service = Some(own.services[place].service.clone());
            flow.bring(&keys);
        }
        Ok(())
    }

    /// Gives overlay nodes, if there are any, their overlay configuration, and determines which
    /// flows only count packets.
    fn give(scenario: &ScenarioSpec, plan: &Plan, gift: &mut Gift) -> Result<(), FieldError> {
        let ours = members(plan, &[OVERLAY, TREE])?;
        let kind = ours.first().map(|member| member.kind.kind.as_str());
        if kind == Some(TREE) {
            check_rendezvous(&ours)?;
        }
        let (mut joining, mut flows) = (Joining::of(&ours, plan), Vec::new());
        for flow in scenario.flows_expanded() {
            let within = |error: FieldError| error.within(&format!("flows.{}", flow.entry));
            flows.extend(sent(plan, &flow, &mut joining).map_err(within)?);
            let service = flow.spec.own.get::<FlowKeys>().service;
            match kind {
                Some(TREE) => check_group(service.as_ref()).map_err(within)?,
                _ => gift.carried.extend(service.map(|_| flow.id)),
            }
        }
        gift.silent.extend(joining.groups.only_counting());
        match kind {
            Some(TREE) => gift.nodes.give(Arc::new(joining.groups)),
            Some(_) => {
                gift.nodes.give(Arc::new(OverlayConfig::new(joining.groups, flows)));
                let mailboxes = Arc::new(Mailboxes::default());
                gift.nodes.give(Arc::clone(&mailboxes));
                gift.datagrams = Some(mailboxes);
            }
            None => {}
        }
        Ok(())
    }
}

/// Checks that packets of flows that the overlay carries fit into datagrams of this size: longer ones
/// would be cut into fragments, or refused by the system, and lost one by one.
///
/// # Errors
/// Names the flow's `mss`, and the largest that fits.
pub fn check_sizes(scenario: &Scenario, largest: Largest) -> Result<(), FieldError> {
    for flow in scenario.flows_expanded() {
        let Some(service) = flow.spec.own.get::<FlowKeys>().service else { continue };
        // TCP between nodes has segments that always fit.
        if flow.spec.transport.kind != "udp" {
            continue;
        }
        let more = match service {
            ServiceSpec { group: Some(_), .. } => NUMBER_AND_SET,
            ServiceSpec { deadline: Some(_), .. } => TIMED,
            _ => NUMBER,
        };
        let around = DATA_HEADER + (more + UNDERLAY) as usize;
        let most = largest.0.saturating_sub(around);
        if flow.spec.mss as usize > most {
            let given = flow.spec.mss;
            let message = format!(
                "{given} given; allowed: up to {most}, so that datagrams between nodes fit into a link's packets"
            );
            return Err(FieldError::new(format!("{}.mss", flow.field()), message));
        }
    }
    Ok(())
}

fn ranges(services: &[PortService]) -> Result<Vec<(u16, u16)>, FieldError> {
    let range = |(index, service): (usize, &PortService)| {
        service.range().ok_or_else(|| {
            let ports = &service.ports;
            let message = format!("{ports:?} given; allowed: a port, or two as in \"5001-5010\"");
            FieldError::new(format!("services.{index}.ports"), message)
        })
    };
    services.iter().enumerate().map(range).collect()
}

/// Checks that there is no service that only an overlay provides.
fn check_group(service: Option<&ServiceSpec>) -> Result<(), FieldError> {
    if service.is_some_and(|service| service.group.is_none()) {
        let message = "is missing; a flow through a shared tree needs a group";
        return Err(FieldError::new("service.group", message));
    }
    Ok(())
}

/// The flow, if it belongs to the overlay and no other flow sends the packets that it counts.
fn sent(
    plan: &Plan,
    flow: &Flow<'_>,
    joining: &mut Joining,
) -> Result<Option<OverlayFlow>, FieldError> {
    let Some(service) = flow.spec.own.get::<FlowKeys>().service else { return Ok(None) };
    service.validate().map_err(|error| error.within("service"))?;
    let ends = joining.ends(&plan.routes[flow.id as usize], OVERLAY)?;
    let mut transport = transport_of(flow.spec, &service)?;
    if let Some(group) = &service.group {
        let stream = joining.join(group, ends, flow)?;
        if joining.groups.streams[stream].sender() != Some(flow.id) {
            return Ok(None);
        }
        transport = FlowTransport::Stream { index: stream as u16 };
    }
    let start = Time::ZERO + flow.spec.start;
    Ok(Some(OverlayFlow { flow: flow.id, ends, service, transport, start }))
}

fn transport_of(flow: &FlowSpec, service: &ServiceSpec) -> Result<FlowTransport, FieldError> {
    match flow.transport.kind.as_str() {
        "tcp" if !service.utility.takes_tcp() => {
            let given = service.utility.name();
            let message = format!("{given} given with transport tcp; allowed: log");
            Err(FieldError::new("service.utility", message))
        }
        "udp" => Ok(FlowTransport::Udp),
        "tcp" => Ok(FlowTransport::Tcp { mss: flow.mss }),
        other => {
            let message = format!("given with transport {other}; allowed: transport udp or tcp");
            Err(FieldError::new("service", message))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::catalogue::builtin;
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;
    use sojourn_net::multicast::Groups;

    fn link(to: &str) -> Value {
        json!({ "id": to, "from": "1", "to": to, "rate": "10 Mbit/s", "delay": "5 ms" })
    }

    /// Configuration for a stream from one node of a kind to two others.
    fn gift(kind: &str) -> Gift {
        let node = |id: &str| json!({ "id": id, "kind": kind });
        let (nodes, links) = (["1", "2", "3"].map(node), ["2", "3"].map(link));
        let stream = json!({
            "from": "1",
            "receivers": ["2", "3"],
            "transport": "udp",
            "traffic": { "kind": "cbr", "rate": "1 Mbit/s" },
            "service": { "group": "both" },
        });
        let scenario = json!({
            "duration": "1 s",
            "topology": { "kind": "graph", "nodes": nodes, "links": links },
            "flows": [stream],
        });
        Scenario::from_json(&scenario, builtin()).unwrap().gift().unwrap()
    }

    #[test]
    fn each_kind_of_node_is_given_what_it_knows() {
        let given = [OVERLAY, TREE].map(|kind| {
            let nodes = gift(kind).nodes;
            [nodes.get::<OverlayConfig>().is_some(), nodes.get::<Groups>().is_some()]
        });
        assert_eq!(given, [[true, false], [false, true]]);
    }

    #[test]
    fn a_flow_whose_packets_fit_no_datagram_is_refused() {
        let node = |id: &str| json!({ "id": id, "kind": OVERLAY });
        let of = |mss: u32, service: Value| {
            let traffic = json!({ "kind": "cbr", "rate": "1 Mbit/s" });
            let flow = json!({ "from": "1", "to": "2", "transport": "udp", "mss": mss,
                "traffic": traffic, "service": service });
            let nodes = ["1", "2"].map(node);
            let scenario = json!({ "duration": "1 s", "flows": [flow],
                "topology": { "kind": "graph", "nodes": nodes, "links": [link("2")] } });
            let scenario = Scenario::from_json(&scenario, builtin()).unwrap();
            check_sizes(&scenario, Largest(1_440)).map_err(|error| error.field)
        };
        let timed = json!({ "deadline": "50 ms" });
        assert_eq!([of(1_388, json!({})), of(1_368, timed.clone())], [Ok(()), Ok(())]);
        let refused = Err("flows.0.mss".to_owned());
        assert_eq!([of(1_389, json!({})), of(1_369, timed)], [refused.clone(), refused]);
    }

    #[test]
    fn of_a_streams_flows_the_first_sends_and_the_others_are_silent() {
        let Gift { nodes, silent, .. } = gift(OVERLAY);
        assert_eq!(silent, BTreeSet::from([1]));
        let config = nodes.get::<OverlayConfig>().unwrap();
        let senders: Vec<_> = config.flows.iter().map(|flow| flow.flow).collect();
        assert_eq!((senders, config.streams[0].sender()), (vec![0], Some(0)));
        assert_eq!(config.streams[0].destinations(Time::ZERO), 0b110);
    }

    /// Services that a flow and another one get.
    fn given(services: Value, flow: Value) -> Result<Vec<Option<f64>>, String> {
        let own: ScenarioKeys = serde_json::from_value(json!({ "services": services })).unwrap();
        let mut flows = [FlowSpec::default(), FlowSpec::default()];
        flows[0].bring::<FlowKeys>(&serde_json::from_value(flow).unwrap());
        Services::arrange(own, &mut flows).map_err(|error| error.field)?;
        let keys = flows.iter().map(|flow| flow.own.get::<FlowKeys>());
        assert!(keys.clone().all(|keys| keys.port.is_none()));
        Ok(keys.map(|keys| keys.service.map(|service| service.priority)).collect())
    }

    #[test]
    fn a_port_has_the_first_service_that_names_it() {
        let services = json!([
            {"ports": "5001", "service": {"priority": 5}},
            {"ports": "5000-5010", "service": {"priority": 2}},
        ]);
        let of = |flow| given(services.clone(), flow);
        assert_eq!(of(json!({"port": 5001})), Ok(vec![Some(5.0), None]));
        assert_eq!(of(json!({"port": 5010})), Ok(vec![Some(2.0), None]));
        assert_eq!(of(json!({"port": 80})), Err("flows.0.port".to_owned()));
        assert_eq!(of(json!({"port": 5001, "service": {}})), Err("flows.0.port".to_owned()));
    }

    #[test]
    fn ports_are_one_or_a_range() {
        for ports in ["x", "5-1", "70000", ""] {
            let refused = given(json!([{"ports": ports, "service": {}}]), json!({}));
            assert_eq!(refused, Err("services.0.ports".to_owned()), "{ports}");
        }
    }
}
