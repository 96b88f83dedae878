//! What the agent inside a kernel in virtual time says. What is read has the bytes that it was read
//! of, report by report.

use sojourn_live::uml::control::{Report, Said};

pub(crate) fn check(bytes: &[u8]) {
    let Some(said) = Said::parse(bytes) else { return };
    assert_eq!(said.to_bytes(), bytes);
    let Said::Reports(mut rest) = said else { return };
    let (all, mut written) = (rest, Vec::new());
    while let Some(report) = Report::take_from(&mut rest) {
        report.add_to(&mut written);
    }
    assert_eq!(all, [&written[..], rest].concat());
}
