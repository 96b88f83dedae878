//! A node's state as a page of metrics, in Prometheus' text format 0.0.4.
//!
//! Names and units are as Prometheus' conventions say: seconds and bytes, and counters that end with
//! `_total`. A metric without a value at the moment is left out.

use std::fmt::{Display, Write};

use super::told::{ApplicationsTold, Exchanged, FlowTold, NeighbourTold, QueueTold, Told};

/// Before all names.
const PREFIX: &str = "sojourn_gnat";

/// A page being written.
#[derive(Debug, Default)]
struct Page(String);

/// Names and values of labels.
type Labels<'a> = Vec<(&'static str, &'a str)>;

/// The page.
pub(super) fn page(told: &Told) -> String {
    let mut page = Page::default();
    let about = vec![("node", told.node.as_str()), ("version", env!("CARGO_PKG_VERSION"))];
    page.gauge("info", "The node and the program's version.", [(about, Some(1))]);
    let uptime = [(Vec::new(), Some(told.uptime_s))];
    page.gauge("uptime_seconds", "Time since the node was started.", uptime);
    neighbours(&mut page, &told.neighbours);
    exchanged(&mut page, &told.neighbours);
    queues(&mut page, &told.queues);
    packets(&mut page, told);
    flows(&mut page, &told.flows);
    applications(&mut page, told.applications.as_ref());
    strangers(&mut page, told);
    page.0
}

impl Page {
    fn gauge<'a, T: Display>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'a>, Option<T>)>,
    ) {
        self.family(&format!("{PREFIX}_{name}"), "gauge", help, samples);
    }

    fn counter<'a>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'a>, Option<u64>)>,
    ) {
        self.family(&format!("{PREFIX}_{name}_total"), "counter", help, samples);
    }

    fn family<'a, T: Display>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'a>, Option<T>)>,
    ) {
        let mut has_head = false;
        for (labels, value) in samples {
            let Some(value) = value else { continue };
            if !has_head {
                self.line(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}"));
                has_head = true;
            }
            let labels: Vec<_> = labels
                .into_iter()
                .map(|(label, text)| format!("{label}=\"{}\"", escaped(text)))
                .collect();
            match &labels[..] {
                [] => self.line(format_args!("{name} {value}")),
                labels => self.line(format_args!("{name}{{{}}} {value}", labels.join(","))),
            }
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.0, "{line}");
    }
}

/// A label's value, as it stands between quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}

fn neighbours(page: &mut Page, neighbours: &[NeighbourTold]) {
    type Value = fn(&NeighbourTold) -> Option<f64>;
    let gauges: [(&str, &str, Value); 7] = [
        ("up", "Whether the connection works: 1 or 0.", |of| Some(f64::from(u8::from(of.works)))),
        ("rtt_seconds", "Smoothed RTT.", |of| Some(1e-3 * of.rtt_ms?)),
        ("latency_seconds", "Mean time from the connection's queue to the neighbour.", |of| {
            Some(1e-3 * of.latency_ms?)
        }),
        ("capacity_bytes_per_second", "What the connection can carry.", |of| {
            Some(1e6 / 8.0 * of.capacity_mbit?)
        }),
        ("key_age_seconds", "Age of the key that seals.", |of| of.key_age_s),
        ("clock_ahead_seconds", "By how much its clock is ahead.", |of| Some(1e-3 * of.clock_ms?)),
        ("silence_seconds", "Time since it was heard.", |of| of.silent_s),
    ];
    for (name, help, value) in gauges {
        let samples =
            neighbours.iter().map(|of| (vec![("neighbour", of.node.as_str())], value(of)));
        page.gauge(&format!("neighbour_{name}"), help, samples);
    }
}

fn exchanged(page: &mut Page, neighbours: &[NeighbourTold]) {
    type Count = fn(&Exchanged) -> u64;
    let counters: [(&str, &str, Count); 6] = [
        ("sent_bytes", "Sealed bytes to the neighbour.", |of| of.sent_bytes),
        ("sent_datagrams", "Sealed datagrams to the neighbour.", |of| of.sent_datagrams),
        ("received_bytes", "Sealed bytes of the neighbour.", |of| of.received_bytes),
        ("received_datagrams", "Sealed datagrams of the neighbour.", |of| of.received_datagrams),
        ("unsealed_datagrams", "Datagrams dropped for want of a key or an address.", |of| {
            of.unsealed_datagrams
        }),
        ("refused_datagrams", "Datagrams of the neighbour that were opened, then refused.", |of| {
            of.refused_datagrams
        }),
    ];
    for (name, help, count) in counters {
        let samples = neighbours
            .iter()
            .map(|of| (vec![("neighbour", of.node.as_str())], Some(count(&of.exchanged))));
        page.counter(&format!("neighbour_{name}"), help, samples);
    }
    let lost =
        neighbours.iter().map(|of| (vec![("neighbour", of.node.as_str())], Some(of.lost_packets)));
    let help = "Packets that connections to the neighbour held when they were begun anew.";
    page.counter("neighbour_lost_packets", help, lost);
}

fn queues(page: &mut Page, queues: &[QueueTold]) {
    type Count = fn(&QueueTold) -> Option<u64>;
    let gauges: [(&str, &str, Count); 3] = [
        ("bytes", "Bytes of packets that wait for a member.", |of| Some(of.bytes)),
        ("zombie_bytes", "Bytes of zombies in a member's queue.", |of| Some(of.zombie_bytes)),
        ("packets", "Packets that wait for a member.", |of| of.packets),
    ];
    for (name, help, count) in gauges {
        let samples = queues.iter().map(|of| (vec![("member", of.node.as_str())], count(of)));
        page.gauge(&format!("queue_{name}"), help, samples);
    }
}

fn packets(page: &mut Page, told: &Told) {
    let packets = &told.packets;
    let counters = [
        ("admitted", "Packets admitted to the overlay here.", packets.admitted),
        ("refused", "Packets refused here, before admission.", packets.refused),
        ("delivered", "Packets delivered to hosts here.", packets.delivered),
        ("expired", "Packets that could not arrive in time.", packets.expired),
        ("copied", "Copies made of packets to several receivers.", packets.copied),
    ];
    for (name, help, count) in counters {
        page.counter(&format!("{name}_packets"), help, [(Vec::new(), Some(count))]);
    }
    page.gauge("held_packets", "Packets that the node holds.", [(Vec::new(), Some(packets.held))]);
}

fn flows(page: &mut Page, flows: &[FlowTold]) {
    type Count = fn(&FlowTold) -> Option<u64>;
    let numbers: Vec<_> = flows.iter().map(|flow| flow.flow.to_string()).collect();
    let labels = |place: usize| -> Labels<'_> {
        let FlowTold { label, from, to, .. } = &flows[place];
        let named = [("label", label), ("from", from), ("to", to)];
        let named = named.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
        std::iter::once(("flow", numbers[place].as_str())).chain(named).collect()
    };
    let counters: [(&str, &str, Count); 6] = [
        ("sent_packets", "Packets that the flow's host sent.", |of| of.sent_packets),
        ("sent_bytes", "Bytes of payload that the flow's host sent.", |of| of.sent_bytes),
        ("admitted_packets", "Packets of the flow that were admitted.", |of| of.admitted_packets),
        ("refused_packets", "Packets of the flow that were refused.", |of| of.refused_packets),
        ("delivered_packets", "Packets that the flow's host received.", |of| of.delivered_packets),
        ("delivered_bytes", "Bytes of payload that the flow's host received.", |of| {
            of.delivered_bytes
        }),
    ];
    for (name, help, count) in counters {
        let samples = (0..flows.len()).map(|place| (labels(place), count(&flows[place])));
        page.counter(&format!("flow_{name}"), help, samples);
    }
    let delays = (0..flows.len())
        .map(|place| (labels(place), flows[place].delay_ms.map(|delay| 1e-3 * delay)));
    let help = "Mean time from writing to delivery over the last second.";
    page.gauge("flow_delay_seconds", help, delays);
}

fn applications(page: &mut Page, told: Option<&ApplicationsTold>) {
    type Count = fn(&ApplicationsTold) -> u64;
    let connections = told.map(|of| (Vec::new(), Some(of.connections)));
    page.gauge("program_connections", "TCP connections of programs.", connections);
    let counters: [(&str, &str, Count); 7] = [
        ("opened_connections", "TCP connections of programs opened.", |of| of.opened_connections),
        ("reset_connections", "TCP connections of programs reset.", |of| of.reset_connections),
        ("taken_bytes", "Bytes of connections from programs.", |of| of.taken_bytes),
        ("given_bytes", "Bytes of connections to programs.", |of| of.given_bytes),
        ("taken_datagrams", "Datagrams from programs.", |of| of.taken_datagrams),
        ("given_datagrams", "Datagrams to programs.", |of| of.given_datagrams),
        ("refused_datagrams", "Datagrams of programs without room or receiver.", |of| {
            of.refused_datagrams
        }),
    ];
    for (name, help, count) in counters {
        let sample = told.map(|of| (Vec::new(), Some(count(of))));
        page.counter(&format!("program_{name}"), help, sample);
    }
}

fn strangers(page: &mut Page, told: &Told) {
    let samples =
        told.strangers.reasons().map(|(reason, _, count)| (vec![("reason", reason)], Some(count)));
    page.counter("strange_datagrams", "Datagrams refused at the gate.", samples);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::daemon::told::{PacketsTold, StrangersTold};

    fn told() -> Told {
        let neighbour = |node: &str, works: bool| NeighbourTold {
            node: node.to_owned(),
            works,
            rtt_ms: works.then_some(12.5),
            capacity_mbit: works.then_some(8.0),
            exchanged: Exchanged { sent_bytes: u64::MAX, ..Exchanged::default() },
            ..NeighbourTold::default()
        };
        let flow = FlowTold {
            flow: 3,
            label: Some("a \"b\"\\\nc".to_owned()),
            from: Some("1".to_owned()),
            delivered_packets: Some(7),
            delay_ms: Some(1.5),
            ..FlowTold::default()
        };
        Told {
            node: "1".to_owned(),
            neighbours: vec![neighbour("2", true), neighbour("3", false)],
            queues: vec![QueueTold { node: "2".to_owned(), bytes: 5, ..QueueTold::default() }],
            flows: vec![flow],
            applications: Some(ApplicationsTold { given_bytes: 6, ..Default::default() }),
            packets: PacketsTold { expired: 4, ..PacketsTold::default() },
            strangers: StrangersTold { replayed: 9, ..StrangersTold::default() },
            ..Told::default()
        }
    }

    fn is_name(text: &str) -> bool {
        let mut bytes = text.bytes();
        let of_word = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        bytes.next().is_some_and(of_word)
            && bytes.all(|byte| of_word(byte) || byte.is_ascii_digit())
    }

    /// The rest after labels as they stand between braces.
    fn after_labels(mut text: &str) -> &str {
        loop {
            let (name, value) = text.split_once("=\"").unwrap();
            assert!(is_name(name), "{name}");
            let mut escapes = false;
            let end = value.bytes().position(|byte| {
                let ends = byte == b'"' && !escapes;
                assert!(!escapes || b"\\\"n".contains(&byte), "{value}");
                escapes = byte == b'\\' && !escapes;
                ends
            });
            text = &value[end.unwrap() + 1..];
            match text.strip_prefix(',') {
                Some(more) => text = more,
                None => return text.strip_prefix('}').unwrap(),
            }
        }
    }

    /// The samples of a page by what stands before their values; each line is held to the format.
    fn samples(page: &str) -> BTreeMap<String, f64> {
        assert!(page.ends_with('\n'));
        let (mut samples, mut kinds) = (BTreeMap::new(), BTreeMap::new());
        let mut helped = "";
        let mut last = "";
        for line in page.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                helped = help.split_once(' ').unwrap().0;
                continue;
            }
            if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').unwrap();
                assert!(name == helped && is_name(name) && name.starts_with("sojourn_gnat_"));
                assert!(["counter", "gauge"].contains(&kind), "{line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                assert!(kinds.insert(name, kind).is_none(), "{name} twice");
                last = name;
                continue;
            }
            let name = line.split(['{', ' ']).next().unwrap();
            assert_eq!(name, last, "a family's samples stand together, after its type");
            let rest = &line[name.len()..];
            let value = rest.strip_prefix('{').map_or(rest, after_labels).strip_prefix(' ');
            let value: f64 = value.unwrap().parse().unwrap();
            let before = &line[..line.rfind(' ').unwrap()];
            assert!(samples.insert(before.to_owned(), value).is_none(), "{before} twice");
        }
        samples
    }

    #[test]
    fn each_line_is_of_the_format() {
        let page = page(&told());
        let samples = samples(&page);
        let of = |name: &str| samples.get(&format!("sojourn_gnat_{name}")).copied();
        assert_eq!(of("neighbour_rtt_seconds{neighbour=\"2\"}"), Some(0.0125));
        assert_eq!(of("neighbour_rtt_seconds{neighbour=\"3\"}"), None);
        assert_eq!(of("neighbour_up{neighbour=\"3\"}"), Some(0.0));
        assert_eq!(of("neighbour_capacity_bytes_per_second{neighbour=\"2\"}"), Some(1e6));
        assert_eq!(of("neighbour_sent_bytes_total{neighbour=\"2\"}"), Some(u64::MAX as f64));
        assert_eq!(of("queue_bytes{member=\"2\"}"), Some(5.0));
        assert_eq!(of("expired_packets_total"), Some(4.0));
        assert_eq!(of("program_given_bytes_total"), Some(6.0));
        assert_eq!(of("neighbour_lost_packets_total{neighbour=\"3\"}"), Some(0.0));
        assert_eq!(of("strange_datagrams_total{reason=\"replayed\"}"), Some(9.0));
        let flow = r#"{flow="3",label="a \"b\"\\\nc",from="1"}"#;
        assert_eq!(of(&format!("flow_delivered_packets_total{flow}")), Some(7.0));
        assert_eq!(of(&format!("flow_delay_seconds{flow}")), Some(0.0015));
        assert!(!page.contains("flow_sent_packets"), "what is not known here is left out");
    }
}
