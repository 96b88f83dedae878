//! A server among strangers: hellos from addresses that read no answer, confirmations without a
//! cookie, a stream that withholds its first packet.

mod common;

use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{Server, client, told};
use sojourn_sliq::StreamConfig;
use sojourn_sliq::udp::Message as Bytes;
use sojourn_sliq::wire::{
    Cookie, Data, Datagram, Handshake, HandshakeKind, Message, decode, encode,
};

fn handshake(kind: HandshakeKind, echo: u32, cookie: Option<Cookie>) -> Datagram<Bytes> {
    let controls = vec!["cubic".to_owned(), "copa".to_owned()];
    Datagram::Handshake(Handshake { kind, controls, stamp: 1, echo, client: 9, cookie })
}

/// Somebody who speaks the protocol without following it.
struct Stranger {
    socket: UdpSocket,
}

impl Stranger {
    fn at(server: &Server) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(&server.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        Stranger { socket }
    }

    /// Sends a datagram; returns its length.
    fn say(&self, datagram: &Datagram<Bytes>) -> usize {
        let mut bytes = Vec::new();
        encode(datagram, &mut bytes);
        self.socket.send(&bytes).unwrap()
    }

    fn hear(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; 2_000];
        let length = self.socket.recv(&mut bytes).ok()?;
        bytes.truncate(length);
        Some(bytes)
    }

    /// Opens a connection as a client does.
    fn connect(&self) {
        self.say(&handshake(HandshakeKind::ClientHello, 0, None));
        let heard = self.hear().unwrap();
        let Ok(Datagram::<Bytes>::Handshake(hello)) = decode(&heard) else { panic!("no hello") };
        self.say(&handshake(HandshakeKind::ClientConfirm, hello.stamp, hello.cookie));
    }
}

/// Waits until there is such a file.
fn wait_for(file: &Path) {
    let found = (0..4_000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        file.exists()
    });
    assert!(found, "no {}", file.display());
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Memory of a process, in bytes, at most so far.
fn memory(process: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    1_024 * line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
}

#[test]
fn one_who_does_not_confirm_gets_no_more_than_three_times_what_it_sent() {
    let server = Server::start(&[]);
    let stranger = Stranger::at(&server);
    let sent = stranger.say(&handshake(HandshakeKind::ClientHello, 0, None));
    // Whatever is to come without another word: for long enough that a hello would be repeated.
    let heard: usize = std::iter::from_fn(|| stranger.hear()).map(|bytes| bytes.len()).sum();
    assert!((1..=3 * sent).contains(&heard), "{sent} B bring {heard}");
}

#[test]
fn a_flood_of_hellos_keeps_no_client_out_and_touches_no_file() {
    let folder = folder("flood");
    let copy = folder.join("copy");
    let server = Server::start(&["--out", copy.to_str().unwrap()]);
    let over = AtomicBool::new(false);
    let sent = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let stranger = Stranger::at(&server);
                stranger.say(&handshake(HandshakeKind::ClientHello, 0, None));
                for cookie in [None, Some([7; 16])] {
                    stranger.say(&handshake(HandshakeKind::ClientConfirm, 1, cookie));
                }
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        let sent = client(&server.address, &["--bytes", "300 kB"]).wait_with_output().unwrap();
        over.store(true, Ordering::Relaxed);
        sent
    });
    assert_eq!(told(&sent)["end"], "finished", "{sent:?}");
    wait_for(&copy);
    assert_eq!(std::fs::read(&copy).unwrap().len(), 300_000);
}

#[test]
fn a_stream_that_withholds_its_first_packet_costs_a_bounded_amount() {
    let server = Server::start(&[]);
    let stranger = Stranger::at(&server);
    stranger.connect();
    let header = StreamConfig::default().header(1, 32_768, 0, false);
    stranger.say(&Datagram::CreateStream(header));
    assert!(stranger.hear().is_some(), "the stream's answer");
    let before = memory(server.child.id());
    let payload = Bytes::from(&[5; 1_430][..]);
    for seq in 1..32_768 {
        let data = Data { stream: 1, seq, stamp: 1, ..Data::default() };
        let message = Message { data: Some((data, payload.clone())), ..Message::default() };
        stranger.say(&Datagram::Message(message));
        // The server is to read all of it.
        if seq % 64 == 0 {
            std::thread::sleep(Duration::from_micros(500));
        }
    }
    let taken = memory(server.child.id()) - before;
    assert!((4_000_000..25_000_000).contains(&taken), "{taken}");
}

#[test]
fn a_file_is_never_replaced() {
    let folder = folder("files");
    let copy = folder.join("copy");
    let path = copy.to_str().unwrap();
    let server = Server::start(&["--out", path, "--give-up", "300 ms"]);
    for bytes in ["1000", "2000"] {
        let sent = client(&server.address, &["--bytes", bytes]).wait_with_output().unwrap();
        assert!(sent.status.success(), "{sent:?}");
    }
    let mut broken = client(&server.address, &["--for", "60 s"]);
    std::thread::sleep(Duration::from_millis(300));
    broken.kill().unwrap();
    broken.wait().unwrap();
    let sent = client(&server.address, &["--bytes", "3000"]).wait_with_output().unwrap();
    assert!(sent.status.success(), "{sent:?}");
    wait_for(&folder.join("copy.3"));
    let length = |name: &str| std::fs::metadata(folder.join(name)).unwrap().len();
    assert_eq!(["copy", "copy.2", "copy.3"].map(length), [1_000, 2_000, 3_000]);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
    let refused = client("127.0.0.1:9", &["--out", path]).wait_with_output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--out"), "{refused:?}");
    assert_eq!(length("copy"), 1_000);
}
