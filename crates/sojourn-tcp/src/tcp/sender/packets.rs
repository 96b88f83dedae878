//! Construction of packets.

use super::{Phase, Sender};
use crate::cc::EcnMode;
use crate::packet::{Ecn, Flags, Header, Packet, TcpSegment};
use crate::tcp::{HEADER, SYN_SIZE};
use crate::units::Time;

impl Sender {
    #[inline(always)] // once per segment: the packet is made where it goes
    pub(super) fn data_packet(
        &mut self,
        now: Time,
        seq: u32,
        payload: u32,
        written: Time,
        place: Flags,
        again: bool,
    ) -> Packet {
        let ecn = self.data_ecn(again);
        let cwr = !again && ecn != Ecn::NotEct && std::mem::take(&mut self.cwr_due);
        let flags = Flags(Flags::ACK.0 | place.0)
            .with(Flags::CWR, cwr)
            .with(Flags::PSH, self.ends_write(seq) || self.ends_burst(again));
        let payload = payload as u16;
        let segment = TcpSegment { flags, seq, payload, written_at: written, ..self.segment(now) };
        Packet { ecn, ..self.packet(HEADER + u32::from(payload), segment) }
    }

    /// Whether the application stopped writing at its end.
    fn ends_write(&self, seq: u32) -> bool {
        seq + 1 == self.board.next() && self.app.is_pushed()
    }

    /// Whether it is the last segment of a large one (Linux `__tcp_transmit_skb`).
    fn ends_burst(&self, again: bool) -> bool {
        self.init.profile.pushes_bursts
            && !again
            && self.burst.ends_several(self.next_payload(true) > 0)
    }

    /// Retransmissions are not ECN-capable with classic feedback (RFC 3168 §6.1.5); controls that
    /// need ECN keep it on, as in Linux.
    fn data_ecn(&self, again: bool) -> Ecn {
        match self.init.ecn {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::Classic | EcnMode::Sce if again => Ecn::NotEct,
            EcnMode::L4s => Ecn::Ect1,
            _ => Ecn::Ect0,
        }
    }

    #[cold]
    pub(super) fn syn(&mut self, now: Time) -> Packet {
        self.phase = Phase::SynSent;
        if self.syns == 0 {
            self.opened_at = now;
        }
        self.syns += 1;
        self.start_rto(now);
        self.packet(SYN_SIZE, TcpSegment { flags: Flags::SYN, ..self.segment(now) })
    }

    pub(super) fn bare_ack(&mut self, now: Time) -> Packet {
        self.packet(HEADER, TcpSegment { flags: Flags::ACK, ..self.segment(now) })
    }

    /// A window probe without data, which the receiver answers at once.
    pub(super) fn window_probe(&mut self, now: Time) -> Packet {
        let flags = Flags::ACK.with(Flags::PROBE, true);
        self.packet(HEADER, TcpSegment { flags, seq: self.board.una(), ..self.segment(now) })
    }

    /// Data that the other end sent at `sent_at` has arrived: a timestamp to echo.
    pub(in crate::tcp) fn heard(&mut self, sent_at: Time) {
        self.peer_sent_at = self.peer_sent_at.max(sent_at);
    }

    /// Fields of any segment sent now.
    fn segment(&self, now: Time) -> TcpSegment {
        TcpSegment { sent_at: now, echo: self.peer_sent_at, ..TcpSegment::default() }
    }

    fn packet(&mut self, size: u32, segment: TcpSegment) -> Packet {
        let index = self.sent;
        self.sent += 1;
        self.below += u64::from(size);
        self.counters.sent.wire_bytes_sent += u64::from(size);
        self.init.forward.packet(index, size, Header::Segment(segment))
    }
}
