//! Times of several nodes' clocks.
//!
//! A node's times begin when it is started. Between nodes, those that the other one compares with
//! its own clock are told as the lowest 32 bits of the microseconds of UNIX time, and corrected by
//! the difference of the two nodes' clocks; those that it only sends back, as of the sender's clock.

use std::sync::Arc;
use std::time::Duration;

use crate::overlay::message::{Cargo, Carried};
use sojourn_base::packet::Header;
use sojourn_base::units::{Span, Time};

/// Translates times of one node to those between nodes, and back.
#[derive(Clone, Copy, Debug)]
pub struct WireTimes {
    /// UNIX time, in microseconds, of the node's time zero.
    zero: i64,
}

impl WireTimes {
    /// For a node whose time zero is at this time since the beginning of 1970.
    pub fn new(zero: Duration) -> Self {
        WireTimes { zero: zero.as_micros() as i64 }
    }

    /// UNIX time of time zero, in microseconds, cut to 32 bits.
    pub(crate) fn micros_before_zero(&self) -> u32 {
        self.zero as u32
    }

    /// Translates a message that is to be encoded.
    pub fn send(&self, cargo: &mut Cargo) {
        each(cargo, |at, kind| match kind {
            Kind::Compared => Time::ZERO + Span::from_micros((micros(at) + self.zero) as u64),
            Kind::Returned => at,
        });
    }

    /// Translates a message that was decoded and has come `now` from a node whose clock is `ahead`
    /// seconds ahead of this one's, if that is known. Times before zero become zero.
    pub fn receive(&self, now: Time, ahead: f64, cargo: &mut Cargo) {
        let ahead = if ahead.is_finite() { (ahead * 1e6) as i64 } else { 0 };
        each(cargo, |at, kind| {
            let shift = match kind {
                Kind::Compared => self.zero + ahead,
                // None.
                Kind::Returned if at == Time::ZERO => return at,
                Kind::Returned => 0,
            };
            let near = micros(now) + shift;
            let whole = near + i64::from((micros(at) as u32).wrapping_sub(near as u32) as i32);
            Time::ZERO + Span::from_micros((whole - shift).max(0) as u64)
        });
    }
}

/// A kind of time.
#[derive(Clone, Copy)]
enum Kind {
    /// The receiver compares it with its own clock.
    Compared,
    /// The receiver's own, which has come back.
    Returned,
}

/// Applies a function to each time of a message but those that the other end only sends back.
fn each(cargo: &mut Cargo, change: impl Fn(Time, Kind) -> Time) {
    match cargo {
        Cargo::Parcel(parcel) => {
            parcel.due = parcel.due.map(|due| change(due, Kind::Compared));
            each_of_packet(&mut parcel.packet, change);
        }
        Cargo::Copies(copies) => each_of_packet(&mut copies.packet, change),
        _ => {}
    }
}

fn each_of_packet(packet: &mut Arc<Carried>, change: impl Fn(Time, Kind) -> Time) {
    let change_of = |at: &mut Time, kind| *at = change(*at, kind);
    match packet.header {
        Header::Datagram(_) | Header::Segment(_) | Header::Ack(_) => {}
        _ => return,
    }
    // A copy, if the packet is kept until it is acknowledged.
    match &mut Arc::make_mut(packet).packet.header {
        Header::Datagram(datagram) => change_of(&mut datagram.written_at, Kind::Compared),
        Header::Segment(segment) => {
            change_of(&mut segment.written_at, Kind::Compared);
            change_of(&mut segment.echo, Kind::Returned);
        }
        Header::Ack(ack) => change_of(&mut ack.echo, Kind::Returned),
        _ => {}
    }
}

fn micros(at: Time) -> i64 {
    (at.as_nanos() / 1_000) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::message::Parcel;
    use sojourn_base::packet::{Datagram, Packet, TcpAck};

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// As the bytes of a message keep it.
    fn cut(at: Time) -> Time {
        Time::ZERO + Span::from_micros((micros(at) as u32).into())
    }

    #[test]
    fn times_pass_between_clocks_across_a_wrap() {
        // The receiver began an hour later, its clock is 2 s behind.
        let zero = (7 << 32) - 5_000_000;
        let sender = WireTimes::new(Duration::from_micros(zero));
        let receiver = WireTimes::new(Duration::from_micros(zero + 3_598_000_000));
        for micros in [3_601_000_000, 3_604_999_999, 3_606_000_000, 9_000_000_000] {
            let header =
                Header::Datagram(Datagram { written_at: at(micros), ..Default::default() });
            let packet = Packet { header, ..Packet::default() };
            let mut cargo = Cargo::Parcel(Parcel::new(packet, 0, Some(at(micros + 50_000))));
            sender.send(&mut cargo);
            each(&mut cargo, |at, _| cut(at));
            receiver.receive(at(micros - 3_600_000_000 + 10_000), 2.0, &mut cargo);
            let Cargo::Parcel(parcel) = cargo else { panic!() };
            let Header::Datagram(datagram) = parcel.packet.header else { panic!() };
            let expected = at(micros - 3_600_000_000);
            assert_eq!(datagram.written_at, expected);
            assert_eq!(parcel.due, Some(expected + Span::from_millis(50)));
        }
    }

    #[test]
    fn an_echo_is_of_the_receivers_clock_and_none_stays_none() {
        let times = WireTimes::new(Duration::from_secs(1_800_000_000));
        let now = at((3 << 32) + 1_000);
        for (echo, expected) in
            [(at(u64::from(u32::MAX)), at((3 << 32) - 1)), (Time::ZERO, Time::ZERO)]
        {
            let packet = Packet {
                header: Header::Ack(TcpAck { echo, ..TcpAck::default() }),
                ..Packet::default()
            };
            let mut cargo = Cargo::Parcel(Parcel::new(packet, 0, None));
            times.receive(now, f64::NAN, &mut cargo);
            let Cargo::Parcel(parcel) = cargo else { panic!() };
            let Header::Ack(ack) = parcel.packet.header else { panic!() };
            assert_eq!(ack.echo, expected);
        }
    }
}
