//! Conservative parallel simulation of a network's regions with one lookahead window.
//!
//! A window is as long as the shortest delay between regions. A packet that arrives in a window was
//! sent before it: so regions first exchange the arrivals of the window, and then each is simulated
//! to the window's end independently. The order of regions and the number of threads do not change
//! results: arrivals from other regions come first at their instant (`event.rs`).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};

use super::{Hosts, Network, Split, Step};
use crate::error::{Fault, unless_ended};
use crate::packet::Packet;
use crate::units::{Span, Time};

/// With fewer events per window, threads would mostly wait for each other.
const WORTH_THREADS: u64 = 500;
/// The shortest span.
const INSTANT: Span = Span::from_nanos(1);

/// A region with its hosts.
struct Region<H> {
    net: Network,
    hosts: H,
    /// Indices of the crossings out of it and into it.
    leaving: Vec<usize>,
    entering: Vec<usize>,
    ended: Option<Box<Fault>>,
}

/// Packets in transit over a crossing.
struct Seam {
    edge: usize,
    packets: Mutex<Vec<(Time, Packet)>>,
}

/// A network in regions, and the time they have reached.
pub struct Regions<H> {
    regions: Vec<Region<H>>,
    seams: Vec<Seam>,
    lookahead: Span,
    /// All events before this time are done.
    reached: Time,
    /// Whether events are processed in the order of time over all regions.
    in_order: bool,
    threads: usize,
}

impl<H> Region<H> {
    fn leave(&mut self, seams: &[Seam], until: Time) {
        for seam in self.leaving.iter().map(|place| &seams[*place]) {
            let mut packets = seam.packets.lock().unwrap_or_else(PoisonError::into_inner);
            self.net.leave(seam.edge, until, &mut packets);
        }
    }

    fn enter(&mut self, seams: &[Seam]) {
        for seam in self.entering.iter().map(|place| &seams[*place]) {
            let mut packets = seam.packets.lock().unwrap_or_else(PoisonError::into_inner);
            if !packets.is_empty() {
                self.net.enter(seam.edge, packets.drain(..));
            }
        }
    }
}

impl<H: Hosts> Region<H> {
    /// Takes in the arrivals, and processes all events before `until`.
    fn run(&mut self, seams: &[Seam], until: Time) {
        self.enter(seams);
        let Region { net, hosts, .. } = self;
        let done = unless_ended(|| net.advance(until - INSTANT, hosts));
        self.ended = match done {
            Ok(step) => step.err(),
            Err(ended) => Some(Box::new(ended.at(self.net.now()))),
        };
    }
}

impl<H> Regions<H> {
    /// The regions of a network at time zero, each with its hosts. `in_order` keeps the order of
    /// time between regions, for programs that observe events.
    pub fn new(net: Network, split: &Split, hosts: Vec<H>, in_order: bool) -> Self {
        let places = |of: &dyn Fn(&super::Crossing) -> usize, region| -> Vec<usize> {
            let crossings = split.crossings.iter().enumerate();
            crossings.filter(|(_, crossing)| of(crossing) == region).map(|(at, _)| at).collect()
        };
        let region = |(number, (net, hosts))| Region {
            net,
            hosts,
            leaving: places(&|crossing| crossing.from, number),
            entering: places(&|crossing| crossing.to, number),
            ended: None,
        };
        let seam =
            |crossing: &super::Crossing| Seam { edge: crossing.edge, packets: Mutex::default() };
        Regions {
            regions: net.split(split).into_iter().zip(hosts).enumerate().map(region).collect(),
            seams: split.crossings.iter().map(seam).collect(),
            lookahead: split.lookahead,
            reached: Time::ZERO,
            in_order,
            threads: 1,
        }
    }

    /// Uses up to `threads` threads from now on.
    pub fn use_threads(&mut self, threads: usize) {
        self.threads = threads;
    }

    /// Each region with its hosts.
    pub fn iter(&self) -> impl Iterator<Item = (&Network, &H)> {
        self.regions.iter().map(|region| (&region.net, &region.hosts))
    }

    /// The same, mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&mut Network, &mut H)> {
        self.regions.iter_mut().map(|region| (&mut region.net, &mut region.hosts))
    }

    /// All events before this time are done, and no others.
    pub fn reached(&self) -> Time {
        self.reached
    }

    fn can_part(&self) -> bool {
        self.threads > 1 && !self.in_order && self.regions.len() > 1
    }

    /// End of the next window.
    fn window(&mut self, until: Time) -> Time {
        if !self.in_order || self.seams.is_empty() {
            return until.min(self.reached + self.lookahead);
        }
        let mut next = until;
        for region in &mut self.regions {
            let leaves = region.leaving.iter().map(|place| self.seams[*place].edge);
            let leaves = leaves.filter_map(|edge| region.net.leaves_at(edge)).min();
            let first = leaves.into_iter().chain(region.net.next_wakeup()).min();
            next = next.min(first.map_or(until, |at| at + INSTANT));
        }
        next
    }

    /// Earliest fault of the last window.
    fn fault(&mut self) -> Step {
        let ended = self.regions.iter_mut().filter_map(|region| region.ended.take());
        ended.min_by_key(|fault| fault.time).map_or(Ok(()), Err)
    }
}

impl<H: Hosts + Send> Regions<H> {
    /// Processes all events before `until`.
    ///
    /// # Errors If an invariant is broken, or a component ends the run; the regions cannot be
    /// driven on then.
    pub fn advance(&mut self, until: Time) -> Step {
        let before = self.events();
        let mut meetings = 0;
        while self.reached < until {
            if meetings > 0 && self.events() - before > WORTH_THREADS * meetings && self.can_part()
            {
                self.advance_together(until)?;
                break;
            }
            let end = self.window(until);
            self.regions.iter_mut().for_each(|region| region.leave(&self.seams, end));
            self.regions.iter_mut().for_each(|region| region.run(&self.seams, end));
            self.fault()?;
            self.reached = end;
            meetings += 1;
        }
        self.regions.iter_mut().for_each(|region| region.net.reach(until));
        Ok(())
    }

    /// Events scheduled since the start.
    pub fn events(&self) -> u64 {
        self.regions.iter().map(|region| region.net.events()).sum()
    }

    /// The same with threads.
    fn advance_together(&mut self, until: Time) -> Step {
        let threads = self.threads.min(self.regions.len());
        let mut shares: Vec<Vec<&mut Region<H>>> = (0..threads).map(|_| Vec::new()).collect();
        for (number, region) in self.regions.iter_mut().enumerate() {
            shares[number % threads].push(region);
        }
        let meeting = Meeting {
            seams: &self.seams,
            from: self.reached,
            until,
            lookahead: self.lookahead,
            barrier: Barrier::new(threads),
            ended: AtomicU64::new(u64::MAX),
        };
        let mut panics: Vec<Box<dyn Any + Send>> = Vec::new();
        std::thread::scope(|scope| {
            let mut shares = shares.into_iter();
            let own = shares.next();
            let others: Vec<_> = shares.map(|share| scope.spawn(|| meeting.drive(share))).collect();
            panics.extend(own.and_then(|share| meeting.drive(share).err()));
            panics.extend(
                others.into_iter().filter_map(|other| other.join().and_then(|done| done).err()),
            );
        });
        if let Some(panic) = panics.into_iter().next() {
            resume_unwind(panic);
        }
        self.fault()?;
        self.reached = until;
        Ok(())
    }
}

/// Synchronisation of the threads that drive regions from window to window.
struct Meeting<'a> {
    seams: &'a [Seam],
    from: Time,
    until: Time,
    lookahead: Span,
    barrier: Barrier,
    /// The window in which the run ended. All threads end with it, no sooner, so that all reach the
    /// barrier equally often.
    ended: AtomicU64,
}

impl Meeting<'_> {
    /// Drives some of the regions; an error is the panic of one.
    fn drive<H: Hosts>(&self, mut share: Vec<&mut Region<H>>) -> Result<(), Box<dyn Any + Send>> {
        let mut panicked = Ok(());
        let mut reached = self.from;
        for window in 0.. {
            if reached >= self.until {
                break;
            }
            reached = self.until.min(reached + self.lookahead);
            let mut each = |what: &dyn Fn(&mut Region<H>)| {
                let work = AssertUnwindSafe(|| share.iter_mut().for_each(|region| what(region)));
                catch_unwind(work).unwrap_or_else(|panic| {
                    panicked = Err(panic);
                    self.ended.fetch_min(window, Ordering::Relaxed);
                });
            };
            each(&|region| region.leave(self.seams, reached));
            self.barrier.wait();
            if self.ended.load(Ordering::Relaxed) < window {
                break;
            }
            each(&|region| region.run(self.seams, reached));
            if share.iter().any(|region| region.ended.is_some()) {
                self.ended.fetch_min(window, Ordering::Relaxed);
            }
        }
        panicked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::Link;
    use crate::error::end_run;
    use crate::net::Builder;
    use crate::node::{Behaviour, Node, NodeContext};

    /// Forwards every packet by the other port.
    struct Pass;

    impl Node for Pass {
        fn on_packet(&mut self, _: Time, from: usize, packet: Packet, cx: &mut NodeContext<'_>) {
            let port = cx.ports().iter().find(|port| port.edge / 2 != from / 2);
            cx.send(*port.unwrap_or(&cx.ports()[0]), packet);
        }
    }

    /// First timer at which a fault occurs, and the fault.
    type Wrong = Option<(u32, fn(&Network) -> Step)>;

    /// Notes when each timer is due; from some timer on a fault occurs.
    #[derive(Clone)]
    struct Notes {
        came: Vec<(Time, u32)>,
        wrong: Wrong,
    }

    impl Hosts for Notes {
        fn on_packet(&mut self, _: &mut Network, _: &Packet) -> Step {
            Ok(())
        }

        fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
            self.came.push((net.now(), timer));
            match self.wrong {
                Some((least, wrong)) if timer >= least => wrong(net),
                _ => Ok(()),
            }
        }

        fn component(&self, timer: u32) -> String {
            timer.to_string()
        }
    }

    fn ms(ms: u64) -> Time {
        Time::from_nanos(1_000_000 * ms)
    }

    /// Four nodes in a ring, whose links have `delay` ms; a packet goes round, and each region has
    /// a timer of its number a millisecond after that of the one before.
    fn ring(delay: u64, wrong: Wrong) -> Regions<Notes> {
        let mut net = Builder::new();
        for name in ["a", "b", "c", "d"] {
            net.node(name, Behaviour::of(Pass));
        }
        for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
            for ends in [[from, to], [to, from]] {
                let link = Link::new(None, None, Span::from_millis(delay));
                net.link(&format!("{ends:?}"), ends.map(Some), link).unwrap();
            }
        }
        let route = net.route(&[0]).unwrap();
        let net = net.build();
        let split = net.regions([].into_iter());
        let hosts = vec![Notes { came: vec![], wrong }; split.count];
        let mut regions = Regions::new(net, &split, hosts, false);
        for (number, (net, _)) in (0..).zip(regions.iter_mut()) {
            net.set_timer(ms(20 - u64::from(number)), number);
        }
        let (net, _) = regions.iter_mut().next().unwrap();
        net.inject(&Packet { route, size: 100, ..Packet::default() });
        regions.use_threads(2);
        regions
    }

    fn state(regions: &mut Regions<Notes>) -> String {
        let mut text = String::new();
        for (net, notes) in regions.iter_mut() {
            text += &format!("{:?}", notes.came);
            let reports: Vec<_> = (0..8).map(|edge| net.report(edge)).collect();
            text += &format!("{reports:?}");
            net.check().unwrap();
        }
        text
    }

    #[test]
    fn a_packet_goes_round_alike_with_and_without_threads() {
        let (mut alone, mut together) = (ring(5, None), ring(5, None));
        assert_eq!((alone.regions.len(), alone.lookahead), (4, Span::from_millis(5)));
        alone.advance(ms(103)).unwrap();
        together.advance_together(ms(37)).unwrap();
        together.advance_together(ms(103)).unwrap();
        together.advance(ms(103)).unwrap();
        assert_eq!(state(&mut alone), state(&mut together));
        let received: u64 = alone
            .iter()
            .map(|(net, _)| (0..4).map(|n| net.node_counters(n).received).sum::<u64>())
            .sum();
        assert_eq!(received, 20, "a hop takes 5 ms");
    }

    #[test]
    fn short_links_keep_nodes_together() {
        let split = |delay| ring(delay, None).regions.len();
        assert_eq!([0, 1].map(split), [1, 4]);
    }

    #[test]
    fn the_first_fault_ends_the_run_however_it_is_driven() {
        let wrong: fn(&Network) -> Step = |net| Err(net.fault("one".into(), "is at fault"));
        for at in 0..4 {
            let fault =
                |regions: &mut Regions<Notes>| regions.advance_together(ms(90)).unwrap_err();
            let [mut one, mut other] = [(); 2].map(|()| ring(5, Some((at, wrong))));
            let (alone, together) = (one.advance(ms(90)).unwrap_err(), fault(&mut other));
            assert_eq!(alone.time, ms(17), "that of the last region, from {at} on");
            assert_eq!(alone.to_string(), together.to_string());
        }
        let ends: fn(&Network) -> Step = |_| end_run("a control", "crashed");
        let fault = ring(5, Some((3, ends))).advance_together(ms(90)).unwrap_err();
        assert_eq!((fault.time, fault.component.as_str()), (ms(17), "a control"));
    }

    #[test]
    fn a_panic_ends_all_threads() {
        let panics: fn(&Network) -> Step = |_| panic!("a mistake");
        let mut regions = ring(5, Some((1, panics)));
        let caught = catch_unwind(AssertUnwindSafe(|| regions.advance_together(ms(90))));
        assert!(caught.is_err());
    }
}
