//! What goes out next.

use super::Connection;
use super::acks::COUNT_EVERY;
use super::handshake::State;
use crate::transport::sliq::payload::Payload;
use crate::transport::sliq::stream::Attempt;
use crate::transport::sliq::wire::{Data, Datagram, MAX_DATAGRAM, Message, Sync, Train};
use crate::units::Time;

const SYNC_SIZE: usize = 8;

impl<P: Payload> Connection<P> {
    /// The next datagram to send now, if any. Called until it returns `None` after every
    /// `on_datagram`, `on_timeout` and `write`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Datagram<P>> {
        if let Some(datagram) = self.outbox.pop_front() {
            return Some(datagram);
        }
        if self.state != State::Connected {
            return None;
        }
        if let Some(train) = self.poll_train(now) {
            return Some(Datagram::Train(train));
        }
        if let Some(message) = self.poll_ack(now) {
            return Some(Datagram::Message(message));
        }
        let message = match self.poll_data(now) {
            Some(data) => self.with_companions(now, data),
            None => self.alone(now)?,
        };
        Some(Datagram::Message(message))
    }

    fn poll_train(&mut self, now: Time) -> Option<Train> {
        if !self.trains {
            return None;
        }
        let lanes = self.shared.lanes.iter_mut().enumerate();
        let probe = lanes
            .filter_map(|(index, lane)| Some((index as u8, lane.control.poll_train(now)?)))
            .next();
        self.trains = probe.is_some();
        let (control, probe) = probe?;
        Some(Train {
            control,
            kind: probe.kind,
            seq: probe.seq,
            gap: probe.gap,
            stamp: self.shared.clock.stamp(now),
            delta: self.shared.delta,
            padding: probe.padding,
        })
    }

    fn poll_sync(&mut self, now: Time) -> Option<Sync> {
        if !self.syncs {
            return None;
        }
        let lanes = self.shared.lanes.iter_mut().enumerate();
        let sync = lanes
            .filter_map(|(index, lane)| {
                let (seq, value) = lane.control.poll_sync(now)?;
                Some(Sync { control: index as u8, seq, value })
            })
            .next();
        self.syncs = sync.is_some();
        sync
    }

    /// Retransmissions of all streams first, then new data; higher priorities first.
    fn poll_data(&mut self, now: Time) -> Option<(Data, P)> {
        if self.outage.is_some() {
            return None;
        }
        let resends = self.streams.iter().any(|stream| stream.sender.has_resend());
        for again in [true, false] {
            if again && !resends {
                continue;
            }
            let mut start = 0;
            while let Some(priority) = self.streams.get(start).map(|s| s.config.priority) {
                let band = &self.streams[start..];
                let size = band.iter().take_while(|s| s.config.priority == priority).count();
                match self.poll_band(now, start, size, again) {
                    Attempt::Send(data, payload) => return Some((data, payload)),
                    Attempt::Blocked => return None,
                    Attempt::Nothing => start += size,
                }
            }
        }
        None
    }

    /// Streams of one priority, in turn.
    fn poll_band(&mut self, now: Time, start: usize, size: usize, again: bool) -> Attempt<P> {
        let priority = usize::from(self.streams[start].config.priority);
        for step in 0..size {
            let turn = self.turns[priority] + step;
            let turn = if turn < size { turn } else { turn - size };
            let stream = &mut self.streams[start + turn];
            if !stream.open {
                continue;
            }
            let attempt = match again {
                true if stream.sender.has_resend() => {
                    stream.sender.try_resend(now, &mut self.shared)
                }
                true => Attempt::Nothing,
                false => stream.sender.try_new(now, &mut self.shared),
            };
            if let Attempt::Send(..) = attempt {
                self.turns[priority] = if turn + 1 < size { turn + 1 } else { 0 };
                self.note_data_sent(now);
                self.arm_rto(now);
                return attempt;
            }
            if let Attempt::Blocked = attempt {
                return attempt;
            }
        }
        Attempt::Nothing
    }

    /// A data packet with what else fits.
    fn with_companions(&mut self, now: Time, (data, payload): (Data, P)) -> Message<P> {
        let size = data.size() + payload.len();
        let mut message =
            Message { sync: None, ack: None, count: None, measurement: None, data: None };
        if size + SYNC_SIZE <= MAX_DATAGRAM {
            message.sync = self.poll_sync(now);
        }
        self.piggyback_ack(now, size + message.overhead(), &mut message);
        self.put_counts(now, size, &mut message);
        message.data = Some((data, payload));
        message
    }

    /// What cannot wait for data any longer.
    fn alone(&mut self, now: Time) -> Option<Message<P>> {
        let sync = self.poll_sync(now);
        let overdue = self.received_since >= 2 * COUNT_EVERY;
        let count = overdue.then(|| self.take_count());
        let message = Message { sync, ack: None, count, measurement: None, data: None };
        (!message.is_empty()).then_some(message)
    }
}
