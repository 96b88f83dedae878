//! Reading and writing numbers.

use std::fmt;

/// Reasons for which bytes are not a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// They end too soon.
    Short,
    /// A header that is not known, or not allowed there.
    Header(u8),
    /// A field has a value that is not allowed.
    Field(&'static str),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Short => write!(f, "ends too soon"),
            WireError::Header(kind) => write!(f, "unknown header {kind}"),
            WireError::Field(name) => write!(f, "{name} is not allowed"),
        }
    }
}

impl std::error::Error for WireError {}

/// What is still to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(WireError::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    /// The next byte.
    pub(super) fn u8(&mut self) -> Result<u8, WireError> {
        Ok(self.take(1)?[0])
    }

    /// The next two bytes.
    pub(super) fn u16(&mut self) -> Result<u16, WireError> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// The next four bytes.
    pub(super) fn u32(&mut self) -> Result<u32, WireError> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

/// Appends numbers.
pub(super) trait Write {
    /// Two bytes.
    fn u16(&mut self, value: u16);
    /// Four bytes.
    fn u32(&mut self, value: u32);
}

impl Write for Vec<u8> {
    fn u16(&mut self, value: u16) {
        self.extend(value.to_be_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.extend(value.to_be_bytes());
    }
}
