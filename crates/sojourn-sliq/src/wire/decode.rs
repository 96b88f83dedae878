//! Decoding of headers. It terminates for any bytes, and takes no more memory than they do.

use super::ack::{END, MAX_OBSERVED, MAX_OFFSETS};
use super::bytes::Reader;
use super::{
    ACK, Ack, CLOSE, COUNT, CREATE_STREAM, Close, CreateStream, DATA, Data, Datagram, Fec,
    HANDSHAKE, Handshake, HandshakeKind, MEASUREMENT, Measurement, Message, Observed,
    ReceivedCount, SYNC, Sync, TRAIN, Train, TrainKind, WireError,
};

/// Controls that a connection can have.
const MAX_CONTROLS: u8 = 8;

/// Reads a datagram.
///
/// # Errors
/// If the bytes are none: cut short, an unknown header, a field that is not allowed.
pub fn decode<'a, P: From<&'a [u8]>>(bytes: &'a [u8]) -> Result<Datagram<P>, WireError> {
    let mut reader = Reader(bytes);
    match *bytes.first().ok_or(WireError::Short)? {
        HANDSHAKE => handshake(&mut reader).map(Datagram::Handshake),
        CREATE_STREAM => create_stream(&mut reader).map(Datagram::CreateStream),
        CLOSE => {
            let head = reader.take(2)?;
            Ok(Datagram::Close(Close { answer: head[1] & 1 != 0, reason: reader.u16()? }))
        }
        TRAIN => train(&mut reader).map(Datagram::Train),
        _ => message(&mut reader).map(Datagram::Message),
    }
}

fn handshake(reader: &mut Reader<'_>) -> Result<Handshake, WireError> {
    let head = reader.take(4)?;
    let kind = match &head[2..] {
        b"CH" => HandshakeKind::ClientHello,
        b"SH" => HandshakeKind::ServerHello,
        b"CC" => HandshakeKind::ClientConfirm,
        b"RJ" => HandshakeKind::Reject,
        _ => return Err(WireError::Field("tag")),
    };
    if !(1..=MAX_CONTROLS).contains(&head[1]) {
        return Err(WireError::Field("number of controls"));
    }
    let (stamp, echo, client) = (reader.u32()?, reader.u32()?, reader.u32()?);
    let controls = (0..head[1]).map(|_| name(reader)).collect::<Result<_, _>>()?;
    let cookie = match reader.0 {
        [] => None,
        rest => Some(rest.try_into().map_err(|_| WireError::Field("cookie"))?),
    };
    Ok(Handshake { kind, controls, stamp, echo, client, cookie })
}

fn name(reader: &mut Reader<'_>) -> Result<String, WireError> {
    let length = reader.u8()?;
    let bytes = reader.take(length.into())?;
    String::from_utf8(bytes.to_vec()).map_err(|_| WireError::Field("name of a control"))
}

fn create_stream(reader: &mut Reader<'_>) -> Result<CreateStream, WireError> {
    let head = reader.take(4)?;
    let window = reader.u32()?;
    let initial_seq = reader.u32()?;
    let how = reader.take(2)?;
    let (target, probability) = (reader.u16()?, reader.u16()?);
    reader.u16()?;
    Ok(CreateStream {
        answer: head[1] & 1 != 0,
        timed: head[1] & 2 != 0,
        stream: head[2],
        priority: head[3],
        window,
        initial_seq,
        ordered: how[0] >> 4 != 0,
        mode: how[0] & 0xf,
        retransmissions: how[1],
        target,
        probability,
    })
}

fn train(reader: &mut Reader<'_>) -> Result<Train, WireError> {
    let head = reader.take(4)?;
    let kind = match head[2] {
        0 => TrainKind::Probe,
        1 => TrainKind::Answer,
        _ => return Err(WireError::Field("kind of a train")),
    };
    let (gap, stamp, delta) = (reader.u32()?, reader.u32()?, reader.u32()?);
    let padding = reader.0.len() as u16;
    Ok(Train { control: head[1], kind, seq: head[3], gap, stamp, delta, padding })
}

fn message<'a, P: From<&'a [u8]>>(reader: &mut Reader<'a>) -> Result<Message<P>, WireError> {
    let mut message = Message { sync: None, ack: None, count: None, measurement: None, data: None };
    while let Some(&kind) = reader.0.first() {
        match kind {
            SYNC => {
                let head = reader.take(2)?;
                let (seq, value) = (reader.u16()?, reader.u32()?);
                message.sync = Some(Sync { control: head[1], seq, value });
            }
            ACK if message.ack.is_none() => message.ack = Some(ack(reader)?),
            COUNT => {
                let head = reader.take(4)?;
                let (stream, retransmissions) = (head[2], head[3]);
                let (seq, received) = (reader.u32()?, reader.u32()?);
                message.count = Some(ReceivedCount { stream, retransmissions, seq, received });
            }
            MEASUREMENT => {
                reader.take(2)?;
                let (seq, max_delay) = (reader.u16()?, reader.u32()?);
                message.measurement = Some(Measurement { seq, max_delay });
            }
            DATA => {
                message.data = Some(data(reader)?);
                return Ok(message);
            }
            _ => return Err(WireError::Header(kind)),
        }
    }
    Ok(message)
}

fn ack(reader: &mut Reader<'_>) -> Result<Ack, WireError> {
    let head = reader.take(4)?;
    let (observed, offsets) = (usize::from(head[3] >> 5), usize::from(head[3] & 31));
    debug_assert!(observed <= MAX_OBSERVED && offsets <= MAX_OFFSETS);
    let (next, stamp, delta) = (reader.u32()?, reader.u32()?, reader.u32()?);
    let mut ack = Ack::new(head[2], next, stamp, delta);
    for _ in 0..observed {
        let (seq, stamp) = (reader.u32()?, reader.u32()?);
        ack.observe(Observed { seq, stamp });
    }
    for _ in 0..offsets {
        ack.offsets.push(reader.u16()?);
    }
    if !ack
        .offsets
        .chunk_by(|a, b| a & b & END != 0)
        .all(|run| run[0] & END == 0 || run.len() % 2 == 0)
        || ack.blocks().any(|(first, last)| first > last)
    {
        return Err(WireError::Field("blocks"));
    }
    Ok(ack)
}

fn data<'a, P: From<&'a [u8]>>(reader: &mut Reader<'a>) -> Result<(Data, P), WireError> {
    let head = reader.take(6)?;
    let length = reader.u16()?;
    let flag = |bit: u8| head[1] >> bit & 1 != 0;
    let (seq, stamp) = (reader.u32()?, reader.u32()?);
    let delta = flag(2).then(|| reader.u32()).transpose()?;
    let forward = flag(4).then(|| reader.u32()).transpose()?;
    let fec = flag(5).then(|| fec(reader, flag(6))).transpose()?;
    let data = Data {
        stream: head[2],
        control: head[3],
        retransmissions: head[4],
        persist: flag(1),
        fin: flag(0),
        seq,
        stamp,
        delta,
        forward,
        fec,
    };
    Ok((data, P::from(reader.take(length.into())?)))
}

fn fec(reader: &mut Reader<'_>, coded: bool) -> Result<Fec, WireError> {
    let place = reader.take(2)?;
    let group = reader.u16()?;
    let encoded = coded.then(|| reader.u16()).transpose()?;
    let (sources, round) = (place[1] >> 4, place[1] & 0xf);
    if place[0] >= super::MAX_GROUP {
        return Err(WireError::Field("place in a group"));
    }
    Ok(Fec { group, index: place[0], sources, round, encoded })
}
