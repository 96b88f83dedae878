//! SLIQ over real sockets: the sans-io protocol with a UDP socket, a clock, and a source and sink
//! of data.
//!
//! | part | file |
//! | --- | --- |
//! | bytes as a payload; the erasure code over them | `message`, `erasure` |
//! | a connection with its clock, source and sink | `session`, `source`, `sink` |
//! | datagrams in and out, many to a system call; waiting for them | `port`, `outbox`, `socket`, `waiter` |
//! | who may open a connection | `door` |
//! | sealed datagrams, and the options of that | `channel`, `sealing` |
//! | the programs, and their loop | `client`, `server`, `turn` |
//! | their options, reports and errors | `options`, `report`, `error` |

mod channel;
mod client;
mod clock;
mod controls;
mod door;
mod erasure;
mod error;
mod message;
mod options;
mod outbox;
mod port;
mod report;
mod sealing;
mod server;
mod session;
mod sink;
mod socket;
mod source;
mod turn;
mod waiter;

pub use client::client;
pub use clock::{Clock, unix};
pub use controls::controls;
pub use error::Error;
pub use message::Message;
pub use options::{ClientOptions, Command, Common, ServerOptions};
pub use outbox::Outbox;
pub use port::Port;
pub use report::{End, Report};
pub use sealing::{KeyOptions, Named, Sealing, key};
pub use server::server;
pub use session::{Session, Setup};
pub use sink::Sink;
pub use source::Source;
pub use waiter::{Waiter, Waker};
