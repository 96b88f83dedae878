//! Feedback of congestion marks from the receiver to the sender.
//!
//! | mode | echo | source |
//! | --- | --- | --- |
//! | classic | ECE from the first CE until the sender's CWR | RFC 3168 |
//! | dctcp | ECE mirrors CE; a change flushes the pending ACK with the old state; CWR is acknowledged at once | RFC 8257 §3.2, `tcp_dctcp.h`, `tcp_ecn_accept_cwr` |
//! | accurate, l4s | a counter of CE-marked packets in every ACK; a change is acknowledged at once | RFC 9768 |
//! | sce | CE as classic; ESCE mirrors SCE, CE leaving it as it is; a change flushes a pending ACK with the old state, and the next is not delayed | chromi/sce `tcp_input.c` at 016933be |
//! | dctcp-sce | SCE as sce; CE as dctcp, except that an SCE packet, which DCTCP does not process, leaves ECE as it is: only ECT(0) or CWR ends it | as sce, and at 4b2c3632 |
//!
//! Of the latter two, CWR comes before what SCE flushes, so that the flushed ACK has no ECE then
//! (`tcp_ecn_accept_cwr`); what DCTCP flushes acknowledges no more than DCTCP has been told of, which SCE
//! packets do not tell (`prior_rcv_nxt` of `dctcp_ece_ack_update`).
//!
//! In mode `classic`, a control that follows arrivals (a kernel module that needs ECN) decides when
//! ACKs echo, and whether a delayed ACK is sent first.
//!
//! Deviations: AccECN's 3-bit field and its option are one unwrapped counter. ESCE stays until ECT(0), also
//! beside the ECE of a CE packet; `tcp_ecn_send` takes it back with each ACK.

use crate::cc::{Echoing, EcnMode};
use crate::packet::{Ecn, Flags};

/// Quick ACKs after a first CE mark: the sender's window may be low.
const QUICK_AFTER_CE: u32 = 2;

/// Response that an arriving segment's mark requires of the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Response {
    /// A pending ACK must be sent first, with the previous flags.
    pub flush: bool,
    /// If one was pending, the next one must not be delayed.
    pub quick_if_flushed: bool,
    /// This segment must be acknowledged at once.
    pub at_once: bool,
    /// Number of following ACKs that must not be delayed.
    pub quick: u32,
}

/// The echo's state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    mode: EcnMode,
    /// Classic: CE received and no CWR since. DCTCP and accurate: the last packet was CE.
    ce: bool,
    /// CE state that DCTCP last processed, where that differs, and the number after what it was told of.
    ce_told: bool,
    next_told: u32,
    /// ACKs carry ESCE.
    sce: bool,
    ce_packets: u32,
}

impl Echo {
    /// No mark received.
    pub(super) fn new(mode: EcnMode) -> Self {
        Echo { mode, ce: false, ce_told: false, next_told: 1, sce: false, ce_packets: 0 }
    }

    /// Flags for the next ACK.
    #[inline]
    pub(super) fn flags(&self) -> Flags {
        let ece = self.ce && !matches!(self.mode, EcnMode::Accurate | EcnMode::L4s);
        Flags::ACK.with(Flags::ECE, ece).with(Flags::ESCE, self.sce)
    }

    /// CE-marked packets received.
    #[inline]
    pub(super) fn ce_packets(&self) -> u32 {
        self.ce_packets
    }

    /// Whether a data segment may require a response; it can only if ECN is on, or it is marked.
    #[inline]
    pub(super) fn heeds(&self, ecn: Ecn) -> bool {
        self.mode != EcnMode::Off || ecn != Ecn::NotEct
    }

    /// A data segment arrived.
    #[inline]
    pub(super) fn on_data(&mut self, ecn: Ecn, flags: Flags) -> Response {
        let ce = ecn == Ecn::Ce;
        self.ce_packets += u32::from(ce);
        match self.mode {
            EcnMode::Off => Response::default(),
            EcnMode::Classic => self.classic(flags, ce),
            EcnMode::Dctcp => self.dctcp(flags, ce),
            EcnMode::DctcpSce => {
                let response = self.dctcp_beside_sce(ecn, flags);
                self.sce(ecn, response)
            }
            EcnMode::Accurate | EcnMode::L4s => {
                let changed = std::mem::replace(&mut self.ce, ce) != ce;
                Response { at_once: changed, ..Response::default() }
            }
            EcnMode::Sce => {
                let response = self.classic(flags, ce);
                self.sce(ecn, response)
            }
        }
    }

    /// Flags of the pending ACK that this response to a segment flushes, and the number that it acknowledges:
    /// `next` without the segment. This is the state from before the segment, which has these flags.
    pub(super) fn flushes(&self, response: Response, flags: Flags, next: u32) -> (Flags, u32) {
        match self.mode {
            EcnMode::DctcpSce if !response.quick_if_flushed => {
                (Echo { ce: self.ce_told, ..*self }.flags(), self.next_told)
            }
            EcnMode::Sce | EcnMode::DctcpSce => {
                (Echo { ce: self.ce && !flags.has(Flags::CWR), ..*self }.flags(), next)
            }
            _ => (self.flags(), next),
        }
    }

    /// A data segment has been stored; `next` is missing now.
    #[inline]
    pub(super) fn on_stored(&mut self, ecn: Ecn, next: u32) {
        if matches!(ecn, Ecn::Ce | Ecn::Ect0) {
            self.next_told = next;
        }
    }

    /// A data segment arrived at a receiver with a control of its own, which decides whether ACKs
    /// echo (Linux `__tcp_ecn_check_ce`).
    pub(super) fn ask(
        &mut self,
        ecn: Ecn,
        flags: Flags,
        control: impl FnOnce(bool) -> Echoing,
    ) -> Response {
        let ce = ecn == Ecn::Ce;
        self.ce_packets += u32::from(ce);
        let reduced = flags.has(Flags::CWR);
        self.ce &= !reduced;
        let mut response = Response { at_once: reduced, ..Response::default() };
        if ecn.is_capable() {
            let echoing = control(self.ce);
            self.ce = echoing.echoes;
            response.flush = echoing.ack_first;
            response.at_once |= echoing.ack_now;
        }
        if ce && !self.ce {
            self.ce = true;
            response.quick = QUICK_AFTER_CE;
        }
        response
    }

    fn dctcp(&mut self, flags: Flags, ce: bool) -> Response {
        let changed = std::mem::replace(&mut self.ce, ce) != ce;
        let at_once = changed || flags.has(Flags::CWR);
        Response { flush: changed, at_once, ..Response::default() }
    }

    /// The branch of SCE in `__tcp_ecn_check_ce` ends before `CA_EVENT_ECN_NO_CE`.
    fn dctcp_beside_sce(&mut self, ecn: Ecn, flags: Flags) -> Response {
        let reduced = flags.has(Flags::CWR);
        self.ce &= !reduced;
        let told = match ecn {
            Ecn::Ce => true,
            Ecn::Ect0 => false,
            Ecn::Ect1 | Ecn::NotEct => return Response { at_once: reduced, ..Response::default() },
        };
        self.ce = told;
        let changed = std::mem::replace(&mut self.ce_told, told) != told;
        Response { flush: changed, at_once: changed || reduced, ..Response::default() }
    }

    /// Adds to a response what the SCE codepoint asks for.
    fn sce(&mut self, ecn: Ecn, response: Response) -> Response {
        let sce = match ecn {
            Ecn::Ect0 => false,
            Ecn::Ect1 => true,
            Ecn::Ce | Ecn::NotEct => self.sce,
        };
        let changed = std::mem::replace(&mut self.sce, sce) != sce;
        Response { flush: changed || response.flush, quick_if_flushed: changed, ..response }
    }

    fn classic(&mut self, flags: Flags, ce: bool) -> Response {
        let reduced = flags.has(Flags::CWR);
        if reduced {
            self.ce = false;
        }
        let first = ce && !self.ce;
        self.ce |= ce;
        let quick = if first { QUICK_AFTER_CE } else { 0 };
        Response { at_once: reduced, quick, ..Response::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classic_echo_lasts_until_cwr() {
        let mut echo = Echo::new(EcnMode::Classic);
        assert_eq!(echo.on_data(Ecn::Ce, Flags::ACK).quick, QUICK_AFTER_CE);
        echo.on_data(Ecn::Ect0, Flags::ACK);
        assert!(echo.flags().has(Flags::ECE));
        assert!(echo.on_data(Ecn::Ect0, Flags::CWR).at_once);
        assert!(!echo.flags().has(Flags::ECE));
    }

    #[test]
    fn dctcp_echo_mirrors_and_flushes_on_change() {
        let mut echo = Echo::new(EcnMode::Dctcp);
        assert!(!echo.on_data(Ecn::Ect0, Flags::ACK).flush);
        assert!(echo.on_data(Ecn::Ce, Flags::ACK).flush);
        assert!(echo.flags().has(Flags::ECE));
        assert!(!echo.on_data(Ecn::Ce, Flags::ACK).flush);
        assert!(echo.on_data(Ecn::Ect0, Flags::ACK).flush);
        assert_eq!(echo.ce_packets(), 2);
        let reduced = echo.on_data(Ecn::Ect0, Flags::CWR);
        assert!(reduced.at_once && !reduced.flush);
    }

    /// A control with DCTCP's responses behaves as the mode `dctcp`.
    #[test]
    fn a_control_may_decide_as_dctcp_does() {
        let (mut asked, mut dctcp) = (Echo::new(EcnMode::Classic), Echo::new(EcnMode::Dctcp));
        let mut last = false;
        for ecn in [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ce, Ecn::Ect0, Ecn::Ect0] {
            let ce = ecn == Ecn::Ce;
            let changed = std::mem::replace(&mut last, ce) != ce;
            let answer = Echoing { echoes: ce, ack_first: changed, ack_now: changed };
            assert_eq!(asked.ask(ecn, Flags::ACK, |_| answer), dctcp.on_data(ecn, Flags::ACK));
            assert_eq!(asked.flags(), dctcp.flags());
        }
    }

    /// A control without a decision leaves classic ECN.
    #[test]
    fn a_control_may_leave_it_classic() {
        let (mut asked, mut classic) = (Echo::new(EcnMode::Classic), Echo::new(EcnMode::Classic));
        for (ecn, flags) in [(Ecn::Ect0, Flags::ACK), (Ecn::Ce, Flags::ACK), (Ecn::Ce, Flags::CWR)]
        {
            let same = |echoes| Echoing { echoes, ..Echoing::default() };
            assert_eq!(asked.ask(ecn, flags, same), classic.on_data(ecn, flags));
            assert_eq!(asked.flags(), classic.flags());
        }
    }

    #[test]
    fn dctcp_keeps_echoing_ce_beside_sce() {
        let mut echo = Echo::new(EcnMode::DctcpSce);
        assert!(echo.on_data(Ecn::Ce, Flags::ACK).flush);
        echo.on_data(Ecn::Ect1, Flags::ACK);
        assert!(echo.flags().has(Flags::ECE) && echo.flags().has(Flags::ESCE));
        assert!(echo.on_data(Ecn::Ect1, Flags::CWR).at_once);
        assert!(!echo.flags().has(Flags::ECE));
        assert!(!echo.on_data(Ecn::Ce, Flags::ACK).flush);
        assert!(echo.on_data(Ecn::Ect0, Flags::ACK).flush);
        assert!(!echo.flags().has(Flags::ECE) && !echo.flags().has(Flags::ESCE));
    }

    /// What SCE packets have brought is acknowledged by DCTCP's next ACK, not by the one it flushes.
    #[test]
    fn dctcp_flushes_what_it_was_told_of() {
        let mut echo = Echo::new(EcnMode::DctcpSce);
        for (ecn, next) in [(Ecn::Ect0, 2), (Ecn::Ect1, 3)] {
            echo.on_data(ecn, Flags::ACK);
            echo.on_stored(ecn, next);
        }
        let former = echo;
        let response = echo.on_data(Ecn::Ce, Flags::ACK);
        let flags = Flags::ACK.with(Flags::ESCE, true);
        assert_eq!(former.flushes(response, Flags::ACK, 3), (flags, 2));
        echo.on_stored(Ecn::Ce, 4);
        let (former, response) = (echo, echo.on_data(Ecn::Ect0, Flags::CWR));
        assert_eq!(
            former.flushes(response, Flags::CWR, 4),
            (flags, 4),
            "SCE's comes first, after CWR"
        );
    }

    #[test]
    fn sce_echo_mirrors_beside_classic_ce() {
        let mut echo = Echo::new(EcnMode::Sce);
        let response = echo.on_data(Ecn::Ect1, Flags::ACK);
        assert!(response.flush && !response.at_once);
        assert!(echo.flags().has(Flags::ESCE) && !echo.flags().has(Flags::ECE));
        assert!(!echo.on_data(Ecn::Ce, Flags::ACK).flush);
        assert!(echo.flags().has(Flags::ESCE) && echo.flags().has(Flags::ECE));
        assert!(echo.on_data(Ecn::Ect0, Flags::ACK).flush);
        assert!(!echo.flags().has(Flags::ESCE));
    }
}
