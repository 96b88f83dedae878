//! Who stands between two nodes: each takes one of its two addresses for its neighbour's.

use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use sojourn_sliq::secure::Public;

use crate::attack::Attack;
use crate::flood::Flood;
use crate::strangers::Stranger;
use crate::way::Way;

/// A node, from here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    /// The address that the node takes for its neighbour's.
    pub(crate) here: SocketAddr,
    /// Where the node is.
    pub(crate) node: SocketAddr,
    /// The node's public key.
    pub(crate) key: Public,
}

/// What all threads share.
pub(crate) struct State {
    attack: Mutex<Attack>,
    attacked: AtomicU64,
    ends: AtomicBool,
}

impl State {
    /// What is to be done.
    pub(crate) fn attack(&self) -> Attack {
        *self.attack.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So many datagrams more were attacked, or made for it.
    pub(crate) fn count(&self, datagrams: u64) {
        self.attacked.fetch_add(datagrams, Ordering::Relaxed);
    }

    /// Whether all is over.
    pub(crate) fn ends(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }
}

/// The threads that pass datagrams on; they end with this.
pub(crate) struct Between {
    state: Arc<State>,
    threads: Vec<JoinHandle<()>>,
}

impl Between {
    /// Stands between two nodes and passes everything on.
    ///
    /// # Errors
    /// If sockets cannot be opened.
    pub(crate) fn new(sides: [Side; 2]) -> io::Result<Self> {
        let (attacked, ends) = (AtomicU64::new(0), AtomicBool::new(false));
        let state = Arc::new(State { attack: Mutex::new(Attack::None), attacked, ends });
        let sockets = [UdpSocket::bind(sides[0].here)?, UdpSocket::bind(sides[1].here)?];
        let end = |which: usize| -> io::Result<(UdpSocket, SocketAddr)> {
            Ok((sockets[which].try_clone()?, sides[which].node))
        };
        let way = |from: usize| -> io::Result<Way> {
            let to = 1 - from;
            Ok(Way {
                from: end(from)?,
                to: end(to)?,
                state: Arc::clone(&state),
                stranger: Stranger::new(0, sides[to].key, sides[to].node),
                count: 0,
                kept: VecDeque::new(),
                later: BinaryHeap::new(),
            })
        };
        let ways = [way(0)?, way(1)?];
        let keys = sides.map(|side| side.key);
        let flood = Flood::new([end(0)?, end(1)?], keys, Arc::clone(&state))?;
        let mut threads: Vec<_> = ways.map(|way| thread::spawn(|| way.run())).into();
        threads.push(thread::spawn(|| flood.run()));
        Ok(Between { state, threads })
    }

    /// Does this from now on.
    pub(crate) fn attack(&self, attack: Attack) {
        *self.state.attack.lock().unwrap_or_else(PoisonError::into_inner) = attack;
    }

    /// Datagrams that were attacked, or made for it, so far.
    pub(crate) fn attacked(&self) -> u64 {
        self.state.attacked.load(Ordering::Relaxed)
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        self.state.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            assert!(thread.join().is_ok() || thread::panicking(), "a thread has failed");
        }
    }
}
