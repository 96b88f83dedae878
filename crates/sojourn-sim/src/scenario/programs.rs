//! Programs: where they run, and checks of what they ask for.

use super::ScenarioSpec;
use crate::error::{FieldError, quoted};
use crate::spec::limits::require;
use crate::spec::{Line, ProgramSpec, Recorded};
use crate::topology::Plan;
use crate::units::Span;

type Check = Result<(), FieldError>;

/// Names of the ends of a flow, the sender's first.
const ENDS: [&str; 2] = ["sender", "receiver"];
/// Most nodes that an error lists.
const LISTED: usize = 20;

/// Where a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// At an end of a flow.
    End {
        /// The flow's number.
        flow: usize,
        /// 0 for its sender, 1 for its receiver.
        side: usize,
    },
    /// At a node of the network, by number: an end of some flow.
    Node(u16),
}

/// The site of this name in a scenario with so many flows. A node's name goes before a flow's end.
pub(super) fn site(name: &str, flows: usize, plan: &Plan) -> Option<Site> {
    let named = plan.nodes.iter().position(|node| node.name == name).map(|node| node as u16);
    if let Some(node) = named.filter(|node| ends(flows, plan).any(|end| end == *node)) {
        return Some(Site::Node(node));
    }
    let (flow, end) = match name.rsplit_once('.') {
        Some((flow, end)) => {
            let number = flow.strip_prefix("flow-")?;
            (number.parse::<usize>().ok().filter(|known| known.to_string() == number)?, end)
        }
        None => (0, name),
    };
    let side = ENDS.iter().position(|known| *known == end)?;
    (flow < flows).then_some(Site::End { flow, side })
}

/// For each flow, whether a program is at either end.
pub(super) fn carried(scenario: &ScenarioSpec, plan: &Plan) -> Vec<bool> {
    let flows = scenario.flow_count();
    let sites = scenario.programs.iter().filter_map(|program| site(&program.host, flows, plan));
    let sites: Vec<Site> = sites.collect();
    let is_carried = |flow: usize| {
        let routes = &plan.routes[flow];
        let ends = [routes.source, routes.destination].into_iter().enumerate();
        let mut all = ends.flat_map(|(side, node)| [Site::End { flow, side }, Site::Node(node)]);
        all.any(|site| sites.contains(&site))
    };
    (0..flows).map(is_carried).collect()
}

/// The nodes at which flows end.
fn ends(flows: usize, plan: &Plan) -> impl Iterator<Item = u16> {
    plan.routes[..flows].iter().flat_map(|routes| [routes.source, routes.destination])
}

/// The names that there are, as an error lists them.
fn names(flows: usize, plan: &Plan) -> String {
    let mut nodes: Vec<u16> = Vec::new();
    for node in ends(flows, plan) {
        if nodes.len() == LISTED {
            break;
        }
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    let mut names = ENDS.map(str::to_owned).to_vec();
    names.extend(nodes.iter().map(|node| plan.nodes[usize::from(*node)].name.clone()));
    names.push(match flows {
        1 => "flow-0.sender, flow-0.receiver".to_owned(),
        _ => format!("flow-0.sender to flow-{}.receiver", flows - 1),
    });
    names.join(", ")
}

/// Refuses programs that could not run, and what cannot be combined with them.
pub(super) fn check(scenario: &ScenarioSpec, plan: &Plan) -> Check {
    let refuse = |field: &str, message: &str| Err(FieldError::new(field, message));
    if scenario.programs.is_empty() {
        return match scenario.date {
            Some(_) => refuse("date", "given without programs, which alone see it; leave it out"),
            None => Ok(()),
        };
    }
    let flows = scenario.flow_count();
    if flows == 0 {
        let message = "given without flows, whose ways through the network they use; add one";
        return refuse("programs", message);
    }
    if scenario.record.contains(&Recorded::Qlog) {
        return refuse(
            "record",
            "qlog given; of programs there are packets and pcap: leave it out",
        );
    }
    if scenario.pcap.as_ref().is_some_and(|pcap| pcap.flows.is_some()) {
        let message = "given; programs open connections that have no number yet: leave it out";
        return refuse("pcap.flows", message);
    }
    for (index, program) in scenario.programs.iter().enumerate() {
        check_program(program, scenario.duration, flows, plan)
            .map_err(|error| error.within(&format!("programs.{index}")))?;
    }
    Ok(())
}

fn check_program(program: &ProgramSpec, duration: Span, flows: usize, plan: &Plan) -> Check {
    let ProgramSpec { host, command, start, .. } = program;
    if site(host, flows, plan).is_none() {
        let message = format!("'{}' given; there are: {}", quoted(host), names(flows, plan));
        return Err(FieldError::new("host", message));
    }
    let words: Vec<&str> = match command {
        Line::Shell(text) => vec![text.as_str()],
        Line::Words(words) => words.iter().map(String::as_str).collect(),
    };
    if words.first().is_none_or(|first| first.trim().is_empty()) {
        return Err(FieldError::new("command", "is empty; give a program, with its arguments"));
    }
    if words.iter().any(|word| word.contains('\0')) {
        return Err(FieldError::new("command", "has a zero byte, which no argument may have"));
    }
    require(*start < duration, "start", start, &format!("before the end of the run, {duration}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::catalogue::builtin;
    use crate::scenario::Scenario;

    /// A scenario of three flows, two of which end at the node "here"; with these keys.
    fn read(keys: Value) -> Result<Scenario, String> {
        let mut scenario = json!({
            "duration": "10 s",
            "topology": { "kind": "dumbbell", "bottleneck": { "rate": "10 Mbit/s" } },
            "flows": [
                { "cca": "reno", "rtt": "20 ms", "count": 2, "from": "here" },
                { "cca": "reno", "rtt": "20 ms" },
            ],
        });
        for (key, value) in keys.as_object().unwrap() {
            scenario[key] = value.clone();
        }
        Scenario::from_json(&scenario, builtin()).map_err(|error| error.to_string())
    }

    fn program(host: &str) -> Value {
        json!({ "host": host, "command": ["true"] })
    }

    #[test]
    fn a_host_is_an_end_of_a_flow_or_a_node() {
        let hosts = ["sender", "flow-1.receiver", "here", "left", "flow-2.sender"];
        let programs: Vec<Value> = hosts.iter().map(|host| program(host)).collect();
        let scenario = read(json!({ "programs": programs })).unwrap();
        let node = |name: &str| {
            let found = scenario.plan().nodes.iter().position(|node| node.name == name);
            Site::Node(found.unwrap() as u16)
        };
        let end = |flow, side| Site::End { flow, side };
        assert_eq!(scenario.sites(), [end(0, 0), end(1, 1), node("here"), node("left"), end(2, 0)]);
        for host in
            ["flow-3.sender", "flow-01.sender", "flow-0.middle", "there", "", "flow-.sender"]
        {
            let why = read(json!({ "programs": [program("sender"), program(host)] })).unwrap_err();
            let all = "there are: sender, receiver, here, right, left, flow-0.sender to \
                       flow-2.receiver";
            assert_eq!(why, format!("programs.1.host: '{host}' given; {all}"));
        }
    }

    #[test]
    fn a_program_at_either_end_makes_a_flow_a_way() {
        let carried = |host: &str| read(json!({ "programs": [program(host)] })).unwrap().carried();
        assert_eq!(carried("flow-1.receiver"), [false, true, false]);
        assert_eq!(carried("here"), [true, true, false]);
        assert_eq!(carried("right"), [true; 3]);
        assert_eq!(read(json!({})).unwrap().carried(), [false; 3]);
    }

    #[test]
    fn a_way_needs_a_rate_in_one_direction() {
        let reverse = json!([{ "cca": "reno", "rtt": "20 ms", "direction": "reverse" }]);
        let refused = read(json!({ "flows": reverse })).unwrap_err();
        assert!(refused.starts_with("flows.0: its data passes no link with a rate"), "{refused}");
        read(json!({ "flows": reverse, "programs": [program("receiver")] })).unwrap();
    }

    #[test]
    fn what_cannot_be_is_refused_by_field() {
        let with = |key: &str, value: Value| {
            let mut program = program("sender");
            program[key] = value;
            read(json!({ "programs": [program] })).unwrap_err()
        };
        let empty = "programs.0.command: is empty; give a program, with its arguments";
        for command in [json!([]), json!(["", "x"]), json!(" ")] {
            assert_eq!(with("command", command), empty);
        }
        assert!(with("command", json!(["a", "b\0"])).starts_with("programs.0.command: has a zero"));
        assert_eq!(
            with("start", json!("10 s")),
            "programs.0.start: 10 s given; allowed: before the end of the run, 10 s"
        );
        let beside = |key: &str, value: Value| {
            let programs = json!([program("sender")]);
            read(json!({ "programs": programs, key: value })).unwrap_err()
        };
        assert!(beside("record", json!(["qlog"])).starts_with("record: qlog given; of programs"));
        assert!(beside("pcap", json!({ "flows": [0] })).starts_with("pcap.flows: given; programs"));
        assert!(beside("date", json!("soon")).starts_with("date: 'soon': expected a date in UTC"));
        let alone = read(json!({ "date": "2026-03-01" })).unwrap_err();
        assert_eq!(alone, "date: given without programs, which alone see it; leave it out");
    }

    #[test]
    fn programs_are_in_the_canonical_form_where_there_are_any() {
        let none = read(json!({})).unwrap().to_json();
        assert!(none.get("programs").is_none() && none.get("date").is_none());
        let command = "nginx & curl";
        let programs = json!([{ "host": "here", "command": command, "wait": true }]);
        let scenario = read(json!({ "programs": programs, "date": "2026-03-01" })).unwrap();
        let canonical = scenario.to_json();
        assert_eq!(
            canonical["programs"],
            json!([{ "host": "here", "command": command, "start": "0 s", "wait": true }])
        );
        assert_eq!(canonical["date"], "2026-03-01T00:00:00Z");
        assert_eq!(Scenario::from_json(&canonical, builtin()).unwrap().to_json(), canonical);
    }
}
