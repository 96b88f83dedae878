//! Datagrams of SLIQ in captures: they are the bytes that SLIQ reads.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use sojourn_catalogue::builtin;
use sojourn_net::record::FlowCounters;
use sojourn_net::record::live::Batch;
use sojourn_sim::{Scenario, Simulation};
use sojourn_sliq::wire::{Datagram, UNDERLAY, decode};

/// A message's bytes.
#[derive(Clone, Debug, PartialEq)]
struct Bytes(Vec<u8>);

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Bytes(bytes.to_vec())
    }
}

/// Which way packets go at an interface.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    In = 1,
    Out = 2,
}

/// Packets that pass the interface called `name` this way, from their IP headers on.
fn passing(mut file: &[u8], name: &str, way: Way) -> Vec<Vec<u8>> {
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut names, mut packets) = (Vec::new(), Vec::new());
    while !file.is_empty() {
        let (block, rest) = file.split_at(word(file, 4) as usize);
        match word(block, 0) {
            1 => {
                let length = usize::from(u16::from_le_bytes([block[18], block[19]]));
                names.push(String::from_utf8(block[20..20 + length].to_vec()).unwrap());
            }
            6 if names[word(block, 8) as usize] == name => {
                let length = word(block, 20) as usize;
                let flags = 28 + length.next_multiple_of(4) + 4;
                if word(block, flags) == way as u32 {
                    packets.push(block[28..28 + length].to_vec());
                }
            }
            _ => {}
        }
        file = rest;
    }
    packets
}

/// The capture of a run, and the counters of its first flow.
fn captured(text: &str) -> (Vec<u8>, FlowCounters) {
    let text = format!("record = [\"pcap\"]\npcap = {{ snap = 1500 }}\n{text}");
    let scenario = Scenario::from_toml(&text, builtin()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let file = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&file);
    let sink = move |batch: Batch, _: &[Arc<str>]| {
        let Batch::Capture(bytes) = batch else { panic!("nothing else is recorded") };
        written.lock().unwrap().extend(bytes);
    };
    let mut simulation = Simulation::recording(&scenario, Box::new(sink)).unwrap();
    simulation.advance(simulation.end()).unwrap();
    let counters = simulation.flow(0);
    simulation.outcome().unwrap();
    let file = std::mem::take(&mut *file.lock().unwrap());
    (file, counters)
}

/// The payload of each datagram of SLIQ that leaves there; other packets have none.
fn payloads(file: &[u8], name: &str) -> Vec<Vec<u8>> {
    let payloads = passing(file, name, Way::Out).into_iter().map(|packet| {
        assert_eq!(packet[9], 17, "UDP");
        let datagram = decode::<Bytes>(&packet[UNDERLAY as usize..]).unwrap();
        let Datagram::Message(message) = datagram else { return Vec::new() };
        message.data.map(|(_, Bytes(payload))| payload).unwrap_or_default()
    });
    payloads.collect()
}

#[test]
fn datagrams_of_sliq_are_read_as_they_were_sent() {
    let (file, counters) = captured(
        "duration = \"3 s\"\n[topology]\nkind = \"dumbbell\"\n[topology.bottleneck]\n\
         rate = \"5 Mbit/s\"\nqueue = { kind = \"fifo\", limit = \"20 packets\" }\nloss = \"1 %\"\n\
         [[flows]]\ntransport = \"sliq\"\ncca = \"cubic\"\nrtt = \"20 ms\"\nmss = 1000",
    );
    let sent = counters.sent.unwrap();
    let payloads_at = |name: &str| {
        let zeros = |payload: Vec<u8>| {
            assert!(payload.iter().all(|byte| *byte == 0));
            payload.len()
        };
        payloads(&file, name).into_iter().map(zeros).collect::<Vec<_>>()
    };
    let left = payloads_at("left");
    let data = left.iter().filter(|payload| **payload > 0).count();
    assert_eq!(
        (data, left.iter().sum::<usize>()),
        (sent.sent_packets as usize, sent.sent_bytes as usize)
    );
    assert!(data > 500 && left.len() > data, "{data} of {}", left.len());
    assert!(payloads_at("right").len() > 100);
    assert!(payloads_at("bottleneck:lost").len() > 5);
}

/// Two nodes of an overlay, and a flow from one to the other, which lacks keys.
const OVERLAY: &str = "duration = \"3 s\"\n[topology]\nkind = \"graph\"\n\
    nodes = [{ id = \"1\", kind = \"overlay\" }, { id = \"2\", kind = \"overlay\" }]\n\
    [[topology.links]]\nid = \"12\"\nfrom = \"1\"\nto = \"2\"\nrate = \"10 Mbit/s\"\n\
    delay = \"5 ms\"\nqueue = { kind = \"fifo\", limit = \"25 kB\" }\n\
    [[flows]]\nfrom = \"1\"\nto = \"2\"\nservice = {}\n";

#[test]
fn nodes_of_an_overlay_send_datagrams_of_sliq() {
    let udp = "transport = \"udp\"\nmss = 1024\n\
               traffic = { kind = \"cbr\", rate = \"2 Mbit/s\", size = \"1024 B\" }";
    let (file, counters) = captured(&format!("{OVERLAY}{udp}"));
    let delivered = counters.received.unwrap().delivered_packets as usize;
    let there = payloads(&file, "12:near");
    let is_parcel = |payload: &&Vec<u8>| payload.len() > 1024 && payload[0] == 1;
    let parcels = there.iter().filter(is_parcel).count();
    assert!(delivered > 300 && parcels >= delivered, "{parcels} for {delivered}");
    assert!(payloads(&file, "12_reverse:near").len() > 100);
}

/// Payload, number and acknowledgment of a TCP packet.
fn tcp(packet: &[u8]) -> [u32; 3] {
    assert_eq!(packet[9], 6, "TCP");
    let word = |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().unwrap());
    let headers = 20 + u32::from(packet[32] >> 4) * 4;
    [u32::from(u16::from_be_bytes([packet[2], packet[3]])) - headers, word(24), word(28)]
}

#[test]
fn numbers_add_up_at_both_hosts_of_an_overlays_connection() {
    let (file, counters) = captured(&format!("{OVERLAY}cca = \"cubic\""));
    let delivered = counters.received.unwrap().delivered_bytes;
    let mut most = [0; 2];
    for (place, (host, data, answers)) in
        [("1", Way::Out, Way::In), ("2", Way::In, Way::Out)].into_iter().enumerate()
    {
        let sent = passing(&file, host, data).into_iter().map(|packet| tcp(&packet));
        let mut ends = BTreeSet::from([1]);
        for [payload, seq, _] in sent.filter(|[payload, ..]| *payload > 0) {
            assert!(ends.contains(&seq), "{seq} at {host}");
            ends.insert(seq + payload);
        }
        let answers = passing(&file, host, answers);
        assert!(answers.len() > 500, "{} at {host}", answers.len());
        for [_, _, ack] in answers.iter().map(|packet| tcp(packet)) {
            assert!(ends.contains(&ack), "{ack} at {host}");
        }
        most[place] = *ends.last().unwrap();
    }
    assert_eq!(u64::from(most[1]), delivered + 1);
    assert!(most[0] >= most[1], "{most:?}");
}
