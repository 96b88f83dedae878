//! The program, as its users run it: at once, since what runs mostly waits.

mod applications;
#[path = "../../examples/attacker/attack.rs"]
mod attack;
mod attacked;
#[path = "../../examples/attacker/between.rs"]
mod between;
#[path = "../../examples/attacker/flood.rs"]
mod flood;
mod namespaces;
#[path = "../../examples/attacker/phase.rs"]
mod phase;
#[path = "../../examples/attacker/strangers.rs"]
mod strangers;
mod three;
#[path = "../../examples/attacker/way.rs"]
mod way;
