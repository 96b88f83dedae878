//! The way of a datagram: one turn takes what has come, simulates the part up to now, and sends what
//! has left it.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use sojourn_base::observe::Observed;
use sojourn_base::units::{Span, Time};
use sojourn_sim::sim::Part;
use sojourn_sliq::secure::Moment;
use sojourn_sliq::udp::{Clock, unix};

use super::Error;
use super::applications::Programs;
use super::peers::{News, Peers};
use super::translate::{Translator, Way};
use crate::overlay::{Order, Orders};

/// Turns begin this far apart under load, on average. A turn has several datagrams then, which pass
/// through the system together; a turn for each of them costs more than all else.
const APART: Span = Span::from_micros(200);
/// So much of that time may be missing: where little comes, a turn begins at once.
const CREDIT: Span = Span::from_millis(2);

/// When turns may begin.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When the next could begin if all had been that far apart.
    next: Time,
}

impl Pace {
    /// A turn begins.
    fn begin(&mut self, now: Time) {
        self.next = self.next.max(now) + APART;
    }

    /// For how long the next has to wait.
    fn wait(&self, now: Time) -> Duration {
        Duration::from_nanos(self.next.since(now + CREDIT).as_nanos())
    }
}

/// A part, and the way to its neighbours and back.
pub(super) struct Turning {
    pub part: Part,
    pub peers: Peers,
    /// By neighbour.
    pub ways: Vec<Way>,
    pub translator: Translator,
    pub orders: Arc<Orders>,
    /// Programs that use the overlay, if there are any.
    pub programs: Option<Programs>,
    pub clock: Clock,
    pub pace: Pace,
    pub bytes: Vec<u8>,
    /// Neighbours whose processes have been started anew since somebody asked.
    pub restarted: Vec<usize>,
}

impl Turning {
    /// One turn; whether datagrams or bytes of programs have come, so that more may be there.
    ///
    /// # Errors
    /// If a socket cannot be used, or the simulation has broken an invariant.
    pub(super) fn turn(&mut self) -> Result<bool, Error> {
        self.turn_at(self.clock.now())
    }

    /// The same of a turn at `now`.
    ///
    /// # Errors
    /// As of [`Turning::turn`].
    pub(super) fn turn_at(&mut self, now: Time) -> Result<bool, Error> {
        let at = Moment::new(now, unix());
        self.pace.begin(now);
        self.part.approach(at.now)?;
        let mut some = self.receive(&at)?;
        some |= self.serve(at.now)?;
        self.part.advance(at.now)?;
        self.send(&at)?;
        some |= self.serve(at.now)?;
        Ok(some)
    }

    fn receive(&mut self, at: &Moment) -> Result<bool, Error> {
        let Turning { part, peers, ways, translator, orders, restarted, .. } = self;
        let some = peers.receive(at, |place, link, news| match news {
            News::Content(bytes) => match translator.read(&mut ways[place], at.now, bytes) {
                Some(packet) => part.arrive(place, packet),
                None => link.exchanged.refused_datagrams += 1,
            },
            News::Restarted => {
                restarted.push(place);
                orders.push(Order::Restart { member: ways[place].member });
                part.wake();
            }
        });
        some.map_err(|error| peers.refused(error))
    }

    /// Lets programs and the node take what they have for each other.
    fn serve(&mut self, now: Time) -> Result<bool, Error> {
        let Some(programs) = &mut self.programs else { return Ok(false) };
        let served = programs.turn(now);
        let some =
            served.map_err(|error| Error::Network { address: "applications".into(), error })?;
        if programs.waits() {
            self.part.wake();
        }
        Ok(some)
    }

    fn send(&mut self, at: &Moment) -> Result<(), Error> {
        let Turning { part, peers, ways, translator, bytes, .. } = self;
        for (place, way) in ways.iter().enumerate() {
            while let Some(packet) = part.take(place) {
                if translator.write(way, &packet, bytes) {
                    peers.send(at, place, bytes).map_err(|error| peers.refused(error))?;
                }
            }
        }
        peers.flush(at).map_err(|error| peers.refused(error))
    }

    /// Waits until there is something to do, at most until then; if more may have come, only for what
    /// is left of the time between turns.
    ///
    /// # Errors
    /// If the system cannot wait.
    pub(super) fn rest(&mut self, more: bool, until: Time) -> Result<(), Error> {
        let wait = self.pace.wait(self.clock.now());
        if !wait.is_zero() {
            sleep(wait);
        }
        let until = until.min(self.part.next_wakeup()).min(self.peers.next());
        let now = self.clock.now();
        let waited = if !more && until > now { self.peers.wait(now, until) } else { Ok(()) };
        waited.map_err(|error| self.peers.refused(error))
    }

    /// Reads how far the neighbours' clocks are ahead of this one.
    pub(super) fn read_clocks(&mut self) {
        let Turning { part, ways, .. } = self;
        part.observe(&mut |name, value| {
            let node = name.strip_prefix("clock.").and_then(|node| node.parse().ok());
            let way = ways.iter_mut().find(|way| Some(way.node) == node);
            if let (Some(way), Observed::Number(ahead)) = (way, value) {
                way.ahead = ahead;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_begin_at_once_until_they_come_too_often() {
        let mut pace = Pace::default();
        let mut now = Time::ZERO;
        for _ in 0..1_000 {
            now += Span::from_nanos(pace.wait(now).as_nanos() as u64);
            pace.begin(now);
        }
        let spaced = now.since(Time::ZERO).as_secs_f64();
        assert!((0.197..0.201).contains(&spaced), "{spaced}");
        // After a while without turns some begin at once again.
        now += CREDIT;
        for _ in 0..10 {
            assert!(pace.wait(now).is_zero());
            pace.begin(now);
        }
        assert!(!pace.wait(now).is_zero());
    }
}
