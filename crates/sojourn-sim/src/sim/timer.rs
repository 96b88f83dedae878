//! The simulation's timers, as numbers of the network.

/// Owner of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// An endpoint, by its socket.
    Endpoint(u32),
    /// A traffic source's next action, by its flow.
    Source(u32),
    /// The `stop` of a flow's data.
    Stop(u32),
    /// The next arrivals of an entry.
    Arrivals(u32),
}

const INDEX_BITS: u32 = 21;
/// Numbers from here on are no timers of the simulation.
pub(super) const BEYOND: u32 = 4 << INDEX_BITS;

impl Timer {
    /// Its number.
    #[inline]
    pub(super) fn pack(self) -> u32 {
        let (kind, index) = match self {
            Timer::Endpoint(index) => (0, index),
            Timer::Source(index) => (1, index),
            Timer::Stop(index) => (2, index),
            Timer::Arrivals(index) => (3, index),
        };
        debug_assert!(index < 1 << INDEX_BITS, "no run has so many sockets at once");
        kind << INDEX_BITS | index
    }

    /// The timer of this number.
    #[inline]
    pub(super) fn unpack(number: u32) -> Self {
        let index = number & ((1 << INDEX_BITS) - 1);
        match number >> INDEX_BITS {
            0 => Timer::Endpoint(index),
            1 => Timer::Source(index),
            2 => Timer::Stop(index),
            _ => Timer::Arrivals(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_survive_packing() {
        let indexed = [Timer::Endpoint, Timer::Source, Timer::Stop, Timer::Arrivals];
        for timer in indexed.iter().flat_map(|timer| [timer(0), timer((1 << INDEX_BITS) - 1)]) {
            assert_eq!(Timer::unpack(timer.pack()), timer);
            assert!(timer.pack() < BEYOND);
            assert!(timer.pack() < 1 << 24, "the network takes numbers of 24 bits");
        }
    }
}
