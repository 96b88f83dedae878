//! A connection that carries transfers: its sockets, and what they are to do.
//!
//! Of one for a single transfer the sender closes its side when all is written, and its receiver when
//! it has read all: that comes with the acknowledgment of the last byte. A persistent one is told of
//! acknowledgments by the kernel. Where there are requests, the receiver's end opens the connection to
//! a socket that waits at the sender's port, in the same thread. Datagrams have a socket until all are
//! sent: where they arrive the network shows.

use sojourn_base::units::Span;
use sojourn_sim::sim::arrivals::{Connection, Counted, Underway};
use sojourn_sim::spec::Flow;
use sojourn_sim::traffic::Action;

use crate::error::{Error, limited};
use crate::namespace::Namespaces;
use crate::news::{Begun, Closed, Ended, News, Tell, Written};
use crate::outlet::Outlet;
use crate::reading::Reading;
use crate::tcp_info::timeouts;
use crate::{sockets, sys};

/// `tcpi_min_rtt` of a connection without an RTT.
const NO_RTT: u32 = u32::MAX;

/// A connection and its sockets.
pub(crate) struct Line<'a> {
    /// What it carries.
    pub carries: Connection,
    /// Port of its sender.
    pub port: u16,
    flow: Flow<'a>,
    data: Outlet<'a>,
    asks: bool,
    /// The receiver's end, once it is opened, if that asks for transfers; and what reads there.
    client: Option<(Outlet<'a>, Reading)>,
}

impl<'a> Line<'a> {
    /// A connection that is not opened yet. Its receiver opens it, if it `asks` for transfers.
    ///
    /// # Errors
    /// If the kernel refuses a socket.
    pub(crate) fn new(
        flow: Flow<'a>,
        port: u16,
        carries: Connection,
        asks: bool,
    ) -> Result<Self, Error> {
        let data = match asks {
            true => Outlet::waiting(flow, sockets::wait_at(&flow, port)?),
            false => Outlet::watched(flow, sockets::open_at(&flow, port)?),
        };
        let data = if carries.pool.is_some() { data.shared()? } else { data };
        Ok(Line { carries, port, flow, data, asks, client: None })
    }

    /// It carries a transfer from now on, which `waited` before: what is to be told of that.
    pub(crate) fn take(&mut self, underway: Underway, waited: bool) -> Begun {
        let before = if self.carries.is_new() { None } else { self.counted().0 };
        let before = Counted { timeouts: before.unwrap_or(0), ..Counted::default() };
        let number = self.carries.carry(Underway { before, ..underway });
        self.carries.progress.0 = underway.start;
        let Underway { transfer, start, ideal, .. } = underway;
        Begun {
            port: self.port,
            entry: self.carries.entry as u16,
            variant: transfer.variant,
            flow: self.carries.flow,
            number: number as u32,
            group: transfer.group,
            arrival: transfer.arrival,
            start,
            size: transfer.size,
            ideal,
            // One at a time; frames take turns with those of others.
            ends: if self.carries.frames { u64::MAX } else { self.carries.written + transfer.size },
            waited,
            persistent: self.carries.pool.is_some(),
        }
    }

    /// Opens it.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn open(&mut self, namespaces: &Namespaces) -> Result<(), Error> {
        if !self.asks {
            return self.data.act(Action::Open);
        }
        let socket = namespaces.among_receivers(|| sockets::ask(&self.flow, self.port))?;
        let client = Outlet::asking(self.flow, socket);
        let reading = Reading::begin(client.ends().0).map_err(limited(
            "making the thread that each client's connection has",
            "raise the limits of threads (ulimit -u, a container's), or let fewer connections be \
             open at once: a lower rate, or connections = \"pool\"",
        ))?;
        self.client = Some((client, reading));
        Ok(())
    }

    /// The receiver asks for a transfer.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn ask(&mut self, bytes: u64) -> Result<(), Error> {
        let Some((client, _)) = &mut self.client else { return Ok(()) };
        client.act(Action::Write(bytes))?;
        client.write()
    }

    /// The data of a transfer is there.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn write(&mut self, number: u64, tell: &mut Tell<'_>) -> Result<(), Error> {
        let Some(bytes) = self.carries.begin(number) else { return self.write_frames(tell) };
        self.data.act(Action::Write(bytes))?;
        if self.carries.pool.is_none() {
            self.data.act(Action::Close)?;
        }
        self.data.write()
    }

    /// Writes frames in turn, as long as the socket accepts them.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn write_frames(&mut self, tell: &mut Tell<'_>) -> Result<(), Error> {
        while self.data.takes_more()
            && let Some((bytes, last)) = self.carries.next_frame()
        {
            if let Some(number) = last {
                let (port, number, ends) = (self.port, number as u32, self.carries.written);
                tell(News::Written(Written { port, number, ends }))?;
            }
            self.data.act(Action::Write(bytes))?;
            self.data.write()?;
        }
        Ok(())
    }

    /// Whether anything has come that it waits for.
    pub(crate) fn is_called(&self) -> bool {
        let client = self.client.as_ref();
        let client = client.is_some_and(|(end, reading)| end.is_called() || reading.is_broken());
        client || self.data.is_called()
    }

    /// Writes what sockets accept, and takes what has come. Returns payload that has been acknowledged,
    /// if there is news of that.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn attend(&mut self) -> Result<Option<u64>, Error> {
        if let Some((client, _)) = &mut self.client
            && client.is_writable()
        {
            client.write()?;
        }
        self.data.accept()?;
        if self.data.is_writable() {
            self.data.write()?;
        }
        self.data.receive();
        self.data.acked()
    }

    /// The next transfer whose request has arrived, and the time that the server takes.
    pub(crate) fn next_asked(&mut self) -> Option<(u64, Span)> {
        self.carries.next_asked(self.data.received())
    }

    /// A transfer is over: what is to be told of that.
    pub(crate) fn ended(&self, number: u64, underway: &Underway) -> Ended {
        let (timeouts, min_rtt) = self.counted();
        let timeouts = timeouts.map(|all| all.saturating_sub(underway.before.timeouts));
        Ended { port: self.port, number: number as u32, timeouts, min_rtt }
    }

    /// It carries no more: what is to be told of that.
    pub(crate) fn closed(&self) -> Closed {
        let (timeouts, min_rtt) = self.counted();
        Closed { port: self.port, timeouts, min_rtt }
    }

    /// Closes it after what is written.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn close(&mut self) -> Result<(), Error> {
        self.data.act(Action::Close)?;
        self.data.write()
    }

    /// Whether it has sent all, and nothing comes back.
    pub(crate) fn is_sent(&self) -> bool {
        !self.carries.acknowledged && self.data.is_done()
    }

    /// Whether the receiver has closed it as well, or need not, or it is broken.
    pub(crate) fn is_over(&self) -> bool {
        let client = self.client.as_ref();
        let client = client.is_some_and(|(end, reading)| end.is_done() || reading.is_broken());
        client || self.is_sent() || self.data.is_over()
    }

    /// Its sockets.
    pub(crate) fn outlets(&mut self) -> impl Iterator<Item = &mut Outlet<'a>> {
        let client = self.client.as_mut().map(|(client, _)| client);
        std::iter::once(&mut self.data).chain(client)
    }

    /// What the kernel has counted so far: timeouts of both ends, if it counts them, and the sender's
    /// smallest RTT; zero where it has none.
    fn counted(&self) -> (Option<u64>, Span) {
        let sender = sys::tcp_info(self.data.ends().0).ok();
        let client = self.client.as_ref().and_then(|(end, _)| sys::tcp_info(end.ends().0).ok());
        let ends = [&sender, &client].into_iter().flatten();
        let least = sender.map(|info| info.tcpi_min_rtt).filter(|least| *least != NO_RTT);
        (ends.map(timeouts).sum(), Span::from_micros(least.unwrap_or(0).into()))
    }
}
