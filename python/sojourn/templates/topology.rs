//! KIND: one sentence that says which links there are, and who shares them.
//!
//! Model: where it is described, if it is.
//!
//! Data of all flows passes the link `shared`; acknowledgments return without a queue. A flow's
//! `rtt` is added on its sender's side. This header is the documentation page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::Access;
use super::{Plan, Routes, Topology};
use crate::edge::link::LinkSpec;
use crate::error::FieldError;
use crate::registry::{Catalogue, Params};
use crate::spec::Flow;

/// Keys of KIND.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct KIND {
    /// The link that all flows share.
    pub shared: LinkSpec,
}

impl Params for KIND {
    fn resolve(&mut self, catalogue: &Catalogue) -> Result<(), FieldError> {
        self.shared.resolve(catalogue).map_err(|e| e.within("shared"))
    }
}

impl Topology for KIND {
    fn plan(&self, flows: &[Flow<'_>], _catalogue: &Catalogue) -> Result<Plan, FieldError> {
        let mut plan = Plan::default();
        let mut access = Access::new(None);
        let shared = plan.link("shared", [None; 2], self.shared.clone(), true);
        for flow in flows {
            let (out, home) = access.links(&mut plan, flow, None);
            let routes = Routes {
                source: plan.node(flow.spec.from.as_deref().unwrap_or("senders"))?,
                destination: plan.node(flow.spec.to.as_deref().unwrap_or("receivers"))?,
                forward: out.into_iter().chain(shared).collect(),
                backward: home.into_iter().collect(),
            };
            plan.route(routes)?;
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::FlowSpec;
    use crate::units::{Rate, Span};

    #[test]
    fn every_flow_has_its_round_trip_and_shares_the_link() {
        let shared = LinkSpec { rate: Some(Rate::from_bps(1_000_000)), ..LinkSpec::default() };
        let of = |rtt| FlowSpec { rtt: Some(Span::from_millis(rtt)), ..FlowSpec::default() };
        let specs = [of(10), of(80)];
        let flows: Vec<_> = (0..)
            .zip(&specs)
            .map(|(id, spec)| Flow { id, entry: 0, spec, arrives: false })
            .collect();
        let plan = KIND { shared }.plan(&flows, &Catalogue::empty()).unwrap();
        assert_eq!(plan.base_rtt(0), Span::from_millis(10));
        assert_eq!(plan.base_rtt(1), Span::from_millis(80));
        assert_eq!(plan.routes[0].forward.last(), plan.routes[1].forward.last());
    }
}
