//! Loss of retransmissions, where only these are judged by time (Linux 4.4 to 4.14).

use std::collections::VecDeque;

use super::scoreboard::Scoreboard;
use crate::transport::recovery::rack::{Rack, Situation, Verdict};
use crate::units::Time;

/// When segments were retransmitted, in that order.
#[derive(Clone, Debug, Default)]
pub struct Retransmissions(VecDeque<(Time, u32)>);

impl Retransmissions {
    /// `seq` was retransmitted.
    pub fn on_sent(&mut self, now: Time, seq: u32) {
        self.0.push_back((now, seq));
    }

    /// As [`Rack::detect`], of retransmissions only. Forgets those whose fate is known.
    pub fn detect(
        &mut self,
        now: Time,
        rack: &mut Rack,
        board: &mut Scoreboard,
        situation: Situation,
        mut on_lost: impl FnMut(&mut Scoreboard, u32),
    ) {
        if !rack.take_news() {
            return;
        }
        let window = rack.window(situation);
        while let Some(&(sent_at, seq)) = self.0.front() {
            if board.retransmission_in_flight(seq, sent_at) {
                if rack.judge(now, (sent_at, seq), window) != Verdict::Lost {
                    break;
                }
                on_lost(board, seq);
            }
            self.0.pop_front();
        }
    }
}
