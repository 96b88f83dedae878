//! Short runs on this machine's kernel. Where a machine does not allow them, they are skipped with
//! the reason.
#![cfg(target_os = "linux")]

mod needs;

use needs::needs;
use sojourn_catalogue::builtin;
use sojourn_live::{Bottleneck, Error, Live, Quality};
use sojourn_net::record::Outcome;
use sojourn_sim::scenario::Scenario;

/// Runs a scenario, or reports why this machine does not.
fn run(text: &str) -> Option<(Outcome, Quality)> {
    let scenario = Scenario::from_toml(text, builtin()).unwrap();
    match Live::start(&scenario, None).and_then(Live::finish) {
        Ok(finished) => Some(finished),
        Err(Error::Refused(error)) if error.field == "backend" => {
            needs("live", &error);
            None
        }
        // Of the package that has tc(8).
        Err(Error::Refused(error)) if error.message.contains("ip(8)") => {
            needs("tc", &error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn sum(outcome: &Outcome, column: &str) -> f64 {
    outcome.flow_samples.reals(column).unwrap().iter().sum()
}

#[test]
fn a_greedy_flow_fills_the_link() {
    let Some((outcome, quality)) = run(r#"
        name = "greedy"
        duration = "3 s"
        [topology]
        kind = "dumbbell"
        [topology.bottleneck]
        rate = "20 Mbit/s"
        queue = { kind = "fifo", limit = "1 bdp" }
        [[flows]]
        cca = "cubic"
        rtt = "20 ms"
    "#) else {
        return;
    };
    eprintln!("{quality:?}");
    let delivered = sum(&outcome, "delivered_bytes") * 8.0 / 3e6;
    // No more than the link carries, and not much less.
    assert!((16.0..19.1).contains(&delivered), "{delivered} Mbit/s");
    let srtt = sum(&outcome, "srtt_time") / sum(&outcome, "srtt_known");
    assert!((0.020..0.045).contains(&srtt), "{srtt} s");
    let sent = outcome.link_samples.reals("sent_bytes").unwrap().iter().sum::<f64>();
    assert!(sent * 8.0 <= 20e6 * 3.0 + 1600.0 * 8.0, "{sent} bytes");
}

const LINK: &str = r#"
    name = "live"
    duration = "2 s"
    [topology]
    kind = "dumbbell"
    [topology.bottleneck]
    rate = "10 Mbit/s"
"#;

#[test]
fn transfers_complete_and_datagrams_pass() {
    let flows = r#"
        queue = { kind = "fq_codel" }
        [[flows]]
        cca = "reno"
        rtt = "40 ms"
        traffic = { kind = "sized", size = "100 kB" }
        [[flows]]
        transport = "udp"
        rtt = "40 ms"
        start = "500 ms"
        traffic = { kind = "cbr", rate = "1 Mbit/s", size = "1000 B" }
        [[arrivals]]
        transport = "udp"
        rtt = "40 ms"
        process = "deterministic"
        rate = "20 /s"
        size = "5 kB"
        stop = "1.5 s"
    "#;
    let Some((outcome, _)) = run(&format!("{LINK}{flows}")) else { return };
    let completed = outcome.flows.reals("completed_at").unwrap()[0];
    // Handshake, and three or four round trips of slow start.
    assert!((0.16..0.40).contains(&completed), "{completed} s");
    let delivered = outcome.flow_samples.reals("delivered_bytes").unwrap();
    let flow = outcome.flow_samples.reals("flow").unwrap();
    let of = |id: f64| -> f64 {
        delivered.iter().zip(&flow).filter(|(_, flow)| **flow == id).map(|(bytes, _)| bytes).sum()
    };
    assert_eq!(of(0.0), 100_000.0);
    assert!((170_000.0..=188_000.0).contains(&of(1.0)), "{}", of(1.0));
    let rows = outcome.transfers.unwrap();
    let column = |name: &str| rows.reals(name).unwrap();
    let pairs = column("completed").into_iter().zip(column("arrival"));
    let took: Vec<f64> = pairs.map(|(completed, arrival)| completed - arrival).collect();
    // Half a round trip, of four datagrams at once.
    assert!(took.len() == 30 && took.iter().all(|took| (0.02..0.1).contains(took)), "{took:?}");
    let samples = outcome.arrival_samples.unwrap();
    let last = |name: &str| samples.reals(name).unwrap().pop();
    let counts = ["arrived", "finished", "connections", "carried_bytes"].map(last);
    assert_eq!(counts, [30.0, 30.0, 0.0, 150_000.0].map(Some));
}

/// Twenty segments: two flights, or one that is sent at once or, from the eleventh on, at a rate.
#[test]
fn flows_set_their_initial_window_and_their_pacing() {
    let flow = "[[flows]]\ncca = \"reno\"\nrtt = \"200 ms\"\n\
                traffic = { kind = \"sized\", size = \"28960 B\" }\n";
    let flows = format!(
        "{flow}{flow}initial_window = 20\n{flow}initial_window = 20\npacing = \"200 kbit/s\"\n"
    );
    let Some((outcome, _)) = run(&format!("{LINK}{flows}")) else { return };
    let completed = outcome.flows.reals("completed_at").unwrap();
    for (at, expected) in completed.iter().zip([0.60..0.80, 0.40..0.58, 0.81..1.30]) {
        assert!(expected.contains(at), "{completed:?}");
    }
}

#[test]
fn transfers_arrive_over_connections_of_their_own() {
    let arrivals = r#"
        [[arrivals]]
        cca = "reno"
        rtt = "40 ms"
        process = "deterministic"
        rate = "50 /s"
        size = "5 kB"
        stop = "1.5 s"
        [[arrivals]]
        process = "closed"
        users = 2
        think = { kind = "fixed", mean = "200 ms" }
        size = "1 kB"
        cca = "cubic"
        rtt = "20 ms"
        initial_window = 20
    "#;
    let Some((outcome, _)) = run(&format!("{LINK}{arrivals}")) else { return };
    let rows = outcome.transfers.unwrap();
    let column = |name: &str| rows.reals(name).unwrap();
    let (entries, ends) = (column("arrivals"), column("outcome"));
    let of = |entry: f64, times: &[f64]| -> Vec<f64> {
        times
            .iter()
            .zip(&entries)
            .filter(|(_, own)| **own == entry)
            .map(|(time, _)| *time)
            .collect()
    };
    let pairs = column("arrival").into_iter().zip(column("completed"));
    let took: Vec<f64> = pairs.map(|(arrival, completed)| completed - arrival).collect();
    assert_eq!(of(0.0, &ends), [0.0; 75]);
    // A handshake and a round trip, of four segments at once.
    assert!(of(0.0, &took).iter().all(|took| (0.08..0.2).contains(took)), "{took:?}");
    // Each user thinks again when a transfer has ended.
    let number = of(1.0, &took).len();
    assert!((12..=16).contains(&number), "{number}");
    let samples = outcome.arrival_samples.unwrap();
    let last = |name: &str| samples.reals(name).unwrap()[samples.reals("time").unwrap().len() - 2];
    assert_eq!((last("arrived"), last("finished"), last("connections")), (75.0, 75.0, 0.0));
    assert_eq!(last("carried_bytes"), 375_000.0);
}

/// Ten transfers over one connection, ten responses over another, and ten over one each.
#[test]
fn transfers_follow_each_other_and_clients_ask() {
    let every = "process = \"deterministic\"\nrate = \"10 /s\"\nstop = \"1 s\"\nrtt = \"40 ms\"\n";
    let arrivals = format!(
        "[[arrivals]]\n{every}cca = \"reno\"\nsize = \"5 kB\"\nconnections = \"pool\"\n\
         [[arrivals]]\n{every}cca = \"cubic\"\nsize = \"20 kB\"\nrequest = \"500 B\"\n\
         server_time = {{ kind = \"fixed\", mean = \"50 ms\" }}\n\
         connections = \"pool\"\npool = {{ protocol = \"http/2\" }}\n\
         [[arrivals]]\n{every}cca = \"cubic\"\nsize = \"1 kB\"\nrequest = \"500 B\"\n"
    );
    let Some((outcome, _)) = run(&format!("{LINK}{arrivals}")) else { return };
    let rows = outcome.transfers.unwrap();
    let column = |name: &str| rows.reals(name).unwrap();
    assert_eq!(column("outcome"), [0.0; 30]);
    let pairs = column("completed").into_iter().zip(column("arrival"));
    let took: Vec<f64> = pairs.map(|(completed, arrival)| completed - arrival).collect();
    let of = |entry: f64| -> Vec<f64> {
        let of = took.iter().zip(column("arrivals")).filter(|(_, own)| *own == entry);
        of.map(|(took, _)| *took).collect()
    };
    // The first has a handshake; of the others' acknowledgments some wait for 40 ms at most.
    let pooled = of(0.0);
    assert!((0.08..0.15).contains(&pooled[0]), "{pooled:?}");
    assert!(pooled[1..].iter().all(|took| (0.04..0.11).contains(took)), "{pooled:?}");
    let (asked, single) = (of(1.0), of(2.0));
    assert!((0.15..0.27).contains(&asked[0]), "{asked:?}");
    assert!(asked[1..].iter().all(|took| (0.11..0.23).contains(took)), "{asked:?}");
    assert!(single.iter().all(|took| (0.1..0.2).contains(took)), "{single:?}");
    let samples = outcome.arrival_samples.unwrap();
    let last = |name: &str| {
        let mut all = samples.reals(name).unwrap();
        all.split_off(all.len() - 3)
    };
    assert_eq!(last("finished"), [10.0; 3]);
    assert_eq!(last("connections"), [1.0, 1.0, 0.0]);
    assert_eq!(last("carried_bytes"), [50_000.0, 200_000.0, 10_000.0]);
}

#[test]
fn queues_mark_and_the_kernel_answers() {
    let flows = r#"
        queue = { kind = "codel" }
        [[flows]]
        cca = "cubic"
        rtt = "10 ms"
        ecn = "classic"
    "#;
    let Some((outcome, _)) = run(&format!("{LINK}{flows}")) else { return };
    let marks = outcome.link_samples.reals("ce_marks").unwrap().iter().sum::<f64>();
    assert!(marks > 0.0);
    let received = sum(&outcome, "ce_received");
    assert!(received > 0.0 && received <= marks, "{received} of {marks}");
    assert!(sum(&outcome, "ece_acks") > 0.0);
    assert_eq!(sum(&outcome, "retransmissions"), 0.0);
}

#[test]
fn a_stopped_flow_offers_no_more() {
    let flows = r#"
        [[flows]]
        cca = "reno"
        rtt = "10 ms"
        stop = "1 s"
    "#;
    let Some((outcome, _)) = run(&format!("{LINK}{flows}")) else { return };
    let time = outcome.flow_samples.reals("time").unwrap();
    let delivered = outcome.flow_samples.reals("delivered_bytes").unwrap();
    let after = |begin: f64| -> f64 {
        time.iter().zip(&delivered).filter(|(time, _)| **time > begin).map(|(_, b)| b).sum()
    };
    assert!(after(0.5) > 0.0);
    assert_eq!(after(1.5), 0.0);
}

#[test]
fn what_the_kernel_lacks_is_said() {
    let flows = "[[flows]]\ncca = \"copa\"\nrtt = \"10 ms\"\n";
    let scenario = Scenario::from_toml(&format!("{LINK}{flows}"), builtin()).unwrap();
    match Live::start(&scenario, None).and_then(Live::finish).err().unwrap() {
        Error::Refused(error) if error.field == "backend" => needs("live", &error),
        error => assert!(error.to_string().contains("no 'copa'; it has: "), "{error}"),
    }
}

#[test]
fn what_a_live_run_cannot_do_is_refused() {
    for (flow, field) in [
        ("cca = \"cubic\"\necn = \"accurate\"", "flows.0.ecn"),
        (
            "cca = \"cubic\"\nsend_buffer = \"stack\"\n[[flows]]\nrtt = \"10 ms\"\ncca = \"reno\"",
            "flows.0.send_buffer",
        ),
        ("cca = { kind = \"cubic\", beta = 0.8 }", "flows.0.cca.beta"),
        ("cca = \"bbr\"\npacing = \"off\"", "flows.0.pacing"),
        ("cca = \"reno\"\ninitial_ssthresh = 10", "flows.0.initial_ssthresh"),
    ] {
        let text = format!("{LINK}[[flows]]\nrtt = \"10 ms\"\n{flow}\n");
        let scenario = Scenario::from_toml(&text, builtin()).unwrap();
        let Err(Error::Refused(error)) = Live::start(&scenario, None).map(|_| ()) else {
            panic!("{flow}")
        };
        assert_eq!(error.field, field);
    }
    let usual = "rtt = \"10 ms\"\nrate = \"1 /s\"\nsize = \"1 kB\"\n";
    for (keys, field) in [
        ("transport = \"udp\"\nsession = { transfers=2, reading=\"1 s\" }", "arrivals.0.session"),
        ("cca = \"bbr\"\npacing = \"off\"", "arrivals.0.pacing"),
        (
            "cca = \"cubic\"\nmix = [{ weight = 1 }, { weight = 1, ecn = \"accurate\" }]",
            "arrivals.0.mix.1.ecn",
        ),
    ] {
        let scenario = format!("{LINK}[[arrivals]]\n{usual}{keys}\n");
        let scenario = Scenario::from_toml(&scenario, builtin()).unwrap();
        let Err(Error::Refused(error)) = Live::start(&scenario, None).map(|_| ()) else {
            panic!("{keys}")
        };
        assert_eq!(error.field, field);
    }
    for (keys, message) in [
        (
            format!("{LINK}[[arrivals]]\ncca = \"reno\"\n{usual}"),
            "arrivals: given; the traffic is the command's own",
        ),
        (
            format!("record = [\"cc\"]\n{LINK}[[flows]]\ncca = \"reno\"\nrtt = \"10 ms\"\n"),
            "record: given; of a command's traffic there are samples only",
        ),
    ] {
        let scenario = Scenario::from_toml(&keys, builtin()).unwrap();
        let commanded = Live::command(&scenario, vec!["true".to_owned()], Bottleneck::Upload);
        let error = commanded.finish().err().unwrap().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn the_simulated_stack_is_left_aside() {
    let flow = "[[flows]]\nrtt = \"10 ms\"\ncca = { kind = \"cubic\", version = \"ns3\" }\n";
    let scenario =
        Scenario::from_toml(&format!("stack = \"ns3\"\n{LINK}{flow}"), builtin()).unwrap();
    assert!(Live::start(&scenario, None).is_ok());
}

#[test]
fn a_receive_buffer_limits() {
    let flows = r#"
        [[flows]]
        cca = "cubic"
        rtt = "100 ms"
        receive_buffer = "50 kB"
    "#;
    let Some((outcome, _)) = run(&format!("{LINK}{flows}")) else { return };
    // At most a buffer per round trip: 4 Mbit/s.
    let delivered = sum(&outcome, "delivered_bytes");
    assert!((100_000.0..1_000_000.0).contains(&delivered), "{delivered} bytes");
    assert!(sum(&outcome, "limited_by_receiver") > 0.5);
}
