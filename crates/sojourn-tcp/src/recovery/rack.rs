//! RACK: loss detection by time of transmission (RFC 8985; Linux `net/ipv4/tcp_recovery.c`).
//!
//! A segment is lost when one sent later has been delivered and the reordering window has passed.
//! As in Linux, the window is zero in recovery, and before it once as many segments are SACKed as
//! the degree of reordering, as long as no reordering was observed; DSACKs widen it by steps of a
//! quarter of the minimum RTT for 16 recoveries. Times are read in whole microseconds.

use crate::units::{Span, Time};

/// Recoveries for which a widened reordering window is kept (`TCP_RACK_RECOVERY_THRESH`).
const PERSISTENCE: u8 = 16;

/// RACK's state.
#[derive(Clone, Copy, Debug)]
pub struct Rack {
    /// Most recently sent segment known to be delivered: when it was sent, and its number.
    newest: (Time, u32),
    rtt: Span,
    /// Whether something was delivered since the last detection of losses.
    advanced: bool,
    /// Whether reordering has been observed on this connection.
    reordering_seen: bool,
    steps: u8,
    persist: u8,
    dsack_seen: bool,
    last_adjusted: u32,
}

/// Inputs of the reordering window besides RACK's own state.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Losses are evident already: in recovery, or as many segments were delivered out of order as
    /// the degree of reordering.
    pub evident: bool,
    /// Minimum RTT.
    pub min_rtt: Span,
    /// Smoothed RTT.
    pub srtt: Span,
}

/// The outstanding segments, neither delivered nor lost, in the order of their last transmission.
pub trait Outstanding {
    /// The one sent longest ago.
    fn oldest(&self) -> Option<u32>;

    /// The one sent next after `seq`, which must be outstanding.
    fn later(&self, seq: u32) -> Option<u32>;

    /// When `seq`, which must be outstanding, was last sent.
    fn sent_at(&self, seq: u32) -> Time;
}

/// Classification of an outstanding segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// None sent later has been delivered.
    Open,
    /// One has; it is lost unless it is delivered within this time.
    Overdue(Span),
    /// It is lost.
    Lost,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            newest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            advanced: false,
            reordering_seen: false,
            steps: 1,
            persist: 0,
            dsack_seen: false,
            last_adjusted: 0,
        }
    }
}

impl Rack {
    /// A segment, last sent then, was delivered for the first time.
    #[inline]
    pub fn on_delivered(
        &mut self,
        now: Time,
        (sent_at, seq): (Time, u32),
        retransmitted: bool,
        min_rtt: Span,
    ) {
        let rtt = now.micros_since(sent_at);
        // Too fast for the retransmission: this acknowledges the original.
        if rtt < min_rtt && retransmitted {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (sent_at, seq) > self.newest {
            self.newest = (sent_at, seq);
        }
    }

    /// A segment never retransmitted was delivered after one sent later: reordering.
    pub fn on_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// A duplicate SACK arrived: a retransmission was unnecessary.
    pub fn on_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// A recovery ended without being undone.
    pub fn on_recovery_kept(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A recovery was undone by DSACKs: keeps the wide window longer.
    pub fn on_undo(&mut self) {
        self.persist = (self.persist + 1).min(PERSISTENCE);
    }

    /// Lets the next detection run although nothing new was delivered.
    pub fn look_again(&mut self) {
        self.advanced = true;
    }

    /// Adapts the reordering window, at most once per round trip. `prior_delivered` is the
    /// delivery count at the sending of the segment that this ACK sampled.
    pub fn adapt(&mut self, prior_delivered: Option<u32>, delivered: u32) {
        let Some(prior) = prior_delivered.filter(|&prior| prior > 0) else { return };
        if prior < self.last_adjusted {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.steps = self.steps.saturating_add(1);
            self.dsack_seen = false;
            self.last_adjusted = delivered;
            self.persist = PERSISTENCE;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// The reordering window.
    pub fn window(&self, situation: Situation) -> Span {
        if !self.reordering_seen && situation.evident {
            return Span::ZERO;
        }
        let quarter = situation.min_rtt.as_micros() / 4;
        let srtt = situation.srtt.as_micros();
        Span::from_micros(quarter.saturating_mul(self.steps.into()).min(srtt))
    }

    /// Time until a segment sent at `sent_at` is to be marked lost; zero if it is due.
    #[inline]
    fn remaining(&self, now: Time, sent_at: Time, window: Span) -> Span {
        (self.rtt + window).saturating_sub(now.micros_since(sent_at))
    }

    /// Whether an outstanding segment has been in flight for longer than the last delivered one
    /// was.
    pub fn overdue(&self, now: Time, sent_at: Time) -> bool {
        self.remaining(now, sent_at, Span::ZERO) == Span::ZERO
    }

    /// Classifies the outstanding segment `seq`, last sent at `sent_at`, with reordering window
    /// `window`.
    #[inline]
    pub fn judge(&self, now: Time, (sent_at, seq): (Time, u32), window: Span) -> Verdict {
        if (sent_at, seq) >= self.newest {
            return Verdict::Open;
        }
        match self.remaining(now, sent_at, window) {
            Span::ZERO => Verdict::Lost,
            left => Verdict::Overdue(left),
        }
    }

    /// Whether anything was delivered since the last call; otherwise detection has nothing to do.
    #[inline]
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// Detects losses as Linux 4.4 to 4.11 did in recovery: segments last sent more than a
    /// millisecond (with reordering a quarter of the minimum RTT) before a delivered one.
    pub fn detect_sent_before<B: Outstanding>(
        &mut self,
        board: &mut B,
        min_rtt: Span,
        mut on_lost: impl FnMut(&mut B, u32),
    ) {
        if !self.take_news() {
            return;
        }
        let settling = if self.reordering_seen { min_rtt.as_nanos() / 4 } else { 0 };
        let window = Span::from_nanos(settling).max(Span::from_millis(1));
        let mut cursor = board.oldest();
        while let Some(seq) = cursor.filter(|&seq| board.sent_at(seq) + window < self.newest.0) {
            cursor = board.later(seq);
            on_lost(board, seq);
        }
    }

    /// Detects losses with reordering window `window` if anything was delivered; calls `on_lost`
    /// with each lost segment's number. Returns the time until the next detection, if there are
    /// candidates.
    pub fn detect<B: Outstanding>(
        &mut self,
        now: Time,
        board: &mut B,
        window: Span,
        mut on_lost: impl FnMut(&mut B, u32),
    ) -> Option<Span> {
        if !self.take_news() {
            return None;
        }
        let mut wait: Option<Span> = None;
        let mut cursor = board.oldest();
        while let Some(seq) = cursor {
            let verdict = self.judge(now, (board.sent_at(seq), seq), window);
            if verdict == Verdict::Open {
                break;
            }
            cursor = board.later(seq);
            match verdict {
                Verdict::Overdue(left) => wait = wait.max(Some(left)),
                _ => on_lost(board, seq),
            }
        }
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments sent a millisecond apart, none of them retransmitted.
    struct Sent(std::collections::BTreeMap<u32, Time>);

    impl Sent {
        fn new(segments: u32) -> Self {
            let at = |seq: u32| Time::ZERO + Span::from_millis(seq.into());
            Sent((0..segments).map(|seq| (seq, at(seq))).collect())
        }
    }

    impl Outstanding for Sent {
        fn oldest(&self) -> Option<u32> {
            self.0.keys().next().copied()
        }

        fn later(&self, seq: u32) -> Option<u32> {
            self.0.range(seq + 1..).next().map(|(seq, _)| *seq)
        }

        fn sent_at(&self, seq: u32) -> Time {
            self.0[&seq]
        }
    }

    fn lost(
        rack: &mut Rack,
        now: Time,
        evident: bool,
        sent: &mut Sent,
    ) -> (Vec<u32>, Option<Span>) {
        let rtt = Span::from_millis(100);
        let mut lost = vec![];
        let situation = Situation { evident, min_rtt: rtt, srtt: rtt };
        let window = rack.window(situation);
        let wait = rack.detect(now, sent, window, |sent, seq| {
            sent.0.remove(&seq);
            lost.push(seq);
        });
        (lost, wait)
    }

    #[test]
    fn what_was_sent_before_a_delivered_segment_is_lost() {
        let (mut rack, mut sent) = (Rack::default(), Sent::new(10));
        let now = Time::ZERO + Span::from_millis(103);
        let sent_at = sent.0.remove(&3).unwrap();
        rack.on_delivered(now, (sent_at, 3), false, Span::from_millis(100));
        assert_eq!(lost(&mut rack, now, true, &mut sent), (vec![0, 1, 2], None));
        assert_eq!(lost(&mut rack, now, true, &mut sent), (vec![], None), "no news");
    }

    #[test]
    fn before_that_is_evident_a_quarter_of_the_rtt_is_waited() {
        let (mut rack, mut sent) = (Rack::default(), Sent::new(10));
        let now = Time::ZERO + Span::from_millis(102);
        let sent_at = sent.0.remove(&2).unwrap();
        rack.on_delivered(now, (sent_at, 2), false, Span::from_millis(100));
        let wait = Some(Span::from_millis(24));
        assert_eq!(lost(&mut rack, now, false, &mut sent), (vec![], wait), "until 126 ms");
        rack.look_again();
        let later = Time::ZERO + Span::from_millis(125);
        assert_eq!(lost(&mut rack, later, false, &mut sent).0, [0]);
    }

    #[test]
    fn early_racks_wait_a_millisecond_between_transmissions() {
        let (mut rack, mut sent) = (Rack::default(), Sent::new(10));
        let now = Time::ZERO + Span::from_millis(103);
        let sent_at = sent.0.remove(&3).unwrap();
        rack.on_delivered(now, (sent_at, 3), false, Span::from_millis(100));
        let mut lost = vec![];
        rack.detect_sent_before(&mut sent, Span::from_millis(100), |_, seq| lost.push(seq));
        assert_eq!(lost, [0, 1], "2 was sent a millisecond earlier, not more");
    }
}
