//! Proportional rate reduction (RFC 6937, RFC 9937; Linux `tcp_cwnd_reduction`).
//!
//! While the window is being reduced, after loss or an ECN mark, the data sent is kept in
//! proportion to the data delivered, so that the window arrives at `ssthresh` within one round
//! without a pause and without a burst.

/// Growth of the window below `ssthresh` under proportional rate reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrrBound {
    /// One segment more than delivered on each ACK that advances without new loss
    /// (Linux since 5.14; RFC 9937).
    AdvancingAck,
    /// One segment more only when a retransmission was delivered and none was lost
    /// (Linux 4.3 to 5.13; ns-3.41).
    RetransmissionDelivered,
    /// Slow-start reduction bound on every ACK (RFC 6937 PRR-SSRB).
    SlowStart,
}

/// Amount that may have been sent once `delivered` of `prior` was delivered, so that the window
/// arrives at `ssthresh` at the end of the round; all in segments, or all in bytes.
#[inline]
pub fn share(ssthresh: u64, delivered: u64, prior: u64) -> u64 {
    (ssthresh * delivered).div_ceil(prior)
}

/// A window reduction under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    prior_cwnd: u32,
    delivered: u32,
    out: u32,
}

/// Effects of one ACK that the reduction depends on.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Segments newly acknowledged or SACKed.
    pub delivered: u32,
    /// Segments newly marked lost.
    pub lost: u32,
    /// Whether the cumulative acknowledgment advanced.
    pub advanced: bool,
    /// Whether a retransmitted segment was acknowledged.
    pub retransmission_delivered: bool,
    /// Whether a retransmission was found lost.
    pub retransmission_lost: bool,
}

impl Prr {
    /// Begins a reduction from `cwnd`.
    pub fn begin(cwnd: u32) -> Self {
        Prr { prior_cwnd: cwnd.max(1), delivered: 0, out: 0 }
    }

    /// Counts segments sent during the reduction.
    #[inline]
    pub fn on_sent(&mut self, segments: u32) {
        self.out += segments;
    }

    /// The window after an ACK; `None` leaves it as it is (nothing was delivered).
    pub fn on_ack(
        &mut self,
        bound: PrrBound,
        ssthresh: u32,
        in_flight: u32,
        progress: Progress,
    ) -> Option<u32> {
        if progress.delivered == 0 {
            return None;
        }
        self.delivered += progress.delivered;
        let send = if in_flight > ssthresh {
            let share = share(ssthresh.into(), self.delivered.into(), self.prior_cwnd.into());
            share as i64 - i64::from(self.out)
        } else {
            self.grow(bound, progress).min(i64::from(ssthresh - in_flight))
        };
        // The first retransmission is always sent.
        let send = send.max(i64::from(self.out == 0)).max(0);
        Some(in_flight + send as u32)
    }

    /// How many segments may be sent when less than `ssthresh` is in flight.
    fn grow(&self, bound: PrrBound, progress: Progress) -> i64 {
        let delivered = i64::from(progress.delivered);
        let owed = (i64::from(self.delivered) - i64::from(self.out)).max(delivered);
        match bound {
            PrrBound::AdvancingAck if progress.advanced && progress.lost == 0 => owed + 1,
            PrrBound::AdvancingAck => owed,
            PrrBound::RetransmissionDelivered
                if progress.retransmission_delivered && !progress.retransmission_lost =>
            {
                owed + 1
            }
            PrrBound::RetransmissionDelivered => delivered,
            PrrBound::SlowStart => owed + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> Progress {
        Progress {
            delivered: 1,
            lost: 0,
            advanced: false,
            retransmission_delivered: false,
            retransmission_lost: false,
        }
    }

    /// RFC 6937 §6's situation: 20 segments in flight, one lost, ssthresh 10: one segment is sent
    /// for every two delivered, and the window ends at ssthresh.
    #[test]
    fn halves_in_proportion() {
        let mut prr = Prr::begin(20);
        let mut in_flight = 19;
        let mut sent = 0;
        for _ in 0..19 {
            in_flight -= 1;
            let cwnd = prr.on_ack(PrrBound::AdvancingAck, 10, in_flight, one()).unwrap();
            let send = cwnd.saturating_sub(in_flight);
            prr.on_sent(send);
            in_flight += send;
            sent += send;
        }
        assert_eq!((sent, in_flight), (10, 10));
    }

    #[test]
    fn heavy_loss_does_not_stall() {
        let mut prr = Prr::begin(20);
        prr.on_sent(1);
        let cwnd = prr.on_ack(PrrBound::AdvancingAck, 10, 3, one()).unwrap();
        assert_eq!(cwnd, 4);
    }
}
