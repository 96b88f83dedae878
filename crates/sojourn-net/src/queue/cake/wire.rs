//! Size of packets on the wire.

use super::overhead::{Framing, Overhead, Told};
use super::params::Params;
use crate::packet::Packet;
use crate::quantity::Bytes;

/// Sizes on the wire, from IP sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    overhead: i32,
    mpu: u32,
    framing: Framing,
}

impl Wire {
    /// From the parameters; `raw` bytes on top of IP if they give nothing.
    pub(super) fn new(params: &Params, raw: u32) -> Self {
        let told = params.overhead.as_ref().map_or(Told::NOTHING, Overhead::told);
        let header = if told.raw { raw as i32 } else { 0 };
        let Bytes(mpu) = params.mpu;
        let framing = match params.framing {
            Framing::None => told.framing,
            given => given,
        };
        Wire {
            overhead: header + told.bytes,
            mpu: if mpu > 0 { mpu as u32 } else { told.mpu },
            framing,
        }
    }

    /// Length of a packet in framed bytes.
    #[inline]
    pub(super) fn length(&self, packet: &Packet) -> u32 {
        let length = packet.size.saturating_add_signed(self.overhead).max(self.mpu);
        match self.framing {
            Framing::None => length,
            Framing::Atm => length.div_ceil(48) * 53,
            Framing::Ptm => length + length.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(size: u32) -> Packet {
        Packet { size, ..Packet::default() }
    }

    #[test]
    fn framing_counts_as_tc_does() {
        let wire = |params: Params| Wire::new(&params, 14);
        assert_eq!(wire(Params::default()).length(&packet(1500)), 1514);
        let overhead = |text: &str| Some(text.parse().unwrap());
        let docsis = Params { overhead: overhead("18 B"), mpu: Bytes(64), ..Params::default() };
        assert_eq!(wire(docsis.clone()).length(&packet(40)), 64);
        assert_eq!(wire(docsis).length(&packet(1500)), 1518);
        let adsl =
            Params { framing: Framing::Atm, overhead: overhead("40 B"), ..Params::default() };
        assert_eq!(wire(adsl).length(&packet(1500)), 33 * 53);
        let vdsl =
            Params { framing: Framing::Ptm, overhead: overhead("30 B"), ..Params::default() };
        assert_eq!(wire(vdsl).length(&packet(1500)), 1530 + 24);
    }

    #[test]
    fn keywords_count_as_tc_does() {
        let length = |text: &str, size| {
            let overhead = Some(text.parse().unwrap());
            Wire::new(&Params { overhead, ..Params::default() }, 14).length(&packet(size))
        };
        assert_eq!(length("raw", 1500), 1514);
        assert_eq!(length("raw ether-vlan", 1500), 1518);
        assert_eq!(length("docsis", 40), 64);
        assert_eq!(length("ethernet", 40), 84);
        assert_eq!(length("-20 B", 1500), 1480);
        assert_eq!(length("bridged-ptm", 42), 64 + 1);
        assert_eq!(length("bridged-ptm", 43), 65 + 2);
    }

    #[test]
    fn cells_hold_48_bytes_of_53() {
        let params = Params { overhead: Some("pppoa-vcmux".parse().unwrap()), ..Params::default() };
        let cells = |size| Wire::new(&params, 14).length(&packet(size)) / 53;
        // An acknowledgment of 38 bytes with its 10 fills a cell; one byte more takes another one.
        assert_eq!([1, 38, 39, 52, 86, 87, 1500].map(cells), [1, 1, 2, 2, 2, 3, 32]);
        let plain = Params { framing: Framing::Ptm, ..params.clone() };
        assert_eq!(Wire::new(&plain, 14).length(&packet(54)), 64 + 1, "a framing given is kept");
    }
}
