//! Bytes of a connection's segments, which the core numbers.

/// Segments with the same payload.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The first of them, and its first byte.
    first: u32,
    byte: u32,
    payload: u32,
}

/// Numbers of the first bytes of segments. The SYN is byte 0, data begins at byte 1; numbers wrap as
/// TCP's do. A run takes one entry, so that a connection with full segments takes no memory.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    runs: Vec<Run>,
    /// One past the last segment whose payload is known.
    next: u32,
    /// Payload of a full segment.
    full: u32,
}

impl Ledger {
    /// That of a connection whose full segments carry `full` bytes.
    pub(super) fn new(full: u32) -> Self {
        Ledger { runs: vec![Run { first: 1, byte: 1, payload: full }], next: 1, full }
    }

    /// A segment passes. Earlier ones that have not passed are taken to be full.
    pub(super) fn note(&mut self, segment: u32, payload: u16) {
        if segment < self.next {
            return;
        }
        if segment > self.next {
            self.begin(self.next, self.full);
        }
        self.begin(segment, payload.into());
        self.next = segment + 1;
    }

    /// Segments from `first` on have this payload, unless others follow.
    fn begin(&mut self, first: u32, payload: u32) {
        let byte = self.byte(first);
        match self.runs.last_mut() {
            Some(last) if last.payload == payload => {}
            Some(last) if last.first == first => last.payload = payload,
            _ => self.runs.push(Run { first, byte, payload }),
        }
    }

    /// One past the last segment that has passed.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// The first byte of a segment; of one past the last, the byte after all others.
    pub(super) fn byte(&self, segment: u32) -> u32 {
        let after = self.runs.partition_point(|run| run.first <= segment);
        let Some(run) = after.checked_sub(1).map(|place| self.runs[place]) else { return 0 };
        run.byte.wrapping_add((segment - run.first).wrapping_mul(run.payload))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn segments_that_were_never_seen_are_full() {
        let mut ledger = Ledger::new(1000);
        assert_eq!([0, 1, 2, 5].map(|segment| ledger.byte(segment)), [0, 1, 1001, 4001]);
        ledger.note(1, 10);
        ledger.note(4, 1000);
        assert_eq!([1, 2, 3, 4, 5].map(|s| ledger.byte(s)), [1, 11, 1011, 2011, 3011]);
    }

    #[test]
    fn numbers_wrap() {
        let mut ledger = Ledger::new(60_000);
        (1..=80_000).for_each(|segment| ledger.note(segment, 60_000));
        assert_eq!(u64::from(ledger.byte(80_001)), (80_000_u64 * 60_000 + 1) % (1 << 32));
        assert_eq!(ledger.runs.len(), 1);
    }

    proptest! {
        /// Numbers are sums of payloads, whatever is sent again in between.
        #[test]
        fn numbers_are_sums(payloads in prop::collection::vec(prop_oneof![Just(1448_u16), 1_u16..1448], 1..60)) {
            let mut ledger = Ledger::new(1448);
            let mut sums = vec![0, 1];
            for (segment, payload) in (1_u32..).zip(&payloads) {
                ledger.note(segment, *payload);
                ledger.note(segment.div_ceil(2), payloads[segment.div_ceil(2) as usize - 1]);
                sums.push(sums[segment as usize] + u32::from(*payload));
            }
            let bytes: Vec<u32> = (0..).take(sums.len()).map(|segment| ledger.byte(segment)).collect();
            prop_assert_eq!(bytes, sums);
        }
    }
}
