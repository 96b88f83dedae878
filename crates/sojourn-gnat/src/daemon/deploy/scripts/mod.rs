//! Programs of the shell that put a deployment's nodes into namespaces, and cut and mend links.

use std::env::current_exe;
use std::net::SocketAddr;

use super::nodes::{Node, Nodes};

const UP: &str = include_str!("up.sh");
const LINK: &str = include_str!("link.sh");
const IN: &str = include_str!("in.sh");
const STATUS: &str = include_str!("status.sh");

/// The files of these programs: themselves, the links, and the process that is `up`.
pub(super) const NAMES: [&str; 7] = ["up", "cut", "mend", "status", "in", "links", "up.pid"];

/// Names and texts of the programs.
pub(super) fn all(nodes: &Nodes) -> [(&'static str, String); 5] {
    let names: Vec<_> = nodes.names().collect();
    let program = current_exe().map(|path| path.to_string_lossy().into_owned());
    let program = quoted(program.as_deref().unwrap_or("sojourn-gnat"));
    let fill =
        |text: &str| text.replace("@NODES@", &names.join(" ")).replace("@PROGRAM@", &program);
    let link = |verb: &str, state: &str| LINK.replace("@VERB@", verb).replace("@STATE@", state);
    [
        ("up", fill(UP)),
        ("cut", link("cut", "down")),
        ("mend", link("mend", "up")),
        ("status", fill(STATUS)),
        ("in", fill(IN)),
    ]
}

/// A line for each link: its ends, its name in the namespaces of both, and the addresses there.
pub(super) fn links(nodes: &Nodes) -> String {
    let line = |(place, [(one, near), (two, far)]): (usize, [(&Node, SocketAddr); 2])| {
        format!("{} {} link{place} {} {}\n", one.name, two.name, near.ip(), far.ip())
    };
    nodes.links().into_iter().enumerate().map(line).collect()
}

/// A word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_path_is_a_word_of_the_shell() {
        assert_eq!(quoted("/it's mine"), r"'/it'\''s mine'");
    }
}
