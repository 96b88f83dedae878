//! How the receiver tells the sender about congestion marks.
//!
//! | mode | echo | source |
//! | --- | --- | --- |
//! | classic | ECE from the first CE until the sender's CWR | RFC 3168 |
//! | dctcp | ECE mirrors CE; a change flushes the pending ACK with the old state | RFC 8257 §3.2, `tcp_dctcp.h` |
//! | accurate, l4s | a counter of CE-marked packets in every ACK; a change is acknowledged at once | RFC 9768 |
//! | sce | CE as classic; ESCE mirrors SCE, CE leaving it as it is; a change flushes a pending ACK with the old state, and the next is not delayed | chromi/sce `tcp_input.c` at 016933be |
//! | dctcp-sce | SCE as sce; CE as dctcp, but that an SCE packet, of which DCTCP is not told, leaves ECE as it is: only ECT(0) or CWR ends it | the same, and at 4b2c3632 |
//!
//! Deviation: AccECN's 3-bit field and its option are one unwrapped counter.

use crate::cc::EcnMode;
use crate::packet::{Ecn, Flags};

/// Quick ACKs after a first CE mark: the sender's window may be low.
const QUICK_AFTER_CE: u32 = 2;

/// What an arriving segment's mark asks of the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// A pending ACK must go out first, with the flags of before.
    pub flush: bool,
    /// If one was pending, the next one must not be delayed.
    pub quick_if_flushed: bool,
    /// This segment must be acknowledged at once.
    pub at_once: bool,
    /// The next so many ACKs must not be delayed.
    pub quick: u32,
}

/// The echo's state.
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    mode: EcnMode,
    /// Classic: CE seen and no CWR since. DCTCP and accurate: the last packet was CE.
    ce: bool,
    /// What DCTCP was last told of, where that is not the same.
    ce_told: bool,
    /// ACKs carry ESCE.
    sce: bool,
    ce_packets: u32,
}

impl Echo {
    /// No mark seen.
    pub fn new(mode: EcnMode) -> Self {
        Echo { mode, ce: false, ce_told: false, sce: false, ce_packets: 0 }
    }

    /// Flags for the next ACK.
    #[inline]
    pub fn flags(&self) -> Flags {
        let ece = self.ce && !matches!(self.mode, EcnMode::Accurate | EcnMode::L4s);
        Flags::ACK.with(Flags::ECE, ece).with(Flags::ESCE, self.sce)
    }

    /// CE-marked packets received.
    #[inline]
    pub fn ce_packets(&self) -> u32 {
        self.ce_packets
    }

    /// A data segment arrived.
    #[inline]
    pub fn on_data(&mut self, ecn: Ecn, flags: Flags) -> Response {
        let ce = ecn == Ecn::Ce;
        self.ce_packets += u32::from(ce);
        match self.mode {
            EcnMode::Off => Response::default(),
            EcnMode::Classic => self.classic(flags, ce),
            EcnMode::Dctcp => self.dctcp(ce),
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

    fn dctcp(&mut self, ce: bool) -> Response {
        let changed = std::mem::replace(&mut self.ce, ce) != ce;
        Response { flush: changed, at_once: changed, ..Response::default() }
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
