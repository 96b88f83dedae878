//! The TCP and UDP packets of a capture, in the order of their times.

use std::io::Read;

use sojourn_base::units::{Span, Time};
use sojourn_net::record::capture::Towards;

use crate::file::Frame;
use crate::ip::{self, Packet};
use crate::left::{Left, Told};
use crate::link;
use crate::reader::{Frames, Refusal};

/// A packet passes a vantage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    /// Since the capture began; in a file of Sojourn, since the run did.
    pub(crate) now: Time,
    /// The number of the interface.
    pub(crate) interface: usize,
    /// At a host of a run, which way it goes; elsewhere there is nothing between the vantage and either
    /// end that the capture tells of.
    pub(crate) towards: Option<Towards>,
    pub(crate) packet: Packet,
}

/// Reads a capture, and counts what is left out.
pub(crate) struct Packets<'a> {
    frames: Frames<'a>,
    pub(crate) told: Told,
    /// When the capture began, in nanoseconds of its own.
    began: Option<u64>,
    last: Time,
}

impl<'a> Packets<'a> {
    pub(crate) fn open(source: impl Read + Send + 'a) -> Result<Self, Refusal> {
        let frames = Frames::open(source)?;
        Ok(Packets { frames, told: Told::default(), began: None, last: Time::ZERO })
    }

    /// Whether Sojourn has written the capture, which has hosts' interfaces then.
    pub(crate) fn is_ours(&self) -> bool {
        self.frames.is_ours()
    }

    fn passing(&mut self, frame: &Frame) -> Result<Passing, Left> {
        let time = frame.time.ok_or(Left::Untimed)?;
        let interface = self.frames.interface(frame);
        let ours = self.is_ours();
        if ours && !interface.has_address {
            return Err(Left::Elsewhere);
        }
        let (bytes, room) = link::packet(interface.link, frame)?;
        let packet = ip::read(bytes, room)?;
        let began = *self.began.get_or_insert(if ours { 0 } else { time });
        // Interfaces may be a little out of step.
        let now = Time::ZERO + Span::from_nanos(time.saturating_sub(began));
        self.last = if now > self.last { now } else { self.last };
        let towards = frame.towards.filter(|_| ours);
        Ok(Passing { now: self.last, interface: frame.interface, towards, packet })
    }
}

impl Iterator for Packets<'_> {
    type Item = Passing;

    fn next(&mut self) -> Option<Passing> {
        loop {
            let frame = match self.frames.next()? {
                Ok(frame) => frame,
                Err(damage) => {
                    self.told.damage = Some(damage);
                    continue;
                }
            };
            self.told.frames += 1;
            match self.passing(&frame) {
                Ok(passing) => return Some(passing),
                Err(why) => self.told.leave(why),
            }
        }
    }
}
