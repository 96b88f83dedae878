//! Laws of the model: packets are conserved, rates are those of the utility maximum, coding
//! achieves rates that routing cannot.

use super::{LinkSpec, Model, Outcome, Queues, Signals, StreamSpec, run};

fn model(nodes: usize, links: &[(usize, usize, f64)], streams: &[(usize, &[usize])]) -> Model {
    let link = |(from, to, rate): &(usize, usize, f64)| LinkSpec {
        from: *from,
        to: *to,
        rate: *rate,
        changes: vec![],
    };
    let stream = |(from, to): &(usize, &[usize])| StreamSpec {
        from: *from,
        to: to.to_vec(),
        priority: 1.0,
        ceiling: 100.0,
    };
    let links = links.iter().map(link).collect();
    let streams = streams.iter().map(stream).collect();
    Model { nodes, links, streams, seconds: 5.0, ..Model::default() }
}

/// Mean rates of the second half, Mbit/s.
fn rates(outcome: &Outcome) -> Vec<f64> {
    let half = outcome.times.len() / 2;
    let mean = |rates: &Vec<f64>| rates[half..].iter().sum::<f64>() / (rates.len() - half) as f64;
    outcome.received.iter().map(|received| mean(&received.rates)).collect()
}

/// Two streams that share a link.
fn bottleneck() -> Model {
    let links = [(0, 2, 4.0), (1, 2, 4.0), (2, 3, 2.0), (3, 4, 4.0), (3, 5, 4.0), (3, 6, 4.0)];
    model(7, &links, &[(0, &[4, 5]), (1, &[5, 6])])
}

const ALL: [Queues; 5] = [
    Queues::Backpressure,
    Queues::Zombies,
    Queues::ImprovedZombies,
    Queues::DualGradient,
    Queues::ImprovedDualGradient,
];

#[test]
fn packets_are_neither_lost_nor_doubled() {
    let coded = Model { generation: 8, ..bottleneck() };
    let totals = Model { signals: Signals::Totals, ..bottleneck() };
    let kinds = ALL.map(|queues| Model { queues, ..bottleneck() });
    for model in kinds.into_iter().chain([totals, coded]) {
        let outcome = run(&model).unwrap();
        for (received, under_way) in outcome.received.iter().zip(&outcome.under_way) {
            let demands = if model.generation > 0 { received.useless } else { 0 };
            let admitted = outcome.admitted_packets[received.stream] + demands;
            let found = received.packets + under_way.2;
            // Demands in transit have not been processed yet.
            assert!(found <= admitted && found + demands >= admitted, "{model:?}");
            assert!(received.packets > 250);
        }
    }
}

#[test]
fn streams_share_a_bottleneck() {
    for queues in [Queues::Backpressure, Queues::Zombies, Queues::ImprovedZombies] {
        let got = rates(&run(&Model { queues, ..bottleneck() }).unwrap());
        assert!(got.iter().all(|rate| (rate - 1.0).abs() < 0.1), "{queues:?}: {got:?}");
    }
    let mut uneven = bottleneck();
    uneven.streams[0].priority = 3.0;
    let got = rates(&run(&uneven).unwrap());
    assert!((got[0] / got[2] - 3.0).abs() < 0.4, "{got:?}");
}

#[test]
fn zombies_take_the_place_of_standing_packets() {
    let delay = |queues| {
        let mut model = Model { queues, seconds: 8.0, ..bottleneck() };
        model.links[2].changes = vec![(5.0, 1.0)];
        let outcome = run(&model).unwrap();
        outcome.received[0].delays.iter().rev().flatten().take(20).sum::<f64>() / 20.0
    };
    let [plain, original, improved] =
        [Queues::Backpressure, Queues::Zombies, Queues::ImprovedZombies].map(delay);
    assert!(original < 0.8 * plain && improved < 0.6 * original, "{plain} {original} {improved}");
}

#[test]
fn coding_brings_as_much_as_routing_and_waits_for_its_generations() {
    let links = [(0, 1, 2.2), (0, 2, 2.2), (1, 2, 2.2), (1, 3, 4.4), (2, 4, 4.4), (3, 4, 2.2)];
    let plain = Model { seconds: 5.0, ..model(5, &links, &[(0, &[3, 4])]) };
    let coded = run(&Model { generation: 16, ..plain.clone() }).unwrap();
    let routed = run(&plain).unwrap();
    let (with, without) = (rates(&coded), rates(&routed));
    // Sixteen coefficients are 128 bits of 10,128.
    assert!(with.iter().zip(&without).all(|(with, without)| *with > 0.93 * without), "{with:?}");
    let useless: u64 = coded.received.iter().map(|row| row.useless).sum();
    let packets: u64 = coded.received.iter().map(|row| row.packets).sum();
    assert!(50 * useless < packets, "{useless} of {packets} brought nothing new");
}
