//! Names the crate's sources, so that a result can name the engine that produced it.

fn main() {
    sojourn_stamp::emit();
}
