//! The words of a script's lines: numbers, ranges of segments, lists.

use super::{Ack, Data, MOST_SEGMENTS, MSS};

impl Ack {
    pub(super) fn read(words: &[&str]) -> Result<Ack, String> {
        let (next, rest) = words.split_first().ok_or("ack needs the number of the next segment")?;
        let mut ack = Ack { next: read(next)?, ..Ack::default() };
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            match *word {
                "sack" => {}
                "dsack" => ack.dsack = true,
                "ece" => ack.ece = true,
                "original" => ack.original = true,
                "window" => {
                    ack.window = Some(read(rest.next().ok_or("window needs a number of bytes")?)?);
                }
                block => ack.blocks.push(range(block)?),
            }
        }
        Ok(ack)
    }
}

impl Data {
    pub(super) fn read(words: &[&str]) -> Result<Data, String> {
        let (segments, rest) = words.split_first().ok_or("data needs segments, such as 1-3")?;
        let (first, last) = short(range(segments)?)?;
        let mut data = Data { first, last, bytes: MSS, ce: false, cwr: false, psh: false };
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            match *word {
                "ce" => data.ce = true,
                "cwr" => data.cwr = true,
                "psh" => data.psh = true,
                "of" => data.bytes = payload(rest.next().ok_or("of needs a number of bytes")?)?,
                other => return Err(format!("unknown word '{other}'; allowed: ce, cwr, psh, of")),
            }
        }
        Ok(data)
    }
}

/// A number.
pub(super) fn read<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("'{text}' is not a number"))
}

fn payload(text: &str) -> Result<u32, String> {
    let bytes: u32 = read(text)?;
    let allowed = (1..=MSS).contains(&bytes);
    allowed.then_some(bytes).ok_or_else(|| format!("{bytes} bytes given; allowed: 1 to {MSS}"))
}

/// The first and the last segment.
fn range(text: &str) -> Result<(u32, u32), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u32, u32) = (read(first)?, read(last)?);
    // The number after the last one must be one, too.
    if first > last || last == u32::MAX {
        return Err(format!("{first}-{last} is no range of segments"));
    }
    Ok((first, last))
}

/// The range, if a line may name so many segments.
fn short((first, last): (u32, u32)) -> Result<(u32, u32), String> {
    let few = last - first < MOST_SEGMENTS;
    few.then_some((first, last)).ok_or_else(|| too_many(&format!("{first}-{last}")))
}

/// The list, if a line may name so many packets.
pub(super) fn few(listed: Vec<String>) -> Result<Vec<String>, String> {
    let few = listed.len() <= MOST_SEGMENTS as usize;
    if few { Ok(listed) } else { Err(too_many(&listed.len().to_string())) }
}

fn too_many(given: &str) -> String {
    format!("{given} given; allowed: at most {MOST_SEGMENTS} segments in a line")
}

/// The packets of a list, which may be none.
pub(super) fn listed<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    words
        .map(str::trim)
        .filter(|word| *word != "-" && !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The words with ranges of segments expanded into single segments.
pub(super) fn expanded(words: &[&str]) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for word in listed(words.iter().copied()) {
        match word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('-') {
            true => {
                let (first, last) = short(range(&word)?)?;
                all.extend((first..=last).map(|seq| seq.to_string()));
            }
            false => all.push(word),
        }
        all = few(all)?;
    }
    Ok(all)
}
