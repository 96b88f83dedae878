//! Frames of a capture: pcap in microseconds or nanoseconds, in either byte order, and pcapng.

use std::fmt;
use std::io::Read;

use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, LegacyPcapBlock, PcapBlockOwned,
    PcapError, PcapHeader, PcapNGOption, SectionHeaderBlock, create_reader,
};
use sojourn_net::record::capture::Towards;

/// Bytes that a block has room for, at first and at most.
const ROOM: usize = 1 << 20;
const MOST_ROOM: usize = 1 << 25;
/// Bytes of a frame that are kept: more than its headers have.
const KEPT: usize = 512;
/// The first bytes of a section of pcapng, in either byte order, and the least length of a block.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const LEAST_BLOCK: u32 = 12;
const NANOS: u128 = 1_000_000_000;
/// What Sojourn says of itself in its files.
const OURS: &str = "sojourn";

/// Codes of options; some mean something else in another block.
mod code {
    pub(super) const PACKET_FLAGS: u16 = 2;
    pub(super) const ADDRESS: u16 = 4;
    pub(super) const OFFSET: u16 = 14;
}

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

/// A frame as it was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// In nanoseconds; absent where a file has none.
    pub time: Option<u64>,
    /// The number of its interface, among all of the file.
    pub interface: usize,
    /// Which way it went there, if that was noted.
    pub towards: Option<Towards>,
    /// Its first bytes: those captured, at most 512.
    pub bytes: Vec<u8>,
    /// The number of its bytes, captured or not.
    pub size: usize,
}

/// An interface at which frames were captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interface {
    /// Its type of link, as tcpdump numbers them.
    pub(crate) link: i32,
    /// Whether it has an address.
    pub(crate) has_address: bool,
    /// Units of its times in a second.
    units: u128,
    /// Seconds to be added to them.
    offset: i64,
}

/// What a file has said of itself so far.
#[derive(Debug, Default)]
struct File {
    interfaces: Vec<Interface>,
    /// Interfaces before those of the present section.
    before: usize,
    /// Whether it has sections: it is no old pcap.
    has_sections: bool,
    big_endian: bool,
    application: String,
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

impl File {
    /// Whether a block that begins with these bytes says that it ends before it can: the parser relies
    /// on that.
    fn is_too_short(&self, bytes: &[u8]) -> bool {
        let Some((kind, rest)) = bytes.split_first_chunk() else { return false };
        let Some(&length) = rest.first_chunk() else { return false };
        let parsed = if self.big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        self.has_sections && *kind != SECTION && parsed(length) < LEAST_BLOCK
    }

    /// The frame of a block, if it has one.
    fn read(&mut self, block: &PcapBlockOwned<'_>) -> Result<Option<Frame>, &'static str> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                self.interfaces.push(of_file(header));
                Ok(None)
            }
            PcapBlockOwned::Legacy(block) => self.old(block).map(Some),
            PcapBlockOwned::NG(Block::SectionHeader(block)) => {
                self.begin_section(block);
                Ok(None)
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(block)) => {
                self.interfaces.push(described(block, self.big_endian)?);
                Ok(None)
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(block)) => self.enhanced(block).map(Some),
            PcapBlockOwned::NG(Block::SimplePacket(block)) => {
                let (bytes, size) = (block.packet_data(), block.origlen);
                self.frame(0, None, bytes, size).map(Some)
            }
            PcapBlockOwned::NG(_) => Ok(None),
        }
    }

    fn begin_section(&mut self, block: &SectionHeaderBlock<'_>) {
        self.before = self.interfaces.len();
        self.has_sections = true;
        self.big_endian = block.big_endian();
        if let Some(Ok(application)) = block.shb_userappl() {
            application.clone_into(&mut self.application);
        }
    }

    fn old(&self, block: &LegacyPcapBlock<'_>) -> Result<Frame, &'static str> {
        let units = self.interfaces[0].units;
        let ticks = u128::from(block.ts_sec) * units + u128::from(block.ts_usec);
        self.frame(0, Some(ticks), block.data, block.origlen)
    }

    fn enhanced(&self, block: &EnhancedPacketBlock<'_>) -> Result<Frame, &'static str> {
        let ticks = u128::from(block.ts_high) << 32 | u128::from(block.ts_low);
        let frame = self.frame(block.if_id, Some(ticks), block.packet_data(), block.origlen)?;
        let flags = option(&block.options, code::PACKET_FLAGS).and_then(<[u8]>::first_chunk);
        let flags = flags.map(|bytes: &[u8; 4]| match self.big_endian {
            true => u32::from_be_bytes(*bytes),
            false => u32::from_le_bytes(*bytes),
        });
        let towards = match flags.map(|flags| flags & 3) {
            Some(1) => Some(Towards::In),
            Some(2) => Some(Towards::Out),
            _ => None,
        };
        Ok(Frame { towards, ..frame })
    }

    /// A frame of this section's interface number `id`, captured after `ticks` units of its time.
    fn frame(
        &self,
        id: u32,
        ticks: Option<u128>,
        captured: &[u8],
        size: u32,
    ) -> Result<Frame, &'static str> {
        let number = self.before + id as usize;
        let unknown = "it names an interface that it has not described";
        let interface = self.interfaces.get(number).ok_or(unknown)?;
        let time = ticks.map(|ticks| interface.nanoseconds(ticks)).transpose()?;
        let bytes = captured[..captured.len().min(KEPT)].to_vec();
        let size = captured.len().max(size as usize);
        Ok(Frame { time, interface: number, towards: None, bytes, size })
    }
}

impl Interface {
    /// A time in nanoseconds; below 2^96 units.
    fn nanoseconds(&self, ticks: u128) -> Result<u64, &'static str> {
        let offset = i128::from(self.offset) * NANOS as i128;
        let time = (ticks * NANOS / self.units) as i128 + offset;
        u64::try_from(time).map_err(|_| "it has a time before 1970 or after 2554")
    }
}

/// The only interface of a pcap file.
fn of_file(header: &PcapHeader) -> Interface {
    let units = if header.is_nanosecond_precision() { NANOS } else { 1_000_000 };
    // Its upper bits tell of checksums at the frames' ends.
    Interface { link: header.network.0 & 0xffff, has_address: false, units, offset: 0 }
}

fn described(
    block: &InterfaceDescriptionBlock<'_>,
    big_endian: bool,
) -> Result<Interface, &'static str> {
    let exponent = u32::from(block.if_tsresol & 0x7f);
    let units = match block.if_tsresol & 0x80 {
        0 if exponent <= 19 => 10_u128.pow(exponent),
        0x80 if exponent <= 63 => 1 << exponent,
        _ => return Err("its times have more than 19 digits of a second"),
    };
    let offset = option(&block.options, code::OFFSET).and_then(<[u8]>::first_chunk);
    let offset = offset.map_or(0, |bytes: &[u8; 8]| match big_endian {
        true => i64::from_be_bytes(*bytes),
        false => i64::from_le_bytes(*bytes),
    });
    let has_address = option(&block.options, code::ADDRESS).is_some();
    Ok(Interface { link: block.linktype.0, has_address, units, offset })
}

/// The first option with this code.
fn option<'a>(options: &'a [PcapNGOption<'_>], code: u16) -> Option<&'a [u8]> {
    options.iter().find(|option| option.code.0 == code)?.as_bytes().ok()
}

#[cfg(test)]
mod tests {
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
