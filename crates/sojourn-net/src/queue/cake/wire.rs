//! Size of packets on the wire.

use super::params::{Framing, Params};
use crate::packet::Packet;
use crate::quantity::Bytes;

/// Sizes on the wire, from IP sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    overhead: u32,
    mpu: u32,
    framing: Framing,
}

impl Wire {
    /// From the parameters; `raw` bytes on top of IP if they give nothing.
    pub(super) fn new(params: &Params, raw: u32) -> Self {
        Wire {
            overhead: params.overhead.map_or(raw, |Bytes(bytes)| bytes as u32),
            mpu: params.mpu.0 as u32,
            framing: params.framing,
        }
    }

    /// Length of a packet in framed bytes.
    #[inline]
    pub(super) fn length(&self, packet: &Packet) -> u32 {
        let length = (packet.size + self.overhead).max(self.mpu);
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
        let docsis = Params { overhead: Some(Bytes(18)), mpu: Bytes(64), ..Params::default() };
        assert_eq!(wire(docsis).length(&packet(40)), 64);
        assert_eq!(wire(docsis).length(&packet(1500)), 1518);
        let adsl = Params { framing: Framing::Atm, overhead: Some(Bytes(40)), ..Params::default() };
        assert_eq!(wire(adsl).length(&packet(1500)), 33 * 53);
        let vdsl = Params { framing: Framing::Ptm, overhead: Some(Bytes(30)), ..Params::default() };
        assert_eq!(wire(vdsl).length(&packet(1500)), 1530 + 24);
    }
}
