//! Cake's ACK filter: of the acknowledgments of a connection that wait in a queue, those go of which
//! a later one tells all.
//!
//! Model: `cake_ack_filter`, `cake_tcph_may_drop` and `cake_tcph_sack_compare` of Linux 6.12
//! `net/sched/sch_cake.c`. When an acknowledgment comes, the first in the queue is dropped that
//! acknowledges less, or as much with fewer SACK blocks, has no other flag, and no later timestamp;
//! but a second one that could be dropped has to wait as well, so that at least two remain. The
//! aggressive filter drops the first also if the newest follows it at once. A change of ECE or CWR
//! between two keeps the former, and a duplicate SACK block is never dropped.
//!
//! Deviations: segments carry no acknowledgments here, so that only those that carry nothing else make
//! others superfluous. SACK blocks count segments, as acknowledgment numbers do. AccECN's counter is no flag
//! here and does not wrap, so that a later one tells all; Linux keeps every acknowledgment with its
//! option or its AE flag. Live packets' SACK blocks cannot be read: such acknowledgments stay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::{Flags, Header, Packet, SackBlock, TcpAck};
use crate::queue::store::{Chain, PacketStore, Place};

/// Filtering of acknowledgments, as the keywords of `tc-cake(8)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// None.
    #[default]
    NoAckFilter,
    /// Two of those that could be dropped stay.
    AckFilter,
    /// One of them stays.
    AckFilterAggressive,
}

/// An acknowledgment that could be dropped.
#[derive(Clone, Copy)]
struct Eligible {
    place: Place,
    /// The place before it; none at the head of the queue.
    before: Option<Place>,
    echo: u16,
}

/// Takes out of a queue the packet that its last one makes superfluous, if there is one.
pub(super) fn superfluous(
    store: &mut PacketStore,
    chain: &mut Chain,
    aggressive: bool,
) -> Option<Packet> {
    let found = find(store, chain, aggressive)?;
    store.remove_after(chain, found.before)
}

fn find(store: &PacketStore, chain: &Chain, aggressive: bool) -> Option<Eligible> {
    let (last, newest) = store.last(chain)?;
    let new = acknowledgment(newest).filter(|ack| !ack.flags.has(Flags::SYN))?;
    let (mut eligible, mut found) = (None::<Eligible>, 0);
    let mut before = None;
    for (place, packet) in store.iter(chain).take_while(|(place, _)| *place != last) {
        let previous = before.replace(place);
        let Some(old) = acknowledgment(packet).filter(|_| is_of_same(packet, newest)) else {
            continue;
        };
        if eligible.is_some_and(|eligible| eligible.echo != echo(old)) {
            eligible = None;
            found -= 1;
        }
        if !is_told_by(old, new) {
            continue;
        }
        let first = *eligible.get_or_insert(Eligible { place, before: previous, echo: echo(old) });
        found += 1;
        if found > 1 {
            return Some(first);
        }
    }
    // Only if the newest follows it at once is no echo lost.
    eligible.filter(|one| aggressive && before == Some(one.place) && one.echo == echo(new))
}

fn acknowledgment(packet: &Packet) -> Option<&TcpAck> {
    match &packet.header {
        Header::Ack(ack) if ack.flags.has(Flags::ACK) => Some(ack),
        _ => None,
    }
}

/// Whether two packets go the same way of the same connection.
fn is_of_same(packet: &Packet, other: &Packet) -> bool {
    packet.tuple == other.tuple && packet.direction() == other.direction()
}

const ECHO: u16 = Flags::ECE.0 | Flags::CWR.0;

/// The flags that echo congestion, which are compared.
fn echo(ack: &TcpAck) -> u16 {
    ack.flags.0 & ECHO
}

/// Whether a later acknowledgment tells all that `old` does, and more.
fn is_told_by(old: &TcpAck, new: &TcpAck) -> bool {
    let plain = old.flags.0 & !(ECHO | Flags::DSACK.0) == Flags::ACK.0;
    let in_order = old.sent_at <= new.sent_at && old.echo <= new.echo && old.next <= new.next;
    plain
        && in_order
        && match compared(old, new) {
            Blocks::Lost => false,
            Blocks::Same => old.next != new.next,
            Blocks::More => true,
        }
}

/// SACK blocks of a later acknowledgment against those of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocks {
    /// It lacks some.
    Lost,
    /// It has the same.
    Same,
    /// It has all, and more.
    More,
}

fn compared(old: &TcpAck, new: &TcpAck) -> Blocks {
    let (before, after) = (old.sacks(), new.sacks());
    let covers = |block: &SackBlock| {
        after.iter().any(|other| other.start <= block.start && block.end <= other.end)
    };
    // A block below what is acknowledged reports a duplicate.
    if before.iter().any(|block| block.start < old.next || !covers(block)) {
        return Blocks::Lost;
    }
    let size = |blocks: &[SackBlock]| blocks.iter().map(|block| block.end - block.start).sum();
    let sizes: [u32; 2] = [size(before), size(after)];
    if sizes[1] > sizes[0] { Blocks::More } else { Blocks::Same }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::FiveTuple;
    use crate::units::{Span, Time};

    fn ack(next: u32) -> TcpAck {
        TcpAck { flags: Flags::ACK, next, ..TcpAck::default() }
    }

    fn echoing(next: u32) -> TcpAck {
        TcpAck { flags: Flags::ACK.with(Flags::ECE, true), ..ack(next) }
    }

    fn sacking(next: u32, blocks: &[[u32; 2]]) -> TcpAck {
        let mut ack = ack(next);
        ack.set_sacks(blocks.iter().map(|[start, end]| SackBlock { start: *start, end: *end }));
        ack
    }

    fn packet(flow: u32, ack: TcpAck) -> Packet {
        let header = Header::Ack(ack);
        Packet { flow, tuple: FiveTuple::of_flow(flow), size: 52, header, ..Packet::default() }
    }

    /// What is dropped as these acknowledgments come, each as its acknowledgment number.
    fn dropped(aggressive: bool, acks: &[TcpAck]) -> Vec<u32> {
        let (mut store, mut chain) = (PacketStore::default(), Chain::default());
        let offered = |ack: &TcpAck| {
            store.push(&mut chain, packet(0, *ack));
            superfluous(&mut store, &mut chain, aggressive).and_then(|gone| match gone.header {
                Header::Ack(ack) => Some(ack.next),
                _ => None,
            })
        };
        acks.iter().filter_map(offered).collect()
    }

    #[test]
    fn the_oldest_goes_once_two_could_go() {
        let acks: Vec<_> = [1, 3, 5, 7, 9].map(ack).into();
        assert_eq!(dropped(false, &acks), [1, 3, 5]);
        assert_eq!(dropped(true, &acks), [1, 3, 5, 7]);
    }

    #[test]
    fn duplicates_without_blocks_stay() {
        assert!(dropped(true, &[3, 3, 3].map(ack)).is_empty());
    }

    #[test]
    fn echoes_are_not_lost() {
        // The last one before a change stays, and so does the first after it.
        let acks = [ack(1), ack(3), echoing(5), echoing(7), ack(9), ack(11)];
        assert_eq!(dropped(true, &acks), [1, 5, 9]);
        assert!(dropped(false, &[ack(1), echoing(3), ack(5)]).is_empty());
        let steady = [1, 3, 5, 7].map(echoing);
        assert_eq!(
            dropped(false, &steady),
            [1, 3],
            "an echo that goes on is told by the later ones"
        );
    }

    #[test]
    fn blocks_are_not_lost() {
        let growing = [sacking(5, &[[7, 8]]), sacking(5, &[[7, 9]]), sacking(5, &[[7, 10]])];
        assert_eq!(dropped(false, &growing), [5], "the newest has more of the same run");
        let others = [sacking(5, &[[7, 8]]), sacking(9, &[[11, 12]]), sacking(9, &[[11, 13]])];
        assert_eq!(dropped(true, &others), [9], "but not what only the first reports");
        let repaired = [sacking(5, &[[7, 9]]), ack(9), ack(11)];
        let kept = dropped(false, &repaired).is_empty();
        assert!(kept, "Linux keeps one whose blocks are acknowledged");
        let duplicate = [sacking(5, &[[2, 3]]), ack(7), ack(9), ack(11)];
        assert_eq!(dropped(false, &duplicate), [7], "a duplicate is told once");
    }

    #[test]
    fn what_is_more_than_an_acknowledgment_stays() {
        let open = TcpAck { flags: Flags::ACK.with(Flags::SYN, true), ..ack(1) };
        let signal = TcpAck { flags: Flags::ACK.with(Flags::ESCE, true), ..ack(1) };
        for first in [open, signal] {
            assert_eq!(dropped(true, &[first, ack(3), ack(5)]), [3]);
        }
        let late = TcpAck { sent_at: Time::ZERO + Span::from_millis(9), ..ack(1) };
        assert!(dropped(true, &[late, ack(3)]).is_empty(), "sent later than what came after it");
    }

    #[test]
    fn connections_are_told_apart_in_a_queue_that_they_share() {
        let (mut store, mut chain) = (PacketStore::default(), Chain::default());
        let mut gone = Vec::new();
        for (flow, next) in [(0, 1), (1, 1), (0, 3), (1, 3), (0, 5), (1, 5)] {
            store.push(&mut chain, packet(flow, ack(next)));
            gone.extend(superfluous(&mut store, &mut chain, false).map(|gone| gone.flow));
        }
        assert_eq!(gone, [0, 1]);
        let left: Vec<_> = store.iter(&chain).map(|(_, packet)| packet.flow).collect();
        assert_eq!(left, [0, 1, 0, 1]);
    }
}
