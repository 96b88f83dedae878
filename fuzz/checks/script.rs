//! A packet script. No text makes its reader panic or take more memory than its lines deserve; blank
//! lines and white space around lines mean nothing.

use sojourn_tcp::tcp::script::{MOST_SEGMENTS, MSS, Script, Step};

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(script) = Script::parse(text) else { return };
    for line in &script.lines {
        match &line.step {
            Step::Sent(listed) => assert!(listed.len() <= MOST_SEGMENTS as usize),
            Step::Data(data) => {
                assert!(data.first <= data.last && data.last - data.first < MOST_SEGMENTS);
                assert!((1..=MSS).contains(&data.bytes));
            }
            Step::Ack(ack) => {
                assert!(ack.blocks.iter().all(|(first, last)| first <= last && *last < u32::MAX));
            }
            _ => {}
        }
    }
    let trimmed: Vec<&str> = text.lines().map(str::trim).collect();
    assert_eq!(Script::parse(&trimmed.join("\n\n")), Ok(script));
}
