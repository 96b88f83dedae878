//! Graph: nodes, links and routes as the file gives them.
//!
//! Model: a directed graph with routes that are fixed for the run, by default the shortest of
//! Dijkstra, "A note on two problems in connexion with graphs" (1959).
//!
//! An entry of `nodes` is a name, or a table with `id`, `kind` and the keys of that [kind of
//! node](nodes.md), which then gets every packet that arrives at it, including those of its own
//! flows. Other nodes are hosts and routers, where packets follow their routes.
//!
//! Each entry of `links` joins two nodes. A link is equal in both directions unless `duplex =
//! false`; the direction from `to` to `from` is called `ID_reverse`, and its loss is
//! `reverse_loss`. For directions that differ, write two links with `duplex = false`.
//!
//! A flow gives `from` and `to`, and takes the path of the least propagation delay (among equals
//! the fewest links, then the order of the file), or the links that `route` lists;
//! acknowledgments take the same links back, or the shortest path where one of them has no
//! reverse. A flow's `rtt` is added at the sender, half in each direction, behind an access link
//! if the flow has an `access_rate`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::builder::Builder;
use super::graph_node::GraphNode;
use super::{Plan, Topology, known_node};
use crate::edge::link::LinkSpec;
use crate::error::FieldError;
use crate::reading;
use crate::registry::{Catalogue, Params};
use crate::spec::limits::require_label;
use crate::spec::{Flow, FlowDirection};

/// Keys of a graph.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Graph {
    /// The nodes, each a name or a table with `id`, `kind` and the keys of that kind. Default:
    /// those that links name.
    pub nodes: Vec<GraphNode>,
    /// The links, each a table with `id`, `from`, `to` and the keys of a link.
    pub links: Vec<GraphLink>,
}

/// A link of a graph: its ends, and the keys of every link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct GraphLink {
    /// Its name in results and routes.
    pub id: String,
    /// Node it leaves.
    pub from: String,
    /// Node it reaches.
    pub to: String,
    /// Whether there is an equal link in the other direction.
    #[serde(default = "both_ways")]
    pub duplex: bool,
    /// The other keys: a [`LinkSpec`].
    #[serde(flatten)]
    #[schemars(with = "LinkSpec")]
    pub link: Map<String, Value>,
}

fn both_ways() -> bool {
    true
}

impl GraphLink {
    fn spec(&self, catalogue: &Catalogue) -> Result<LinkSpec, FieldError> {
        let mut spec: LinkSpec = reading::read(&Value::Object(self.link.clone()))?;
        spec.resolve(catalogue)?;
        if !self.duplex && spec.reverse_loss.fraction() > 0.0 {
            let message = "given for a link that is not duplex; leave it out, or set duplex = true";
            return Err(FieldError::new("reverse_loss", message));
        }
        Ok(spec)
    }

    fn reverse_id(&self) -> String {
        format!("{}_reverse", self.id)
    }

    fn ids(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.id.clone()).chain(self.duplex.then(|| self.reverse_id()))
    }
}

impl Params for Graph {
    fn resolve(&mut self, catalogue: &Catalogue) -> Result<(), FieldError> {
        for (index, link) in self.links.iter_mut().enumerate() {
            let spec = link.spec(catalogue).map_err(|e| e.within(&format!("links.{index}")))?;
            if let Ok(Value::Object(keys)) = serde_json::to_value(spec) {
                link.link = keys;
            }
        }
        if self.nodes.is_empty() {
            for id in self.links.iter().flat_map(|link| [&link.from, &link.to]) {
                if !self.nodes.iter().any(|node| node.id == *id) {
                    self.nodes.push(GraphNode::plain(id));
                }
            }
        }
        for (index, node) in self.nodes.iter_mut().enumerate() {
            if let Some(kind) = &mut node.kind {
                kind.resolve(catalogue).map_err(|e| e.within(&format!("nodes.{index}")))?;
            }
        }
        Ok(())
    }

    fn validate(&self) -> Result<(), FieldError> {
        if self.links.is_empty() {
            return Err(FieldError::new("links", "is empty; a graph has at least one link"));
        }
        self.check_labels()?;
        let names = self.names();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                let field = format!("nodes.{index}");
                return Err(FieldError::new(field, format!("'{name}' names two nodes")));
            }
        }
        let mut ids = std::collections::BTreeSet::new();
        for (index, link) in self.links.iter().enumerate() {
            let field = |key: &str| format!("links.{index}.{key}");
            if link.from == link.to {
                return Err(FieldError::new(
                    field("to"),
                    format!("'{}' is where the link comes from; give another node", link.to),
                ));
            }
            for (key, node) in [("from", &link.from), ("to", &link.to)] {
                known_node(&field(key), node, &names)?;
            }
            if let Some(id) = link.ids().find(|id| !ids.insert(id.clone())) {
                return Err(FieldError::new(field("id"), format!("'{id}' names two links")));
            }
        }
        Ok(())
    }
}

impl Topology for Graph {
    fn plan(&self, flows: &[Flow<'_>], catalogue: &Catalogue) -> Result<Plan, FieldError> {
        let mut builder = Builder::new(None);
        for node in &self.nodes {
            builder.node(&node.id)?;
            if let Some(kind) = &node.kind {
                builder.set_kind(&node.id, kind)?;
            }
        }
        for (index, link) in self.links.iter().enumerate() {
            let spec =
                link.spec(catalogue).map_err(|e| e.within(&format!("topology.links.{index}")))?;
            let reverse = link.duplex.then(|| spec.reversed());
            builder
                .link(&link.id, [&link.from, &link.to], spec, reverse)
                .map_err(|e| e.within(&format!("topology.links.{index}")))?;
        }
        for flow in flows {
            self.flow(&mut builder, flow).map_err(|e| e.within(&flow.field()))?;
        }
        Ok(builder.finish())
    }
}

impl Graph {
    fn check_labels(&self) -> Result<(), FieldError> {
        for (index, link) in self.links.iter().enumerate() {
            for (key, text) in [("id", &link.id), ("from", &link.from), ("to", &link.to)] {
                require_label(&format!("links.{index}.{key}"), text)?;
            }
        }
        let mut nodes = self.nodes.iter().enumerate();
        nodes.try_for_each(|(index, node)| require_label(&format!("nodes.{index}"), &node.id))
    }

    fn names(&self) -> Vec<&str> {
        self.nodes.iter().map(|node| node.id.as_str()).collect()
    }

    fn flow(&self, builder: &mut Builder, flow: &Flow<'_>) -> Result<(), FieldError> {
        if flow.spec.direction != FlowDirection::Forward {
            let message = "reverse given; in a graph, exchange from and to instead";
            return Err(FieldError::new("direction", message));
        }
        let host = |key: &str, name: &Option<String>| match name {
            Some(name) => known_node(key, name, &self.names()).map(|_| name.clone()),
            None => Err(FieldError::new(key, "is missing; a flow of a graph gives from and to")),
        };
        let from = host("from", &flow.spec.from)?;
        let to = host("to", &flow.spec.to)?;
        builder.flow(flow, &from, &to)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalogue::builtin;
    use crate::scenario::Scenario;
    use crate::units::Span;

    fn triangle(flow: Value) -> Result<Plan, FieldError> {
        let mut flow = flow;
        flow["cca"] = json!("reno");
        let link = |id: &str, from: &str, to: &str, delay: &str, duplex: bool| {
            json!({ "id": id, "from": from, "to": to, "delay": delay, "rate": "10 Mbit/s",
                    "reverse_loss": if duplex { "1 %" } else { "0 %" }, "duplex": duplex })
        };
        let scenario = json!({
            "duration": "1 s",
            "topology": { "kind": "graph", "links": [
                link("ab", "a", "b", "5 ms", true),
                link("bc", "b", "c", "5 ms", true),
                link("ac", "a", "c", "20 ms", false),
            ] },
            "flows": [flow],
        });
        Ok(Scenario::from_json(&scenario, builtin())?.plan().clone())
    }

    fn way(plan: &Plan, links: &[u32]) -> Vec<String> {
        links.iter().map(|link| plan.links[*link as usize].id.clone()).collect()
    }

    #[test]
    fn shortest_path_there_and_the_same_links_back() {
        let plan = triangle(json!({ "from": "a", "to": "c", "rtt": "2 ms" })).unwrap();
        let routes = &plan.routes[0];
        assert_eq!(way(&plan, &routes.forward), ["delay_1 ms", "ab", "bc"]);
        assert_eq!(
            way(&plan, &routes.backward),
            ["bc_reverse", "ab_reverse", "delay_1 ms_reverse"]
        );
        assert_eq!(plan.base_rtt(0), Span::from_millis(22));
        assert_eq!(plan.links[1].spec.loss.fraction(), 0.01);
    }

    #[test]
    fn explicit_route_returns_by_the_shortest_path_where_it_has_no_reverse() {
        let plan = triangle(json!({ "from": "a", "to": "c", "route": ["ac"] })).unwrap();
        let routes = &plan.routes[0];
        assert_eq!(way(&plan, &routes.forward), ["ac"]);
        assert_eq!(way(&plan, &routes.backward), ["bc_reverse", "ab_reverse"]);
    }

    #[test]
    fn refuses_routes_that_do_not_lead_there() {
        let why = |flow: Value| triangle(flow).unwrap_err().to_string();
        let broken = why(json!({ "from": "a", "to": "c", "route": ["bc"] }));
        assert_eq!(broken, "flows.0.route: 'bc' leaves b, but the route has come to a");
        let short = why(json!({ "from": "a", "to": "c", "route": ["ab"] }));
        assert_eq!(short, "flows.0.route: ends at b, not at c");
        let unknown = why(json!({ "from": "a", "to": "c", "route": ["abc"] }));
        assert!(
            unknown.starts_with("flows.0.route: unknown link 'abc'; did you mean 'a"),
            "{unknown}"
        );
        let unknown = why(json!({ "from": "a", "to": "d" }));
        assert!(unknown.starts_with("flows.0.to: unknown node 'd'"), "{unknown}");
        let missing = why(json!({ "from": "a" }));
        assert!(missing.starts_with("flows.0.to: is missing"), "{missing}");
    }
}
