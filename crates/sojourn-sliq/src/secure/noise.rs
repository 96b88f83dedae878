//! The handshake and the ciphers that follow from it: Noise IK by `snow`. Nothing is kept of an
//! initiation but on this stack until its sender is known.

use snow::params::NoiseParams;
use snow::{Builder, HandshakeState, StatelessTransportState};

use super::Boot;
use super::frame::{FIRST, SECOND};
use super::keys::{KEY, Public, Secret};

const PATTERN: &str = "Noise_IK_25519_ChaChaPoly_BLAKE2s";
const PROLOGUE: &[u8] = b"sojourn-sliq 1";
const WALL: usize = 12;
/// Bytes that sealing adds to content.
pub(super) const TAG: usize = 16;

/// What an initiation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub public: Public,
    pub wall: [u8; WALL],
    pub boot: Boot,
}

/// Who has sent an initiation and waits for the response.
#[derive(Debug)]
pub(super) struct Initiator(HandshakeState);

/// Who has read an initiation.
#[derive(Debug)]
pub(super) struct Responder(HandshakeState);

/// The two ciphers of a session.
#[derive(Debug)]
pub(super) struct Ciphers(StatelessTransportState);

/// Begins a handshake: returns the first message.
pub(super) fn initiate(
    secret: &Secret,
    to: &Public,
    wall: &[u8; WALL],
    boot: &Boot,
) -> Option<(Initiator, [u8; FIRST])> {
    let named = builder(secret)?.remote_public_key(to.bytes()).ok()?;
    let mut state = named.build_initiator().ok()?;
    let (mut said, mut message) = ([0; WALL + 8], [0; FIRST]);
    said[..WALL].copy_from_slice(wall);
    said[WALL..].copy_from_slice(boot);
    state.write_message(&said, &mut message).ok()?;
    Some((Initiator(state), message))
}

/// Reads the first message; `None` if it was not made for this key.
pub(super) fn respond(secret: &Secret, message: &[u8; FIRST]) -> Option<(Responder, Said)> {
    let mut state = builder(secret)?.build_responder().ok()?;
    let mut said = [0; FIRST];
    let length = state.read_message(message, &mut said).ok()?;
    let mut key = [0; KEY];
    key.copy_from_slice(state.get_remote_static()?.get(..KEY)?);
    let (wall, rest) = said[..length].split_first_chunk()?;
    let said = Said { public: Public::from_bytes(key), wall: *wall, boot: *rest.first_chunk()? };
    Some((Responder(state), said))
}

impl Responder {
    /// Ends the handshake: returns the second message.
    pub(super) fn answer(mut self, boot: &Boot) -> Option<(Ciphers, [u8; SECOND])> {
        let mut message = [0; SECOND];
        self.0.write_message(boot, &mut message).ok()?;
        Some((Ciphers(self.0.into_stateless_transport_mode().ok()?), message))
    }
}

impl Initiator {
    /// Reads the second message and what its sender's boot is; `None`, and nothing changes, if it was
    /// not made by who the first one was for.
    pub(super) fn read(&mut self, message: &[u8; SECOND]) -> Option<Boot> {
        let mut said = [0; SECOND];
        let length = self.0.read_message(message, &mut said).ok()?;
        said[..length].first_chunk().copied()
    }

    /// The ciphers, once the second message was read.
    pub(super) fn ciphers(self) -> Option<Ciphers> {
        self.0.into_stateless_transport_mode().ok().map(Ciphers)
    }
}

impl Ciphers {
    /// Appends the sealed content; whether it could be sealed: it has at most 65,519 bytes.
    pub(super) fn seal(&self, counter: u64, plain: &[u8], out: &mut Vec<u8>) -> bool {
        let from = out.len();
        out.resize(from + plain.len() + TAG, 0);
        self.0.write_message(counter, plain, &mut out[from..]).is_ok()
    }

    /// Puts the content into `plain`, which is empty if it was not sealed by the other end.
    pub(super) fn open(&self, counter: u64, sealed: &[u8], plain: &mut Vec<u8>) -> bool {
        plain.clear();
        plain.resize(sealed.len().saturating_sub(TAG), 0);
        let opened = self.0.read_message(counter, sealed, plain).is_ok();
        if !opened {
            plain.clear();
        }
        opened
    }
}

fn builder(secret: &Secret) -> Option<Builder<'_>> {
    let pattern: NoiseParams = PATTERN.parse().expect("snow has this pattern");
    Builder::new(pattern).local_private_key(secret.bytes()).ok()?.prologue(PROLOGUE).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_agree_and_hear_each_other() {
        let (ours, theirs) = (Secret::from_bytes([3; KEY]), Secret::from_bytes([4; KEY]));
        let (mut initiator, first) =
            initiate(&ours, &theirs.public(), &[5; WALL], &[6; 8]).unwrap();
        let (responder, said) = respond(&theirs, &first).unwrap();
        assert_eq!(said, Said { public: ours.public(), wall: [5; WALL], boot: [6; 8] });
        let (far, second) = responder.answer(&[7; 8]).unwrap();
        let mut changed = second;
        changed[40] ^= 1;
        assert_eq!(initiator.read(&changed), None);
        assert_eq!(initiator.read(&second), Some([7; 8]), "a changed one before changes nothing");
        let near = initiator.ciphers().unwrap();
        let (mut sealed, mut plain) = (Vec::new(), Vec::new());
        assert!(near.seal(9, b"content", &mut sealed));
        assert!(far.open(9, &sealed, &mut plain));
        assert_eq!(plain, b"content");
        assert!(!far.open(8, &sealed, &mut plain), "another counter");
        assert!(!near.open(9, &sealed, &mut plain) && plain.is_empty(), "the other way's cipher");
    }

    #[test]
    fn an_initiation_for_another_key_is_not_read() {
        let [ours, theirs, other] = [3, 4, 5].map(|byte| Secret::from_bytes([byte; KEY]));
        let (_, first) = initiate(&ours, &theirs.public(), &[0; WALL], &[0; 8]).unwrap();
        assert!(respond(&other, &first).is_none());
    }

    /// Made by this code (2026-11-26): what others must agree with does not change unnoticed.
    #[test]
    fn a_recorded_initiation_is_made_and_read() {
        let (ours, theirs) = (Secret::from_bytes([3; KEY]), Secret::from_bytes([4; KEY]));
        let public = theirs.public();
        let fixed = builder(&ours).unwrap().remote_public_key(public.bytes()).unwrap();
        let mut state =
            fixed.fixed_ephemeral_key_for_testing_only(&[9; 32]).build_initiator().unwrap();
        let mut made = [0; FIRST];
        state.write_message(&[1; WALL + 8], &mut made).unwrap();
        let hexadecimal: String = made.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hexadecimal, RECORDED);
        assert_eq!(respond(&theirs, &made).unwrap().1.wall, [1; WALL]);
    }

    const RECORDED: &str = concat!(
        "57db4b359f23ae5e146e4e2512056704722506348c150c14753d0c933d",
        "04d4218653578d415e7ef41e50d999a02b79a0ef42e7c690fc414cecfd",
        "65892fadcae72d655ebcec51ec83414278b8fa6d932b60cbe4fc8ddab2",
        "87105e095150ea387473189dbc87dfcaca57f274281d540901e20b4d3b",
    );
}
