//! Plays the packet scripts of a directory with the core's endpoints and with this kernel, and
//! writes a table of the differences. `make packet-scripts` writes it into
//! `docs/explanation/packet-scripts.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sojourn_catalogue::builtin;
use sojourn_live::Error;
use sojourn_tcp::tcp::script::{self, Difference, Event, Script};

/// The table is between these lines of the page.
const BEGIN: &str = "<!-- table -->\n";
const END: &str = "<!-- end -->";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let Some(directory) = arguments.next() else {
        eprintln!("usage: packet-scripts DIRECTORY [PAGE]");
        return ExitCode::from(2);
    };
    match table(&directory).and_then(|(table, sound)| {
        arguments.next().map_or(Ok(()), |page| put(&page, &table))?;
        Ok(sound)
    }) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

/// The table, and whether every script holds in the core and differs from the kernel only where it
/// declares so.
fn table(directory: &Path) -> Result<(String, bool), String> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "txt"))
        .collect();
    files.sort();
    let mut table =
        "| script | about | packets | beside the kernel |\n| --- | --- | --- | --- |\n".to_owned();
    print!("{table}");
    let mut sound = true;
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(&file).map_err(|error| format!("{name}: {error}"))?;
        let script = Script::parse(&text).map_err(|error| format!("{name}: {error}"))?;
        let ours = script::play(&script, builtin()).map_err(|error| format!("{name}: {error}"))?;
        if let Some(difference) = script.check(&ours) {
            eprintln!("{name}: the core does not keep it: {}", told(&difference, "it says"));
            sound = false;
        }
        let ours = ours.events;
        let verdict = match sojourn_live::script::play(&script) {
            Ok(theirs) => {
                if std::env::var_os("SOJOURN_PACKETS").is_some() {
                    show(&ours, &theirs);
                }
                let difference = script.compare(&ours, &theirs);
                sound &= difference.is_none() || script.known.is_some();
                verdict(&script, difference.as_ref())
            }
            Err(Error::Refused(why)) => format!("not played: {why}"),
            Err(error) => return Err(format!("{name}: {error}")),
        };
        let sent = ours.iter().filter(|event| !event.what.starts_with("cwnd")).count();
        let row = format!("| `{name}` | {} | {sent} | {verdict} |\n", script.about);
        print!("{row}");
        table += &row;
    }
    Ok((table, sound))
}

fn verdict(script: &Script, difference: Option<&Difference>) -> String {
    match (difference, &script.known) {
        (None, _) => "same".to_owned(),
        (Some(difference), None) => format!("**differs**: {}", told(difference, "the kernel")),
        (Some(difference), Some(why)) => format!("{}: {why}", told(difference, "the kernel")),
    }
}

fn told(difference: &Difference, other: &str) -> String {
    let at = difference.at.as_nanos() as f64 / 1e6;
    format!("at {at:.0} ms `{}`, {other} `{}`", difference.found, difference.expected)
}

fn show(ours: &[Event], theirs: &[Event]) {
    let line = |events: &[Event]| -> String {
        events.iter().map(|e| format!("{:.1} {}; ", e.at.as_nanos() as f64 / 1e6, e.what)).collect()
    };
    println!("  ours:   {}\n  kernel: {}", line(ours), line(theirs));
}

fn put(page: &Path, table: &str) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("{}: {error}", page.display());
    let text = fs::read_to_string(page).map_err(problem)?;
    let (Some(begin), Some(end)) = (text.find(BEGIN), text.find(END)) else {
        return Err(format!("{}: no place for the table", page.display()));
    };
    let text = format!("{}{table}{}", &text[..begin + BEGIN.len()], &text[end..]);
    fs::write(page, text).map_err(problem)
}
