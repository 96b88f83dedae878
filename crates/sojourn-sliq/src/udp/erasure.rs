//! The erasure code: systematic, from a Vandermonde matrix over GF(256).
//!
//! The code covers a source packet's length, sequence number and bytes, with zeros up to the length
//! of the longest one of the group. As in the public program, the coded lengths are sent in the
//! header, so that a coded packet's payload is that of the longest source and 4 bytes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex};

use crate::{Payload, Received};
use reed_solomon_erasure::galois_8::ReedSolomon;

use crate::udp::message::Message;

/// Bytes of a length and of a sequence number, of which the former do not go in the payload.
const LENGTH: usize = 2;
const PROTECTED: usize = LENGTH + 4;

type Codecs = HashMap<(usize, usize), Arc<ReedSolomon>>;

static CODECS: LazyLock<Mutex<Codecs>> = LazyLock::new(Mutex::default);

/// The code with these numbers of source and coded packets; made once.
fn codec(sources: usize, coded: usize) -> Option<Arc<ReedSolomon>> {
    let mut codecs = CODECS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(codec) = codecs.get(&(sources, coded)) {
        return Some(Arc::clone(codec));
    }
    let codec = Arc::new(ReedSolomon::new(sources, coded).ok()?);
    codecs.insert((sources, coded), Arc::clone(&codec));
    Some(codec)
}

fn shard(seq: u32, message: &Message, length: usize) -> Vec<u8> {
    let mut shard = Vec::with_capacity(length);
    shard.extend((message.len() as u16).to_be_bytes());
    shard.extend(seq.to_be_bytes());
    shard.extend(message.as_ref());
    shard.resize(length, 0);
    shard
}

fn source(shard: &[u8]) -> Option<(u32, Message)> {
    let (head, rest) = shard.split_at_checked(PROTECTED)?;
    let length = u16::from_be_bytes([head[0], head[1]]);
    let seq = u32::from_be_bytes([head[2], head[3], head[4], head[5]]);
    Some((seq, Message::from(rest.get(..length.into())?)))
}

/// The coded packets of these numbers within the group, and the coded lengths.
fn encode(sources: &[(u32, Message)], range: Range<u8>) -> Vec<(Message, u16)> {
    let (count, end) = (sources.len(), usize::from(range.end));
    let first = usize::from(range.start).saturating_sub(count);
    let longest = sources.iter().map(|(_, message)| message.len()).max().unwrap_or(0);
    let length = (longest + PROTECTED).next_multiple_of(2);
    let Some(codec) = end.checked_sub(count).and_then(|coded| codec(count, coded)) else {
        return Vec::new();
    };
    let shards: Vec<_> =
        sources.iter().map(|(seq, message)| shard(*seq, message, length)).collect();
    let mut coded = vec![vec![0; length]; end - count];
    // Lengths and numbers are those of the codec.
    let _ = codec.encode_sep(&shards, &mut coded);
    let made = |bytes: Vec<u8>| {
        (Message::from(&bytes[LENGTH..]), u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    coded.drain(first..).map(made).collect()
}

/// What the code made, of what came of it.
fn coded_shard(packet: &Received<Message>) -> Vec<u8> {
    [&packet.lengths.to_be_bytes(), packet.payload.as_ref()].concat()
}

/// The source packets that are missing among those received; `None` if they cannot be had, or what
/// was received does not go together.
fn decode(sources: u8, received: &[Received<Message>]) -> Option<Vec<(u32, Message)>> {
    let sources = usize::from(sources);
    let coded = received.iter().find(|r| usize::from(r.index) >= sources)?;
    let length = LENGTH + coded.payload.len();
    let last = received.iter().map(|r| usize::from(r.index)).max()?;
    let mut shards: Vec<Option<Vec<u8>>> = vec![None; last + 1];
    for packet in received {
        let index = usize::from(packet.index);
        let bytes = match index < sources {
            true if packet.payload.len() + PROTECTED > length => return None,
            true => shard(packet.seq, &packet.payload, length),
            false if LENGTH + packet.payload.len() != length => return None,
            false => coded_shard(packet),
        };
        shards[index] = Some(bytes);
    }
    let missing: Vec<_> = (0..sources).filter(|index| shards[*index].is_none()).collect();
    codec(sources, last + 1 - sources)?.reconstruct_data(&mut shards).ok()?;
    missing.into_iter().map(|index| source(shards[index].as_ref()?)).collect()
}

impl Payload for Message {
    fn len(&self) -> usize {
        self.as_ref().len()
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_ref());
    }

    fn encode(sources: &[(u32, Self)], range: Range<u8>) -> Vec<(Self, u16)> {
        encode(sources, range)
    }

    fn decode(sources: u8, received: &[Received<Self>]) -> Option<Vec<(u32, Self)>> {
        decode(sources, received)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_packets_of_a_group_give_it_back(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 1..=10),
            coded in 1usize..=21,
            rounds in 1usize..3,
            order in any::<prop::sample::Index>(),
        ) {
            let k = messages.len();
            let sources: Vec<_> = messages
                .iter()
                .enumerate()
                .map(|(seq, bytes)| (u32::MAX - seq as u32, Message::from(&bytes[..])))
                .collect();
            // In one go, or in two rounds.
            let half = k + coded / rounds;
            let longest = messages.iter().map(Vec::len).max().unwrap();
            let mut all: Vec<_> = sources.iter().map(|(_, message)| (message.clone(), 0)).collect();
            all.extend(encode(&sources, k as u8..half as u8));
            all.extend(encode(&sources, half as u8..(k + coded) as u8));
            prop_assert_eq!(all.len(), k + coded);
            // As the simulator computes it (`virtual_payload`).
            let size = (longest + 4).next_multiple_of(2);
            prop_assert!(all[k..].iter().all(|(message, _)| message.as_ref().len() == size));
            let first = 1 + order.index(coded);
            let received: Vec<_> = (first..first + k)
                .map(|index| Received {
                    index: index as u8,
                    seq: sources.get(index).map_or(0, |(seq, _)| *seq),
                    payload: all[index].0.clone(),
                    lengths: all[index].1,
                })
                .collect();
            let back = decode(k as u8, &received);
            let missing = sources[..first.min(k)].to_vec();
            prop_assert_eq!(back, Some(missing));
        }

        #[test]
        fn what_is_no_group_is_refused(
            sources in 0u8..16,
            packets in prop::collection::vec(
                (0u8..31, any::<u32>(), prop::collection::vec(any::<u8>(), 0..20)), 0..12),
        ) {
            let received: Vec<_> = packets
                .iter()
                .map(|(index, seq, bytes)| Received {
                    index: *index,
                    seq: *seq,
                    payload: Message::from(&bytes[..]),
                    lengths: *seq as u16,
                })
                .collect();
            let _ = decode(sources, &received);
        }
    }
}
