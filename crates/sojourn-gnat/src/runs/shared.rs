//! Links of nodes by themselves that other flows share.

use sojourn_base::counters::FlowCounters;
use sojourn_base::units::{Span, Time};
use sojourn_net::net::Links;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::{Surroundings, Uncarried};

use super::{TRIANGLE, datagrams, parts, scenario};
use crate::catalogue::builtin;

#[test]
fn flows_that_no_node_carries_are_simulated_on_shared_links() {
    let text = scenario(3, "", &TRIANGLE, &[datagrams(1, 2, 5.0, ""), datagrams(1, 2, 4.0, "")]);
    let (first, second) = text.rsplit_once("service = {  }").unwrap();
    let scenario = Scenario::from_toml(&format!("{first}{second}"), builtin()).unwrap();
    let mut parts = parts(&scenario, Links::Shared);
    let mut counters = FlowCounters::default();
    assert!(parts.iter_mut().all(|part| part.report(1, &mut counters) == [false, false]));
    let mut surroundings = Surroundings::new(&scenario, None).unwrap();
    let mut uncarried = Uncarried::new(&scenario, &mut surroundings, None).unwrap();
    assert_eq!([0, 1].map(|flow| uncarried.has(flow)), [false, true]);
    let Surroundings { net, flows, .. } = surroundings;
    let (mut net, _) = net.links_alone();
    uncarried.start(&mut net, &scenario, &flows);
    let end = Time::ZERO + Span::from_secs(3);
    net.advance(end, &mut uncarried).unwrap();
    uncarried.report(end, 1, &mut counters);
    let delivered = counters.received.unwrap().delivered_bytes;
    assert!((1_000_000..1_500_000).contains(&delivered), "{delivered}");
}
