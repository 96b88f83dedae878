//! Expansion of streams with several receivers: a flow for each of them, in one group.

use crate::error::FieldError;
use crate::spec::FlowSpec;

/// Replaces each entry that names several receivers by one entry for each.
///
/// # Errors If an entry has receivers and keys that cannot be combined with them.
pub(super) fn expand(flows: &mut Vec<FlowSpec>) -> Result<(), FieldError> {
    let mut expanded = Vec::with_capacity(flows.len());
    for (index, flow) in std::mem::take(flows).into_iter().enumerate() {
        if flow.receivers.is_empty() {
            expanded.push(flow);
            continue;
        }
        check(&flow).map_err(|error| error.within(&format!("flows.{index}")))?;
        for receiver in &flow.receivers {
            let to = Some(receiver.clone());
            expanded.push(FlowSpec { to, receivers: Vec::new(), ..flow.clone() });
        }
    }
    *flows = expanded;
    Ok(())
}

fn check(flow: &FlowSpec) -> Result<(), FieldError> {
    let refuse = |field: &str, message: &str| Err(FieldError::new(field, message));
    if flow.to.is_some() {
        return refuse("to", "given as well as receivers; give one of them");
    }
    if flow.count > 1 {
        return refuse("count", "given with receivers: a stream is one flow; give each its label");
    }
    if flow.group.is_none() {
        return refuse("receivers", "given without a group in the flow's service");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_a_flow_for_each_receiver() {
        let receivers = ["2", "3"].map(str::to_owned).to_vec();
        let stream = FlowSpec { receivers, group: Some("a".to_owned()), ..FlowSpec::default() };
        let mut flows = vec![FlowSpec::default(), stream.clone()];
        expand(&mut flows).unwrap();
        let to: Vec<_> = flows.iter().map(|flow| flow.to.as_deref()).collect();
        assert_eq!(to, [None, Some("2"), Some("3")]);
        let refused = |flow: FlowSpec| expand(&mut vec![flow]).unwrap_err().field;
        assert_eq!(refused(FlowSpec { count: 2, ..stream.clone() }), "flows.0.count");
        assert_eq!(refused(FlowSpec { group: None, ..stream.clone() }), "flows.0.receivers");
        assert_eq!(refused(FlowSpec { to: Some("2".to_owned()), ..stream }), "flows.0.to");
    }
}
