//! Finds the Python that programs embed, and the locked versions of the third-party crates that the
//! core computes with.

fn main() {
    sojourn_stamp::emit_locked();
    let python = pyo3_build_config::get();
    println!("cargo::rustc-env=SOJOURN_PYTHON={}", python.executable().unwrap_or("python3"));
    println!("cargo::rerun-if-env-changed=PYO3_PYTHON");
}
