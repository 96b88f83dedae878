//! Multicast router of one shared tree: all packets pass a rendezvous point on the way to members.
//!
//! Model: PIM sparse mode (RFC 7761) without the switch to the shortest path: a source's router
//! sends packets to the rendezvous point by the shortest path, in hops, and from there they are
//! forwarded down the tree of shortest paths to every node where a flow of the group ends, whatever
//! a packet's destination. Queues are the links' FIFOs, and nothing limits a source. It is the
//! baseline of the [overlay](#overlay); it carries the flows with a `group` in their
//! [`service`](scenario.md#services), and ignores the service's other keys.
//!
//! Deviations: joins are in place from the beginning, and a registered packet is as long as any
//! other. A packet is not sent back to where it came from.

use std::collections::VecDeque;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Behaviour, Node, NodeContext, NodeInit, Port, Registered};
use crate::error::FieldError;
use crate::multicast::Groups;
use crate::packet::{Direction, Packet, Route};
use crate::units::Time;

/// Parameters of a router of a shared tree.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The node that is the rendezvous point. Default: the first one of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rendezvous: Option<String>,
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        Ok(())
    }
}

/// A router of a shared tree.
#[derive(Debug)]
pub struct SharedTree {
    groups: Arc<Groups>,
    me: usize,
    /// Next member towards the rendezvous point; none at the rendezvous point itself.
    up: Option<usize>,
    /// Next members away from it, each with the members behind it, as bits.
    down: Vec<(usize, u64)>,
    /// The stream of each flow.
    streams: Vec<Option<usize>>,
    /// Members of each group, as bits.
    members: Vec<u64>,
}

impl Registered for SharedTree {
    type Params = Params;

    fn behaviour(params: Params, init: &NodeInit) -> Behaviour {
        let groups = init.given.get::<Groups>().unwrap_or_default();
        let me = groups.member(init.number).unwrap_or(0);
        let root = groups.names.iter().position(|name| Some(name) == params.rendezvous.as_ref());
        Behaviour::of(SharedTree::new(groups, me, root.unwrap_or(0)))
    }
}

impl SharedTree {
    fn new(groups: Arc<Groups>, me: usize, root: usize) -> Self {
        let parents = parents(&groups, root);
        let mut down: Vec<(usize, u64)> = Vec::new();
        for member in 0..parents.len() {
            // Walks up from each member: the step that ends here comes from the branch of that
            // member.
            let mut at = member;
            while let Some(parent) = parents[at] {
                if parent == me {
                    match down.iter_mut().find(|(child, _)| *child == at) {
                        Some((_, beyond)) => *beyond |= 1 << member,
                        None => down.push((at, 1 << member)),
                    }
                }
                at = parent;
            }
        }
        let up = parents.get(me).copied().flatten();
        let (streams, members) = (streams_by_flow(&groups), members_by_group(&groups));
        SharedTree { groups, me, up, down, streams, members }
    }

    fn port(&self, cx: &NodeContext<'_>, member: usize) -> Option<Port> {
        let number = usize::from(self.groups.members[member]);
        cx.ports().iter().find(|port| port.to == Some(number)).copied()
    }

    /// Delivers a copy to each receiver of the stream at this node.
    fn deliver(&self, now: Time, stream: usize, packet: &Packet, cx: &mut NodeContext<'_>) {
        let receivers = &self.groups.streams[stream].receivers;
        for receiver in receivers.iter().filter(|one| usize::from(one.member) == self.me) {
            if receiver.start <= now && now < receiver.stop {
                let way = packet.way.with_direction(Direction::Forward);
                let packet = Packet { flow: receiver.flow, way, ..*packet };
                let copy = cx.copy(&packet, Route::default(), 2 * receiver.flow + 1);
                cx.forward(copy);
            }
        }
    }

    /// Sends a copy down every branch with members of the group, except where it came from.
    fn send_down(&self, stream: usize, packet: &Packet, cx: &mut NodeContext<'_>) {
        let group = self.members[usize::from(self.groups.streams[stream].group)];
        let source = self.groups.member(packet.tuple.source).map_or(0, |member| 1 << member);
        for (child, beyond) in &self.down {
            if beyond & group & !source != 0
                && let Some(port) = self.port(cx, *child)
            {
                let copy = cx.copy(packet, Route::default(), packet.socket);
                cx.send(port, copy);
            }
        }
    }
}

/// The stream that each flow sends, if any.
fn streams_by_flow(groups: &Groups) -> Vec<Option<usize>> {
    let mut streams = Vec::new();
    for (index, stream) in groups.streams.iter().enumerate() {
        let Some(flow) = stream.sender().map(|flow| flow as usize) else { continue };
        streams.resize(streams.len().max(flow + 1), None);
        streams[flow] = Some(index);
    }
    streams
}

/// The members of each group, as bits.
fn members_by_group(groups: &Groups) -> Vec<u64> {
    let mut members = vec![0; groups.groups.len()];
    for stream in &groups.streams {
        let receivers = stream.receivers.iter().fold(0, |set, one| set | 1 << one.member);
        members[usize::from(stream.group)] |= receivers;
    }
    members
}

/// Next member of each towards `root` by the fewest hops; of equal ones the first.
fn parents(groups: &Groups, root: usize) -> Vec<Option<usize>> {
    let mut parents = vec![None; groups.members.len()];
    let mut next = VecDeque::from([root]);
    while let Some(at) = next.pop_front() {
        for [from, to] in &groups.links {
            let Some(to) = groups.member(*to).filter(|_| groups.members[at] == *from) else {
                continue;
            };
            if to != root && parents[to].is_none() {
                parents[to] = Some(at);
                next.push_back(to);
            }
        }
    }
    parents
}

impl Node for SharedTree {
    /// On its way up a packet is marked forward, on its way down backward.
    fn on_packet(&mut self, now: Time, _from: usize, packet: Packet, cx: &mut NodeContext<'_>) {
        let Some(stream) = self.streams.get(packet.flow as usize).copied().flatten() else {
            return cx.forward(packet);
        };
        if let (Some(up), Direction::Forward) = (self.up, packet.direction())
            && let Some(port) = self.port(cx, up)
        {
            return cx.send(port, Packet { route: Route::default(), hop: 0, ..packet });
        }
        cx.absorb(&packet);
        let packet = Packet { way: packet.way.with_direction(Direction::Backward), ..packet };
        self.deliver(now, stream, &packet, cx);
        self.send_down(stream, &packet, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_those_of_the_shortest_ways() {
        // 0 - 1 - 2, 1 - 3, 0 - 4 - 3: the root is 0, 3 hangs from 1.
        let pairs = [[0, 1], [1, 2], [1, 3], [0, 4], [4, 3]];
        let links = pairs.into_iter().flat_map(|[a, b]| [[a, b], [b, a]]).collect();
        let groups = Groups { members: (0..5).collect(), links, ..Groups::default() };
        let groups = Arc::new(groups);
        let tree = |me| SharedTree::new(groups.clone(), me, 0);
        assert_eq!((tree(0).up, tree(0).down), (None, vec![(1, 0b0_1110), (4, 0b1_0000)]));
        assert_eq!((tree(1).up, tree(1).down), (Some(0), vec![(2, 0b00100), (3, 0b01000)]));
        assert_eq!((tree(3).up, tree(3).down), (Some(1), vec![]));
    }
}
