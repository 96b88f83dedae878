//! HighSpeed TCP (RFC 3649): the larger the window, the faster it grows and the less it is cut.
//!
//! Model: Linux `net/ipv4/tcp_highspeed.c` with the table of RFC 3649 appendix B. The
//! window grows by a(W) segments per window of *ACKs* (every kernel counts ACKs, not segments, which
//! halves growth under delayed ACKs) and is cut by b(W), both constant between the table's windows.
//! Windows up to 38 segments behave like Reno.
//!
//! Deviation from the RFC, as in Linux: a(W) is the table's next larger entry; the row is looked up
//! when the window grows, so that a cut uses the row of the last growth.
//!
//! Observes: `a` (segments per window of ACKs), `b` (share of the window).

use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, ControlInit, Event};
use crate::observe::Observer;
use crate::registry::NoParams;
use crate::units::Time;

/// RFC 3649 appendix B: up to this window, the row's number (from 1) is a(W); b(W) in 1/256.
#[rustfmt::skip]
static TABLE: [(u32, u32); 72] = [
    (38, 128),
    (118, 112),
    (221, 104),
    (347, 98),
    (495, 93),
    (663, 89),
    (851, 86),
    (1058, 83),
    (1284, 81),
    (1529, 78),
    (1793, 76),
    (2076, 74),
    (2378, 72),
    (2699, 71),
    (3039, 69),
    (3399, 68),
    (3778, 66),
    (4177, 65),
    (4596, 64),
    (5036, 62),
    (5497, 61),
    (5979, 60),
    (6483, 59),
    (7009, 58),
    (7558, 57),
    (8130, 56),
    (8726, 55),
    (9346, 54),
    (9991, 53),
    (10661, 52),
    (11358, 52),
    (12082, 51),
    (12834, 50),
    (13614, 49),
    (14424, 48),
    (15265, 48),
    (16137, 47),
    (17042, 46),
    (17981, 45),
    (18955, 45),
    (19965, 44),
    (21013, 43),
    (22101, 43),
    (23230, 42),
    (24402, 41),
    (25618, 41),
    (26881, 40),
    (28193, 39),
    (29557, 39),
    (30975, 38),
    (32450, 38),
    (33986, 37),
    (35586, 36),
    (37253, 36),
    (38992, 35),
    (40808, 35),
    (42707, 34),
    (44694, 33),
    (46776, 33),
    (48961, 32),
    (51258, 32),
    (53677, 31),
    (56230, 30),
    (58932, 30),
    (61799, 29),
    (64851, 28),
    (68113, 28),
    (71617, 27),
    (75401, 26),
    (79517, 26),
    (84035, 25),
    (89053, 24),
];

/// HighSpeed TCP.
pub type HighSpeed = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    row: usize,
}

impl Law {
    /// Finds the first row whose window is not below the present one.
    fn find_row(&mut self, cwnd: u32) {
        while cwnd > TABLE[self.row].0 && self.row < TABLE.len() - 1 {
            self.row += 1;
        }
        while self.row > 0 && cwnd <= TABLE[self.row - 1].0 {
            self.row -= 1;
        }
    }
}

impl WindowLaw for Law {
    type Params = NoParams;

    fn new(_params: NoParams, _init: &ControlInit) -> Self {
        Law { row: 0 }
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        if !(ack.may_grow && ack.cwnd_limited) {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.acked);
            return;
        }
        self.find_row(window.cwnd);
        window.count += self.row as u32 + 1;
        if window.count >= window.cwnd {
            window.count -= window.cwnd;
            window.cwnd += 1;
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        let b = TABLE[self.row].1;
        (window.cwnd - (u64::from(window.cwnd) * u64::from(b) / 256) as u32).max(2)
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        out("a", (self.row as u32 + 1).into());
        out("b", (f64::from(TABLE[self.row].1) / 256.0).into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Path;
    use super::*;
    use crate::units::Span;

    /// RFC 3649 section 5: b(w) between 0.5 at 38 and 0.1 at 83000 segments.
    fn b(w: f64) -> f64 {
        (0.1 - 0.5) * (w / 38.0).ln() / (83_000.0f64 / 38.0).ln() + 0.5
    }

    /// RFC 3649 section 5: a(w) = w^2 p(w) 2 b(w) / (2 - b(w)) with p(w) = 0.078 / w^1.2.
    fn a(w: f64) -> f64 {
        w * w * 0.078 / w.powf(1.2) * 2.0 * b(w) / (2.0 - b(w))
    }

    #[test]
    fn table_holds_the_response_function() {
        for (row, &(window, md)) in TABLE.iter().enumerate() {
            let w = f64::from(window);
            assert!((a(w) - (row as f64 + 1.0)).abs() < 0.06 * a(w), "a({w}) = {}", a(w));
            assert!((b(w) - f64::from(md) / 256.0).abs() < 0.005, "b({w}) = {}", b(w));
        }
    }

    #[test]
    fn growth_and_cut_follow_the_table() {
        for start in [30u32, 500, 5_000, 50_000] {
            let mut path = Path::<HighSpeed>::new(NoParams {}, Span::from_millis(100));
            path.lose_at(start);
            let before = path.cwnd();
            path.rounds(4);
            let growth = f64::from(path.cwnd() - before) / 4.0;
            let expected = a(f64::from(before)).max(1.0);
            assert!((growth - expected).abs() < 1.0 + 0.04 * expected, "{growth} {expected}");
            let cwnd = path.cwnd();
            path.lose_one();
            let cut = 1.0 - f64::from(path.cwnd()) / f64::from(cwnd);
            assert!((cut - b(f64::from(cwnd)).min(0.5)).abs() < 0.03, "{cwnd}: {cut}");
        }
    }

    #[test]
    fn delayed_acks_halve_the_growth() {
        let growth = |ack_every| {
            let mut path = Path::<HighSpeed>::new(NoParams {}, Span::from_millis(100));
            path.ack_every = ack_every;
            path.lose_at(2_000);
            let before = path.cwnd();
            path.rounds(10);
            f64::from(path.cwnd() - before)
        };
        assert!((growth(1) / growth(2) - 2.0).abs() < 0.2);
    }
}
