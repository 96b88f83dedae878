//! What a capture says of itself, and its frames as they are told in blocks.

use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, LegacyPcapBlock, PcapBlockOwned,
    PcapHeader, PcapNGOption, SectionHeaderBlock,
};
use sojourn_net::record::capture::Towards;

/// Bytes of a frame that are kept: more than its headers have.
const KEPT: usize = 512;
/// The first bytes of a section of pcapng, in either byte order, and the least length of a block.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const LEAST_BLOCK: u32 = 12;
const NANOS: u128 = 1_000_000_000;

/// Codes of options; some mean something else in another block.
mod code {
    pub(super) const PACKET_FLAGS: u16 = 2;
    pub(super) const ADDRESS: u16 = 4;
    pub(super) const OFFSET: u16 = 14;
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
pub(crate) struct File {
    pub(crate) interfaces: Vec<Interface>,
    /// Interfaces before those of the present section.
    before: usize,
    /// Whether it has sections: it is no old pcap.
    has_sections: bool,
    big_endian: bool,
    pub(crate) application: String,
}

impl File {
    /// Whether a block that begins with these bytes says that it ends before it can: the parser relies
    /// on that.
    pub(crate) fn is_too_short(&self, bytes: &[u8]) -> bool {
        let Some((kind, rest)) = bytes.split_first_chunk() else { return false };
        let Some(&length) = rest.first_chunk() else { return false };
        let parsed = if self.big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        self.has_sections && *kind != SECTION && parsed(length) < LEAST_BLOCK
    }

    /// The frame of a block, if it has one.
    pub(crate) fn read(
        &mut self,
        block: &PcapBlockOwned<'_>,
    ) -> Result<Option<Frame>, &'static str> {
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
