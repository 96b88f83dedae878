//! Records of a connection's stream.

use super::Opening;

/// Bytes of a record's length.
pub(super) const LENGTH: usize = 2;
/// Most bytes of a record.
pub(super) const MOST: usize = u16::MAX as usize;
/// Bytes of the first record of the end that asks: addresses and ports, and the class of the service.
const OPENING: usize = 13;

/// The first record of the end that asks.
pub(super) fn opening(opening: &Opening, class: u8) -> Vec<u8> {
    let mut record = (OPENING as u16).to_be_bytes().to_vec();
    for (address, port) in [opening.client, opening.server] {
        record.extend(address.to_be_bytes());
        record.extend(port.to_be_bytes());
    }
    record.push(class);
    record
}

fn opened(record: [u8; OPENING]) -> (Opening, u8) {
    let [a, b, c, d, e, f, g, h, i, j, k, l, class] = record;
    let client = (u32::from_be_bytes([a, b, c, d]), u16::from_be_bytes([e, f]));
    let server = (u32::from_be_bytes([g, h, i, j]), u16::from_be_bytes([k, l]));
    (Opening { client, server }, class)
}

/// A piece of a stream.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'a> {
    /// Who is connected, and the class of the service.
    Opening(Opening, u8),
    /// Bytes of the application.
    Bytes(&'a [u8]),
    /// There are no more.
    End,
}

/// What is no stream of records.
#[derive(Debug, PartialEq)]
pub(super) struct Broken;

/// Reads records from pieces of a stream.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// The opening is to come; what has come of it.
    opening: Option<Vec<u8>>,
    /// The first byte of a length.
    length: Option<u8>,
    /// Bytes left of the record.
    left: usize,
    ended: bool,
}

impl Records {
    /// The records of the end that asks, or of the one that answers.
    pub(super) fn new(asks: bool) -> Self {
        Records { opening: asks.then(Vec::new), ..Records::default() }
    }

    /// Whether all records have come.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// The next piece; `bytes` becomes what is left.
    pub(super) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<Piece<'a>>, Broken> {
        while let [first, rest @ ..] = *bytes {
            if self.ended {
                return Err(Broken);
            }
            if self.left > 0 {
                let (record, rest) = bytes.split_at(self.left.min(bytes.len()));
                (*bytes, self.left) = (rest, self.left - record.len());
                match self.of_record(record) {
                    Some(piece) => return Ok(Some(piece)),
                    None => continue,
                }
            }
            *bytes = rest;
            let Some(high) = self.length.take() else {
                self.length = Some(*first);
                continue;
            };
            self.left = usize::from(u16::from_be_bytes([high, *first]));
            if self.opening.is_some() && self.left != OPENING {
                return Err(Broken);
            }
            if self.left == 0 {
                self.ended = true;
                return Ok(Some(Piece::End));
            }
        }
        Ok(None)
    }

    /// What a part of a record is; none of an opening that is to be continued.
    fn of_record<'a>(&mut self, record: &'a [u8]) -> Option<Piece<'a>> {
        let Some(so_far) = &mut self.opening else { return Some(Piece::Bytes(record)) };
        so_far.extend(record);
        let whole = so_far[..].try_into().ok()?;
        self.opening = None;
        let (opening, class) = opened(whole);
        Some(Piece::Opening(opening, class))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All pieces of a stream that comes cut at these places.
    fn read(records: &mut Records, stream: &[u8], at: usize) -> Result<(Vec<u8>, usize), Broken> {
        let (mut bytes, mut others) = (Vec::new(), 0);
        for mut part in stream.chunks(at) {
            while let Some(piece) = records.next(&mut part)? {
                match piece {
                    Piece::Bytes(some) => bytes.extend(some),
                    Piece::Opening(..) | Piece::End => others += 1,
                }
            }
        }
        Ok((bytes, others))
    }

    proptest! {
        #[test]
        fn records_are_read_however_they_are_cut(
            written in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..50), 0..8),
            at in 1_usize..40,
        ) {
            let who = Opening { client: (1, 2), server: (3, 4) };
            let mut stream = opening(&who, 5);
            for record in &written {
                stream.extend((record.len() as u16).to_be_bytes());
                stream.extend(record);
            }
            stream.extend([0; LENGTH]);
            let mut records = Records::new(true);
            prop_assert_eq!(read(&mut records, &stream, at), Ok((written.concat(), 2)));
            prop_assert!(records.ended());
            prop_assert_eq!(read(&mut records, &[0], at), Err(Broken));
        }

        #[test]
        fn any_bytes_are_records_or_none(stream: Vec<u8>, asks: bool, at in 1_usize..40) {
            if let Ok((bytes, _)) = read(&mut Records::new(asks), &stream, at) {
                prop_assert!(bytes.len() <= stream.len());
            }
        }
    }

    #[test]
    fn who_is_connected_is_told() {
        let who = Opening { client: (0x0a09_0101, 40_000), server: (0x0a09_0205, 8_080) };
        let stream = opening(&who, 3);
        let piece = Records::new(true).next(&mut &stream[..]).map(|piece| format!("{piece:?}"));
        assert_eq!(piece, Ok(format!("{:?}", Some(Piece::Opening(who, 3)))));
        assert_eq!(Records::new(true).next(&mut &[0, 5, 1][..]), Err(Broken));
    }
}
