//! Flows of applications' datagrams: they come with the first datagram, and go when none comes.

use std::collections::BTreeMap;

use super::shared::{Applications, Outgoing};
use super::{DatagramKey, To};
use crate::overlay::proxy::UdpProxy;
use sojourn_base::rng::StreamKey;
use sojourn_base::units::{Span, Time};

/// Flows at most.
const MOST: usize = 4_096;
/// One goes after this time without a datagram.
const IDLE: Span = Span::from_secs(60);
/// How often it is seen which are idle.
const LOOK_EVERY: Span = Span::from_secs(1);

type Key = (DatagramKey, To, usize);

/// A flow, by its place in the proxy.
#[derive(Clone, Copy, Debug)]
struct Known {
    place: usize,
    used_at: Time,
}

/// The flows of a node.
#[derive(Debug)]
pub(in crate::overlay) struct Datagrams {
    /// Weighs utility against queues.
    k: f64,
    random: StreamKey,
    known: BTreeMap<Key, Known>,
    /// Places of flows that are gone.
    free: Vec<usize>,
    looked_at: Time,
}

impl Datagrams {
    /// None yet.
    pub(in crate::overlay) fn new(k: f64, random: StreamKey) -> Self {
        let (known, free) = (BTreeMap::new(), Vec::new());
        Datagrams { k, random, known, free, looked_at: Time::ZERO }
    }

    /// The place in the proxy of a datagram's flow, which goes to this queue; none if too many wait.
    pub(in crate::overlay) fn flow(
        &mut self,
        now: Time,
        datagram: &Outgoing,
        queue: u16,
        shared: &Applications,
        proxy: &mut UdpProxy,
    ) -> Option<usize> {
        let key = (datagram.key, datagram.to, datagram.class);
        if let Some(known) = self.known.get_mut(&key) {
            known.used_at = now;
            return Some(known.place);
        }
        self.forget_idle(now);
        if self.known.len() >= MOST {
            self.forget_one(proxy)?;
        }
        let service = shared.service(datagram.class);
        let flows = (self.known.len() + self.free.len()) as u64;
        let chance = self.random.child("application").uniform_at(flows);
        let place = match self.free.pop() {
            Some(place) => {
                proxy.replace(place, queue, &service, self.k, chance);
                place
            }
            None => proxy.add(queue, &service, self.k, chance),
        };
        self.known.insert(key, Known { place, used_at: now });
        Some(place)
    }

    fn forget_idle(&mut self, now: Time) {
        if now.since(self.looked_at) < LOOK_EVERY {
            return;
        }
        self.looked_at = now;
        let Datagrams { known, free, .. } = self;
        known.retain(|_, flow| {
            let stays = now.since(flow.used_at) < IDLE;
            if !stays {
                free.push(flow.place);
            }
            stays
        });
    }

    /// The flow that has been idle longest gives way, of those of which nothing waits.
    fn forget_one(&mut self, proxy: &UdpProxy) -> Option<()> {
        let idle = self.known.iter().filter(|(_, flow)| !proxy.is_waiting(flow.place));
        let (key, place) = idle.min_by_key(|(_, flow)| flow.used_at).map(|(k, f)| (*k, f.place))?;
        self.known.remove(&key);
        self.free.push(place);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServiceSpec;
    use sojourn_base::packet::Packet;

    struct Rig {
        shared: Applications,
        proxy: UdpProxy,
        datagrams: Datagrams,
    }

    impl Rig {
        fn new() -> Self {
            let services = vec![ServiceSpec::default(); 2];
            Rig {
                shared: Applications::new(services, 0, 1),
                proxy: UdpProxy::default(),
                datagrams: Datagrams::new(1e12, StreamKey::root(1)),
            }
        }

        /// The place of a datagram that is sent then, from a port and of a class.
        fn flow(&mut self, second: u64, port: u16, class: usize) -> Option<usize> {
            let (ports, protocol) = ([port, 9], 17);
            let key = DatagramKey { source: 1, destination: 2, ports, protocol };
            let datagram = Outgoing { key, to: To::Member(1), class, bytes: [0; 20].into() };
            let now = Time::ZERO + Span::from_secs(second);
            let Rig { shared, proxy, datagrams } = self;
            datagrams.flow(now, &datagram, 1, shared, proxy)
        }

        fn waits(&mut self, place: usize) {
            let packet = Packet { size: 20, ..Packet::default() };
            self.proxy.push(Time::ZERO, place, packet);
        }
    }

    #[test]
    fn places_of_idle_flows_are_used_again() {
        let mut rig = Rig::new();
        assert_eq!((rig.flow(1, 1, 0), rig.flow(1, 2, 0)), (Some(0), Some(1)));
        assert_eq!((rig.flow(50, 1, 0), rig.flow(50, 1, 1)), (Some(0), Some(2)));
        assert_eq!(rig.flow(61, 3, 0), Some(1), "idle for 60 s");
        assert_eq!((rig.flow(61, 2, 0), rig.flow(61, 1, 0)), (Some(3), Some(0)));
    }

    #[test]
    fn the_one_that_was_idle_longest_gives_way_unless_it_waits() {
        let mut rig = Rig::new();
        for port in 0..MOST as u16 {
            assert_eq!(rig.flow(1 + u64::from(port > 1), port, 0), Some(port.into()));
        }
        rig.waits(0);
        assert_eq!(rig.flow(3, 5_000, 0), Some(1));
        (0..MOST).for_each(|place| rig.waits(place));
        assert_eq!((rig.flow(4, 5_001, 0), rig.flow(4, 5_000, 0)), (None, Some(1)));
    }
}
