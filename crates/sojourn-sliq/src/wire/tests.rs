use proptest::prelude::*;

use super::*;

/// Bytes as a payload, for tests of the wire.
#[derive(Clone, Debug, Default, PartialEq)]
struct Raw(Vec<u8>);

impl From<&[u8]> for Raw {
    fn from(bytes: &[u8]) -> Self {
        Raw(bytes.to_vec())
    }
}

impl Payload for Raw {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend(&self.0);
    }

    fn encode(_: &[(u32, Self)], _: std::ops::Range<u8>) -> Vec<(Self, u16)> {
        Vec::new()
    }

    fn decode(_: u8, _: &[crate::Received<Self>]) -> Option<Vec<(u32, Self)>> {
        None
    }
}

fn ack() -> impl Strategy<Value = Ack> {
    let observed = prop::collection::vec((any::<u32>(), any::<u32>()), 0..=MAX_OBSERVED);
    let blocks = prop::collection::vec((0u64..32_000, 0u64..700), 0..20);
    (any::<u8>(), any::<[u32; 3]>(), observed, blocks).prop_map(
        |(stream, head, observed, blocks)| {
            let [next, stamp, delta] = head;
            let mut ack = Ack { stream, next, stamp, delta, ..Ack::default() };
            for (seq, stamp) in observed {
                ack.observe(Observed { seq, stamp });
            }
            for (first, length) in blocks {
                ack.add_block(first, first + length);
            }
            ack
        },
    )
}

fn fec() -> impl Strategy<Value = Fec> {
    (any::<u16>(), 0u8..31, 0u8..=10, 0u8..=15, any::<Option<u16>>()).prop_map(
        |(group, index, sources, round, encoded)| Fec { group, index, sources, round, encoded },
    )
}

fn data() -> impl Strategy<Value = (Data, Raw)> {
    let numbers = (any::<[u8; 3]>(), any::<[bool; 2]>(), any::<[u32; 2]>());
    let options = (any::<[Option<u32>; 2]>(), prop::option::of(fec()));
    (numbers, options, prop::collection::vec(any::<u8>(), 0..50)).prop_map(
        |((small, flags, large), (words, fec), payload)| {
            let [stream, control, retransmissions] = small;
            let ([persist, fin], [seq, stamp], [delta, forward]) = (flags, large, words);
            let data = Data {
                stream,
                control,
                retransmissions,
                persist,
                fin,
                seq,
                stamp,
                delta,
                forward,
                fec,
            };
            (data, Raw(payload))
        },
    )
}

fn message() -> impl Strategy<Value = Datagram<Raw>> {
    let sync = (any::<u8>(), any::<u16>(), any::<u32>());
    let sync = sync.prop_map(|(control, seq, value)| Sync { control, seq, value });
    let count = (any::<[u8; 2]>(), any::<[u32; 2]>()).prop_map(|(a, b)| ReceivedCount {
        stream: a[0],
        retransmissions: a[1],
        seq: b[0],
        received: b[1],
    });
    let measurement =
        (any::<u16>(), any::<u32>()).prop_map(|(seq, max_delay)| Measurement { seq, max_delay });
    use proptest::option::of;
    (of(sync), of(ack()), of(count), of(measurement), of(data()))
        .prop_map(|(sync, ack, count, measurement, data)| {
            Datagram::Message(Message { sync, ack, count, measurement, data })
        })
        .prop_filter("a datagram has bytes", |datagram| datagram.size() > 0)
}

fn other() -> impl Strategy<Value = Datagram<Raw>> {
    let names = prop::collection::vec("[a-z0-9-]{1,20}", 1..4);
    let kinds = prop::sample::select(vec![
        HandshakeKind::ClientHello,
        HandshakeKind::ServerHello,
        HandshakeKind::ClientConfirm,
        HandshakeKind::Reject,
    ]);
    let parts = (kinds, names, any::<[u32; 3]>(), any::<Option<Cookie>>());
    let handshake = parts.prop_map(|(kind, controls, words, cookie)| {
        let [stamp, echo, client] = words;
        Datagram::Handshake(Handshake { kind, controls, stamp, echo, client, cookie })
    });
    let train = (any::<[u8; 2]>(), any::<bool>(), any::<[u32; 3]>(), 0u16..1400).prop_map(
        |(small, answer, [gap, stamp, delta], padding)| {
            let kind = if answer { TrainKind::Answer } else { TrainKind::Probe };
            Datagram::Train(Train {
                control: small[0],
                kind,
                seq: small[1],
                gap,
                stamp,
                delta,
                padding,
            })
        },
    );
    let close = (any::<bool>(), any::<u16>())
        .prop_map(|(answer, reason)| Datagram::Close(Close { answer, reason }));
    let create =
        (any::<[bool; 3]>(), any::<[u8; 3]>(), 0u8..16, any::<[u32; 2]>(), any::<[u16; 2]>())
            .prop_map(|(flags, small, mode, [window, initial_seq], [target, probability])| {
                let [answer, ordered, timed] = flags;
                let [stream, priority, retransmissions] = small;
                Datagram::CreateStream(CreateStream {
                    answer,
                    stream,
                    priority,
                    window,
                    initial_seq,
                    ordered,
                    mode,
                    retransmissions,
                    timed,
                    target,
                    probability,
                })
            });
    prop_oneof![handshake, train, close, create]
}

proptest! {
    #[test]
    fn bytes_give_the_datagram_back(datagram in prop_oneof![message(), other()]) {
        let mut bytes = Vec::new();
        encode(&datagram, &mut bytes);
        prop_assert_eq!(bytes.len(), datagram.size());
        prop_assert_eq!(decode::<Raw>(&bytes), Ok(datagram));
    }

    #[test]
    fn garbage_is_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode::<Raw>(&bytes);
    }

    #[test]
    fn what_is_cut_short_is_refused(datagram in other(), cut in 1usize..8) {
        let mut bytes = Vec::new();
        encode(&datagram, &mut bytes);
        let train = matches!(datagram, Datagram::Train(_));
        bytes.truncate(bytes.len().saturating_sub(cut));
        prop_assert!(train || decode::<Raw>(&bytes).is_err());
    }
}

#[test]
fn headers_have_the_lengths_of_the_report() {
    assert_eq!(Data::default().size(), 16);
    let fec = Some(Fec::default());
    assert_eq!(Data { delta: Some(1), fec, ..Data::default() }.size(), 24);
}
