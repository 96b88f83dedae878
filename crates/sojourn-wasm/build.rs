//! Finds the locked versions of the third-party crates that the simulator computes with.

fn main() {
    sojourn_stamp::emit_locked();
}
