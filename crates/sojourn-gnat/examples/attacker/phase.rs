//! Phases: an attack for a while, and what became of the flows.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::attack::Attack;
use crate::between::Between;

/// After an attack, until what is still on its way has come.
const SETTLES: Duration = Duration::from_millis(200);
/// How long a node may be silent.
const PATIENCE: Duration = Duration::from_secs(5);

/// What nodes tell, summed over them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// When the one told it that delivers most, in seconds since its start: each tells its state of
    /// up to 0.1 s ago.
    pub(crate) at: f64,
    /// Packets that flows have delivered.
    pub(crate) delivered: u64,
    /// Refused datagrams, by reason.
    pub(crate) refused: BTreeMap<String, u64>,
    /// Packets that a connection held when it was begun anew.
    pub(crate) lost: u64,
    /// Ages of all keys that seal, in s.
    pub(crate) ages: Vec<f64>,
}

/// What became of a phase.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    /// How many datagrams were attacked.
    pub(crate) attacked: u64,
    /// Packets delivered in a second.
    pub(crate) goodput: f64,
    /// Sessions that were begun anew, and packets that were lost by it: none.
    pub(crate) anew: usize,
    pub(crate) lost: u64,
    /// Datagrams that nodes have refused in it, by reason.
    pub(crate) refused: BTreeMap<String, u64>,
}

/// What a node tells at its socket.
fn ask(socket: &Path) -> io::Result<Value> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    serde_json::from_str(&text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// What the nodes with these sockets tell.
///
/// # Errors
/// If one does not answer.
pub(crate) fn told(sockets: &[PathBuf]) -> io::Result<Told> {
    let nodes = sockets.iter().map(|socket| ask(socket)).collect::<io::Result<Vec<_>>>()?;
    let (mut told, mut most) = (Told::default(), 0);
    for node in &nodes {
        let flows = node["flows"].as_array().into_iter().flatten();
        let here: u64 = flows.filter_map(|flow| flow["delivered_packets"].as_u64()).sum();
        if here >= most {
            (told.at, most) = (node["uptime_s"].as_f64().unwrap_or(0.0), here);
        }
        told.delivered += here;
        told.lost += node["packets"]["lost"].as_u64().unwrap_or(0);
        for neighbour in node["neighbours"].as_array().into_iter().flatten() {
            told.ages.push(neighbour["key_age_s"].as_f64().unwrap_or(0.0));
        }
        for (reason, count) in node["strangers"].as_object().into_iter().flatten() {
            *told.refused.entry(reason.clone()).or_default() += count.as_u64().unwrap_or(0);
        }
    }
    Ok(told)
}

/// Attacks for this long.
///
/// # Errors
/// If a node does not answer.
pub(crate) fn phase(
    between: &Between,
    sockets: &[PathBuf],
    attack: Attack,
    lasts: Duration,
) -> io::Result<Phase> {
    let (before, attacked) = (told(sockets)?, between.attacked());
    between.attack(attack);
    thread::sleep(lasts);
    let after = told(sockets)?;
    between.attack(Attack::None);
    let attacked = between.attacked() - attacked;
    thread::sleep(SETTLES);
    let grown = |(reason, count): (String, u64)| {
        let more = count - before.refused.get(&reason).copied().unwrap_or(0);
        (more > 0).then_some((reason, more))
    };
    Ok(Phase {
        attacked,
        goodput: (after.delivered - before.delivered) as f64 / (after.at - before.at).max(1e-3),
        anew: before.ages.iter().zip(&after.ages).filter(|(before, after)| after < before).count(),
        lost: after.lost - before.lost,
        refused: after.refused.into_iter().filter_map(grown).collect(),
    })
}
