//! Keys of an overlay node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queue::Shown;
use sojourn_base::error::FieldError;
use sojourn_base::quantity::Percent;
use sojourn_base::registry::named;

named! {
    /// Treatment of packets that cannot arrive in time.
    #[derive(Default)]
    Expired, "expired" {
        /// They become zombies: their place in the queue stays.
        #[default]
        Zombie = "zombie",
        /// They are dropped.
        Drop = "drop",
    }
}

named! {
    /// Paths by which latency-sensitive packets may be forwarded.
    #[derive(Default)]
    Ways, "multipath" {
        /// Any that does not return to this node; a packet is not sent to a neighbour that it has
        /// passed.
        #[default]
        SourceBased = "source-based",
        /// Those through no node that the packet has passed.
        Conditioned = "conditioned",
    }
}

/// Parameters of an overlay node.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Weighs utility against queues, in bits squared per second: with `k`, a flow of priority `p`
    /// gets the rate `k p / depth`, depth in bits.
    pub k: f64,
    /// Congestion controls of the path controllers, in order of preference: `cubic`, `copa`.
    pub controls: Vec<String>,
    /// Depth of its queues that a node uses and reports: `instantaneous`, `ewma`, `heavy-ball`.
    pub depth: Shown,
    /// Whether zombies shorten standing queues.
    pub zombies: bool,
    /// Whether zombies help flows that starve.
    pub anti_starvation: bool,
    /// Treatment of packets that cannot arrive in time: `zombie` or `drop`.
    pub expired: Expired,
    /// Paths by which latency-sensitive packets may be forwarded: any that does not return to this
    /// node (`source-based`), or those through no node that the packet has passed (`conditioned`).
    pub multipath: Ways,
    /// Whether supervisory control turns inelastic flows off that cannot be served.
    pub supervised: bool,
    /// Whether the delay of datagrams is measured from their admission, not from when their host
    /// wrote them, so that it does not count how long they waited to be admitted.
    pub restamp: bool,
    /// Share of each link's capacity that messages about queues may take, as their depths change.
    pub signalling: Percent,
    /// Multicast: how many packets of a group's queue are searched for the one that suits best.
    pub search: u32,
    /// Multicast: whether a packet also goes to destinations with a small negative gradient that have
    /// no better neighbour.
    pub opportunistic: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            k: 1e12,
            controls: vec!["cubic".to_owned(), "copa".to_owned()],
            depth: Shown::default(),
            zombies: true,
            anti_starvation: true,
            expired: Expired::default(),
            multipath: Ways::default(),
            supervised: true,
            restamp: false,
            signalling: Percent::new(1.0),
            search: 200,
            opportunistic: true,
        }
    }
}

impl sojourn_base::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if !(self.k > 0.0 && self.k <= 1e18) {
            let message = format!("{} given; allowed: above 0, up to 1e18", self.k);
            return Err(FieldError::new("k", message));
        }
        if self.signalling.fraction() <= 0.0 || self.signalling.fraction() > 0.5 {
            let message = format!("{} given; allowed: above 0 %, up to 50 %", self.signalling);
            return Err(FieldError::new("signalling", message));
        }
        if self.search == 0 {
            return Err(FieldError::new("search", "0 given; allowed: 1 or more"));
        }
        if self.controls.is_empty() {
            return Err(FieldError::new("controls", "is empty; allowed: cubic, copa, or both"));
        }
        let known = ["cubic", "copa"];
        for (index, name) in self.controls.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                let field = format!("controls.{index}");
                return Err(FieldError::unknown_name(&field, "congestion control", name, &known));
            }
            if self.controls[..index].contains(name) {
                return Err(FieldError::new(format!("controls.{index}"), "given twice"));
            }
        }
        Ok(())
    }
}
