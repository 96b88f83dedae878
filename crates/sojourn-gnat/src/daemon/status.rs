//! `status`: asks a running node for its state, and tells it as tables or as it is.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::options::Format;
use super::table::Table;
use super::told::{ApplicationsTold, FlowTold, NeighbourTold, QueueTold, Told};
use super::{Error, StatusOptions};

/// How long a node may be silent before it has told all.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest state, in bytes.
const LONGEST: u64 = 1 << 26;

/// Tells what a running node does.
///
/// # Errors
/// Names the socket and the remedy, if no node answers there.
pub fn status(options: &StatusOptions) -> Result<(), Error> {
    let socket = options.socket.as_path();
    let text = ask(socket).map_err(|error| refused(socket, &error))?;
    let told = serde_json::from_str(&text).map_err(|_| {
        let message = "what answers is no node of this version; name the socket of a node";
        Error::file(socket)(io::Error::new(ErrorKind::InvalidData, message))
    })?;
    let shown = match options.format {
        Format::Table => shown(&told),
        Format::Json => text,
    };
    match io::stdout().lock().write_all(shown.as_bytes()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(Error::file("standard output".as_ref())),
    }
}

fn ask(socket: &Path) -> io::Result<String> {
    let stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut text = String::new();
    stream.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// With the remedy.
fn refused(socket: &Path, error: &io::Error) -> Error {
    let message = match error.kind() {
        ErrorKind::NotFound => {
            "there is no such socket; start the node, or name what its configuration has as `status`"
        }
        ErrorKind::ConnectionRefused => "no node answers at this socket; start the node",
        ErrorKind::PermissionDenied => "belongs to somebody else; ask as the node's user",
        ErrorKind::WouldBlock => "the node does not answer; see its log, or start it anew",
        _ => return Error::file(socket)(io::Error::new(error.kind(), error.to_string())),
    };
    Error::file(socket)(io::Error::new(error.kind(), message))
}

/// The state as tables.
fn shown(told: &Told) -> String {
    let head = format!("node {}, started {:.1} s ago\n", told.node, told.uptime_s);
    let tables = [
        neighbours(&told.neighbours),
        exchanged(&told.neighbours),
        queues(&told.queues),
        flows(&told.flows),
        packets(told),
        applications(told.applications.as_ref()),
        strangers(told),
    ];
    let tables = tables.iter().filter(|table| !table.is_empty()).map(Table::to_string);
    head + &tables.map(|table| format!("\n{table}")).collect::<String>()
}

/// A number if it is known.
fn known(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.digits$}"))
}

fn count(count: Option<u64>) -> String {
    count.map_or_else(|| "-".to_owned(), |count| count.to_string())
}

fn text(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| "-".to_owned())
}

fn megabytes(bytes: u64) -> String {
    format!("{:.3}", 1e-6 * bytes as f64)
}

fn neighbours(neighbours: &[NeighbourTold]) -> Table {
    let head = ["works", "RTT ms", "delay ms", "Mbit/s", "key s", "silent s", "clock ms"];
    let mut table = Table::new(&["neighbour", "address"], &head);
    for of in neighbours {
        let works = if of.works { "yes" } else { "no" };
        table.row([
            of.node.clone(),
            text(&of.address),
            works.to_owned(),
            known(of.rtt_ms, 1),
            known(of.latency_ms, 1),
            known(of.capacity_mbit, 2),
            known(of.key_age_s, 0),
            known(of.silent_s, 1),
            known(of.clock_ms, 3),
        ]);
    }
    table
}

fn exchanged(neighbours: &[NeighbourTold]) -> Table {
    let head = ["sent MB", "datagrams", "received MB", "datagrams", "unsealed", "refused", "lost"];
    let mut table = Table::new(&["neighbour"], &head);
    for NeighbourTold { node, exchanged: of, lost_packets, .. } in neighbours {
        table.row([
            node.clone(),
            megabytes(of.sent_bytes),
            of.sent_datagrams.to_string(),
            megabytes(of.received_bytes),
            of.received_datagrams.to_string(),
            of.unsealed_datagrams.to_string(),
            of.refused_datagrams.to_string(),
            lost_packets.to_string(),
        ]);
    }
    table
}

fn queues(queues: &[QueueTold]) -> Table {
    let mut table = Table::new(&["queue to"], &["bytes", "zombie bytes", "packets"]);
    for QueueTold { node, bytes, zombie_bytes, packets } in queues {
        table.row([node.clone(), bytes.to_string(), zombie_bytes.to_string(), count(*packets)]);
    }
    table
}

fn flows(flows: &[FlowTold]) -> Table {
    let rates = ["sent Mbit/s", "got Mbit/s", "delay ms"];
    let counts = ["sent", "admitted", "refused", "delivered"];
    let mut table = Table::new(&["flow", "from", "to"], &[&counts[..], &rates[..]].concat());
    for of in flows {
        let label = of.label.as_ref().map(|label| format!(" {label}")).unwrap_or_default();
        table.row([
            format!("{}{label}", of.flow),
            text(&of.from),
            text(&of.to),
            count(of.sent_packets),
            count(of.admitted_packets),
            count(of.refused_packets),
            count(of.delivered_packets),
            known(of.sent_mbit, 2),
            known(of.delivered_mbit, 2),
            known(of.delay_ms, 1),
        ]);
    }
    table
}

fn packets(told: &Told) -> Table {
    let of = &told.packets;
    let head = ["admitted", "refused", "delivered", "expired", "copied", "lost", "held"];
    let mut table = Table::new(&["packets"], &head);
    let counts = [of.admitted, of.refused, of.delivered, of.expired, of.copied, of.lost, of.held];
    let counts = counts.iter().map(u64::to_string);
    table.row(std::iter::once("of all flows".to_owned()).chain(counts));
    table
}

fn applications(of: Option<&ApplicationsTold>) -> Table {
    let head = ["connections", "opened", "reset", "taken MB", "given MB"];
    let datagrams = ["datagrams", "given", "refused"];
    let mut table = Table::new(&["programs"], &[&head[..], &datagrams].concat());
    if let Some(of) = of {
        table.row([
            "at this node".to_owned(),
            of.connections.to_string(),
            of.opened_connections.to_string(),
            of.reset_connections.to_string(),
            megabytes(of.taken_bytes),
            megabytes(of.given_bytes),
            of.taken_datagrams.to_string(),
            of.given_datagrams.to_string(),
            of.refused_datagrams.to_string(),
        ]);
    }
    table
}

fn strangers(told: &Told) -> Table {
    let mut table = Table::new(&["refused datagrams"], &["count"]);
    for (_, reason, count) in told.strangers.reasons() {
        table.row([reason.to_owned(), count.to_string()]);
    }
    table
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;
    use crate::daemon::told::{Exchanged, PacketsTold};

    fn told() -> Told {
        let neighbour = NeighbourTold {
            node: "2".to_owned(),
            address: Some("[2001:db8:1234:5678:9abc:def0:1234:5678]:65535".to_owned()),
            works: true,
            rtt_ms: Some(12.34),
            capacity_mbit: Some(9.123),
            lost_packets: 3,
            exchanged: Exchanged { sent_bytes: 1_234_567, ..Exchanged::default() },
            ..NeighbourTold::default()
        };
        let flow = |flow, label: &str| FlowTold {
            flow,
            label: Some(label.to_owned()),
            from: Some("1".to_owned()),
            to: Some("2".to_owned()),
            sent_packets: Some(123_456_789),
            admitted_packets: Some(123_456_780),
            sent_mbit: Some(1.25),
            ..FlowTold::default()
        };
        Told {
            node: "1".to_owned(),
            uptime_s: 3.26,
            neighbours: vec![neighbour],
            queues: vec![QueueTold { node: "2".to_owned(), bytes: 1_100, ..Default::default() }],
            flows: vec![flow(0, "video"), flow(1, &"long ".repeat(30))],
            packets: PacketsTold { admitted: 5, lost: 2, ..PacketsTold::default() },
            ..Told::default()
        }
    }

    #[test]
    fn the_tables_fit_a_terminal() {
        let shown = shown(&told());
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
        let expected = "\
node 1, started 3.3 s ago

neighbour  address                        works  RTT ms  delay ms  Mbit/s  key s  silent s  clock ms
2          [2001:db8:1234:5678:9abc:def…    yes    12.3         -    9.12      -         -         -

neighbour  sent MB  datagrams  received MB  datagrams  unsealed  refused  lost
2            1.235          0        0.000          0         0        0     3

queue to  bytes  zombie bytes  packets
2          1100             0        -
";
        assert!(shown.starts_with(expected), "{shown}");
        let flow = "\
0 video        1     2   123456789  123456780        -          -         1.25           -         -";
        assert!(shown.contains(flow), "{shown}");
    }

    fn asked(socket: &Path) -> String {
        let options = StatusOptions { socket: socket.to_owned(), format: Format::Json };
        let error = status(&options).unwrap_err();
        assert_eq!(error.status(), 2);
        let named = format!("{}: ", socket.display());
        error.to_string().strip_prefix(&named).unwrap().to_owned()
    }

    #[test]
    fn where_no_node_answers_the_remedy_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("a.sock");
        let message = "there is no such socket; start the node, or name what its configuration has \
                       as `status`";
        assert_eq!(asked(&socket), message);
        let listener = UnixListener::bind(&socket).unwrap();
        let other = thread::spawn(move || listener.accept().unwrap().0.write_all(b"hello\n"));
        let message = "what answers is no node of this version; name the socket of a node";
        assert_eq!(asked(&socket), message);
        other.join().unwrap().unwrap();
        assert_eq!(asked(&socket), "no node answers at this socket; start the node");
        let file = folder.path().join("a.toml");
        fs::write(&file, "").unwrap();
        assert_eq!(asked(&file), "no node answers at this socket; start the node");
    }
}
