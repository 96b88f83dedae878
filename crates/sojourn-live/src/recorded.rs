//! What is recorded of a run as it happens, besides its samples.

use std::sync::Arc;
use std::sync::mpsc::{Sender as Channel, channel};
use std::thread::{JoinHandle, spawn};

use sojourn_net::record::capture::{Addresses, Capture, Headers, HostTap, Setup, Wire};
use sojourn_net::record::live::{Batch, Log, Sink, Watch};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::capture_setup;
use sojourn_sim::spec::Recorded;

use crate::hosts::{Host, HostTable};
use crate::kept::{Border, Kept, Written};
use crate::namespace::{RECEIVERS, SENDERS};

/// The hosts of a scenario's own flows, by side, as interfaces of a capture.
const HOSTS: [(&str, [u8; 4]); 2] = [("senders", SENDERS), ("receivers", RECEIVERS)];

/// All hosts, by side or card, as interfaces of a capture.
fn interfaces(table: &HostTable) -> Vec<(String, Addresses)> {
    let own = HOSTS.iter().map(|(name, address)| ((*name).to_owned(), (*address).into()));
    let is_free = |name: &&String| HOSTS.iter().all(|(other, _)| other != name);
    let host = |host: &Host| {
        let name = host.names.iter().find(is_free).unwrap_or(&host.names[0]);
        (name.clone(), Addresses { v4: host.v4, v6: Some(host.v6) })
    };
    own.chain(table.hosts.iter().map(host)).collect()
}

/// Passes what the scenario asks for to `sink`: a capture as `setup` says, with the backend's name,
/// written by `wire`.
fn log(
    scenario: &Scenario,
    sink: Sink,
    (setup, backend): (Setup, &str),
    wire: Box<dyn Wire>,
) -> Log {
    let log = Log::new(&scenario.record, sink);
    if !scenario.record.contains(&Recorded::Pcap) {
        return log;
    }
    let comment = format!("{}, {backend}", setup.comment);
    log.capturing(Setup { comment, ..setup }, wire)
}

/// Where the record of a run goes, if there is one, and the packets that a capture reads.
pub(crate) struct Record {
    log: Option<Log>,
    kept: Kept,
    /// Names of the interfaces of hosts, by side or card.
    hosts: Vec<String>,
    _aside: Option<Aside>,
}

impl Record {
    /// That of a run in virtual time, on a kernel of that time, with these hosts of programs. `sink`,
    /// if given, receives what the scenario asks for.
    pub(crate) fn new(scenario: &Scenario, sink: Option<Sink>, hosts: &HostTable) -> Self {
        Record::of((scenario, "kernel"), sink, None, hosts)
    }

    /// The same of a run in real time, for which `sink` is too slow: it works in a thread of its own.
    pub(crate) fn in_real_time(scenario: &Scenario, sink: Option<Sink>) -> Self {
        let (sink, aside) = sink.map(Aside::begin).unzip();
        Record::of((scenario, "live"), sink, aside, &HostTable::default())
    }

    /// That of the links between nodes in real time. What passes them is sealed: a capture has of it
    /// what it has of a simulation, without the contents.
    pub(crate) fn between_nodes(scenario: &Scenario, sink: Option<Sink>) -> Self {
        let (sink, aside) = sink.map(Aside::begin).unzip();
        let setup = capture_setup(scenario);
        let log =
            sink.map(|sink| log(scenario, sink, (setup, "overlay"), Box::<Headers>::default()));
        Record { log, kept: Kept::default(), hosts: Vec::new(), _aside: aside }
    }

    fn of(
        (scenario, backend): (&Scenario, &str),
        sink: Option<Sink>,
        aside: Option<Aside>,
        hosts: &HostTable,
    ) -> Self {
        let (kept, hosts) = (Kept::default(), interfaces(hosts));
        let names = hosts.iter().map(|(name, _)| name.clone()).collect();
        let log = sink.map(|sink| {
            let setup = Setup { hosts, ..capture_setup(scenario) };
            log(scenario, sink, (setup, backend), Box::new(Written::of(kept.clone())))
        });
        Record { log, kept, hosts: names, _aside: aside }
    }

    /// Where the network tells what happens in it.
    pub(crate) fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    /// Recorder of what the kernel tells of the control of flow number `flow`.
    pub(crate) fn watch(&self, flow: usize) -> Option<Watch> {
        self.log()?.watch(Recorded::Cc, &format!("flow.{flow}.cc"))
    }

    /// The border between the hosts and the network.
    pub(crate) fn border(&self) -> Border {
        let capture = self.log().and_then(Log::capture);
        let tap = |capture: &Capture| self.hosts.iter().map(|name| capture.host(name)).collect();
        let taps: Option<Vec<HostTap>> = capture.and_then(tap);
        Border::new(self.kept.clone(), taps.unwrap_or_default())
    }

    /// Passes on what is left, and waits until all has been received.
    pub(crate) fn finish(self) {
        if let Some(log) = &self.log {
            log.flush();
        }
    }
}

/// A batch on its way to a sink, with the words that it indexes.
type Passed = (Batch, Vec<Arc<str>>);

/// A sink in a thread of its own. Whoever drops it waits until the sink has received all.
struct Aside {
    /// Nothing tells it that no more comes.
    pass: Channel<Option<Passed>>,
    thread: Option<JoinHandle<()>>,
}

impl Aside {
    /// Moves a sink into a thread; returns one that only hands over to it.
    fn begin(mut sink: Sink) -> (Sink, Self) {
        let (pass, passed) = channel::<Option<Passed>>();
        let thread = spawn(move || {
            while let Ok(Some((batch, words))) = passed.recv() {
                sink(batch, &words);
            }
        });
        let own = pass.clone();
        let hand_over = move |batch: Batch, words: &[Arc<str>]| {
            let _ = own.send(Some((batch, words.to_vec()))); // a sink that panicked wants no more
        };
        (Box::new(hand_over), Aside { pass, thread: Some(thread) })
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _ = self.pass.send(None);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread::{ThreadId, current};

    use sojourn_base::units::Time;
    use sojourn_sim::catalogue;

    use super::*;

    const TEXT: &str = "name = \"here\"\nduration = \"1 s\"\nseed = 4\nrecord = [\"cc\", \"pcap\"]\n\
                        [topology]\nkind = \"dumbbell\"\nbottleneck = { rate = \"1 Mbit/s\" }\n\
                        [[flows]]\ncca = \"reno\"\nrtt = \"20 ms\"";

    fn scenario() -> Scenario {
        Scenario::from_toml(TEXT, &Arc::new(catalogue::core())).unwrap()
    }

    type Received = Arc<Mutex<Vec<(Batch, Vec<String>, ThreadId)>>>;

    fn sink() -> (Option<Sink>, Received) {
        let received = Received::default();
        let mine = Arc::clone(&received);
        let sink = move |batch: Batch, words: &[Arc<str>]| {
            let words = words.iter().map(|word| word.to_string()).collect();
            mine.lock().unwrap().push((batch, words, current().id()));
        };
        (Some(Box::new(sink)), received)
    }

    #[test]
    fn all_has_been_received_at_the_end() {
        let (sink, received) = sink();
        let record = Record::in_real_time(&scenario(), sink);
        let mut watch = record.watch(0).unwrap();
        watch.look(Time::ZERO, |out| out("cwnd", 10.0_f64.into()));
        assert!(received.lock().unwrap().is_empty());
        record.finish();
        let received = received.lock().unwrap();
        let [(Batch::State(state), words, thread), (Batch::Capture(file), ..)] = &received[..]
        else {
            panic!("{received:?}");
        };
        assert_eq!(
            (words[state.component[0] as usize].as_str(), state.value[0]),
            ("flow.0.cc", 10.0)
        );
        assert_ne!(*thread, current().id());
        for text in ["here, seed 4, live", "senders", "receivers", "bottleneck:lost"] {
            assert!(file.windows(text.len()).any(|part| part == text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn nothing_is_recorded_for_nobody() {
        let record = Record::new(&scenario(), None, &HostTable::default());
        assert!(record.log().is_none() && record.watch(0).is_none());
        record.finish();
    }
}
