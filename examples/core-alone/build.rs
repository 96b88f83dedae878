//! The program finds the library of the Python that it is built for.

fn main() {
    pyo3_build_config::add_libpython_rpath_link_args();
}
