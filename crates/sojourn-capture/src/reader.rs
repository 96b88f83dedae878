//! Frames of a capture: pcap in microseconds or nanoseconds, in either byte order, and pcapng.

use std::fmt;
use std::io::Read;

use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{PcapError, create_reader};

use crate::file::{File, Frame, Interface};

/// Bytes that a block has room for, at first and at most.
const ROOM: usize = 1 << 20;
const MOST_ROOM: usize = 1 << 25;
/// What Sojourn says of itself in its files.
const OURS: &str = "sojourn";

/// Why nothing of a file can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub(crate) String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// Where a file is damaged: what follows is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Bytes before.
    pub at: u64,
    /// What is wrong there.
    pub what: &'static str,
}

/// The frames of a capture, one by one. What is cut off or damaged ends them with a [`Damage`].
pub struct Frames<'a> {
    reader: Box<dyn PcapReaderIterator + Send + 'a>,
    file: File,
    room: usize,
    ended: bool,
}

/// What comes next of a file.
enum Next {
    /// A block of so many bytes, with a frame or without.
    Block(usize, Result<Option<Frame>, &'static str>),
    More,
    MoreRoom,
    End,
    Damaged(&'static str),
}

impl<'a> Frames<'a> {
    /// Begins to read a capture.
    ///
    /// # Errors
    /// If it is none.
    pub fn open(source: impl Read + Send + 'a) -> Result<Self, Refusal> {
        let refused = |error: PcapError<&[u8]>| {
            Refusal(match error {
                PcapError::Eof => "is empty".to_owned(),
                PcapError::ReadError => "cannot be read".to_owned(),
                PcapError::Incomplete(_) => "is cut off in its first bytes".to_owned(),
                _ => "is no capture: give a pcap or pcapng file".to_owned(),
            })
        };
        let reader = create_reader(ROOM, source).map_err(refused)?;
        Ok(Frames { reader, file: File::default(), room: ROOM, ended: false })
    }

    /// Whether Sojourn has written it, as far as it has been read.
    pub fn is_ours(&self) -> bool {
        self.file.application.starts_with(OURS)
    }

    /// The interface of a frame that was read.
    pub(crate) fn interface(&self, frame: &Frame) -> Interface {
        self.file.interfaces[frame.interface]
    }

    fn step(&mut self) -> Next {
        if self.file.is_too_short(self.reader.data()) {
            return Next::Damaged("its bytes make no sense");
        }
        match self.reader.next() {
            Ok((length, block)) => Next::Block(length, self.file.read(&block)),
            Err(PcapError::Eof) => Next::End,
            Err(PcapError::Incomplete(_)) => Next::More,
            Err(PcapError::BufferTooSmall) => Next::MoreRoom,
            Err(PcapError::UnexpectedEof) => Next::Damaged("it is cut off"),
            Err(_) => Next::Damaged("its bytes make no sense"),
        }
    }

    /// Whether the file has nothing but what is held: no room makes a block whole that says more.
    fn is_over(&mut self) -> bool {
        let held = self.reader.data().len();
        held < self.room && self.reader.refill().is_ok() && self.reader.data().len() == held
    }

    fn end(&mut self, what: &'static str) -> Option<Result<Frame, Damage>> {
        self.ended = true;
        Some(Err(Damage { at: self.reader.consumed() as u64, what }))
    }
}

impl Iterator for Frames<'_> {
    type Item = Result<Frame, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.step() {
                Next::Block(_, Err(what)) => return self.end(what),
                Next::Block(length, Ok(frame)) => {
                    self.reader.consume(length);
                    if let Some(frame) = frame {
                        return Some(Ok(frame));
                    }
                }
                Next::More => {
                    if self.reader.refill().is_err() {
                        return self.end("it cannot be read");
                    }
                }
                Next::MoreRoom if self.is_over() => return self.end("it is cut off"),
                Next::MoreRoom if self.room < MOST_ROOM => {
                    self.room *= 2;
                    self.reader.grow(self.room);
                }
                Next::MoreRoom => return self.end("it has a block of more than 32 MiB"),
                Next::Damaged(_) if self.reader.data().is_empty() => self.ended = true,
                Next::Damaged(what) => return self.end(what),
                Next::End => self.ended = true,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use sojourn_net::record::capture::Towards;

    use super::*;

    /// A pcap file of one frame of 4 bytes, of which 3 are there, at 5 s and `fraction` units.
    fn old(magic: u32, big_endian: bool, fraction: u32) -> Vec<u8> {
        let word = |word: u32| if big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
        let half = |half: u16| if big_endian { half.to_be_bytes() } else { half.to_le_bytes() };
        let head = [half(2), half(4)].concat();
        let rest = [0, 0, 65_535, 101, 5, fraction, 3, 4].map(word).concat();
        [word(magic).to_vec(), head, rest, vec![7, 8, 9]].concat()
    }

    /// A block of pcapng in big-endian order.
    fn block(kind: u32, body: &[u8]) -> Vec<u8> {
        let length = (body.len() as u32 + 12).to_be_bytes();
        [&kind.to_be_bytes()[..], &length, body, &length].concat()
    }

    fn section() -> Vec<u8> {
        let body = [&0x1a2b_3c4d_u32.to_be_bytes()[..], &[0, 1, 0, 0], &[0xff; 8]].concat();
        block(0x0a0d_0d0a, &body)
    }

    fn interface(resolution: u8, offset: i64) -> Vec<u8> {
        let head = [0, 101, 0, 0, 0, 0, 0, 96];
        let resolution = [0, 9, 0, 1, resolution, 0, 0, 0];
        let offset = [&[0, 14, 0, 8][..], &offset.to_be_bytes()].concat();
        block(1, &[&head[..], &resolution, &offset, &[0; 4]].concat())
    }

    fn packet(interface: u32, ticks: u64) -> Vec<u8> {
        let words = [interface, (ticks >> 32) as u32, ticks as u32, 3, 1500].map(u32::to_be_bytes);
        let flags = [0, 2, 0, 4, 0, 0, 0, 1];
        block(6, &[&words.concat()[..], &[7, 8, 9, 0], &flags].concat())
    }

    fn times(file: &[u8]) -> Vec<Result<u64, Damage>> {
        let frames = Frames::open(file).unwrap();
        frames.map(|frame| frame.map(|frame| frame.time.unwrap())).collect()
    }

    #[test]
    fn old_files_have_microseconds_or_nanoseconds_in_either_order() {
        for (magic, expected) in [(0xa1b2_c3d4, 5_000_123_000), (0xa1b2_3c4d, 5_000_000_123)] {
            for big_endian in [false, true] {
                assert_eq!(times(&old(magic, big_endian, 123)), [Ok(expected)]);
            }
        }
        let frame = Frames::open(&old(0xa1b2_c3d4, false, 0)[..]).unwrap().next().unwrap();
        let (bytes, time) = (vec![7, 8, 9], Some(5_000_000_000));
        assert_eq!(frame, Ok(Frame { time, interface: 0, towards: None, bytes, size: 4 }));
    }

    #[test]
    fn interfaces_have_times_of_their_own() {
        let file = [
            section(),
            interface(6, 0),
            interface(9, 2),
            interface(0x80 | 10, 0),
            packet(0, 1_500_000),
            packet(1, 1_500_000_000),
            packet(2, 1536),
            section(),
            interface(3, -1),
            packet(0, 2_500),
        ];
        let expected = [1_500_000_000, 3_500_000_000, 1_500_000_000, 1_500_000_000].map(Ok);
        assert_eq!(times(&file.concat()), expected);
        let frames: Vec<_> = Frames::open(&file.concat()[..]).unwrap().flatten().collect();
        assert_eq!(frames.iter().map(|frame| frame.interface).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!((frames[0].towards, frames[0].size), (Some(Towards::In), 1500));
    }

    #[test]
    fn what_is_whole_is_read_before_the_damage() {
        let good = [section(), interface(6, 0), packet(0, 1)].concat();
        let at = good.len() as u64;
        let after = |more: &[u8]| times(&[&good[..], more].concat());
        assert_eq!(after(&[]), [Ok(1000)]);
        let cut = Err(Damage { at, what: "it is cut off" });
        for length in 1..packet(0, 2).len() {
            assert_eq!(after(&packet(0, 2)[..length]), [Ok(1000), cut], "{length}");
        }
        let unknown = "it names an interface that it has not described";
        assert_eq!(after(&packet(7, 2)), [Ok(1000), Err(Damage { at, what: unknown })]);
        let early = [interface(6, -1), packet(1, 2)].concat();
        assert!(after(&early)[1].is_err());
        // A block that says that it is longer than any.
        assert!(after(&[0, 0, 0, 6, 0xff, 0xff, 0xff, 0xfc])[1].is_err());
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        let refusal = |file: &[u8]| Frames::open(file).err().unwrap().to_string();
        assert_eq!(refusal(&[]), "is empty");
        assert_eq!(refusal(b"# a text"), "is no capture: give a pcap or pcapng file");
    }
}
