//! The two ends of a flow, with what measures them.

use crate::endpoint::Endpoint;
use crate::error::FieldError;
use crate::record::MeasuredEndpoint;
use crate::registry::Catalogue;
use crate::spec::Transport;
use crate::transport::TransportInit;

/// The sender and the receiver.
pub(super) fn ends(
    init: &TransportInit<'_>,
    catalogue: &Catalogue,
) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
    let transport = &init.flow.transport;
    let entry = catalogue.find::<Transport>(&transport.kind).map_err(|e| e.within("transport"))?;
    let [sender, receiver] = (entry.make)(&transport.params, init, catalogue)?;
    match init.flow.packet_metrics.unwrap_or(!entry.facts.controlled) {
        true => Ok([sender, Box::new(MeasuredEndpoint::new(receiver))]),
        false => Ok([sender, receiver]),
    }
}
