//! What a capture has of a run's packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::require;
use crate::error::FieldError;

/// Bytes of an IP header, and of the largest IP packet.
const SNAPS: std::ops::RangeInclusive<u32> = 20..=65_535;

/// What a capture has of a run's packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PcapSpec {
    /// Numbers of the flows whose packets are captured. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<u32>>,
    /// Ids of the links at whose ends packets are captured, beside those at the flows' hosts.
    /// Default: all whose samples are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    /// Bytes of each packet that are kept, from its IP header on.
    pub snap: u32,
}

impl Default for PcapSpec {
    fn default() -> Self {
        PcapSpec { flows: None, links: None, snap: 96 }
    }
}

impl PcapSpec {
    /// Checks it against the number of flows and the recorded links that there are.
    ///
    /// # Errors
    /// Names the key, relative to this.
    pub fn check(&self, flows: usize, links: &[&str]) -> Result<(), FieldError> {
        for (index, flow) in self.flows.iter().flatten().enumerate() {
            let allowed = match flows {
                0 => "none, as the scenario declares no flow".to_owned(),
                _ => format!("0 to {}", flows - 1),
            };
            require((*flow as usize) < flows, &format!("flows.{index}"), flow, &allowed)?;
        }
        for (index, link) in self.links.iter().flatten().enumerate() {
            if !links.contains(&link.as_str()) {
                let field = format!("links.{index}");
                return Err(FieldError::unknown_name(&field, "link", link, links));
            }
        }
        require(SNAPS.contains(&self.snap), "snap", self.snap, "20 to 65535 bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_not_is_refused_by_name() {
        let check = |flows: &[u32], links: &[&str], snap| {
            let links = links.iter().map(|link| (*link).to_owned()).collect();
            let pcap = PcapSpec { flows: Some(flows.to_vec()), links: Some(links), snap };
            pcap.check(2, &["bottleneck", "bottleneck_reverse"]).map_err(|error| error.field)
        };
        assert_eq!(check(&[0, 1], &["bottleneck"], 96), Ok(()));
        assert_eq!(check(&[0, 2], &[], 96), Err("flows.1".to_owned()));
        assert_eq!(check(&[], &["bottleneck", "botleneck"], 96), Err("links.1".to_owned()));
        assert_eq!(check(&[], &[], 19), Err("snap".to_owned()));
        assert_eq!(PcapSpec::default().check(0, &[]), Ok(()));
    }
}
