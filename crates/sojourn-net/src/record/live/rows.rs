//! Rows of a record, stored by column, and the words in them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::Sink;
use crate::packet::Packet;
use crate::units::{Span, Time};

/// Rows of a table per batch.
const BATCH: usize = 1 << 16;
/// Bytes of a flow's events per batch.
const EVENTS: usize = 1 << 16;

/// Index of a word; 0 is none.
pub type Word = u32;

/// Rows of one of the tables.
#[derive(Clone, Debug, PartialEq)]
pub enum Batch {
    /// States of components.
    State(StateRows),
    /// Passages of packets.
    Packets(PacketRows),
    /// The next bytes of a capture.
    Capture(Vec<u8>),
    /// The next bytes of a flow's events.
    Events {
        /// Number of the flow.
        flow: u32,
        /// What is written of them.
        bytes: Vec<u8>,
    },
}

/// A component's value from `time` on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateRows {
    /// In seconds.
    pub time: Vec<f64>,
    /// The component.
    pub component: Vec<Word>,
    /// Name of the value.
    pub name: Vec<Word>,
    /// The number; NaN for a word, or when the value ceases to exist.
    pub value: Vec<f64>,
    /// The word; 0 for a number.
    pub text: Vec<Word>,
}

/// Events of packets at links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketRows {
    /// In seconds.
    pub time: Vec<f64>,
    /// The link.
    pub link: Vec<Word>,
    /// The packet's flow.
    pub flow: Vec<i64>,
    /// Its index among those that its endpoint sent.
    pub index: Vec<i64>,
    /// Bytes of the IP packet.
    pub size: Vec<i64>,
    /// `enqueue`, `mark`, `drop` or `deliver`.
    pub event: Vec<Word>,
    /// Reason, if the event has more than one.
    pub reason: Vec<Word>,
    /// Of a delivered packet: seconds in the queue; else NaN.
    pub sojourn: Vec<f64>,
}

/// Rows that have not been passed to the sink.
pub(super) struct Rows {
    sink: Sink,
    words: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, Word>,
    state: StateRows,
    packets: PacketRows,
    /// Of each flow.
    events: BTreeMap<u32, Vec<u8>>,
}

impl Rows {
    pub(super) fn new(sink: Sink) -> Self {
        let none = vec!["".into()];
        let (state, packets) = (StateRows::default(), PacketRows::default());
        let (numbers, events) = (HashMap::new(), BTreeMap::new());
        Rows { sink, words: none, numbers, state, packets, events }
    }

    pub(super) fn word(&mut self, word: &str) -> Word {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let (number, word) = (self.words.len() as Word, Arc::<str>::from(word));
        self.words.push(word.clone());
        self.numbers.insert(word, number);
        number
    }

    pub(super) fn add_state(&mut self, now: Time, [component, name, text]: [Word; 3], value: f64) {
        let rows = &mut self.state;
        rows.time.push(now.as_secs_f64());
        rows.component.push(component);
        rows.name.push(name);
        rows.value.push(value);
        rows.text.push(text);
        if rows.time.len() == BATCH {
            self.flush_state();
        }
    }

    pub(super) fn add_packet(
        &mut self,
        now: Time,
        [link, event, reason]: [Word; 3],
        packet: &Packet,
        sojourn: Option<Span>,
    ) {
        let rows = &mut self.packets;
        rows.time.push(now.as_secs_f64());
        rows.link.push(link);
        rows.flow.push(packet.flow.into());
        rows.index.push(packet.index.into());
        rows.size.push(packet.size.into());
        rows.event.push(event);
        rows.reason.push(reason);
        rows.sojourn.push(sojourn.map_or(f64::NAN, Span::as_secs_f64));
        if rows.time.len() == BATCH {
            self.flush_packets();
        }
    }

    /// Passes the next bytes of the capture on.
    pub(super) fn capture(&mut self, bytes: Vec<u8>) {
        (self.sink)(Batch::Capture(bytes), &self.words);
    }

    /// Has `write` append to a flow's events.
    pub(super) fn events(&mut self, flow: u32, write: impl FnOnce(&mut Vec<u8>)) {
        let gathered = self.events.entry(flow).or_default();
        write(gathered);
        if gathered.len() >= EVENTS {
            let bytes = std::mem::take(gathered);
            (self.sink)(Batch::Events { flow, bytes }, &self.words);
        }
    }

    pub(super) fn flush(&mut self) {
        self.flush_state();
        self.flush_packets();
        for (flow, bytes) in std::mem::take(&mut self.events) {
            if !bytes.is_empty() {
                (self.sink)(Batch::Events { flow, bytes }, &self.words);
            }
        }
    }

    fn flush_state(&mut self) {
        if !self.state.time.is_empty() {
            (self.sink)(Batch::State(std::mem::take(&mut self.state)), &self.words);
        }
    }

    fn flush_packets(&mut self) {
        if !self.packets.time.is_empty() {
            (self.sink)(Batch::Packets(std::mem::take(&mut self.packets)), &self.words);
        }
    }
}
