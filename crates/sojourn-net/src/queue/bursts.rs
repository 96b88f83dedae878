//! Bursts that links carry as one packet (flow key `whole_bursts`): dropped as a whole.

use crate::packet::{Flags, Header, Packet};
use crate::units::Time;

/// State by which a burst is dropped as a whole.
#[derive(Debug, Default)]
pub struct Bursts {
    /// Socket and time of sending of each socket's last burst, if it was dropped.
    dropped: Vec<(u32, Time)>,
}

impl Bursts {
    /// Whether `packet` is dropped: as `alone` decides, but the rest of a burst as its first
    /// segment.
    #[inline]
    pub fn drops(&mut self, packet: &Packet, alone: impl FnOnce() -> bool) -> bool {
        match &packet.header {
            Header::Segment(segment) if segment.flags.has(Flags::JOINED) => {
                self.dropped.contains(&(packet.socket, segment.sent_at))
            }
            Header::Segment(segment) if segment.flags.has(Flags::MORE) => {
                let dropped = alone();
                self.dropped.retain(|(socket, _)| *socket != packet.socket);
                if dropped {
                    self.dropped.push((packet.socket, segment.sent_at));
                }
                dropped
            }
            _ => alone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::TcpSegment;

    fn segment(socket: u32, sent_at: u64, flags: Flags) -> Packet {
        let sent_at = Time::from_nanos(sent_at);
        let header = Header::Segment(TcpSegment { flags, sent_at, ..TcpSegment::default() });
        Packet { socket, header, ..Packet::default() }
    }

    /// The rest of a burst shares the fate of its first segment, whatever comes between.
    #[test]
    fn a_burst_is_dropped_whole() {
        let mut bursts = Bursts::default();
        let (first, last) = (Flags::MORE, Flags::JOINED);
        let inner = first.with(last, true);
        assert!(bursts.drops(&segment(1, 10, first), || true));
        assert!(!bursts.drops(&segment(2, 10, first), || false));
        assert!(bursts.drops(&segment(1, 10, inner), || false));
        assert!(!bursts.drops(&segment(2, 10, last), || true));
        assert!(bursts.drops(&segment(1, 10, last), || false));
        assert!(!bursts.drops(&segment(1, 20, first), || false), "the next burst");
        assert!(!bursts.drops(&segment(1, 20, last), || true));
        assert!(bursts.drops(&segment(1, 30, Flags::default()), || true), "a segment by itself");
    }
}
