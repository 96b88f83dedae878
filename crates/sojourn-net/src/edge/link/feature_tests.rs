//! Tests of links as scenarios describe them: shapers, traces, schedules, outages, reordering and
//! others, driven through the link's own wake-ups.

use proptest::prelude::*;

use super::*;
use crate::catalogue::builtin;
use crate::packet::{Ecn, Flags, Header, SackBlock, TcpAck};
use crate::rng::StreamKey;

const END: Time = Time::from_nanos(1_000_000_000_000);

fn build(text: &str) -> Link {
    let mut spec: LinkSpec = toml::from_str(text).unwrap();
    spec.resolve(builtin()).unwrap();
    let around = LinkInit {
        full_packet: 1500,
        base_rtt: Span::from_millis(40),
        ecn: true,
        recorded: true,
        drops: Vec::new(),
        end: END,
        random: StreamKey::root(8).child("link"),
        watch: None,
        tap: None,
    };
    Link::build(&spec, around, builtin()).unwrap()
}

fn refused(text: &str) -> String {
    let mut spec: LinkSpec = toml::from_str(text).unwrap();
    spec.resolve(builtin()).unwrap_err().to_string()
}

fn packet(index: u32) -> Packet {
    Packet { index, size: 1486, header: Header::opaque(1434), ..Packet::default() }
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Offers packets at their times and collects arrivals at the link's own wake-ups.
fn run(link: &mut Link, offers: impl IntoIterator<Item = (Time, Packet)>) -> Vec<(Time, Packet)> {
    let mut arrivals = Vec::new();
    for (at, packet) in offers {
        drain(link, at, &mut arrivals);
        link.offer(at, &packet);
    }
    drain(link, END, &mut arrivals);
    arrivals
}

fn drain(link: &mut Link, until: Time, arrivals: &mut Vec<(Time, Packet)>) {
    while let Some(at) = link.next_wakeup().filter(|at| *at <= until) {
        while let Some(packet) = link.poll(at) {
            arrivals.push((at, packet));
        }
    }
}

/// `n` packets of 1500 framed bytes, one every `gap`.
fn stream(n: u32, gap: Span) -> impl Iterator<Item = (Time, Packet)> {
    (0..n).map(move |index| (Time::ZERO + gap * u64::from(index), packet(index)))
}

fn indices(arrivals: &[(Time, Packet)]) -> Vec<u32> {
    arrivals.iter().map(|(_, packet)| packet.index).collect()
}

#[test]
fn shaper_passes_its_burst_at_once_and_the_rest_at_its_rate() {
    // 12 Mbit/s: a packet a millisecond; the burst holds five.
    let mut link = build(
        "queue = { kind = \"fifo\", limit = \"100 packets\" }\n\
         shaper = { rate = \"12 Mbit/s\", burst = \"7500 B\" }",
    );
    let arrivals = run(&mut link, stream(20, Span::ZERO));
    for (index, (at, _)) in arrivals.iter().enumerate() {
        assert_eq!(*at, ms((index as u64).saturating_sub(4)), "packet {index}");
    }
}

#[test]
fn shaper_with_a_rate_sends_its_burst_at_that_rate() {
    let mut link = build(
        "rate = \"120 Mbit/s\"\nqueue = { kind = \"fifo\", limit = \"100 packets\" }\n\
         shaper = { rate = \"12 Mbit/s\", burst = \"7500 B\" }",
    );
    let arrivals = run(&mut link, stream(8, Span::ZERO));
    let at: Vec<_> = arrivals.iter().map(|(at, _)| at.as_nanos() / 1000).collect();
    assert_eq!(at, [100, 200, 300, 400, 500, 1100, 2100, 3100]);
}

#[test]
fn policer_drops_at_the_door() {
    let mut link = build("policer = { rate = \"12 Mbit/s\", burst = \"3000 B\" }");
    let arrivals = run(&mut link, stream(100, Span::from_micros(500)));
    let counters = link.report(END);
    // Two of the burst, then one a millisecond over 49.5 ms.
    assert_eq!(arrivals.len(), 51);
    assert_eq!(counters.drops_policed, 49);
    assert_eq!(counters.sojourn_sum, Span::ZERO);
}

#[test]
fn trace_delivers_the_listed_bytes_at_the_listed_times() {
    let mut link = build(
        "trace = { opportunities = [2, 2, 5, 9, 10], opportunity = \"1500 B\" }\n\
         queue = { kind = \"fifo\", limit = \"1000 packets\" }\ndelay = \"3 ms\"",
    );
    let arrivals = run(&mut link, stream(50, Span::ZERO));
    let times = [2, 2, 5, 9, 10];
    for (index, (at, _)) in arrivals.iter().enumerate() {
        assert_eq!(*at, ms(10 * (index as u64 / 5) + times[index % 5] + 3));
    }
    assert_eq!(arrivals.len(), 50);
}

#[test]
fn rate_schedule_serialises_at_the_rate_that_holds() {
    let mut link = build(
        "queue = { kind = \"fifo\", limit = \"1000 packets\" }\n\
         rate_schedule = { kind = \"square\", high = \"24 Mbit/s\", low = \"6 Mbit/s\", period = \"20 ms\" }",
    );
    let arrivals = run(&mut link, stream(200, Span::ZERO));
    let within = |from: u64, to: u64| {
        arrivals.iter().filter(|(at, _)| *at > ms(from) && *at <= ms(to)).count()
    };
    // 10 ms hold 20 packets at 24 Mbit/s and 5 at 6.
    assert_eq!([within(0, 10), within(10, 20), within(20, 30), within(30, 40)], [20, 5, 20, 5]);
}

#[test]
fn delay_schedule_moves_arrivals_and_keeps_order() {
    let mut link = build(
        "delay = \"10 ms\"\n\
         [delay_schedule]\nkind = \"steps\"\n\
         steps = [{ at = \"5 ms\", value = \"30 ms\" }, { at = \"10 ms\", value = \"10 ms\" }]",
    );
    let arrivals = run(&mut link, stream(40, Span::from_millis(1)));
    let at: Vec<_> = arrivals.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect();
    assert_eq!(at[..10], [10, 11, 12, 13, 14, 35, 36, 37, 38, 39]);
    assert_eq!(at[10..31], [[39; 20].as_slice(), &[40]].concat(), "they queue up behind");
    assert!(indices(&arrivals).is_sorted());
}

#[test]
fn loss_schedule_loses_at_the_rate_that_holds() {
    let mut link = build(
        "[loss_schedule]\nkind = \"steps\"\n\
         steps = [{ at = \"10 s\", value = \"20 %\" }, { at = \"20 s\", value = \"100 %\" }]",
    );
    let arrivals = run(&mut link, stream(30_000, Span::from_millis(1)));
    let within = |from: u64, to: u64| {
        arrivals.iter().filter(|(at, _)| *at >= ms(from) && *at < ms(to)).count()
    };
    assert_eq!((within(0, 10_000), within(20_000, 30_000)), (10_000, 0));
    assert!((7_840..8_160).contains(&within(10_000, 20_000)), "{}", within(10_000, 20_000));
}

#[test]
fn jitter_keeps_order_unless_asked() {
    let gap = Span::from_micros(200);
    let jitter = |extra: &str| {
        let text = format!("delay = \"20 ms\"\njitter = {{ spread = \"5 ms\"{extra} }}");
        run(&mut build(&text), stream(20_000, gap))
    };
    let ordered = jitter("");
    assert!(indices(&ordered).is_sorted() && ordered.len() == 20_000);
    let free = jitter(", reorder = true");
    assert!(!indices(&free).is_sorted() && free.len() == 20_000);
    let delay = |(at, packet): &(Time, Packet)| {
        at.since(Time::ZERO + gap * packet.index.into()).as_millis_f64()
    };
    assert!(free.iter().all(|arrival| (15.0..=25.0).contains(&delay(arrival))));
    let normal = jitter(", distribution = \"normal\", reorder = true");
    assert!(normal.is_sorted_by_key(|(at, _)| *at));
    for (arrivals, expected) in [(free, 25.0 / 3.0), (normal, 25.0)] {
        let mean = arrivals.iter().map(delay).sum::<f64>() / 20_000.0;
        let squares = arrivals.iter().map(|arrival| (delay(arrival) - mean).powi(2));
        let variance = squares.sum::<f64>() / 20_000.0;
        assert!((mean - 20.0).abs() < 0.1, "{mean}");
        assert!((variance / expected - 1.0).abs() < 0.03, "{variance}, not {expected}");
    }
}

#[test]
fn reordering_holds_back_the_share_it_says() {
    let text = "delay = \"10 ms\"\nreorder = { probability = \"2 %\", delay = \"5 ms\" }";
    let arrivals = run(&mut build(text), stream(50_000, Span::from_millis(1)));
    let late = arrivals
        .iter()
        .filter(|(at, packet)| at.since(ms(packet.index.into())) == Span::from_millis(15))
        .count();
    assert!((900..1_100).contains(&late), "{late}");
    assert_eq!(arrivals.len(), 50_000);
    let others = arrivals.iter().filter(|(at, p)| *at == ms(u64::from(p.index) + 10)).count();
    assert_eq!(others, 50_000 - late, "the others are not delayed");
}

#[test]
fn a_transmission_may_overtake_what_is_held_back() {
    // The wake-up must not wait for the packet held back.
    let text = "rate = \"12 Mbit/s\"\nqueue = { kind = \"fifo\", limit = \"99 packets\" }\n\
                delay = \"1 ms\"\nreorder = { probability = \"50 %\", delay = \"100 ms\" }";
    let arrivals = run(&mut build(text), stream(60, Span::ZERO));
    for (at, packet) in &arrivals {
        let sent = ms(u64::from(packet.index) + 1);
        let delay = at.since(sent).as_nanos() / 1_000_000;
        assert!(delay == 1 || delay == 101, "packet {}: {delay}", packet.index);
    }
}

#[test]
fn duplicates_are_counted_and_arrive() {
    let mut link = build("duplicate = \"10 %\"\ndelay = \"5 ms\"");
    let arrivals = run(&mut link, stream(20_000, Span::from_micros(100)));
    let counters = link.report(END);
    assert_eq!(arrivals.len() as u64, 20_000 + counters.duplicated_packets);
    assert!((1_870..2_130).contains(&counters.duplicated_packets), "{counters:?}");
}

#[test]
fn outages_lose_or_pause() {
    let text = |effect: &str| {
        format!(
            "rate = \"12 Mbit/s\"\nqueue = {{ kind = \"fifo\", limit = \"999 packets\" }}\n\
             outages = [{{ start = \"10 ms\", duration = \"5 ms\", effect = \"{effect}\" }}]"
        )
    };
    let mut lossy = build(&text("loss"));
    let arrivals = run(&mut lossy, stream(30, Span::from_millis(1)));
    // Sent at 1, 2, ... ms: those that leave from 10 to before 15 ms are lost.
    assert_eq!(lossy.report(END).drops_loss, 5);
    assert_eq!(indices(&arrivals)[8..10], [8, 14]);
    let mut paused = build(&text("pause"));
    let arrivals = run(&mut paused, stream(30, Span::from_millis(1)));
    assert_eq!(arrivals.len(), 30);
    assert_eq!((arrivals[9].0, arrivals[10].0, arrivals[29].0), (ms(10), ms(16), ms(35)));
}

#[test]
fn two_way_outages_befall_the_other_direction() {
    let parse = |text: &str| toml::from_str::<LinkSpec>(text).unwrap();
    let mut there = parse(
        "outages = [{ start = \"1 s\", duration = \"1 s\", two_way = true },\n\
         { start = \"5 s\", duration = \"1 s\" }]",
    );
    let mut back = parse("outages = [{ start = \"9 s\", duration = \"1 s\" }]");
    LinkSpec::share_outages(&mut there, &mut back);
    assert_eq!((there.outages.len(), back.outages.len()), (2, 2));
    assert_eq!(there.reversed().outages.len(), 1);
}

#[test]
fn ecn_faults_happen_on_the_way() {
    let ecn = |fault: &str| {
        let offers =
            [Ecn::NotEct, Ecn::Ect0, Ecn::Ce].map(|ecn| (Time::ZERO, Packet { ecn, ..packet(0) }));
        let arrivals = run(&mut build(&format!("ecn_fault = \"{fault}\"")), offers);
        arrivals.iter().map(|(_, packet)| packet.ecn).collect::<Vec<_>>()
    };
    assert_eq!(ecn("bleach"), [Ecn::NotEct; 3]);
    assert_eq!(ecn("stuck-ce"), [Ecn::NotEct, Ecn::Ce, Ecn::Ce]);
    assert_eq!(ecn("unmark"), [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0]);
}

fn acknowledgment(flow: u32, next: u32) -> Packet {
    with_ack(flow, TcpAck { flags: Flags::ACK, next, ..TcpAck::default() })
}

fn with_ack(flow: u32, ack: TcpAck) -> Packet {
    Packet { flow, index: ack.next, size: 52, header: Header::Ack(ack), ..Packet::default() }
}

fn next_of(packet: &Packet) -> u32 {
    let Header::Ack(ack) = &packet.header else { return 0 };
    ack.next
}

#[test]
fn aggregation_delivers_in_batches_and_thins_acknowledgments() {
    let text = "delay = \"1 ms\"\naggregation = { interval = \"5 ms\", acks_per_flow = 2 }";
    let mut link = build(text);
    let offers = (0..399u32).flat_map(|i| {
        let at = Time::ZERO + Span::from_micros(500) * u64::from(i);
        [(at, acknowledgment(0, i)), (at, acknowledgment(1, i))]
    });
    let arrivals = run(&mut link, offers);
    assert!(arrivals.iter().all(|(at, _)| at.as_nanos() % 5_000_000 == 0));
    for flow in 0..2 {
        let of_flow: Vec<_> = arrivals.iter().filter(|(_, p)| p.flow == flow).collect();
        for batch in of_flow.chunk_by(|a, b| a.0 == b.0) {
            let newest = (batch[0].0.as_nanos() / 500_000 - 2) as u32;
            let next: Vec<_> = batch.iter().map(|(_, p)| next_of(p)).collect();
            assert_eq!(next, [newest - 1, newest], "flow {flow}");
        }
    }
    let counters = link.report(END);
    assert_eq!(counters.thinned_packets + arrivals.len() as u64, 798);
}

#[test]
fn thinning_spares_what_says_more_than_an_acknowledgment() {
    let text = "aggregation = { interval = \"5 ms\", acks_per_flow = 1 }";
    let sack = || {
        let mut ack = TcpAck { flags: Flags::ACK, next: 1, ..TcpAck::default() };
        ack.set_sacks([SackBlock { start: 3, end: 4 }].into_iter());
        with_ack(0, ack)
    };
    let echo = TcpAck { flags: Flags::ACK.with(Flags::ECE, true), next: 2, ..TcpAck::default() };
    let offers = [
        sack(),
        sack(),
        with_ack(0, echo),
        acknowledgment(0, 3),
        acknowledgment(0, 3),
        acknowledgment(0, 4),
        Packet { header: Header::opaque(100), ..acknowledgment(0, 4) },
    ];
    let arrivals = run(&mut build(text), offers.map(|packet| (ms(1), packet)));
    let next: Vec<_> = arrivals.iter().map(|(_, packet)| next_of(packet)).collect();
    assert_eq!(next, [1, 1, 2, 3, 4, 0], "one of the duplicates of 3 went for 4");
}

#[test]
fn what_cannot_work_is_refused_by_name() {
    assert!(
        refused("policer = { rate = \"1 Mbit/s\", burst = \"0 B\" }").starts_with("policer.burst")
    );
    assert!(refused("trace = { opportunities = [] }").starts_with("trace.opportunities"));
    assert!(refused("aggregation = { interval = \"0 ms\" }").starts_with("aggregation.interval"));
    let outage = "outages = [{ start = \"0 s\", duration = \"2 s\", every = \"1 s\" }]";
    assert!(refused(outage).starts_with("outages.0.every"));
}

#[test]
fn nothing_is_said_about_what_is_not_there() {
    let mut spec = LinkSpec::default();
    spec.resolve(builtin()).unwrap();
    assert!(spec.is_transparent());
    let text = serde_json::to_string(&spec).unwrap();
    for key in ["trace", "shaper", "policer", "outages", "duplicate", "jitter"] {
        assert!(!text.contains(key), "{key} in {text}");
    }
}

fn feature() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "shaper = { rate = \"5 Mbit/s\", burst = \"9 kB\" }",
        "policer = { rate = \"8 Mbit/s\", burst = \"5 kB\" }",
        "delay_schedule = { kind = \"square\", high = \"9 ms\", low = \"1 ms\", period = \"7 ms\" }",
        "jitter = { spread = \"6 ms\", reorder = true }",
        "jitter = { spread = \"6 ms\", distribution = \"normal\" }",
        "reorder = { probability = \"20 %\", delay = \"3 ms\" }",
        "aggregation = { interval = \"2 ms\", acks_per_flow = 1 }",
        "burst_loss = { to_bad = \"10 %\", to_good = \"30 %\" }",
        "duplicate = \"15 %\"",
        "loss = \"5 %\"",
        "rate = \"20 Mbit/s\"\nqueue = \"cake\"",
        "rate = \"7 Mbit/s\"\nqueue = { kind = \"fifo\", limit = \"9 packets\" }",
        "trace = { opportunities = [1, 3, 3, 4] }",
        "outages = [{ start = \"5 ms\", duration = \"9 ms\", every = \"40 ms\" }]",
        "outages = [{ start = \"9 ms\", duration = \"2 ms\", effect = \"pause\" }]",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn everything_together_makes_and_loses_nothing(
        features in prop::collection::vec(feature(), 1..6),
        gaps in prop::collection::vec((0u64..3_000, 0u32..3, any::<bool>()), 1..200),
    ) {
        // The first of each key counts.
        let mut table = toml::Table::new();
        for text in features {
            for (key, value) in text.parse::<toml::Table>().unwrap() {
                table.entry(key).or_insert(value);
            }
        }
        let mut link = build(&table.to_string());
        let mut now = Time::ZERO;
        let mut out = Vec::new();
        for (index, (gap, flow, ack)) in gaps.iter().enumerate() {
            now += Span::from_micros(*gap);
            drain(&mut link, now, &mut out);
            let index = index as u32;
            let packet = if *ack {
                acknowledgment(*flow, index)
            } else {
                Packet { flow: *flow, ..packet(index) }
            };
            link.offer(now, &packet);
            let c = link.report(now);
            let held = link.held();
            let gone = c.drops_overflow + c.drops_aqm + c.drops_policed + c.drops_loss;
            prop_assert_eq!(
                c.offered_packets + c.duplicated_packets,
                c.arrived_packets + gone + c.thinned_packets + held.packets
            );
            prop_assert_eq!(
                c.offered_bytes + c.duplicated_bytes,
                c.arrived_bytes + c.dropped_bytes + c.lost_bytes + c.thinned_bytes + held.bytes
            );
        }
        drain(&mut link, END, &mut out);
        prop_assert_eq!(link.held().packets, 0);
        prop_assert!(out.is_sorted_by_key(|(at, _)| *at));
    }
}
