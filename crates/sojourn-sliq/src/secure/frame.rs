//! The layouts of the four messages; numbers are little-endian, as WireGuard's are.
//!
//! | message | bytes |
//! | --- | --- |
//! | 1 initiation | type 4, sender 4, Noise 116 (key 32, own key 48, time and boot 36), codes 16 and 16 |
//! | 2 response | type 4, sender 4, receiver 4, Noise 56 (key 32, boot 24), code 16 |
//! | 3 cookie reply | type 4, receiver 4, nonce 24, sealed cookie 32 |
//! | 4 data | type 4, receiver 4, counter 8, sealed content |
//!
//! Senders and receivers are numbers of sessions, which their ends choose.

/// A code, or a cookie.
pub(super) type Code = [u8; 16];
/// Bytes of a cookie and its tag.
pub(super) const SEALED_COOKIE: usize = 32;
/// Bytes of Noise's first and second message.
pub(super) const FIRST: usize = 116;
pub(super) const SECOND: usize = 56;
/// Bytes of the messages.
pub(super) const INITIATION: usize = 156;
pub(super) const RESPONSE: usize = 84;
pub(super) const REPLY: usize = 64;
/// Of data, what precedes the sealed content.
pub(super) const DATA: usize = 16;
const NONCE: usize = 24;
const TAG: usize = 16;

/// A message by its parts.
#[derive(Debug)]
pub(super) enum Frame<'a> {
    Initiation(Initiation<'a>),
    Response(Response<'a>),
    Reply(Reply<'a>),
    Data(Data<'a>),
}

#[derive(Debug)]
pub(super) struct Initiation<'a> {
    pub sender: u32,
    pub noise: &'a [u8; FIRST],
    /// The two codes, each with what it is of.
    pub codes: [(&'a [u8], &'a Code); 2],
}

#[derive(Debug)]
pub(super) struct Response<'a> {
    pub sender: u32,
    pub receiver: u32,
    pub noise: &'a [u8; SECOND],
    pub code: (&'a [u8], &'a Code),
}

#[derive(Debug)]
pub(super) struct Reply<'a> {
    pub receiver: u32,
    pub nonce: &'a [u8; NONCE],
    pub sealed: &'a [u8; SEALED_COOKIE],
}

#[derive(Debug)]
pub(super) struct Data<'a> {
    pub receiver: u32,
    pub counter: u64,
    pub sealed: &'a [u8],
}

/// Splits a datagram; `None` if it is no message.
pub(super) fn parse(bytes: &[u8]) -> Option<Frame<'_>> {
    let (kind, rest) = number(bytes)?;
    match (kind, bytes.len()) {
        (1, INITIATION) => {
            let (sender, rest) = number(rest)?;
            let codes = [code(bytes, INITIATION - 32)?, code(bytes, INITIATION - 16)?];
            Some(Frame::Initiation(Initiation { sender, noise: rest.first_chunk()?, codes }))
        }
        (2, RESPONSE) => {
            let (sender, rest) = number(rest)?;
            let (receiver, rest) = number(rest)?;
            let (noise, code) = (rest.first_chunk()?, code(bytes, RESPONSE - 16)?);
            Some(Frame::Response(Response { sender, receiver, noise, code }))
        }
        (3, REPLY) => {
            let (receiver, rest) = number(rest)?;
            let (nonce, rest) = rest.split_first_chunk()?;
            Some(Frame::Reply(Reply { receiver, nonce, sealed: rest.first_chunk()? }))
        }
        (4, DATA..) => {
            let (receiver, rest) = number(rest)?;
            let (counter, sealed) = rest.split_first_chunk()?;
            let counter = u64::from_le_bytes(*counter);
            (sealed.len() >= TAG).then_some(Frame::Data(Data { receiver, counter, sealed }))
        }
        _ => None,
    }
}

/// An initiation with its first code, and room for the second.
pub(super) fn initiation(
    sender: u32,
    noise: &[u8; FIRST],
    code: impl Fn(&[u8]) -> Code,
) -> [u8; INITIATION] {
    let mut message = [0; INITIATION];
    put(&mut message, [&1u32.to_le_bytes()[..], &sender.to_le_bytes(), noise]);
    put_code(&mut message, INITIATION - 32, code);
    message
}

/// Puts the second code into an initiation.
pub(super) fn with_second(message: &mut [u8; INITIATION], code: impl Fn(&[u8]) -> Code) {
    put_code(message, INITIATION - 16, code);
}

/// The first code of an initiation.
pub(super) fn first_code(message: &[u8; INITIATION]) -> Code {
    let mut first = [0; 16];
    first.copy_from_slice(&message[INITIATION - 32..INITIATION - 16]);
    first
}

/// A response.
pub(super) fn response(
    [sender, receiver]: [u32; 2],
    noise: &[u8; SECOND],
    code: impl Fn(&[u8]) -> Code,
) -> [u8; RESPONSE] {
    let mut message = [0; RESPONSE];
    let (sender, receiver) = (sender.to_le_bytes(), receiver.to_le_bytes());
    put(&mut message, [&2u32.to_le_bytes()[..], &sender, &receiver, noise]);
    put_code(&mut message, RESPONSE - 16, code);
    message
}

/// A cookie reply.
pub(super) fn reply(
    receiver: u32,
    nonce: &[u8; NONCE],
    sealed: &[u8; SEALED_COOKIE],
) -> [u8; REPLY] {
    let mut message = [0; REPLY];
    put(&mut message, [&3u32.to_le_bytes()[..], &receiver.to_le_bytes(), nonce, sealed]);
    message
}

/// What precedes the sealed content of data.
pub(super) fn data(receiver: u32, counter: u64) -> [u8; DATA] {
    let mut head = [0; DATA];
    put(&mut head, [&4u32.to_le_bytes()[..], &receiver.to_le_bytes(), &counter.to_le_bytes()]);
    head
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

/// The code that begins `at`, with what it is of.
fn code(bytes: &[u8], at: usize) -> Option<(&[u8], &Code)> {
    let (of, rest) = bytes.split_at_checked(at)?;
    Some((of, rest.first_chunk()?))
}

fn put<const PARTS: usize>(message: &mut [u8], parts: [&[u8]; PARTS]) {
    let mut at = 0;
    for part in parts {
        message[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
}

fn put_code(message: &mut [u8], at: usize, code: impl Fn(&[u8]) -> Code) {
    let made = code(&message[..at]);
    message[at..at + made.len()].copy_from_slice(&made);
}
