//! Services by port: a flow with a `port` has the service that the scenario gives to that port.

use super::ScenarioSpec;
use crate::error::FieldError;
use crate::spec::{PortService, ServiceSpec};

/// Puts the service in the place of each flow's port; the canonical form has services alone.
///
/// # Errors
/// If ports are no ports, or a flow's port has no service, or the flow one of its own.
pub fn give(spec: &mut ScenarioSpec) -> Result<(), FieldError> {
    let services = std::mem::take(&mut spec.services);
    let mut ranges = Vec::with_capacity(services.len());
    for (index, PortService { ports, .. }) in services.iter().enumerate() {
        let range = services[index].range().ok_or_else(|| {
            let message = format!("{ports:?} given; allowed: a port, or two as in \"5001-5010\"");
            FieldError::new(format!("services.{index}.ports"), message)
        })?;
        ranges.push(range);
    }
    for (index, flow) in spec.flows.iter_mut().enumerate() {
        let Some(port) = flow.port.take() else { continue };
        let field = format!("flows.{index}.port");
        if flow.service.is_some() {
            return Err(FieldError::new(
                field,
                "given beside a service, in the place of which it is",
            ));
        }
        let of_port = |(first, last): &(u16, u16)| (*first..=*last).contains(&port);
        let Some(place) = ranges.iter().position(of_port) else {
            let message = format!("{port} given; no entry of services has it among its ports");
            return Err(FieldError::new(field, message));
        };
        flow.service = Some(ServiceSpec::clone(&services[place].service));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn given(services: Value, flow: Value) -> Result<Vec<Option<f64>>, String> {
        let value = json!({
            "duration": "1 s",
            "topology": {"kind": "dumbbell", "bottleneck": {"rate": "1 Mbit/s", "delay": "1 ms"}},
            "services": services,
            "flows": [flow, {}],
        });
        let mut spec: ScenarioSpec = serde_json::from_value(value).unwrap();
        give(&mut spec).map_err(|error| error.field)?;
        assert!(spec.services.is_empty() && spec.flows.iter().all(|flow| flow.port.is_none()));
        let priority = |service: &ServiceSpec| service.priority;
        Ok(spec.flows.iter().map(|flow| flow.service.as_ref().map(priority)).collect())
    }

    #[test]
    fn a_port_has_the_first_service_that_names_it() {
        let services = json!([
            {"ports": "5001", "service": {"priority": 5}},
            {"ports": "5000-5010", "service": {"priority": 2}},
        ]);
        let of = |flow| given(services.clone(), flow);
        assert_eq!(of(json!({"port": 5001})), Ok(vec![Some(5.0), None]));
        assert_eq!(of(json!({"port": 5010})), Ok(vec![Some(2.0), None]));
        assert_eq!(of(json!({"port": 80})), Err("flows.0.port".to_owned()));
        assert_eq!(of(json!({"port": 5001, "service": {}})), Err("flows.0.port".to_owned()));
    }

    #[test]
    fn ports_are_one_or_a_range() {
        for ports in ["x", "5-1", "70000", ""] {
            let refused = given(json!([{"ports": ports, "service": {}}]), json!({}));
            assert_eq!(refused, Err("services.0.ports".to_owned()), "{ports}");
        }
    }
}
