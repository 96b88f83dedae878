use super::*;
use crate::recovery::rack::Outstanding as _;
use proptest::prelude::*;

fn board(segments: u32) -> Scoreboard {
    let mut board = Scoreboard::new(1);
    for _ in 0..segments {
        board.push(1448, Time::ZERO, Snapshot::default(), false);
    }
    board
}

fn sack(board: &mut Scoreboard, start: u32, end: u32) {
    let mut seq = start;
    while let Some(hole) = board.first_unsacked(seq, end) {
        board.mark_sacked(hole, end);
        seq = hole + 1;
    }
    board.close_block(start, end);
}

/// A receiver reneges on its SACKs: those segments are outstanding again, in order, and may be
/// lost.
#[test]
fn what_was_sacked_can_be_forgotten() {
    let mut board = board(10);
    sack(&mut board, 2, 5);
    board.mark_lost(1);
    assert!(!board.head_is_sacked());
    board.pop_acked();
    assert!(board.head_is_sacked());
    board.forget_sacks();
    assert_eq!((board.sacked_out(), board.in_flight()), (0, 9));
    (2..=10).for_each(|seq| _ = board.mark_lost(seq));
    assert_eq!((board.lost_out(), board.oldest()), (9, None));
    assert_eq!(board.next_to_retransmit(), Some(2));
}

#[test]
fn counts_like_linux() {
    let mut board = board(10);
    sack(&mut board, 3, 6);
    board.mark_lost(1);
    board.mark_lost(2);
    assert_eq!((board.sacked_out(), board.lost_out(), board.in_flight()), (3, 2, 5));
    assert_eq!(board.next_to_retransmit(), Some(1));
    board.mark_retransmitted(1, Snapshot::default(), false);
    assert_eq!((board.retrans_out(), board.in_flight()), (1, 6));
    assert_eq!(board.next_to_retransmit(), Some(2));
    assert!(board.mark_lost(1), "a lost retransmission is reported");
    assert_eq!(board.in_flight(), 5);
}

#[test]
fn transmission_order_follows_retransmissions() {
    let mut board = board(4);
    board.mark_lost(1);
    board.mark_retransmitted(1, Snapshot::default(), false);
    let mut order = vec![];
    let mut seq = board.oldest();
    while let Some(s) = seq {
        order.push(s);
        seq = board.later(s);
    }
    assert_eq!(order, [2, 3, 4, 1]);
}

proptest! {
    /// Random operations keep the counters equal to a recount and the list equal to the set
    /// of open segments.
    #[test]
    fn counters_match_a_recount(ops in prop::collection::vec((0u8..6, 0u32..40, 1u32..8), 1..300)) {
        let mut board = board(5);
        for (op, at, len) in ops {
            let out = board.packets_out();
            let seq = board.una() + if out == 0 { 0 } else { at % out };
            match op {
                0 => { board.push(1, Time::ZERO, Snapshot::default(), false); }
                1 if out > 0 => { board.pop_acked(); }
                2 if out > 0 => { let end = (seq + len).min(board.next()); sack(&mut board, seq, end); }
                3 if out > 0 => { board.mark_lost(seq); }
                4 => if let Some(s) = board.next_to_retransmit() {
                    board.mark_retransmitted(s, Snapshot::default(), false);
                },
                5 if at == 0 => board.clear_losses(),
                _ => {}
            }
            let count = |mark| (board.una()..board.next())
                .filter(|&s| board.segment(s).marks.has(mark)).count() as u32;
            prop_assert_eq!(board.sacked_out(), count(Marks::SACKED));
            prop_assert_eq!(board.lost_out(), count(Marks::LOST));
            prop_assert_eq!(board.retrans_out(), count(Marks::RETRANSMITTED));
            let mut listed = vec![];
            let mut at = board.oldest();
            while let Some(s) = at { listed.push(s); at = board.later(s); }
            listed.sort_unstable();
            let open: Vec<u32> = (board.una()..board.next())
                .filter(|&s| Scoreboard::is_linked(board.segment(s).marks)).collect();
            prop_assert_eq!(listed, open);
        }
    }
}

/// A run leaves the scoreboard as its segments would one by one; anything that has happened to a segment
/// ends runs.
#[test]
fn a_run_is_popped_as_its_segments_are() {
    let (mut together, mut each) = (board(5), board(5));
    assert_eq!(together.pop_run(4).map(|run| run.bytes), Some(3 * 1448));
    (1..4).for_each(|_| _ = each.pop_acked());
    let ends =
        |board: &Scoreboard| (board.una(), board.oldest(), board.later(4), board.in_flight());
    assert_eq!(ends(&together), ends(&each));
    assert_eq!(together.pop_run(6).map(|run| run.bytes), Some(2 * 1448));
    assert_eq!((together.oldest(), together.in_flight()), (None, 0));
    each.mark_retransmitted(4, Snapshot::default(), false);
    assert!(each.pop_run(6).is_none());
    let mut sacked = board(5);
    sack(&mut sacked, 2, 3);
    assert!(sacked.pop_run(3).is_none() && sacked.pop_run(2).is_some());
}

#[test]
fn room_that_is_not_needed_is_given_back() {
    let mut board = board(40);
    (1..=37).for_each(|_| _ = board.pop_acked());
    assert_eq!(board.ring.len(), 64);
    board.fit();
    assert_eq!((board.ring.len(), board.packets_out()), (8, 3));
    (0..10).for_each(|_| _ = board.push(1000, Time::ZERO, Snapshot::default(), false));
    assert_eq!((board.ring.len(), board.oldest()), (16, Some(38)));
    assert_eq!(board.pop_run(51).map(|run| run.bytes), Some(3 * 1448 + 10 * 1000));
}

/// Of what is sent again together, nothing else is between.
#[test]
fn lost_neighbours_end_at_what_is_delivered_or_sent_again() {
    let mut board = board(10);
    sack(&mut board, 4, 5);
    (1..=8).for_each(|seq| _ = board.mark_lost(seq));
    assert_eq!((board.lost_from(1, 9), board.lost_from(1, 2), board.lost_from(5, 9)), (3, 2, 4));
    board.mark_retransmitted(6, Snapshot::default(), false);
    assert_eq!((board.lost_from(5, 9), board.lost_from(3, 9)), (1, 1));
}
