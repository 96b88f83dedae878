//! Programs with their own members: each is the `sojourn` command line with these in addition.
//!
//! The program embeds the Python that it was built for, and provides the module `sojourn._internal`
//! itself; the package `sojourn` is the one installed there. Worker processes run the same program,
//! which accepts `-P -c CODE` as Python does.
#![allow(unsafe_code)] // Python is begun through its C interface

use std::ffi::{CString, OsString, c_char, c_int};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;

use blake2::digest::consts::U8;
use blake2::{Blake2b, Digest};
use pyo3::ffi;
use pyo3::prelude::*;
use sojourn_base::registry::Catalogue;

use crate::wings;

/// Adds members to a catalogue.
pub type Add = fn(&mut Catalogue);

/// The crates that simulate, each with the hash of its sources: a new crate is a line here, a new
/// wing a line of `wings`.
const SIMULATING: &[(&str, &str)] =
    &[sojourn_base::SOURCES, sojourn_net::SOURCES, sojourn_sim::SOURCES, sojourn_tcp::SOURCES];

/// Makes Python find the program's own module before an installed one: early versions of 3.11 do
/// not search the built-in modules for submodules of a package.
const OWN_FIRST: &str = "\
import sys
from importlib.machinery import BuiltinImporter
class Own:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return BuiltinImporter.find_spec(name) if name == 'sojourn._internal' else None
sys.meta_path.insert(0, Own)
";
const COMMAND_LINE: &str = "from sojourn.cli import main; main()";

static ADD: OnceLock<Add> = OnceLock::new();

/// `sojourn._internal` of a program; the name is that of a symbol, which the extension module has too.
#[pymodule]
fn program_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    crate::fill(module)
}

/// Runs the command line of Sojourn, with the members that `add` adds, on this process's arguments.
/// To be called once, from `main`.
pub fn command_line(add: Add) -> ExitCode {
    ADD.get_or_init(|| add);
    // SAFETY: Python is not yet initialised, and the name is static.
    unsafe {
        ffi::PyImport_AppendInittab(
            c"sojourn._internal".as_ptr(),
            Some(program_module::__pyo3_init),
        );
    }
    let mut given = std::env::args_os().skip(1).peekable();
    let code = match given.next_if(|first| first == "-P") {
        None => COMMAND_LINE.into(),
        Some(_) => given.nth(1).unwrap_or_default(),
    };
    let mut whole = OsString::from(OWN_FIRST);
    whole.push(code);
    let begin = [env!("SOJOURN_PYTHON"), "-P", "-c"].map(OsString::from);
    let arguments = begin.into_iter().chain([whole]).chain(given);
    let strings = arguments.map(|argument| CString::new(argument.into_vec()));
    let Ok(strings) = strings.collect::<Result<Vec<_>, _>>() else { return ExitCode::from(2) };
    let mut pointers: Vec<*mut c_char> = strings.into_iter().map(CString::into_raw).collect();
    // SAFETY: as many strings as it says, which are never freed.
    let status = unsafe { ffi::Py_BytesMain(pointers.len() as c_int, pointers.as_mut_ptr()) };
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}

/// This program's file, if it has its own members.
pub(crate) fn path() -> Option<PathBuf> {
    ADD.get().and_then(|_| std::env::current_exe().ok())
}

/// Sojourn's own members and the program's.
pub(crate) fn members() -> Catalogue {
    let mut members = wings::members();
    if let Some(add) = ADD.get() {
        add(&mut members);
    }
    members
}

/// The parts of the build by name: the crates with the hashes of their sources, and the third-party
/// crates that they draw and compute with by their locked versions.
pub(crate) fn parts() -> Vec<(&'static str, &'static str)> {
    let locked = ("Cargo.lock", env!("SOJOURN_LOCKED"));
    SIMULATING.iter().chain(wings::SIMULATING).copied().chain([locked]).collect()
}

/// The build: of Sojourn from its parts, of a program from its own file, because its members may
/// have any number of sources.
pub(crate) fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let content = path().and_then(|path| fs::read(path).ok()).unwrap_or_else(|| {
            let lines = parts().into_iter().map(|(name, part)| format!("{name} {part}\n"));
            lines.collect::<String>().into_bytes()
        });
        let digest = Blake2b::<U8>::digest(content);
        let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{hash}", env!("CARGO_PKG_VERSION"))
    })
}
