//! Messages between the agent inside a kernel and the calendar's process, a datagram each.

use sojourn_base::units::{Span, Time};

use crate::news::News;

/// Bytes of what the agent asks for in one answer.
pub const PIECE: usize = 1024;
/// Approximate size in bytes of all reports in one datagram, and the largest piece of a program's
/// output.
pub const ROOM: usize = 1200;

/// A message of the agent.
#[derive(Debug, PartialEq)]
pub enum Said<'a> {
    /// Request of this piece of the run's description.
    Piece(u32),
    /// The run has begun: this much of it has passed.
    Begun(Span),
    /// States of connections.
    Reports(&'a [u8]),
    /// What has happened to a transfer or its connection.
    News(News),
    /// The agent has failed.
    Failed(&'a str),
    /// The program with this number has become the process with that one.
    Started(u32, u32),
    /// The program with this number has written these bytes, to its standard output (1) or its
    /// standard error (2).
    Wrote(u32, u8, &'a [u8]),
    /// The program with this number has ended, with this status as a shell returns it.
    Ended(u32, i32),
    /// All programs that the run waits for have ended.
    Finished,
    /// All programs have ended: what they have left is copied from now on.
    Copying,
    /// It is copied.
    Copied(Copied),
}

/// What has become of the files that programs have left.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Bytes that were left out, as there was no room for them.
    pub left_out: u64,
    /// The first file that could not be copied, and why.
    pub uncopied: Option<String>,
}

impl<'a> Said<'a> {
    /// The message as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let with = |kind: u8, content: &[u8]| [&[kind], content].concat();
        match self {
            Said::Piece(number) => with(b'P', &number.to_ne_bytes()),
            Said::Begun(passed) => with(b'B', &passed.as_nanos().to_ne_bytes()),
            Said::Reports(reports) => with(b'R', reports),
            Said::News(news) => with(b'N', &news.to_bytes()),
            Said::Failed(why) => with(b'F', why.as_bytes()),
            Said::Started(program, process) => {
                with(b'S', [program.to_ne_bytes(), process.to_ne_bytes()].as_flattened())
            }
            Said::Wrote(program, stream, bytes) => {
                with(b'W', &[&program.to_ne_bytes()[..], &[*stream], bytes].concat())
            }
            Said::Ended(program, status) => {
                with(b'E', [program.to_ne_bytes(), status.to_ne_bytes()].as_flattened())
            }
            Said::Finished => with(b'X', &[]),
            Said::Copying => with(b'C', &[]),
            Said::Copied(Copied { left_out, uncopied }) => {
                let why = uncopied.as_deref().unwrap_or_default();
                with(b'D', &[&left_out.to_ne_bytes()[..], why.as_bytes()].concat())
            }
        }
    }

    /// The message from bytes.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (kind, content) = bytes.split_first()?;
        Some(match kind {
            b'P' => Said::Piece(u32::from_ne_bytes(content.try_into().ok()?)),
            b'B' => Said::Begun(Span::from_nanos(u64::from_ne_bytes(content.try_into().ok()?))),
            b'R' => Said::Reports(content),
            b'N' => Said::News(News::parse(content)?),
            b'F' => Said::Failed(std::str::from_utf8(content).ok()?),
            b'S' => {
                let (program, process) = content.split_first_chunk()?;
                let process = u32::from_ne_bytes(process.try_into().ok()?);
                Said::Started(u32::from_ne_bytes(*program), process)
            }
            b'W' => {
                let (program, rest) = content.split_first_chunk()?;
                let (stream, bytes) = rest.split_first()?;
                Said::Wrote(u32::from_ne_bytes(*program), *stream, bytes)
            }
            b'E' => {
                let (program, status) = content.split_first_chunk()?;
                let status = i32::from_ne_bytes(status.try_into().ok()?);
                Said::Ended(u32::from_ne_bytes(*program), status)
            }
            b'X' if content.is_empty() => Said::Finished,
            b'C' if content.is_empty() => Said::Copying,
            b'D' => {
                let (left_out, why) = content.split_first_chunk()?;
                let why = std::str::from_utf8(why).ok()?;
                let uncopied = (!why.is_empty()).then(|| why.to_owned());
                Said::Copied(Copied { left_out: u64::from_ne_bytes(*left_out), uncopied })
            }
            _ => return None,
        })
    }
}

/// Report of the agent on a flow.
#[derive(Debug, PartialEq)]
pub struct Report<'a> {
    /// Its number.
    pub flow: u32,
    /// Payload that the socket has accepted.
    pub written: u64,
    /// Total payload of a flow that has ended, else the largest number.
    pub total: u64,
    /// `TCP_INFO`; empty for a flow without it.
    pub info: &'a [u8],
}

impl<'a> Report<'a> {
    const FIXED: usize = 22;

    /// Adds the report to a datagram.
    pub fn add_to(&self, datagram: &mut Vec<u8>) {
        datagram.extend_from_slice(&self.flow.to_ne_bytes());
        datagram.extend_from_slice(&self.written.to_ne_bytes());
        datagram.extend_from_slice(&self.total.to_ne_bytes());
        datagram.extend_from_slice(&(self.info.len() as u16).to_ne_bytes());
        datagram.extend_from_slice(self.info);
    }

    /// Takes the first report of a datagram.
    pub fn take_from(datagram: &mut &'a [u8]) -> Option<Self> {
        let fixed = datagram.get(..Self::FIXED)?;
        let long = |at: usize| Some(u64::from_ne_bytes(fixed[at..at + 8].try_into().ok()?));
        let length = usize::from(u16::from_ne_bytes(fixed[20..].try_into().ok()?));
        let info = datagram.get(Self::FIXED..Self::FIXED + length)?;
        let flow = u32::from_ne_bytes(fixed[..4].try_into().ok()?);
        let report = Report { flow, written: long(4)?, total: long(12)?, info };
        *datagram = &datagram[Self::FIXED + length..];
        Some(report)
    }
}

/// Time of the next report after `now`: shortly before the instants at which a run is sampled.
pub fn report_after(now: Time) -> Time {
    const LEAD: Span = Span::from_micros(20);
    let interval = crate::tcp_info::INTERVAL.as_nanos();
    let number = (now + LEAD).as_nanos() / interval + 1;
    Time::from_nanos(number * interval - LEAD.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::news::Closed;

    #[test]
    fn what_is_said_is_understood() {
        for said in [
            Said::Piece(7),
            Said::Begun(Span::from_micros(3)),
            Said::Reports(b"reports"),
            Said::News(News::Closed(Closed { port: 1024, timeouts: None, min_rtt: Span::ZERO })),
            Said::Failed("why"),
            Said::Started(2, 41),
            Said::Wrote(1 << 20, 2, b"cannot\n"),
            Said::Wrote(0, 1, b""),
            Said::Ended(3, -1),
            Said::Finished,
            Said::Copying,
            Said::Copied(Copied { left_out: 1 << 40, uncopied: None }),
            Said::Copied(Copied { left_out: 0, uncopied: Some("a/b: no room".to_owned()) }),
        ] {
            assert_eq!(Said::parse(&said.to_bytes()), Some(said));
        }
        assert_eq!(Said::parse(b""), None);
        for cut in [&b"P12"[..], b"S1234", b"W1234", b"E12345678+", b"X1", b"D"] {
            assert_eq!(Said::parse(cut), None, "{cut:?}");
        }
    }

    #[test]
    fn reports_follow_each_other() {
        let first = Report { flow: 3, written: 5, total: u64::MAX, info: b"info" };
        let second = Report { flow: 4, written: 0, total: 9, info: b"" };
        let mut datagram = Vec::new();
        first.add_to(&mut datagram);
        second.add_to(&mut datagram);
        let mut rest = &datagram[..];
        assert_eq!(Report::take_from(&mut rest), Some(first));
        assert_eq!(Report::take_from(&mut rest), Some(second));
        assert_eq!(Report::take_from(&mut rest), None);
    }

    #[test]
    fn reports_are_due_before_the_samples() {
        let at = |us| Time::ZERO + Span::from_micros(us);
        assert_eq!(report_after(Time::ZERO), at(9_980));
        assert_eq!(report_after(at(9_980)), at(19_980));
        assert_eq!(report_after(at(9_990)), at(19_980));
        assert_eq!(report_after(at(10_000)), at(19_980));
    }
}
