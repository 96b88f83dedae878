//! Encoding of headers.

use super::bytes::Write;
use super::{
    ACK, Ack, CLOSE, COUNT, CREATE_STREAM, CreateStream, DATA, Data, Datagram, HANDSHAKE,
    Handshake, HandshakeKind, MEASUREMENT, Message, SYNC, TRAIN, Train, TrainKind,
};
use crate::payload::Payload;

/// Appends the datagram's bytes.
pub fn encode<P: Payload>(datagram: &Datagram<P>, out: &mut Vec<u8>) {
    match datagram {
        Datagram::Handshake(handshake) => put_handshake(handshake, out),
        Datagram::CreateStream(create) => put_create(create, out),
        Datagram::Close(close) => {
            out.extend([CLOSE, u8::from(close.answer)]);
            out.u16(close.reason);
        }
        Datagram::Train(train) => put_train(train, out),
        Datagram::Message(message) => put_message(message, out),
    }
}

fn put_handshake(handshake: &Handshake, out: &mut Vec<u8>) {
    let tag = match handshake.kind {
        HandshakeKind::ClientHello => *b"CH",
        HandshakeKind::ServerHello => *b"SH",
        HandshakeKind::ClientConfirm => *b"CC",
        HandshakeKind::Reject => *b"RJ",
    };
    out.extend([HANDSHAKE, handshake.controls.len() as u8]);
    out.extend(tag);
    out.u32(handshake.stamp);
    out.u32(handshake.echo);
    out.u32(handshake.client);
    for name in &handshake.controls {
        out.push(name.len() as u8);
        out.extend(name.as_bytes());
    }
    out.extend(handshake.cookie.iter().flatten());
}

fn put_create(create: &CreateStream, out: &mut Vec<u8>) {
    let flags = u8::from(create.answer) | u8::from(create.timed) << 1;
    out.extend([CREATE_STREAM, flags, create.stream, create.priority]);
    out.u32(create.window);
    out.u32(create.initial_seq);
    out.extend([u8::from(create.ordered) << 4 | create.mode, create.retransmissions]);
    out.u16(create.target);
    out.u16(create.probability);
    out.u16(0);
}

fn put_train(train: &Train, out: &mut Vec<u8>) {
    let kind = u8::from(train.kind == TrainKind::Answer);
    out.extend([TRAIN, train.control, kind, train.seq]);
    out.u32(train.gap);
    out.u32(train.stamp);
    out.u32(train.delta);
    out.resize(out.len() + usize::from(train.padding), 0);
}

fn put_message<P: Payload>(message: &Message<P>, out: &mut Vec<u8>) {
    if let Some(sync) = message.sync {
        out.extend([SYNC, sync.control]);
        out.u16(sync.seq);
        out.u32(sync.value);
    }
    if let Some(ack) = &message.ack {
        put_ack(ack, out);
    }
    if let Some(count) = message.count {
        out.extend([COUNT, 0, count.stream, count.retransmissions]);
        out.u32(count.seq);
        out.u32(count.received);
    }
    if let Some(measurement) = message.measurement {
        out.extend([MEASUREMENT, 1]);
        out.u16(measurement.seq);
        out.u32(measurement.max_delay);
    }
    if let Some((data, payload)) = &message.data {
        put_data(data, payload.len() as u16, out);
        payload.put(out);
    }
}

fn put_ack(ack: &Ack, out: &mut Vec<u8>) {
    out.extend([ACK, 0, ack.stream, ack.observed_count << 5 | ack.offsets.len() as u8]);
    out.u32(ack.next);
    out.u32(ack.stamp);
    out.u32(ack.delta);
    for observed in ack.observed() {
        out.u32(observed.seq);
        out.u32(observed.stamp);
    }
    ack.offsets.iter().for_each(|offset| out.u16(*offset));
}

fn put_data(data: &Data, payload: u16, out: &mut Vec<u8>) {
    let encoded = data.fec.and_then(|fec| fec.encoded);
    let flags = u8::from(data.fin)
        | u8::from(data.persist) << 1
        | u8::from(data.delta.is_some()) << 2
        | u8::from(data.forward.is_some()) << 4
        | u8::from(data.fec.is_some()) << 5
        | u8::from(encoded.is_some()) << 6;
    out.extend([DATA, flags, data.stream, data.control, data.retransmissions, 0]);
    out.u16(payload);
    out.u32(data.seq);
    out.u32(data.stamp);
    data.delta.into_iter().chain(data.forward).for_each(|value| out.u32(value));
    if let Some(fec) = data.fec {
        out.extend([fec.index, fec.sources << 4 | fec.round]);
        out.u16(fec.group);
    }
    encoded.into_iter().for_each(|bytes| out.u16(bytes));
}
