//! Receive-window autotuning (Linux `tcp_rcvbuf_grow`, `tcp_grow_window`).
//!
//! The window the receiver is willing to offer is twice what the application read in the last
//! round trip, more while that grows, so that a sender in slow start is never held back; the
//! window offered follows it by two segments per segment received. While it grows, ACKs are not
//! delayed: that decides the ACK rate of a connection's first round trips, and of those after a
//! hole was filled. Growth ends at the stack's maximum (`tcp_rmem[2]`), or at a smaller given size.
//! Stacks without autotuning announce their buffer from the start, as every stack does one of a
//! given size; `auto` announces no limit at all.
//!
//! Measured on Linux 6.18: 65,160 bytes at first, 80,896 allowed; from the third round trip of slow
//! start on, six times the data of the last.

use super::OPEN_WINDOW;
use super::profile::Profile;
use crate::spec::BufferSize;
use crate::units::{Span, Time};

/// Window in the SYN-ACK: 45 segments of 1448 bytes (`tcp_rmem[1]` of 128 kB).
const FIRST_WINDOW: u64 = 65_160;
/// Initial receive buffer (`tcp_rmem[1]`).
const FIRST_BUFFER: u64 = 131_072;
/// Segments that the application is taken to read per round trip at first (`TCP_INIT_CWND`).
const FIRST_ROUND: u64 = 10;

/// The receive window and what it grows to.
#[derive(Clone, Copy, Debug)]
pub struct Autotune {
    /// The window announced, where tuning does not decide it.
    announced: Option<u64>,
    window: u64,
    allowed: u64,
    limit: u64,
    /// Bytes read in the last round trip that set `allowed`.
    read_before: u64,
    /// Bytes read in this round trip, which began then.
    read: u64,
    round_began: Time,
    rtt: Option<Span>,
}

impl Autotune {
    /// The window of a connection's beginning.
    pub fn new(profile: &Profile, mss: u32, buffer: BufferSize) -> Self {
        let share = |bytes| ((bytes as f64 * profile.window_share) as u64).max(u64::from(mss));
        let most = share(profile.receive_buffer_max);
        let (announced, limit) = match buffer {
            BufferSize::Auto => (Some(u64::from(OPEN_WINDOW)), most),
            BufferSize::Bytes(bytes) => (Some(share(bytes)), share(bytes).min(most)),
            BufferSize::Stack => (None, most),
        };
        let first = if profile.tunes_window { FIRST_WINDOW.min(limit) } else { limit };
        Autotune {
            announced,
            window: first,
            allowed: first.max(share(FIRST_BUFFER).min(limit)),
            limit,
            read_before: FIRST_ROUND * u64::from(mss),
            read: 0,
            round_began: Time::ZERO,
            rtt: None,
        }
    }

    /// The window to advertise, in bytes.
    pub fn window(&self) -> u32 {
        self.announced.unwrap_or(self.window).min(u64::from(OPEN_WINDOW)) as u32
    }

    /// The smoothed round-trip time as the receiver sees it.
    pub fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    /// A timestamp echo gave an RTT: a lower one is taken over, a higher one smoothed.
    #[inline]
    pub fn sample_rtt(&mut self, sample: Span) {
        self.rtt = Some(self.rtt.map_or(sample, |rtt| sample.min((rtt * 7 + sample) / 8)));
    }

    /// A segment of `payload` bytes arrived; returns whether the window has grown.
    #[inline]
    pub fn on_segment(&mut self, payload: u16) -> bool {
        let grows = self.window < self.allowed;
        if grows {
            self.window = (self.window + 2 * u64::from(payload)).min(self.allowed);
        }
        grows
    }

    /// The application read `bytes`; `held` more wait above a hole.
    #[inline]
    pub fn on_read(&mut self, now: Time, bytes: u64, held: u64) {
        self.read += bytes;
        let Some(rtt) = self.rtt else { return };
        if now.since(self.round_began) < rtt {
            return;
        }
        if self.read > self.read_before {
            let twice = 2 * u128::from(self.read);
            let growth = twice * u128::from(self.read - self.read_before)
                / u128::from(self.read_before.max(1));
            let wanted = (twice + 2 * growth).min(u128::from(u64::MAX / 2)) as u64 + held;
            self.allowed = self.allowed.max(wanted.min(self.limit));
            self.read_before = self.read;
        }
        self.read = 0;
        self.round_began = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tune(profile: &str, buffer: BufferSize) -> Autotune {
        Autotune::new(Profile::named(profile).unwrap(), 1448, buffer)
    }

    /// The window announced and whether it still grows, after a second of 1 ms rounds that become
    /// longer and longer.
    fn after_a_second(mut tune: Autotune) -> (u32, bool) {
        tune.sample_rtt(Span::from_millis(1));
        for ms in 1..1000 {
            tune.on_segment(1448);
            tune.on_read(Time::ZERO + Span::from_millis(ms), 1448 * ms, 0);
        }
        (tune.window(), tune.on_segment(1448))
    }

    /// The measured sequence: after rounds of 40 and 80 segments, 6 x 57,920 and 6 x 115,840.
    #[test]
    fn follows_slow_start_as_measured() {
        let mut tune = tune("linux-6", BufferSize::Stack);
        tune.sample_rtt(Span::from_millis(60));
        let mut now = Time::ZERO;
        let mut reached = vec![];
        for round in 0..5 {
            now += Span::from_millis(60);
            let segments = 10u64 << round;
            for _ in 0..segments {
                tune.on_segment(1448);
            }
            tune.on_read(now, segments * 1448, 0);
            reached.push(tune.allowed);
        }
        assert_eq!(reached[2..4], [6 * 57_920, 6 * 115_840]);
    }

    #[test]
    fn growth_ends_at_the_buffer_whose_share_is_announced() {
        for (profile, bytes, window) in [
            ("linux-6", 200_000, 123_437),
            ("linux-4.9", 200_000, 100_000),
            ("rfc", 200_000, 200_000),
        ] {
            let reached = after_a_second(tune(profile, BufferSize::Bytes(bytes)));
            assert_eq!(reached, (window, false), "{profile}");
        }
    }

    /// However large the buffer, ACKs are delayed once the stack's maximum is reached.
    #[test]
    fn growth_ends_at_the_stacks_maximum() {
        for buffer in [BufferSize::Auto, BufferSize::Bytes(1 << 40), BufferSize::Stack] {
            let mut tune = tune("linux-5.1", buffer);
            tune.sample_rtt(Span::from_millis(1));
            for ms in 1..5000 {
                tune.on_segment(1448);
                tune.on_read(Time::ZERO + Span::from_millis(ms), 1448 * ms, 0);
            }
            assert_eq!((tune.window, tune.on_segment(1448)), (3 << 20, false), "{buffer:?}");
        }
    }

    #[test]
    fn stacks_without_tuning_announce_their_buffer_and_delay_acks() {
        for profile in ["ns3", "rfc"] {
            for buffer in [BufferSize::Auto, BufferSize::Bytes(64_000), BufferSize::Stack] {
                let mut tune = tune(profile, buffer);
                let window = tune.window();
                assert!(!tune.on_segment(1448), "{profile}");
                assert_eq!(after_a_second(tune), (window, false), "{profile}");
            }
        }
    }
}
