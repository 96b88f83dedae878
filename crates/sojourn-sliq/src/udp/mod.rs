//! SLIQ over real sockets: the protocol, which knows neither sockets nor clocks, with a UDP socket, a
//! clock, and what it carries.
//!
//! | part | file |
//! | --- | --- |
//! | bytes as a payload; the erasure code over them | `message`, `erasure` |
//! | a connection with its clock, what it sends and what it gets | `session`, `source`, `sink` |
//! | datagrams in and out, many to a system call | `port`, `outbox`, `socket` |
//! | the two programs, and their loop | `client`, `server`, `turn` |
//! | what they were asked for, and what they tell | `options`, `report`, `error` |

mod client;
mod clock;
mod controls;
mod erasure;
mod error;
mod message;
mod options;
mod outbox;
mod port;
mod report;
mod server;
mod session;
mod sink;
mod socket;
mod source;
mod turn;

pub use client::client;
pub use clock::Clock;
pub use controls::controls;
pub use error::Error;
pub use message::Message;
pub use options::{ClientOptions, Command, Common, ServerOptions};
pub use report::{End, Report};
pub use server::server;
pub use session::{Session, Setup};
pub use sink::Sink;
pub use source::Source;
