//! Hashes the crate's sources, so that a result can name the build that produced it.

fn main() {
    sojourn_stamp::emit();
}
