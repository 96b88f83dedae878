//! Wi-Fi: stations that share a half-duplex channel, in both directions (IEEE 802.11).
//!
//! Model: IEEE Std 802.11-2016, clauses 10 (MAC), 17 (a), 18 (g), 19 (n) and 21 (ac). A link on the
//! medium goes from one station to another; the names of its ends are those of the stations (`left`
//! and `right` in a dumbbell), and a link back is on the same medium. All stations hear each other,
//! so frames collide if they start in the same slot, or within 4 us of each other where slots are
//! not aligned, and not otherwise.
//!
//! Stations contend by DCF (`a`, `g`) or by EDCA with four access categories, which a flow's
//! `access_category` chooses (`n`, `ac`): backoff with binary windows, also after a success; AIFS;
//! EIFS after a collision or a frame of which no part is received; attempts limited for each MPDU.
//! With `n` and `ac`, MPDUs to one receiver are sent together as an A-MPDU, under a compressed
//! block acknowledgment: at most `frames` of them, `bytes` and `airtime`; those in the voice
//! category are sent alone, as by Linux. Several packets make one MPDU of up to `amsdu` bytes.
//! PSDUs above `rts_threshold` are preceded by RTS and CTS. Answers are sent at 6, 12 or 24 Mbit/s.
//!
//! Data is lost by the signal-to-noise ratio of the two stations, the lesser of theirs (`snr`, or a
//! `snr_schedule` for a station that moves), by the model of Pei and Henderson (2010), which ns-3
//! calls NIST; without a ratio, only collisions cause loss. The rate is fixed by `mcs` (for `a` and
//! `g` the number of the rate, 7 is 54 Mbit/s), or chosen by Minstrel-HT.
//!
//! Each station has queues by `queueing`. With `driver`, a discipline feeds the driver's FIFO, from
//! whose `driver_queue` packets frames are built; all links of the station share both and take
//! turns frame by frame: Linux drivers before ath9k's conversion (4.10), and firmware. With
//! `mac80211`, each link has a discipline, and turns are by airtime unless `airtime_fairness` is
//! false: ath9k since Linux 4.11, all of mac80211 since 5.1. The discipline is the link's `queue`;
//! by default a FIFO of 1000 packets (`pfifo_fast` on a network device), with `mac80211` its
//! FQ-CoDel (target 20 ms, 8192 packets). TCP senders on a station keep little data below them
//! (small queues), see `docs/explanation/wifi.md`.
//!
//! `contention = "bianchi"` is a test mode for the model of G. Bianchi (JSAC 2000): no limit of
//! attempts, no EIFS, and a busy slot counts like an idle one.
//!
//! Deviations: no hidden stations, capture, beacons, power saving or association; answers are not
//! lost to noise; packets leave a frame when its data ends; control frames between the block-ACK
//! agreement's ends (ADDBA, BAR) take no time; immediate access is aligned to slots; a packet that
//! the host's queue drops is lost to TCP, where Linux would notify it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::category::Contention;
use super::phy::{Phy, Standard, subcarriers};
use sojourn_base::error::FieldError;
use sojourn_base::quantity::{Bytes, Decibels, Packets};
use sojourn_base::registry::named;
use sojourn_base::units::Span;
use sojourn_net::edge::link::schedule::ScheduleSpec;
use sojourn_net::spec::AccessCategory;
use sojourn_net::spec::limits::require;

pub use super::air::Air as Wifi;

named! {
    /// Rules of contention.
    #[derive(Default)]
    Access, "contention" {
        /// As the standard says.
        #[default]
        Standard = "standard",
        /// As in Bianchi's model.
        Bianchi = "bianchi",
    }
}

named! {
    /// How the mode of data is chosen.
    #[derive(Default)]
    RateControlKind, "rate control" {
        /// Always the mode of `mcs`.
        #[default]
        Fixed = "fixed",
        /// Minstrel-HT.
        MinstrelHt = "minstrel-ht",
    }
}

named! {
    /// Queues of a station's transmitter.
    #[derive(Default)]
    Queueing, "queueing" {
        /// A discipline for all receivers, and the driver's FIFO.
        #[default]
        Driver = "driver",
        /// A discipline for each receiver, as mac80211's queues.
        Mac80211 = "mac80211",
    }
}

/// Keys of the medium.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The amendment: `a`, `g`, `n` (2.4 GHz) or `ac`.
    pub standard: Standard,
    /// Width of the channel in MHz: 20, 40, 80 or 160. Default: 20 for `a` and `g`, 40 for `n`, 80 for `ac`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Spatial streams, 1 to 4, unless a station has fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<u8>,
    /// Whether symbols have the short guard interval (`n`, `ac`).
    pub short_guard: bool,
    /// How the mode of data is chosen.
    pub rate_control: RateControlKind,
    /// The mode of data: an MCS of `n` or `ac`, or the number of a rate of `a` or `g`. Default: the
    /// fastest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcs: Option<u8>,
    /// Signal-to-noise ratio at all stations that give none. Default: no noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr: Option<Decibels>,
    /// Maximum number of MPDUs in an A-MPDU; 1 sends each alone.
    pub frames: u64,
    /// Maximum size of an A-MPDU. Default: 65,535 for `n`, 1,048,575 for `ac`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Maximum duration of a data frame on the air.
    pub airtime: Span,
    /// Maximum size of an A-MSDU; 0 B sends none.
    pub amsdu: Bytes,
    /// Maximum attempts of each MPDU.
    pub attempts: u8,
    /// PSDUs above this are preceded by RTS and CTS. Default: none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rts_threshold: Option<Bytes>,
    /// Rules of contention.
    pub contention: Access,
    /// Contention parameters of access categories that differ from the defaults, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub categories: BTreeMap<String, Contention>,
    /// Queues of the transmitters of stations that give none.
    pub queueing: Queueing,
    /// Packets that a driver holds.
    pub driver_queue: Packets,
    /// Whether receivers take turns by airtime where each has a queue.
    pub airtime_fairness: bool,
    /// Parameters of stations that differ, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stations: BTreeMap<String, Station>,
}

/// Parameters in which a station differs from the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Station {
    /// Its signal-to-noise ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr: Option<Decibels>,
    /// A ratio that changes, as when it moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr_schedule: Option<ScheduleSpec<Decibels>>,
    /// Its mode, if slower than the other end's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcs: Option<u8>,
    /// Its spatial streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<u8>,
    /// Queues of its transmitter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing: Option<Queueing>,
    /// Packets that its driver holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_queue: Option<Packets>,
    /// Its share of other stations' airtime, 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            standard: Standard::default(),
            width: None,
            streams: None,
            short_guard: true,
            rate_control: RateControlKind::default(),
            mcs: None,
            snr: None,
            frames: 64,
            bytes: None,
            airtime: Span::from_millis(4),
            amsdu: Bytes(0),
            attempts: 7,
            rts_threshold: None,
            contention: Access::default(),
            categories: BTreeMap::new(),
            queueing: Queueing::default(),
            driver_queue: Packets(128),
            airtime_fairness: true,
            stations: BTreeMap::new(),
        }
    }
}

impl Params {
    fn width(&self) -> u32 {
        self.width.unwrap_or(match self.standard {
            Standard::A | Standard::G => 20,
            Standard::N => 40,
            Standard::Ac => 80,
        })
    }

    pub(super) fn streams(&self) -> u8 {
        self.streams.unwrap_or(if self.standard.aggregates() { 2 } else { 1 })
    }

    pub(super) fn phy(&self) -> Phy {
        Phy::new(self.standard, self.width(), self.streams(), self.short_guard)
    }

    fn validate_phy(&self) -> Result<(), FieldError> {
        let widths: &[u32] = match self.standard {
            Standard::A | Standard::G => &[20],
            Standard::N => &[20, 40],
            Standard::Ac => &[20, 40, 80, 160],
        };
        let (width, name) = (self.width(), self.standard.name());
        let allowed = format!("{widths:?} MHz with standard {name}");
        let fits = widths.contains(&width) && subcarriers(width).is_some();
        require(fits, "width", format!("{width} MHz"), &allowed)?;
        let most = if self.standard.aggregates() { 4 } else { 1 };
        let allowed = format!("1 to {most} with standard {name}");
        require((1..=most).contains(&self.streams()), "streams", self.streams(), &allowed)?;
        let phy = self.phy();
        let check = |mcs: Option<u8>, streams: u8| {
            let Some(mcs) = mcs else { return Ok(()) };
            let known = phy.find(mcs, streams).is_some();
            let allowed = format!("a mode of {name} with {width} MHz and {streams} streams");
            require(known, "mcs", mcs, &allowed)
        };
        check(self.mcs, self.streams())?;
        for (station, own) in &self.stations {
            let within = |e: FieldError| e.within(&format!("stations.{station}"));
            let streams = own.streams.unwrap_or(self.streams());
            let allowed = format!("1 to {}, those of the medium", self.streams());
            let fits = (1..=self.streams()).contains(&streams);
            require(fits, "streams", streams, &allowed).map_err(within)?;
            check(own.mcs, streams).map_err(within)?;
        }
        Ok(())
    }
}

impl sojourn_base::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        self.validate_phy()?;
        let frames = format!("{} frames", self.frames);
        require((1..=64).contains(&self.frames), "frames", frames, "1 to 64")?;
        let airtime = (Span::from_micros(100)..=Span::from_micros(5_484)).contains(&self.airtime);
        require(airtime, "airtime", self.airtime, "100 us to 5484 us (aPPDUMaxTime)")?;
        require(self.amsdu.0 <= 11_454, "amsdu", self.amsdu, "up to 11454 B")?;
        require(self.attempts > 0, "attempts", self.attempts, "at least 1")?;
        let bytes = self.bytes.unwrap_or(Bytes(65_535));
        require((1..=1_048_575).contains(&bytes.0), "bytes", bytes, "1 B to 1048575 B")?;
        let queue = |packets: Packets| {
            require(
                (1..=100_000).contains(&packets.0),
                "driver_queue",
                packets,
                "1 to 100000 packets",
            )
        };
        queue(self.driver_queue)?;
        for (name, contention) in &self.categories {
            let within = |e: FieldError| e.within(&format!("categories.{name}"));
            let unknown = |why| FieldError::new("", why);
            name.parse::<AccessCategory>().map_err(unknown).map_err(within)?;
            contention.validate().map_err(within)?;
        }
        for (name, station) in &self.stations {
            let within = |e: FieldError| e.within(&format!("stations.{name}"));
            if let Some(schedule) = &station.snr_schedule {
                schedule.validate().map_err(|e| within(e.within("snr_schedule")))?;
            }
            station.driver_queue.map_or(Ok(()), queue).map_err(within)?;
            let weight = station.weight.unwrap_or(1.0);
            require((0.01..=100.0).contains(&weight), "weight", weight, "0.01 to 100")
                .map_err(within)?;
        }
        Ok(())
    }
}
