//! What the senders' side tells of connections that come and go: which packets belong to which
//! transfer, and what packets do not show.

use sojourn_base::units::{Span, Time};

/// What has happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// It is about to be opened, for a transfer.
    Opened(Opened),
    /// It is over: the other end has closed it as well, or it is broken.
    Closed(Closed),
}

/// A connection that is about to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Port of its sender.
    pub port: u16,
    /// Index of its entry of arrivals.
    pub entry: u16,
    /// Index of its variant.
    pub variant: u16,
    /// Its flow number.
    pub flow: u32,
    /// What the transfer belongs to besides: a group of an incast, a user, a session.
    pub group: u32,
    /// When the transfer arrived.
    pub arrival: Time,
    /// When the connection is opened.
    pub start: Time,
    /// Payload of the transfer in bytes.
    pub size: u64,
    /// Least time that it would take.
    pub ideal: Span,
}

/// A connection that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Port of its sender.
    pub port: u16,
    /// Retransmission timeouts.
    pub timeouts: u16,
    /// The sender's smallest RTT; zero where it has none.
    pub min_rtt: Span,
}

impl Opened {
    /// It as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Opened { port, entry, variant, flow, group, arrival, start, size, ideal } = *self;
        let short = [port, entry, variant].map(u16::to_ne_bytes);
        let middle = [flow, group].map(u32::to_ne_bytes);
        let long = [arrival.as_nanos(), start.as_nanos(), size, ideal.as_nanos()];
        let long = long.map(u64::to_ne_bytes);
        [short.as_flattened(), middle.as_flattened(), long.as_flattened()].concat()
    }

    /// It from its bytes, if they are that.
    pub fn parse(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let opened = Opened {
            port: u16::from_ne_bytes(taken(rest)?),
            entry: u16::from_ne_bytes(taken(rest)?),
            variant: u16::from_ne_bytes(taken(rest)?),
            flow: u32::from_ne_bytes(taken(rest)?),
            group: u32::from_ne_bytes(taken(rest)?),
            arrival: Time::from_nanos(u64::from_ne_bytes(taken(rest)?)),
            start: Time::from_nanos(u64::from_ne_bytes(taken(rest)?)),
            size: u64::from_ne_bytes(taken(rest)?),
            ideal: Span::from_nanos(u64::from_ne_bytes(taken(rest)?)),
        };
        rest.is_empty().then_some(opened)
    }
}

impl Closed {
    /// It as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let short = [self.port, self.timeouts].map(u16::to_ne_bytes);
        [short.as_flattened(), &self.min_rtt.as_nanos().to_ne_bytes()].concat()
    }

    /// It from its bytes, if they are that.
    pub fn parse(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let closed = Closed {
            port: u16::from_ne_bytes(taken(rest)?),
            timeouts: u16::from_ne_bytes(taken(rest)?),
            min_rtt: Span::from_nanos(u64::from_ne_bytes(taken(rest)?)),
        };
        rest.is_empty().then_some(closed)
    }
}

/// Takes the first bytes.
fn taken<const COUNT: usize>(bytes: &mut &[u8]) -> Option<[u8; COUNT]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_read_as_they_are_written_and_not_in_part() {
        let [arrival, start] = [5, 7].map(Time::from_nanos);
        let ideal = Span::from_millis(80);
        let (port, entry, variant) = (1024, 1, 2);
        let opened = Opened {
            port,
            entry,
            variant,
            flow: 3 << 24 | 9,
            group: 4,
            arrival,
            start,
            size: 1 << 40,
            ideal,
        };
        let closed = Closed { port, timeouts: 3, min_rtt: Span::from_micros(40) };
        let (opening, closing) = (opened.to_bytes(), closed.to_bytes());
        assert_eq!(Opened::parse(&opening), Some(opened));
        assert_eq!(Closed::parse(&closing), Some(closed));
        for bytes in [&opening[1..], &closing[1..], &[]] {
            assert_eq!((Opened::parse(bytes), Closed::parse(bytes)), (None, None));
        }
        assert_eq!(Closed::parse(&[&closing[..], &[0]].concat()), None);
    }
}
