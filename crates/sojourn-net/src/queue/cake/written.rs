//! Parameters that are written as text.

/// Reads and writes types as the text that they are parsed from and displayed as.
macro_rules! as_string {
    ($($type:ty),*) => {$(
        impl TryFrom<String> for $type {
            type Error = String;
            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> String {
                value.to_string()
            }
        }
    )*};
}

pub(super) use as_string;
