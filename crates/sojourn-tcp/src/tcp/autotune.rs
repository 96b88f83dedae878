//! Receive-window autotuning (Linux `tcp_rcvbuf_grow`, `tcp_grow_window`).
//!
//! The target of the receive window is twice what the application read in the last round trip, more
//! while that grows, so that a sender in slow start is never held back; the advertised window
//! follows it by two segments per segment received. While it grows, ACKs are not delayed: that
//! determines the ACK rate of a connection's first round trips, and of those after a hole was
//! filled. Growth ends at the stack's maximum (`tcp_rmem[2]`), or at a smaller configured size.
//! Stacks without autotuning advertise their buffer from the start, as every stack does with a
//! configured size; `auto` advertises no limit at all.
//!
//! Linux adds 16 segments to the target (until 6.15), or the data held above a hole (since 6.16).

use super::OPEN_WINDOW;
use super::profile::Profile;
use crate::spec::BufferSize;
use crate::units::{Span, Time};

/// Window in the SYN-ACK: 45 segments of 1448 bytes (`tcp_rmem[1]` of 128 kB).
const FIRST_WINDOW: u64 = 65_160;
/// Initial receive buffer (`tcp_rmem[1]`).
const FIRST_BUFFER: u64 = 131_072;
/// With segments of less payload the window does not grow (`tcp_event_data_recv`).
const LEAST_PAYLOAD: u16 = 128;
/// A window is closed when this power of two is more than its share that is free.
const LEAST_FREE: u32 = 4;
/// Segments that the application is assumed to read in the first round trip (`TCP_INIT_CWND`).
const FIRST_ROUND: u64 = 10;

/// A window that may be advertised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Bytes.
    pub window: u32,
    /// Less than half of the buffer is free: ACKs may be delayed.
    pub is_scarce: bool,
}

/// The receive window and its target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Autotune {
    /// The window advertised where tuning does not determine it. Its unit is a byte.
    announced: Option<u32>,
    window: u64,
    /// The window that the buffer allows, and the memory of the buffer.
    allowed: u64,
    buffer: u64,
    /// Memory in use with which the window was found not to grow: it does not with more either, until
    /// the buffer does.
    sated: u64,
    /// The advertised window is rounded up to multiples of this (`rcv_wscale`).
    unit: u64,
    /// By so much it grows with each segment.
    step: u64,
    /// Share of that memory that is advertised.
    share: f64,
    limit: u64,
    /// Whether held data, buffers and the resolution of timestamps count ([`Profile::tunes_exactly`]).
    exact: bool,
    /// Bytes added to twice what was read, instead of the data held above a hole.
    slack: Option<u64>,
    /// Bytes read in the last round trip that set `allowed`.
    read_before: u64,
    /// Bytes read in this round trip, and when that began, of a clock in whole microseconds.
    read: u64,
    round_began: Time,
    /// Resolution of timestamps.
    timestamp: Span,
    /// The time echoed by the last segment.
    last_echo: Option<Time>,
    /// Where a window that was advertised ends, and when it began.
    window_began: Option<(u64, Time)>,
    /// Eight times the smoothed round-trip time, in microseconds.
    rtt: Option<u64>,
}

/// The least scale with which the field of 16 bits has the largest window (Linux
/// `tcp_select_initial_window`); stacks that do not tune are taken to scale by one.
fn unit(profile: &Profile) -> u64 {
    if profile.tunes_window {
        1 << profile.receive_buffer_max.ilog2().saturating_sub(15)
    } else {
        1
    }
}

/// The largest window that fits, of at most `window` bytes.
fn field(window: u64) -> u32 {
    window.min(u64::from(OPEN_WINDOW)) as u32
}

impl Autotune {
    /// State at the start of a connection.
    pub(super) fn new(profile: &Profile, mss: u32, buffer: BufferSize) -> Self {
        let share = |bytes| ((bytes as f64 * profile.window_share) as u64).max(u64::from(mss));
        let most = share(profile.receive_buffer_max);
        let (announced, limit) = match buffer {
            BufferSize::Auto => (Some(OPEN_WINDOW), most),
            BufferSize::Bytes(bytes) => (Some(field(share(bytes))), share(bytes).min(most)),
            BufferSize::Stack => (None, most),
        };
        let first = if profile.tunes_window { FIRST_WINDOW.min(limit) } else { limit };
        let exact = profile.tunes_exactly;
        let mut tune = Autotune {
            announced,
            window: first,
            allowed: 0,
            buffer: 0,
            sated: u64::MAX,
            step: 2 * u64::from(mss),
            unit: if announced.is_none() { unit(profile) } else { 1 },
            share: profile.window_share,
            limit,
            slack: profile.window_slack.map(|segments| u64::from(segments * mss)),
            exact,
            read_before: FIRST_ROUND * u64::from(mss),
            read: 0,
            round_began: Time::ZERO,
            timestamp: if exact { profile.timestamp } else { Span::from_micros(1) },
            last_echo: None,
            window_began: None,
            rtt: None,
        };
        tune.allow(first.max(share(FIRST_BUFFER).min(limit)));
        tune
    }

    /// Lets the window grow to `window`, for which the buffer becomes large enough (Linux
    /// `tcp_space_from_win`, `tcp_win_from_space`).
    fn allow(&mut self, window: u64) {
        self.buffer = (window as f64 / self.share) as u64;
        self.sated = u64::MAX;
        self.allowed = (self.buffer as f64 * self.share) as u64;
    }

    /// The connection is established: the first round begins (Linux `tcp_init_buffer_space`).
    pub(super) fn begin(&mut self, now: Time) {
        if self.exact {
            self.round_began = now.in_micros();
        }
    }

    /// The window to advertise, in bytes.
    pub(super) fn window(&self) -> u32 {
        self.announced.unwrap_or_else(|| field(self.window))
    }

    /// The window to advertise while `memory` bytes of the buffer are in use: no more than there is
    /// room for (Linux `__tcp_select_window`).
    #[inline]
    pub(super) fn choose(&self, memory: u64) -> Choice {
        if let Some(announced) = self.announced {
            return Choice { window: announced, is_scarce: false };
        }
        if !self.exact {
            return Choice { window: self.scaled(self.window), is_scarce: false };
        }
        let free = (self.buffer.saturating_sub(memory) as f64 * self.share) as u64;
        if free < self.allowed / 2 {
            return self.choose_scarce(free);
        }
        Choice { window: self.scaled(free.min(self.window)), is_scarce: false }
    }

    /// The same where little is free.
    #[cold]
    fn choose_scarce(&self, mut free: u64) -> Choice {
        free &= !(self.unit - 1);
        let enough = free >= (self.allowed >> LEAST_FREE);
        Choice {
            window: if enough { self.scaled(free.min(self.window)) } else { 0 },
            is_scarce: true,
        }
    }

    /// Whether reading all but `memory` bytes opens a window that was advertised as `window` bytes: the
    /// one to advertise is twice as large, at least (Linux `__tcp_cleanup_rbuf`).
    pub(super) fn opens(&self, window: u64, memory: u64) -> bool {
        let is_exact = self.exact && self.announced.is_none();
        is_exact && 2 * window <= self.allowed && {
            let choice = u64::from(self.choose(memory).window);
            choice > 0 && choice >= 2 * window
        }
    }

    /// A window as the header's scaled field has it, but for the handshake's ("advertise enough space
    /// so that it won't get scaled away").
    pub(super) fn scaled(&self, window: u64) -> u32 {
        field((window + self.unit - 1) & !(self.unit - 1))
    }

    /// The smoothed round-trip time that the receiver estimates.
    pub(super) fn rtt(&self) -> Option<Span> {
        self.rtt.map(|eighths| Span::from_micros(eighths >> 3))
    }

    /// A segment echoes the timestamp `echo`: its first arrival is an RTT sample at the resolution
    /// of timestamps, if its `payload` is that of a full one (Linux `tcp_rcv_rtt_measure_ts`). A
    /// lower sample replaces the estimate, a higher one is smoothed (`tcp_rcv_rtt_update`).
    #[inline]
    pub(super) fn on_echo(&mut self, now: Time, echo: Time, payload: u16) {
        let before = self.last_echo.replace(echo);
        // Most of a burst echo the same ACK.
        if self.exact && before == Some(echo) {
            return;
        }
        let unit = self.timestamp.as_nanos();
        let echoed = echo.as_nanos() / unit;
        if self.exact && before.is_some_and(|before| before.as_nanos() / unit == echoed) {
            return;
        }
        if self.exact && 2 * u64::from(payload) < self.step {
            return;
        }
        let elapsed = (now.as_nanos() / unit).saturating_sub(echoed);
        if elapsed > 0 {
            let sample = (self.timestamp * elapsed).as_micros();
            let smoothed = |rtt: u64| (8 * sample).min(rtt - (rtt >> 3) + sample);
            self.rtt = Some(self.rtt.map_or(8 * sample, smoothed));
        }
    }

    /// A segment in order has arrived, up to stream offset `next`: as long as a whole advertised window
    /// takes is a sample, too, if it is the lowest (Linux `tcp_rcv_rtt_measure`). The last one is of
    /// `window` bytes.
    #[inline]
    pub(super) fn on_advance(&mut self, now: Time, next: u64, window: u64) {
        if !self.exact || self.announced.is_some() {
            return;
        }
        if let Some((end, began)) = self.window_began {
            if next < end {
                return;
            }
            let sample = 8 * now.since(began).as_micros().max(1);
            self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt.min(sample)));
        }
        self.window_began = Some((next + window, now));
    }

    /// A segment of `payload` bytes arrived, and `memory` bytes of the buffer are in use; returns
    /// whether the window has grown (Linux `tcp_grow_window`: by two full segments, whatever this
    /// one's size). A short one counts above a hole only (`tcp_data_queue_ofo`).
    #[inline]
    pub(super) fn on_segment(&mut self, payload: u16, memory: u64, above_hole: bool) -> bool {
        memory < self.sated && self.grow(payload, memory, above_hole)
    }

    #[inline(never)] // a window that has grown all it may is asked no more
    fn grow(&mut self, payload: u16, memory: u64, above_hole: bool) -> bool {
        let free = match self.exact {
            true => (self.buffer.saturating_sub(memory) as f64 * self.share) as u64,
            false => self.allowed,
        };
        let grows = self.window < free && (payload >= LEAST_PAYLOAD || (self.exact && above_hole));
        if grows {
            self.window = (self.window + self.step).min(free);
        } else if self.window >= free {
            self.sated = memory;
        }
        grows
    }

    /// The application read `bytes`, of which the first buffer had `together`; `held` more wait above a
    /// hole. It takes them buffer by buffer, and a round may end after the first one (Linux
    /// `tcp_recvmsg_locked`).
    #[inline]
    pub(super) fn on_read(&mut self, now: Time, bytes: u64, together: u64, held: u64) {
        let left = if self.exact { bytes.saturating_sub(together) } else { 0 };
        self.read += bytes - left;
        self.adjust(now, left, held);
        self.read += left;
    }

    /// Linux `tcp_rcv_space_adjust`, with `left` bytes still to be read.
    fn adjust(&mut self, now: Time, left: u64, held: u64) {
        // As `now.micros_since`, since both of the others are of whole microseconds.
        if self.rtt().is_some_and(|rtt| now.since(self.round_began) >= rtt) {
            self.end_round(now, left, held);
        }
    }

    #[inline(never)] // once per round trip
    fn end_round(&mut self, now: Time, left: u64, held: u64) {
        self.read = self.read.saturating_sub(left);
        if self.read > self.read_before {
            let twice = 2 * u128::from(self.read) + u128::from(self.slack.unwrap_or(0));
            let above = if self.slack.is_some() { 0 } else { held };
            let growth = twice * u128::from(self.read - self.read_before)
                / u128::from(self.read_before.max(1));
            let wanted = (twice + 2 * growth).min(u128::from(u64::MAX / 2)) as u64;
            let wanted = (wanted + above).min(self.limit);
            if wanted > self.allowed {
                self.allow(wanted);
            }
            self.read_before = self.read;
        }
        self.read = 0;
        self.round_began = now.in_micros();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tune(profile: &str, buffer: BufferSize) -> Autotune {
        Autotune::new(Profile::named(profile).unwrap(), 1448, buffer)
    }

    /// A round trip of 1 ms that ends at `ms` ms, with `ms` segments, each of which is read.
    fn round(tune: &mut Autotune, ms: u64) {
        for _ in 0..ms {
            tune.on_segment(1448, 0, false);
            tune.on_read(Time::ZERO + Span::from_millis(ms), 1448, 1448, 0);
        }
    }

    /// The window announced and whether it still grows, after a second of 1 ms rounds that become
    /// longer and longer.
    fn after_a_second(mut tune: Autotune) -> (u32, bool) {
        tune.on_echo(Time::ZERO + Span::from_millis(1), Time::ZERO, 1448);
        for ms in 1..1000 {
            round(&mut tune, ms);
        }
        (tune.window(), tune.on_segment(1448, 0, false))
    }

    #[test]
    fn a_short_segment_counts_above_a_hole_alone() {
        let mut tune = tune("linux-6", BufferSize::Stack);
        assert!(!tune.on_segment(LEAST_PAYLOAD - 1, 0, false));
        assert!(tune.on_segment(LEAST_PAYLOAD - 1, 0, true));
    }

    /// Twice what was read and 16 segments, that again three times because it has doubled.
    #[test]
    fn follows_slow_start_as_linux() {
        let mut tune = tune("linux-6", BufferSize::Stack);
        tune.on_echo(Time::ZERO + Span::from_millis(60), Time::ZERO, 1448);
        let mut now = Time::ZERO;
        let mut reached = vec![];
        for doubling in 0..5 {
            let segments = 10u64 << doubling;
            for left in (0..segments).rev() {
                let read_at = now + Span::from_millis(if left == 0 { 60 } else { 59 });
                tune.on_segment(1448, 0, false);
                tune.on_read(read_at, 1448, 1448, 0);
            }
            now += Span::from_millis(60);
            reached.push(tune.allowed);
        }
        let memory = |window: u64| window * 256 / 131;
        let wanted = |read: u64| memory(3 * (2 * read + 16 * 1448)) * 131 / 256;
        assert_eq!(reached[2..4], [wanted(57_920), wanted(115_840)]);
    }

    /// `tcp_rcv_rtt_measure_ts`: milliseconds, once for each echo, and lower ones at once.
    #[test]
    fn echoes_are_samples_at_the_resolution_of_timestamps() {
        let at = |micros| Time::ZERO + Span::from_micros(micros);
        let mut tune = tune("linux-6", BufferSize::Stack);
        tune.on_echo(at(40_900), at(100), 1448);
        assert_eq!(tune.rtt(), Some(Span::from_millis(40)));
        tune.on_echo(at(90_000), at(900), 1448);
        assert_eq!(tune.rtt(), Some(Span::from_millis(40)), "the same millisecond's echo");
        tune.on_echo(at(57_000), at(9_000), 1448);
        assert_eq!(tune.rtt(), Some(Span::from_millis(41)));
        tune.on_echo(at(60_000), at(21_000), 1448);
        assert_eq!(tune.rtt(), Some(Span::from_millis(39)));
    }

    /// `tcp_rcv_rtt_measure`: a window that is filled sooner than the estimate says.
    #[test]
    fn a_whole_window_is_a_sample_if_it_is_the_lowest() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut tune = tune("linux-6", BufferSize::Stack);
        tune.on_echo(at(40), at(0), 1448);
        for (now, next, rtt) in [(50, 1, 40), (60, 1000, 40), (70, 1001, 20), (100, 2001, 20)] {
            tune.on_advance(at(now), next, 1000);
            assert_eq!(tune.rtt(), Some(Span::from_millis(rtt)), "{now}");
        }
    }

    /// 2^25 bytes take 10 bits more than 15, and 65,536 is the first multiple.
    #[test]
    fn windows_are_multiples_of_what_the_scale_allows() {
        assert_eq!(tune("linux-6", BufferSize::Stack).scaled(65_160), 65_536);
        assert_eq!(tune("linux-6", BufferSize::Stack).scaled(65_537), 66_560);
        assert_eq!(tune("linux-6", BufferSize::Auto).scaled(u64::from(OPEN_WINDOW)), OPEN_WINDOW);
    }

    /// `__tcp_select_window`: what waits leaves less room, and more than half of the buffer makes that
    /// scarce, which is rounded down then.
    #[test]
    fn the_window_is_what_is_free() {
        let tune = tune("linux-6", BufferSize::Stack);
        let choose = |memory| {
            let choice = tune.choose(memory);
            (choice.window, choice.is_scarce)
        };
        assert_eq!(choose(0), (65_536, false));
        assert_eq!(choose(FIRST_BUFFER / 2), (33 << 10, false), "of 33,536");
        assert_eq!(choose(FIRST_BUFFER / 2 + 1000), (32 << 10, true), "of 33,024");
        assert_eq!(choose(FIRST_BUFFER - 4096), (0, true));
        assert!(tune.opens(32 << 10, 0) && !tune.opens(33 << 10, 0));
        assert!(!tune.opens(32 << 10, FIRST_BUFFER / 2));
    }

    /// `tcp_grow_window`: held data leaves less room.
    #[test]
    fn the_window_does_not_grow_into_what_waits() {
        let mut tune = tune("linux-6", BufferSize::Stack);
        let room = FIRST_BUFFER - (FIRST_WINDOW + 1) * 256 / 131;
        assert!(!tune.on_segment(1448, room, false));
        assert!(tune.on_segment(1448, room - 1, false));
        assert_eq!(tune.window, FIRST_WINDOW + 1);
    }

    /// `tcp_rcv_space_adjust`: data that is left in the queue does not count for this round.
    #[test]
    fn a_filled_hole_counts_for_the_next_round() {
        let mut tune = tune("linux-6", BufferSize::Stack);
        tune.on_echo(Time::ZERO + Span::from_millis(40), Time::ZERO, 1448);
        let allowed = tune.allowed;
        let later = |ms| Time::ZERO + Span::from_millis(ms);
        tune.on_read(later(50), 400 * 1448, 17 * 1448, 0);
        assert_eq!(tune.allowed, allowed);
        tune.on_read(later(100), 1448, 1448, 0);
        assert!(tune.allowed > 2 * 384 * 1448, "{}", tune.allowed);
    }

    #[test]
    fn growth_ends_at_the_buffer_whose_share_is_announced() {
        for (profile, bytes, window) in [
            ("linux-6", 200_000, 102_343),
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
            tune.on_echo(Time::ZERO + Span::from_millis(1), Time::ZERO, 1448);
            for ms in 1..2000 {
                round(&mut tune, ms);
            }
            assert_eq!(
                (tune.window, tune.on_segment(1448, 0, false)),
                (3 << 20, false),
                "{buffer:?}"
            );
        }
    }

    #[test]
    fn stacks_without_tuning_announce_their_buffer_and_delay_acks() {
        for profile in ["ns3", "rfc"] {
            for buffer in [BufferSize::Auto, BufferSize::Bytes(64_000), BufferSize::Stack] {
                let mut tune = tune(profile, buffer);
                let window = tune.window();
                assert!(!tune.on_segment(1448, 0, false), "{profile}");
                assert_eq!(after_a_second(tune), (window, false), "{profile}");
            }
        }
    }
}
