//! What the senders' side tells of connections that come and go: which packets belong to which
//! transfer, and what packets do not show.

use sojourn_base::units::{Span, Time};

use crate::error::Error;

/// What has happened to a transfer or a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A transfer has arrived and waits for a connection.
    Waits(Waits),
    /// A connection, which may be about to be opened, carries a transfer from now on.
    Begun(Begun),
    /// All of a transfer is about to be written.
    Written(Written),
    /// A transfer of a persistent connection is over.
    Ended(Ended),
    /// A connection carries no more: what it carries has failed, unless it is complete.
    Closed(Closed),
}

/// Takes what is told.
pub(crate) type Tell<'a> = Box<dyn FnMut(News) -> Result<(), Error> + 'a>;

/// A transfer that waits for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Index of its entry of arrivals.
    pub entry: u16,
    /// Index of its variant.
    pub variant: u16,
    /// What it belongs to besides: a group of an incast, a user, a session.
    pub group: u32,
    /// When it arrived.
    pub arrival: Time,
    /// Its payload in bytes.
    pub size: u64,
    /// Least time that it would take.
    pub ideal: Span,
}

/// A transfer, and the connection that carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Port of the connection's sender.
    pub port: u16,
    /// Index of its entry of arrivals.
    pub entry: u16,
    /// Index of its variant.
    pub variant: u16,
    /// Flow number of the connection.
    pub flow: u32,
    /// Number of the transfer on the connection; a connection is opened for number 0.
    pub number: u32,
    /// What the transfer belongs to besides: a group of an incast, a user, a session.
    pub group: u32,
    /// When it arrived.
    pub arrival: Time,
    /// When the connection gets it.
    pub start: Time,
    /// Its payload in bytes.
    pub size: u64,
    /// Least time that it would take.
    pub ideal: Span,
    /// The connection's bytes up to its end; the largest number as long as that is not known.
    pub ends: u64,
    /// Whether it waited before.
    pub waited: bool,
    /// Whether other transfers may follow it on the connection.
    pub persistent: bool,
}

/// Where a transfer ends on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Port of the connection's sender.
    pub port: u16,
    /// Number of the transfer.
    pub number: u32,
    /// The connection's bytes up to its end.
    pub ends: u64,
}

/// A transfer that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Port of the connection's sender.
    pub port: u16,
    /// Number of the transfer.
    pub number: u32,
    /// Retransmission timeouts since it began, if the kernel counts them.
    pub timeouts: Option<u64>,
    /// The sender's smallest RTT; zero where it has none.
    pub min_rtt: Span,
}

/// A connection that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Port of its sender.
    pub port: u16,
    /// Retransmission timeouts, if the kernel counts them.
    pub timeouts: Option<u64>,
    /// The sender's smallest RTT; zero where it has none.
    pub min_rtt: Span,
}

impl News {
    /// It as bytes: its kind, and its numbers in the order of the fields.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            News::Waits(waits) => bytes(b'W', &waits.words()),
            News::Begun(begun) => bytes(b'B', &begun.words()),
            News::Written(written) => bytes(b'A', &written.words()),
            News::Ended(ended) => bytes(b'E', &ended.words()),
            News::Closed(closed) => bytes(b'C', &closed.words()),
        }
    }

    /// It from its bytes, if they are that.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (kind, content) = bytes.split_first()?;
        Some(match kind {
            b'W' => News::Waits(Waits::of(words(content)?)?),
            b'B' => News::Begun(Begun::of(words(content)?)?),
            b'A' => News::Written(Written::of(words(content)?)?),
            b'E' => News::Ended(Ended::of(words(content)?)?),
            b'C' => News::Closed(Closed::of(words(content)?)?),
            _ => return None,
        })
    }
}

impl Waits {
    fn words(&self) -> [u64; 6] {
        let Waits { entry, variant, group, arrival, size, ideal } = *self;
        let (arrival, ideal) = (arrival.as_nanos(), ideal.as_nanos());
        [entry.into(), variant.into(), group.into(), arrival, size, ideal]
    }

    fn of([entry, variant, group, arrival, size, ideal]: [u64; 6]) -> Option<Self> {
        let (arrival, ideal) = (Time::from_nanos(arrival), Span::from_nanos(ideal));
        let (entry, variant, group) = (short(entry)?, short(variant)?, middle(group)?);
        Some(Waits { entry, variant, group, arrival, size, ideal })
    }
}

impl Begun {
    fn words(&self) -> [u64; 13] {
        [
            self.port.into(),
            self.entry.into(),
            self.variant.into(),
            self.flow.into(),
            self.number.into(),
            self.group.into(),
            self.arrival.as_nanos(),
            self.start.as_nanos(),
            self.size,
            self.ideal.as_nanos(),
            self.ends,
            self.waited.into(),
            self.persistent.into(),
        ]
    }

    fn of(words: [u64; 13]) -> Option<Self> {
        let [port, entry, variant, flow, number, group, arrival, start, size, ideal, ends, ..] =
            words;
        Some(Begun {
            port: short(port)?,
            entry: short(entry)?,
            variant: short(variant)?,
            flow: middle(flow)?,
            number: middle(number)?,
            group: middle(group)?,
            arrival: Time::from_nanos(arrival),
            start: Time::from_nanos(start),
            size,
            ideal: Span::from_nanos(ideal),
            ends,
            waited: words[11] != 0,
            persistent: words[12] != 0,
        })
    }
}

impl Written {
    fn words(&self) -> [u64; 3] {
        [self.port.into(), self.number.into(), self.ends]
    }

    fn of([port, number, ends]: [u64; 3]) -> Option<Self> {
        Some(Written { port: short(port)?, number: middle(number)?, ends })
    }
}

impl Ended {
    fn words(&self) -> [u64; 4] {
        let Ended { port, number, timeouts, min_rtt } = *self;
        [port.into(), number.into(), word(timeouts), min_rtt.as_nanos()]
    }

    fn of([port, number, timeouts, min_rtt]: [u64; 4]) -> Option<Self> {
        let (port, number, timeouts) = (short(port)?, middle(number)?, known(timeouts));
        Some(Ended { port, number, timeouts, min_rtt: Span::from_nanos(min_rtt) })
    }
}

impl Closed {
    fn words(&self) -> [u64; 3] {
        [self.port.into(), word(self.timeouts), self.min_rtt.as_nanos()]
    }

    fn of([port, timeouts, min_rtt]: [u64; 3]) -> Option<Self> {
        let (port, timeouts) = (short(port)?, known(timeouts));
        Some(Closed { port, timeouts, min_rtt: Span::from_nanos(min_rtt) })
    }
}

fn bytes(kind: u8, words: &[u64]) -> Vec<u8> {
    std::iter::once(kind).chain(words.iter().flat_map(|word| word.to_ne_bytes())).collect()
}

/// All numbers of a message, if it has so many.
fn words<const COUNT: usize>(bytes: &[u8]) -> Option<[u64; COUNT]> {
    let word = |chunk: &[u8]| <[u8; 8]>::try_from(chunk).ok().map(u64::from_ne_bytes);
    let words: Option<Vec<u64>> = bytes.chunks(8).map(word).collect();
    words?.try_into().ok()
}

/// What is not known is the largest number.
fn word(known: Option<u64>) -> u64 {
    known.unwrap_or(u64::MAX)
}

fn known(word: u64) -> Option<u64> {
    Some(word).filter(|word| *word != u64::MAX)
}

fn short(word: u64) -> Option<u16> {
    word.try_into().ok()
}

fn middle(word: u64) -> Option<u32> {
    word.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_read_as_they_are_written_and_not_in_part() {
        let [arrival, start] = [5, 7].map(Time::from_nanos);
        let (ideal, min_rtt) = (Span::from_millis(80), Span::from_micros(40));
        let (port, entry, variant, group, number, size) = (1024, 1, 2, 4, 6, 1_u64 << 40);
        let begun = Begun {
            port,
            entry,
            variant,
            flow: 3 << 24 | 9,
            number,
            group,
            arrival,
            start,
            size,
            ideal,
            ends: u64::MAX,
            waited: true,
            persistent: false,
        };
        for news in [
            News::Waits(Waits { entry, variant, group, arrival, size, ideal }),
            News::Begun(begun),
            News::Begun(Begun { waited: false, persistent: true, ..begun }),
            News::Written(Written { port, number, ends: 1 << 41 }),
            News::Ended(Ended { port, number, timeouts: Some(1 << 16), min_rtt }),
            News::Ended(Ended { port, number, timeouts: None, min_rtt }),
            News::Closed(Closed { port, timeouts: Some(0), min_rtt }),
        ] {
            let bytes = news.to_bytes();
            assert_eq!(News::parse(&bytes), Some(news));
            for wrong in [&bytes[1..], &bytes[..bytes.len() - 1], &[]] {
                assert_ne!(News::parse(wrong), Some(news));
            }
            assert_eq!(News::parse(&[&bytes[..], &[0; 8]].concat()), None);
        }
        let too_large = [&b"C"[..], &[0xff; 24]].concat();
        assert_eq!(News::parse(&too_large), None);
    }
}
