//! Known exceptions of members from conformance checks, with reasons.

/// Checks that controls do not meet.
pub struct Exception {
    /// Names of the checks.
    pub checks: &'static [&'static str],
    /// Names of the controls.
    pub controls: &'static [&'static str],
    /// Reason and its source.
    pub reason: &'static str,
}

/// Every exception. The suite also fails if one no longer holds.
pub static EXCEPTIONS: &[Exception] = &[
    Exception {
        checks: &["loss"],
        controls: &["bbr"],
        reason: "version 1 models the path by rate and delay; only a policer's losses count \
                 (Linux net/ipv4/tcp_bbr.c)",
    },
    Exception {
        checks: &["marks"],
        controls: &["bbr"],
        reason: "version 1 does not know ECN (Linux net/ipv4/tcp_bbr.c)",
    },
    Exception {
        checks: &["marks"],
        controls: &["bbr3"],
        reason: "answers to marks only at round trips up to 5 ms (google/bbr, bbr_ecn_max_rtt_us)",
    },
    Exception {
        checks: &["marks"],
        controls: &["copa"],
        reason: "does not know ECN (Arun, Balakrishnan, NSDI 2018)",
    },
    Exception {
        checks: &["loss"],
        controls: &["bbr3"],
        reason: "less than 2 % of a round's losses do not count (google/bbr, bbr_loss_thresh); 0.902, below \
                 0.9 until pacing followed Linux's clock (2026-11-26)",
    },
    Exception {
        checks: &["longer path"],
        controls: &["vegas"],
        reason: "never forgets the shorter base RTT and takes the longer path for a queue \
                 (La, Walrand, Anantharam, Issues in TCP Vegas, 1999)",
    },
    Exception {
        checks: &["clean link", "rate halved", "rate doubled"],
        controls: &["dctcp-sce"],
        reason: "without an average and unpaced, it gives up half a burst that is marked as a whole \
                 (published: 62 to 99 % of links of 10 to 100 Mbit/s at 20 to 160 ms, \
                 draft-heist-tsvwg-sce-one-and-two-flow-tests-00, table 16)",
    },
    Exception {
        checks: &[
            "clean link",
            "loss",
            "marks",
            "timeout",
            "rate halved",
            "rate doubled",
            "longer path",
            "shorter path",
            "idle",
        ],
        controls: &["fixed-window", "fixed-rate"],
        reason: "instruments keep the window or rate they are given, here their defaults",
    },
];

/// The exception for this control and check, if there is one.
pub fn find(check: &str, control: &str) -> Option<&'static Exception> {
    EXCEPTIONS.iter().find(|e| e.checks.contains(&check) && e.controls.contains(&control))
}
