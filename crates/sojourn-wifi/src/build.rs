//! Construction of contending stations from a scenario's keys and links.

use std::collections::VecDeque;

use super::air::{Air, Rules};
use super::category::{Contention, DCF, default_of};
use super::contender::{Contender, Turns};
use super::minstrel::Minstrel;
use super::peer::{Peer, RateControl, Signal};
use super::phy::{Phy, Standard};
use super::window::{LARGEST, Limits, Window};
use super::{Access, MediumInit, Params, Queueing, RateControlKind, Station};
use serde_json::{Map, json};
use sojourn_base::error::FieldError;
use sojourn_base::quantity::{Decibels, Packets};
use sojourn_base::registry::Catalogue;
use sojourn_base::rng::StreamKey;
use sojourn_base::units::{Span, Time};
use sojourn_net::edge::link::schedule::{Schedule, ScheduleSpec, Step};
use sojourn_net::edge::medium::Registered;
use sojourn_net::edge::medium::lanes::{Lanes, Queue};
use sojourn_net::spec::{AccessCategory, Spec};

/// Packets name their channel by a byte.
const MOST_CHANNELS: usize = 255;

impl Registered for Air {
    type Params = Params;

    fn new(
        params: Params,
        init: MediumInit<'_>,
        catalogue: &Catalogue,
    ) -> Result<Self, FieldError> {
        Builder { phy: params.phy(), params, init, catalogue }.build()
    }
}

struct Builder<'a> {
    phy: Phy,
    params: Params,
    init: MediumInit<'a>,
    catalogue: &'a Catalogue,
}

impl Builder<'_> {
    fn build(self) -> Result<Air, FieldError> {
        let names = self.init.stations();
        if let Some(name) = self.params.stations.keys().find(|name| !names.contains(name)) {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            let unknown = FieldError::unknown_name("", "station", name, &known);
            return Err(unknown.within(&format!("stations.{name}")));
        }
        let count = self.init.channels.len();
        if count > MOST_CHANNELS {
            let message = format!("{count} links on one medium; allowed: at most {MOST_CHANNELS}");
            return Err(FieldError::new("", message));
        }
        let mut contenders = Vec::new();
        let mut senders = vec![[None; 4]; count];
        for (number, name) in names.iter().enumerate() {
            let channels: Vec<usize> =
                (0..count).filter(|c| self.init.channels[*c].stations[0] == name).collect();
            if channels.is_empty() {
                continue;
            }
            for category in self.categories() {
                let place = contenders.len();
                contenders.push(self.contender(number, name, category, &channels)?);
                for (peer, channel) in channels.iter().enumerate() {
                    senders[*channel][category as usize] = Some((place, peer));
                }
            }
        }
        let lanes = Lanes::of(&self.init.channels);
        let categories = self.init.categories.iter().map(|of| self.category(*of) as u8).collect();
        let rules = self.rules();
        let air = Air::new(self.phy, rules, contenders, lanes, senders, categories);
        let ends = self.init.channels.iter().map(|channel| channel.stations.map(str::to_owned));
        Ok(air.watched(ends.collect(), self.init.watch))
    }

    fn rules(&self) -> Rules {
        let params = &self.params;
        let idealised = params.contention == Access::Bianchi;
        let threshold = params.rts_threshold.map_or(u32::MAX, |bytes| bytes.0.min(1 << 30) as u32);
        Rules {
            idealised,
            counts_busy: idealised || params.standard.aggregates(),
            attempts: params.attempts,
            rts_threshold: threshold,
            longest: params.airtime,
        }
    }

    /// Without QoS there is one category.
    fn category(&self, category: AccessCategory) -> AccessCategory {
        if self.params.standard.aggregates() { category } else { AccessCategory::BestEffort }
    }

    /// The categories that flows use, lowest first; best effort is always among them.
    fn categories(&self) -> Vec<AccessCategory> {
        let mut used: Vec<_> = self.init.categories.iter().map(|of| self.category(*of)).collect();
        used.push(AccessCategory::BestEffort);
        used.sort_unstable();
        used.dedup();
        used
    }

    fn contention(&self, category: AccessCategory) -> Contention {
        let own = self.params.categories.iter().find(|(name, _)| name.parse() == Ok(category));
        match own {
            Some((_, contention)) => *contention,
            None if self.params.standard.aggregates() => default_of(category),
            None => DCF,
        }
    }

    fn limits(&self, category: AccessCategory) -> Limits {
        let params = &self.params;
        let qos = params.standard.aggregates();
        let alone = !qos || category == AccessCategory::Voice;
        let most = if params.standard == Standard::N { 65_535 } else { 1_048_575 };
        Limits {
            qos,
            frames: if alone { 1 } else { (params.frames as usize).clamp(1, LARGEST) },
            bytes: params.bytes.map_or(most, |bytes| bytes.0 as u32),
            amsdu: if alone { 0 } else { params.amsdu.0 as u32 },
        }
    }

    fn station(&self, name: &str) -> Station {
        self.params.stations.get(name).cloned().unwrap_or_default()
    }

    fn contender(
        &self,
        number: usize,
        name: &str,
        category: AccessCategory,
        channels: &[usize],
    ) -> Result<Contender, FieldError> {
        let own = self.station(name);
        let random = self.init.random.child(name).child(category.name());
        let Packets(ahead) = own.driver_queue.unwrap_or(self.params.driver_queue);
        let turns = match own.queueing.unwrap_or(self.params.queueing) {
            Queueing::Driver => Turns::Frames { driver_queue: ahead as usize },
            Queueing::Mac80211 if self.params.airtime_fairness => Turns::Airtime,
            Queueing::Mac80211 => Turns::Queues,
        };
        let queues = self.queues(turns, category, random, channels)?;
        let peer = |(place, channel): (usize, &usize)| {
            let queue = if queues.len() == 1 { 0 } else { place };
            self.peer(*channel, queue, random)
        };
        let weight = |channel: &usize| {
            self.station(self.init.channels[*channel].stations[1]).weight.unwrap_or(1.0)
        };
        let rules = self.contention(category);
        Ok(Contender {
            station: number,
            rules,
            limits: self.limits(category),
            turns,
            peers: channels.iter().enumerate().map(peer).collect(),
            weights: channels.iter().map(weight).collect(),
            queues,
            backoff: 0,
            window: rules.cw_min,
            failures: 0,
            counts_from: Time::ZERO + self.phy.sifs() + self.phy.slot() * u64::from(rules.aifsn),
            timer: Time::NEVER,
            ready_at: Time::NEVER,
            random: random.stream(),
            staged: 0,
            fresh: VecDeque::new(),
            rotation: VecDeque::new(),
        })
    }

    /// One queue for all receivers, or one for each.
    fn queues(
        &self,
        turns: Turns,
        category: AccessCategory,
        random: StreamKey,
        channels: &[usize],
    ) -> Result<Vec<Queue>, FieldError> {
        let shared = matches!(turns, Turns::Frames { .. });
        let of = |channel: usize| &self.init.channels[channel];
        let mut chosen: Vec<usize> = channels.to_vec();
        if shared {
            let given: Vec<usize> =
                channels.iter().copied().filter(|c| of(*c).link.queue.is_some()).collect();
            if let Some(other) =
                given.iter().find(|c| of(**c).link.queue != of(given[0]).link.queue)
            {
                let (id, first) = (of(*other).id, of(given[0]).id);
                let message = format!(
                    "that of link '{id}' differs from that of '{first}', and both are the \
                     station's one queue; give one of them, or queueing = \"mac80211\""
                );
                return Err(FieldError::new("queue", message));
            }
            chosen = vec![given.first().copied().unwrap_or(channels[0])];
        }
        let default = if shared { fifo() } else { fq_codel() };
        let part = (category != AccessCategory::BestEffort).then(|| category.name());
        let build = |channel: usize| of(channel).queue(part, &default, random, self.catalogue);
        chosen.into_iter().map(build).collect()
    }

    fn peer(&self, channel: usize, queue: usize, random: StreamKey) -> Peer {
        let [from, to] = self.init.channels[channel].stations;
        let ends = [self.station(from), self.station(to)];
        let random = random.child("to").child(to);
        Peer {
            channel,
            queue,
            staged: VecDeque::new(),
            window: Window::default(),
            rate: self.rate(&ends, random),
            signal: self.signal([from, to], &ends),
            deficit: 0,
            listed: false,
        }
    }

    fn rate(&self, ends: &[Station; 2], random: StreamKey) -> RateControl {
        let params = &self.params;
        let most = params.streams();
        let streams = ends.iter().map(|end| end.streams.unwrap_or(most)).min().unwrap_or(most);
        let given = ends.iter().filter_map(|end| end.mcs).chain(params.mcs).min();
        let usable = self.phy.modes.iter().filter(|mode| mode.streams <= streams).count();
        match params.rate_control {
            RateControlKind::MinstrelHt => {
                RateControl::Minstrel(Box::new(Minstrel::new(&self.phy, usable, random.stream())))
            }
            RateControlKind::Fixed => {
                let found = given.and_then(|mcs| self.phy.find(mcs, streams));
                RateControl::Fixed(found.unwrap_or(usable - 1))
            }
        }
    }

    fn signal(&self, names: [&str; 2], ends: &[Station; 2]) -> Signal {
        let schedule = |(name, end): (&str, &Station)| {
            let key = self.init.random.child("snr").child(name);
            let initial = end.snr.or(self.params.snr);
            if let Some(schedule) = &end.snr_schedule {
                let first = initial.or(schedule.nominal()).unwrap_or_default();
                return Some(Schedule::new(schedule, first, key));
            }
            let value: Decibels = initial?;
            let steps = vec![Step { at: Span::ZERO, value }];
            Some(Schedule::new(&ScheduleSpec::Steps { steps, repeat: None }, value, key))
        };
        Signal::new(names.into_iter().zip(ends).filter_map(schedule).collect())
    }
}

/// A network device's `pfifo_fast` (its bands are the access categories).
fn fifo() -> Spec<sojourn_net::spec::Queue> {
    Spec::new("fifo", Map::from_iter([("limit".to_owned(), json!("1000 packets"))]))
}

/// FQ-CoDel with the settings of mac80211 (`net/mac80211/tx.c`).
fn fq_codel() -> Spec<sojourn_net::spec::Queue> {
    let keys = [("limit", "8192 packets"), ("target", "20 ms"), ("interval", "100 ms")];
    let keys = keys.map(|(key, value)| (key.to_owned(), json!(value)));
    Spec::new(
        "fq_codel",
        Map::from_iter(keys.into_iter().chain([("quantum".to_owned(), json!("300 B"))])),
    )
}
