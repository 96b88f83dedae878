//! Blocks of pcapng (draft-ietf-opsawg-pcapng), little-endian.

use super::{Addresses, Towards};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// LINKTYPE_RAW: a packet begins with its IP header.
const RAW_IP: u16 = 101;
/// Ten to the power of -9 seconds.
const NANOSECONDS: u8 = 9;
const MASK: [u8; 4] = [255, 0, 0, 0];
/// Bits of an IPv6 address that name the network.
const PREFIX: u8 = 64;

/// Codes of options; some mean something else in another block.
mod code {
    pub(super) const COMMENT: u16 = 1;
    pub(super) const USER_APPLICATION: u16 = 4;
    pub(super) const NAME: u16 = 2;
    pub(super) const DESCRIPTION: u16 = 3;
    pub(super) const ADDRESS: u16 = 4;
    pub(super) const ADDRESS_6: u16 = 5;
    pub(super) const RESOLUTION: u16 = 9;
}
/// Code and length of the option that tells which way a packet goes.
const FLAGS_OPTION: u32 = 2 | 4 << 16;
/// Bytes that are kept of a data packet, unless the scenario says otherwise.
const USUAL: usize = 96;

/// Appends the block with which a file begins.
pub(super) fn section(out: &mut Vec<u8>, comment: &str, application: &str) {
    block(out, SECTION, |out| {
        out.extend(BYTE_ORDER.to_le_bytes());
        out.extend([1_u16, 0].map(u16::to_le_bytes).as_flattened());
        out.extend([0xff; 8]); // its length is not known
        option(out, code::COMMENT, comment.as_bytes());
        option(out, code::USER_APPLICATION, application.as_bytes());
        end_options(out);
    });
}

/// Appends the description of the next interface, of which `snap` bytes of each packet are kept.
pub(super) fn interface(
    out: &mut Vec<u8>,
    snap: u32,
    [name, description]: [&str; 2],
    addresses: Option<Addresses>,
) {
    block(out, INTERFACE, |out| {
        out.extend(RAW_IP.to_le_bytes());
        out.extend([0; 2]);
        out.extend(snap.to_le_bytes());
        option(out, code::NAME, name.as_bytes());
        option(out, code::DESCRIPTION, description.as_bytes());
        if let Some(Addresses { v4, v6 }) = addresses {
            option(out, code::ADDRESS, [v4, MASK].as_flattened());
            if let Some(v6) = v6 {
                option(out, code::ADDRESS_6, &[&v6[..], &[PREFIX]].concat());
            }
        }
        option(out, code::RESOLUTION, &[NANOSECONDS]);
        end_options(out);
    });
}

/// What is told of a packet besides its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage<'a> {
    pub interface: u32,
    /// In nanoseconds.
    pub time: u64,
    /// All of its bytes, also those that are not kept.
    pub size: u32,
    pub towards: Towards,
    pub comment: Option<&'a str>,
}

/// Appends a packet with these bytes. There are more of these than of anything else, so what has the
/// same size each time is appended at once.
pub(super) fn packet(out: &mut Vec<u8>, passage: &Passage<'_>, bytes: &[u8]) {
    let [high, low] = [(passage.time >> 32) as u32, passage.time as u32];
    let told = passage.comment.map_or(0, |comment| 4 + comment.len().next_multiple_of(4));
    let length = (44 + bytes.len().next_multiple_of(4) + told) as u32;
    let head = [PACKET, length, passage.interface, high, low, bytes.len() as u32, passage.size];
    out.extend_from_slice(head.map(u32::to_le_bytes).as_flattened());
    match <&[u8; USUAL]>::try_from(bytes) {
        Ok(usual) => out.extend_from_slice(usual), // without asking how many there are
        Err(_) => out.extend_from_slice(bytes),
    }
    if !bytes.len().is_multiple_of(4) {
        pad(out, bytes.len());
    }
    let flags = [FLAGS_OPTION, passage.towards as u32];
    let tail = [0, length]; // no more options
    let Some(comment) = passage.comment else {
        let end = [flags[0], flags[1], tail[0], tail[1]];
        out.extend_from_slice(end.map(u32::to_le_bytes).as_flattened());
        return;
    };
    out.extend_from_slice(flags.map(u32::to_le_bytes).as_flattened());
    option(out, code::COMMENT, comment.as_bytes());
    out.extend_from_slice(tail.map(u32::to_le_bytes).as_flattened());
}

/// Appends a block of this kind, whose body `fill` appends.
fn block(out: &mut Vec<u8>, kind: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    fill(out);
    let length = ((out.len() - start + 4) as u32).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&length);
    out.extend(length);
}

/// Appends an option; names of scenarios and nodes are far shorter than what its length can tell.
fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend_from_slice(value);
    pad(out, value.len());
}

fn end_options(out: &mut Vec<u8>) {
    out.extend([0; 4]);
}

/// Fills what `length` bytes leave of a word of four.
fn pad(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&[0; 3][..length.next_multiple_of(4) - length]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSAGE: Passage<'static> = Passage {
        interface: 3,
        time: (7 << 32) + 9,
        size: 1500,
        towards: Towards::Out,
        comment: None,
    };

    #[test]
    fn blocks_have_the_bytes_of_the_draft() {
        let mut out = Vec::new();
        section(&mut out, "abc", "x");
        let expected: &[u8] = &[
            0x0a, 0x0d, 0x0d, 0x0a, 48, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 0xff, 0xff,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 3, 0, b'a', b'b', b'c', 0, 4, 0, 1, 0, b'x',
            0, 0, 0, 0, 0, 0, 0, 48, 0, 0, 0,
        ];
        assert_eq!(out, expected);
        out.clear();
        interface(&mut out, 96, ["left", "d"], Some([10, 0, 0, 1].into()));
        let expected: &[u8] = &[
            1, 0, 0, 0, 60, 0, 0, 0, 101, 0, 0, 0, 96, 0, 0, 0, 2, 0, 4, 0, b'l', b'e', b'f', b't',
            3, 0, 1, 0, b'd', 0, 0, 0, 4, 0, 8, 0, 10, 0, 0, 1, 255, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0,
            0, 0, 0, 0, 0, 60, 0, 0, 0,
        ];
        assert_eq!(out, expected);
        out.clear();
        let both = Addresses { v4: [10, 0, 0, 1], v6: Some([0xfd; 16]) };
        interface(&mut out, 96, ["left", "d"], Some(both));
        let more = [[5, 0, 17, 0].as_slice(), &[0xfd; 16], &[64, 0, 0, 0]].concat();
        assert_eq!(out[44..68], more);
        assert_eq!(out.len(), expected.len() + more.len());
        out.clear();
        packet(&mut out, &Passage { comment: Some("aqm"), ..PASSAGE }, &[1, 2, 3, 4, 5]);
        let expected: &[u8] = &[
            6, 0, 0, 0, 60, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 5, 0, 0, 0, 0xdc, 5, 0, 0,
            1, 2, 3, 4, 5, 0, 0, 0, 2, 0, 4, 0, 2, 0, 0, 0, 1, 0, 3, 0, b'a', b'q', b'm', 0, 0, 0,
            0, 0, 60, 0, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn the_length_of_a_block_is_that_of_what_it_holds() {
        for (bytes, comment) in [(0, None), (1, None), (8, Some("")), (3, Some("no room"))] {
            let mut out = vec![7];
            packet(&mut out, &Passage { comment, ..PASSAGE }, &[9; 8][..bytes]);
            let length = (out.len() as u32 - 1).to_le_bytes();
            assert_eq!([&out[5..9], &out[out.len() - 4..]], [length; 2]);
            assert_eq!(out[21], bytes as u8);
        }
    }
}
