//! A program between two overlay nodes, which attacks the datagrams that they exchange and tells what
//! becomes of the flows.
//!
//! Each node's configuration names one of its addresses as its neighbour's:
//!
//! ```text
//! attacker --side 127.0.0.1:7201=127.0.0.1:7101=KEY --side 127.0.0.1:7202=127.0.0.1:7102=KEY \
//!     --status one.sock --status two.sock [--seconds 3] ["drop 5%" "delay 50ms" ...]
//! ```

mod attack;
mod between;
mod flood;
mod phase;
mod strangers;
mod way;

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use attack::{ALL, Attack};
use between::{Between, Side};
use phase::{Phase, phase};

/// Attacks the datagrams between two overlay nodes.
#[derive(Debug, Parser)]
struct Options {
    /// Of each of the two nodes: the address here that it takes for its neighbour's, where it is, and
    /// its public key.
    #[arg(long, required = true, value_name = "HERE=NODE=KEY", value_parser = side)]
    side: Vec<Side>,
    /// The nodes' status sockets.
    #[arg(long, required = true, value_name = "SOCKET")]
    status: Vec<PathBuf>,
    /// How long each phase lasts, in seconds.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// The attacks, one after another; all without.
    attacks: Vec<Attack>,
}

fn side(text: &str) -> Result<Side, String> {
    let told = "allowed: an address here, that of a node and its public key, as in \
                127.0.0.1:7201=127.0.0.1:7101=KEY";
    // A key ends with this sign as well.
    let mut parts = text.splitn(3, '=');
    let mut part = || parts.next().ok_or_else(|| format!("'{text}' given; {told}"));
    let refused = |error: &dyn std::fmt::Display| format!("'{text}' given: {error}; {told}");
    let (here, node, key) = (part()?, part()?, part()?);
    Ok(Side {
        here: here.parse().map_err(|error| refused(&error))?,
        node: node.parse().map_err(|error| refused(&error))?,
        key: key.parse().map_err(|error| refused(&error))?,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let sides = <[Side; 2]>::try_from(options.side).map_err(|_| "give --side twice")?;
    let lasts = Duration::try_from_secs_f64(options.seconds)?;
    let all = ALL.iter().map(|name| name.parse()).collect::<Result<Vec<Attack>, _>>()?;
    let attacks = if options.attacks.is_empty() { all } else { options.attacks };
    let between = Between::new(sides)?;
    // Both ends begin and get to know each other.
    phase(&between, &options.status, Attack::None, Duration::from_secs(3))?;
    let peace = phase(&between, &options.status, Attack::None, lasts)?;
    let heads = ["attack", "datagrams", "goodput", "anew", "lost"];
    println!(
        "{:10} {:>12} {:>10} {:>5} {:>5}  refused",
        heads[0], heads[1], heads[2], heads[3], heads[4]
    );
    tell(Attack::None, &peace, peace.goodput);
    for attack in attacks {
        tell(attack, &phase(&between, &options.status, attack, lasts)?, peace.goodput);
    }
    Ok(())
}

fn tell(attack: Attack, phase: &Phase, of: f64) {
    let refused = phase.refused.iter().map(|(reason, count)| format!("{reason} {count}"));
    let refused: Vec<_> = refused.collect();
    let share = 100.0 * phase.goodput / of;
    let Phase { attacked, anew, lost, .. } = phase;
    println!("{attack:10} {attacked:12} {share:8.1} % {anew:5} {lost:5}  {}", refused.join(", "));
}
