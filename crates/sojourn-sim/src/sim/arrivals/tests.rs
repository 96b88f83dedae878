//! Laws of connections that come and go.

use crate::catalogue::builtin;
use crate::record::{Outcome, Table};
use crate::scenario::Scenario;
use crate::sim::Simulation;

pub(super) const LINK: &str =
    "rate = \"10 Mbit/s\"\nqueue = { kind = \"fifo\", limit = \"30 packets\" }";

/// A dumbbell of 10 Mbit/s, or of these keys, with these tables.
pub(super) fn scenario(keys: &str, tables: &str) -> Scenario {
    let text = format!(
        "duration = \"20 s\"\nsample_interval = \"100 ms\"\n[topology]\nkind = \"dumbbell\"\n\
         [topology.bottleneck]\n{keys}\n{tables}"
    );
    Scenario::from_toml(&text, builtin()).unwrap()
}

pub(super) fn run(scenario: &Scenario) -> Outcome {
    Simulation::new(scenario).unwrap().run().unwrap()
}

pub(super) fn rows(outcome: &Outcome) -> &Table {
    outcome.transfers.as_ref().unwrap()
}

pub(super) fn column(table: &Table, name: &str) -> Vec<f64> {
    table.reals(name).unwrap_or_else(|| panic!("{name}"))
}

/// Arrival, size and end of the transfers of an entry, in the order of arrival.
fn of_entry(outcome: &Outcome, entry: f64) -> Vec<[u64; 3]> {
    let keys = column(rows(outcome), "arrivals");
    let values = ["arrival", "size", "outcome"].map(|name| column(rows(outcome), name));
    let own = (0..keys.len()).filter(|at| keys[*at] == entry);
    let mut told: Vec<_> =
        own.map(|at| [0, 1, 2].map(|column: usize| values[column][at].to_bits())).collect();
    told.sort_unstable();
    told
}

/// A simulation whose first connection has the number and the draws of flow 0.
fn as_flow_0(scenario: &Scenario) -> Simulation {
    let mut simulation = Simulation::new(scenario).unwrap();
    let (_, hosts) = simulation.regions.iter_mut().next().unwrap();
    hosts.arrivals.as_mut().unwrap().entries[0].number_as_flows(scenario.seed);
    simulation
}

#[test]
fn a_single_arrival_is_the_flow_of_its_size() {
    let lossy = format!("{LINK}\nloss = \"1 %\"");
    for (cca, keys) in
        [("reno", LINK), ("cubic", &lossy), ("bbr", &lossy), ("bbr3", LINK), ("prague", &lossy)]
    {
        for (size, window) in [("1 B", 10), ("14480 B", 30), ("3 MB", 10)] {
            let own = format!(
                "cca = \"{cca}\"\nrtt = \"30 ms\"\nstart = \"250 ms\"\ninitial_window = {window}\n"
            );
            let flow =
                format!("[[flows]]\n{own}traffic = {{ kind = \"sized\", size = \"{size}\" }}");
            let process = "process = \"deterministic\"\nrate = \"1 /s\"\nstop = \"1 s\"";
            let arrival = format!("[[arrivals]]\n{own}size = \"{size}\"\n{process}");
            let flow = run(&scenario(keys, &flow));
            let arrival = as_flow_0(&scenario(keys, &arrival)).run().unwrap();
            let case = format!("{cca}, {size}, {window}");
            // Told by their digits: where there is no value there is no equality.
            let links = [&flow, &arrival].map(|outcome| format!("{:?}", outcome.link_samples));
            assert!(links[0] == links[1], "{case}");
            assert_eq!(flow.totals.reals("events"), arrival.totals.reals("events"), "{case}");
            let table = rows(&arrival);
            assert_eq!(flow.flows.reals("completed_at"), table.reals("completed"), "{case}");
            assert_eq!(column(table, "arrival"), [0.25], "{case}");
            assert!(column(table, "slowdown")[0] >= 1.0, "{case}");
        }
    }
}

#[test]
fn nobodys_draws_shift() {
    let lossy = "rate = \"1 Gbit/s\"\nloss = \"10 %\"";
    let bulk = "[[flows]]\ntransport = \"udp\"\nrtt = \"10 ms\"\n\
                traffic = { kind = \"cbr\", rate = \"5 Mbit/s\", size = \"1000 B\" }\n";
    let entry = |label: &str, size: &str| {
        format!(
            "[[arrivals]]\nlabel = \"{label}\"\ntransport = \"udp\"\nrtt = \"10 ms\"\n\
             rate = \"200 /s\"\nsize = {{ kind = \"exponential\", mean = \"{size}\" }}\n"
        )
    };
    let (web, other) = (entry("web", "3 kB"), entry("other", "9 kB"));
    let alone = run(&scenario(lossy, bulk));
    let one = run(&scenario(lossy, &format!("{bulk}{web}")));
    let two = run(&scenario(lossy, &format!("{bulk}{web}{other}")));
    let delivered = |outcome: &Outcome| column(&outcome.flow_samples, "delivered_packets");
    assert_eq!(delivered(&alone), delivered(&one));
    assert_eq!(delivered(&alone), delivered(&two));
    assert!(of_entry(&one, 0.0) == of_entry(&two, 0.0), "of the first entry");
}

#[test]
fn slots_are_used_again_and_packets_that_come_later_find_nobody() {
    let tables = "[[arrivals]]\ncca = \"cubic\"\nrtt = \"4 ms\"\nrate = \"200 /s\"\nsize = \"2 kB\"\n\
                  [[arrivals]]\ntransport = \"udp\"\nrtt = \"4 ms\"\nrate = \"100 /s\"\nsize = \"500 B\"";
    let jumping = "rate = \"20 Mbit/s\"\nduplicate = \"2 %\"";
    let scenario = scenario(jumping, tables);
    let mut simulation = Simulation::new(&scenario).unwrap();
    simulation.advance(simulation.end()).unwrap();
    let (_, hosts) = simulation.regions.iter().next().unwrap();
    // Of 300 a second each stays for a second after its end.
    assert!((300..800).contains(&(hosts.endpoints.len() / 2)), "{}", hosts.endpoints.len());
    let outcome = simulation.outcome().unwrap();
    let samples = outcome.arrival_samples.as_ref().unwrap();
    let arrived = column(samples, "arrived");
    let last = arrived.iter().rev().take(2).sum::<f64>();
    assert_eq!(rows(&outcome).reals("size").unwrap().len() as f64, last);
    assert!((5_700.0..6_300.0).contains(&last), "{last}");
    let again = run(&scenario);
    assert!(format!("{:?}", rows(&outcome)) == format!("{:?}", rows(&again)), "of two runs");
}

/// What a run comes to, and the connections that have ends when it is over; `keeps` lets none go before
/// its time, as where packets may be copied.
fn kept(scenario: &Scenario, keeps: bool) -> (Outcome, usize) {
    let mut simulation = Simulation::new(scenario).unwrap();
    let (_, hosts) = simulation.regions.iter_mut().next().unwrap();
    hosts.arrivals.as_mut().unwrap().copied |= keeps;
    simulation.advance(simulation.end()).unwrap();
    let (_, hosts) = simulation.regions.iter().next().unwrap();
    let held = hosts.arrivals.as_ref().unwrap().slots.iter().flatten().count();
    (simulation.outcome().unwrap(), held)
}

#[test]
fn ends_are_let_go_when_nothing_can_come_to_them() {
    let tables = "[[arrivals]]\ncca = \"cubic\"\nrtt = \"10 ms\"\nrate = \"60 /s\"\nsize = \"9 kB\"\n\
                  [[arrivals]]\ncca = \"bbr\"\nrtt = \"10 ms\"\nrate = \"40 /s\"\nsize = \"4 kB\"\n\
                  request = \"2 kB\"\n\
                  [[arrivals]]\ntransport = \"udp\"\nrtt = \"4 ms\"\nrate = \"40 /s\"\nsize = \"500 B\"";
    for (keys, share) in
        [(LINK, 5), ("rate = \"20 Mbit/s\"\nloss = \"2 %\"\nreverse_loss = \"2 %\"", 2)]
    {
        let scenario = scenario(keys, tables);
        let [(outcome, held), (other, all)] = [false, true].map(|keeps| kept(&scenario, keeps));
        assert!(held * share < all, "{held} of {all}, {keys}");
        let told = |outcome: Outcome| format!("{:?}", outcome.into_tables());
        assert!(told(outcome) == told(other), "as if all lingered, {keys}");
    }
}

#[test]
fn what_is_under_way_at_the_end_is_told_with_its_age() {
    let tables = "[[arrivals]]\ncca = \"reno\"\nrtt = \"20 ms\"\nprocess = \"deterministic\"\n\
                  rate = \"1 /s\"\nsize = \"2 MB\"\nstop = \"19 s\"";
    let outcome = run(&scenario(LINK, tables));
    let table = rows(&outcome);
    let ends = column(table, "outcome");
    let live = ends.iter().filter(|end| **end == 1.0).count();
    assert_eq!(ends.len(), 19);
    assert!((5..15).contains(&live), "{live}: 16 Mbit/s are offered to 10");
    for (at, end) in ends.iter().enumerate() {
        let completed = column(table, "completed")[at];
        assert_eq!(completed.is_nan(), *end == 1.0);
        assert!(column(table, "slowdown")[at] > 1.0);
    }
    let samples = outcome.arrival_samples.as_ref().unwrap();
    let value = |name: &str| column(samples, name).last().copied().unwrap();
    assert_eq!(value("live"), live as f64);
    assert_eq!(value("finished"), (19 - live) as f64);
    assert_eq!(value("offered_bytes"), 38e6);
    assert!((0.93..1.0).contains(&(value("carried_bytes") * 8.0 / 20.0 / 10e6)));
}

#[test]
fn users_think_between_transfers_and_read_within_sessions() {
    let fixed = |seconds: f64| format!("{{ kind = \"fixed\", mean = \"{seconds} s\" }}");
    let tables = format!(
        "[[arrivals]]\ncca = \"reno\"\nrtt = \"20 ms\"\nprocess = \"closed\"\nusers = 2\n\
         size = \"1 kB\"\nthink = {}\nsession = {{ transfers = 3, reading = {} }}",
        fixed(2.0),
        fixed(0.5)
    );
    let outcome = run(&scenario(LINK, &tables));
    let table = rows(&outcome);
    let (groups, arrivals) = (column(table, "group"), column(table, "arrival"));
    let of_first = groups.iter().zip(&arrivals).filter(|(group, _)| **group == 0.0);
    let first: Vec<f64> = of_first.map(|(_, arrival)| *arrival).collect();
    let took = column(table, "completed")[0] - arrivals[0];
    assert!((0.04..0.0425).contains(&took), "{took}");
    for (at, pair) in first.windows(2).enumerate() {
        let pause = if at % 3 == 2 { 2.0 } else { 0.5 };
        assert!((pair[1] - pair[0] - pause - took).abs() < 2e-3, "{pair:?}");
    }
    assert_eq!(first[0], 2.0);
    assert!(first.len() >= 15, "{first:?}");
}

/// Transfers of 14,480 bytes that arrive together, every other second, over connections of a pool.
fn pooled(pool: &str) -> (Vec<f64>, Vec<f64>, f64) {
    let tables = format!(
        "[[arrivals]]\ncca = \"reno\"\nrtt = \"40 ms\"\nconnections = \"pool\"\npool = {pool}\n\
         process = {{ kind = \"incast\", senders = 3 }}\nrate = \"1.5 /s\"\nsize = \"14480 B\""
    );
    let outcome = run(&scenario("rate = \"1 Gbit/s\"", &tables));
    let table = rows(&outcome);
    let since_arrival = |name: &str| -> Vec<f64> {
        let times = column(table, name).into_iter().zip(column(table, "arrival"));
        times.map(|(time, arrival)| time - arrival).collect()
    };
    let samples = outcome.arrival_samples.as_ref().unwrap();
    let most = column(samples, "connections").into_iter().fold(0.0, f64::max);
    (since_arrival("completed"), since_arrival("start"), most)
}

#[test]
fn a_pool_of_http_1_opens_as_many_as_it_may_and_then_makes_wait() {
    let (took, waited, most) = pooled("{ size = 2 }");
    assert_eq!(most, 2.0);
    // Two at once with a handshake; the third one waits for either and has none.
    let about = |value: f64, expected: f64| (value - expected).abs() < 2e-3;
    assert!(took[..2].iter().all(|took| about(*took, 0.080)), "{took:?}");
    assert!(about(took[2], 0.120) && about(waited[2], 0.080), "{took:?}, {waited:?}");
    // From then on there are connections.
    assert!(took[3..5].iter().all(|took| about(*took, 0.040)), "{took:?}");
    assert!(about(took[5], 0.080) && about(waited[5], 0.040), "{took:?}");
    let (took, _, most) = pooled("{ idle = \"1 s\" }");
    assert!(
        most == 3.0 && took.iter().all(|took| about(*took, 0.080)),
        "closed when idle: {took:?}"
    );
}

#[test]
fn a_full_pool_of_idle_connections_opens_another() {
    // Idle from 80 ms on, for 900 ms; the sample at 1 s would close it.
    let tables = "[[arrivals]]\ncca = \"reno\"\nrtt = \"40 ms\"\nconnections = \"pool\"\n\
                  pool = { size = 1, idle = \"900 ms\" }\nprocess = \"deterministic\"\n\
                  rate = \"1.0101 /s\"\nstop = \"1.5 s\"\nsize = \"14480 B\"";
    let outcome = run(&scenario("rate = \"1 Gbit/s\"", tables));
    let value = |name: &str| column(rows(&outcome), name);
    assert_eq!(value("start"), value("arrival"));
    let took = value("completed")[1] - value("arrival")[1];
    assert!((0.080..0.082).contains(&took), "with a handshake of its own: {took}");
    let connections = column(outcome.arrival_samples.as_ref().unwrap(), "connections");
    assert!(connections.iter().all(|open| *open <= 1.0), "{connections:?}");
}

#[test]
fn a_connection_of_http_2_carries_all_at_once_in_turns() {
    let (took, waited, most) = pooled("{ protocol = \"http/2\" }");
    assert!(most == 1.0 && waited.iter().all(|waited| *waited == 0.0), "{most}, {waited:?}");
    // A handshake, then 30 segments in windows of 10 and 20; frames end in the order of arrival.
    let first = &took[..3];
    assert!(first.windows(2).all(|pair| pair[0] <= pair[1]), "{first:?}");
    assert!((0.120..0.125).contains(&first[2]), "{first:?}");
    let large = "[[arrivals]]\ncca = \"reno\"\nrtt = \"10 ms\"\nconnections = \"pool\"\n\
                 pool = { protocol = \"http/2\" }\nsize = \"1 MB\"\nrate = \"0.1 /s\"\n\
                 process = { kind = \"incast\", senders = 2 }";
    let outcome = run(&scenario("rate = \"10 Mbit/s\"", large));
    let completed = column(rows(&outcome), "completed");
    // Equal transfers that take turns end within the time of what is written ahead, and a frame: the
    // first one's is written when the second one arrives.
    let apart = completed[1] - completed[0];
    assert!(apart < (131_072.0 + 16_384.0) * 8.0 / 9.4e6, "{completed:?}");
}

#[test]
fn what_waits_for_a_connection_at_the_end_is_told_as_well() {
    let tables = "[[arrivals]]\ncca = \"reno\"\nrtt = \"20 ms\"\nconnections = \"pool\"\n\
                  pool = { size = 1 }\nprocess = \"deterministic\"\nrate = \"1 /s\"\nsize = \"2 MB\"";
    let outcome = run(&scenario(LINK, tables));
    let table = rows(&outcome);
    let starts = column(table, "start");
    let waiting = column(outcome.arrival_samples.as_ref().unwrap(), "waiting");
    assert_eq!(starts.len(), 20);
    assert_eq!(
        starts.iter().filter(|start| start.is_nan()).count() as f64,
        waiting[waiting.len() - 1]
    );
    assert!(waiting[waiting.len() - 1] > 2.0);
}
