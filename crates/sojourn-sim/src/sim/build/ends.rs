//! The two ends of a flow, with what records and measures them.

use crate::endpoint::Endpoint;
use crate::error::FieldError;
use crate::record::live::Log;
use crate::record::{MeasuredEndpoint, RecordedEndpoint};
use crate::registry::Catalogue;
use crate::spec::{Recorded, Transport};
use crate::transport::TransportInit;

/// The sender and the receiver of flow number `flow`.
pub(super) fn ends(
    flow: u32,
    init: &TransportInit<'_>,
    catalogue: &Catalogue,
    log: Option<&Log>,
) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
    let transport = &init.flow.transport;
    let entry = catalogue.find::<Transport>(&transport.kind).map_err(|e| e.within("transport"))?;
    let [sender, receiver] = (entry.make)(&transport.params, init, catalogue)?;
    let measures = init.flow.packet_metrics.unwrap_or(!entry.facts.controlled);
    Ok([recorded(sender, flow, log), measured(receiver, measures)])
}

/// The sender of `flow`; its congestion control is recorded if `log` records controls.
fn recorded(sender: Box<dyn Endpoint>, flow: u32, log: Option<&Log>) -> Box<dyn Endpoint> {
    match log.and_then(|log| log.watch(Recorded::Cc, &format!("flow.{flow}.cc"))) {
        Some(watch) => Box::new(RecordedEndpoint::new(sender, watch)),
        None => sender,
    }
}

/// The receiver, which measures each packet if it shall.
fn measured(receiver: Box<dyn Endpoint>, measures: bool) -> Box<dyn Endpoint> {
    match measures {
        true => Box::new(MeasuredEndpoint::new(receiver)),
        false => receiver,
    }
}
