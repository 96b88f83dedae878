//! No module of a crate uses one that uses it, directly or indirectly, at any level of its folders;
//! and files have a maximum length.
//!
//! Modules beside each other in a folder are compared: submodules count as part of theirs. A module
//! may use what the head of its own folder (`mod.rs`) defines, since the head defines what the
//! folder's modules share; a re-export counts where the item is defined.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree};

/// Longest file, without unit tests, which are read one by one. A control's or a queue's law is read
/// whole, beside the source that it follows, and the longest of them has about that many lines.
const MOST_LINES: usize = 300;

/// A module's path in its crate, such as `["tcp", "sender"]`.
type Module = Vec<String>;

/// Names that a module uses, and names that it defines.
#[derive(Default)]
struct Names {
    /// Paths as they are written, with what they are called here.
    used: Vec<(String, Module)>,
    defined: BTreeSet<String>,
}

fn crates() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = fs::read_dir(all).unwrap().map(|entry| entry.unwrap().path().join("src"));
    let mut crates: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    crates.sort();
    crates
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inside = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    inside.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The module that a file is.
fn module(root: &Path, file: &Path) -> Module {
    let inside = file.strip_prefix(root).unwrap().with_extension("");
    let mut path: Module = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        path.pop();
    }
    path
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        attribute.path().is_ident("test")
            || list.is_ok_and(|list| {
                list.path.is_ident("cfg") && list.tokens.to_string().contains("test")
            })
    })
}

fn flat(tree: &UseTree, before: &[String], out: &mut Vec<(String, Module)>) {
    let with = |name: String| [before, std::slice::from_ref(&name)].concat();
    match tree {
        UseTree::Path(path) => flat(&path.tree, &with(path.ident.to_string()), out),
        UseTree::Name(name) if name.ident == "self" => {
            out.push((before.last().unwrap().clone(), before.to_vec()));
        }
        UseTree::Name(name) => out.push((name.ident.to_string(), with(name.ident.to_string()))),
        UseTree::Rename(name) => out.push((name.rename.to_string(), with(name.ident.to_string()))),
        UseTree::Glob(_) => out.push(("*".to_owned(), before.to_vec())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flat(tree, before, out)),
    }
}

/// Walks a file and collects the names that each of its modules uses.
struct Walk<'a> {
    at: Module,
    modules: &'a mut BTreeMap<Module, Names>,
    for_tests: &'a mut Vec<Module>,
}

impl Walk<'_> {
    fn here(&mut self) -> &mut Names {
        self.modules.entry(self.at.clone()).or_default()
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let name = item.ident.to_string();
        let path = [self.at.as_slice(), std::slice::from_ref(&name)].concat();
        if is_for_tests(&item.attrs) {
            self.for_tests.push(path);
            return;
        }
        self.here().defined.insert(name);
        let outer = std::mem::replace(&mut self.at, path);
        visit::visit_item_mod(self, item);
        self.at = outer;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut used = Vec::new();
        flat(&item.tree, &[], &mut used);
        self.here().used.extend(used);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Module = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if words.len() > 1 {
            self.here().used.push((String::new(), words));
        }
        visit::visit_path(self, path);
    }
}

/// The modules of a crate, those for tests left out.
fn modules(root: &Path) -> BTreeMap<Module, Names> {
    let (mut modules, mut for_tests) = (BTreeMap::new(), Vec::new());
    for file in files(root) {
        let at = module(root, &file);
        let text = fs::read_to_string(&file).unwrap();
        let parsed = syn::parse_file(&text).unwrap_or_else(|why| panic!("{file:?}: {why}"));
        let mut walk = Walk { at, modules: &mut modules, for_tests: &mut for_tests };
        walk.here();
        walk.visit_file(&parsed);
    }
    modules.retain(|path, _| !for_tests.iter().any(|test| path.starts_with(test)));
    modules
}

/// The path from the crate's root of what is written as `path` in the module `at`.
fn absolute(modules: &BTreeMap<Module, Names>, at: &Module, path: &[String]) -> Option<Module> {
    let mut from = at.clone();
    match path[0].as_str() {
        "crate" => return Some(path[1..].to_vec()),
        "self" => return Some([&from, &path[1..]].concat()),
        "super" => {}
        word => {
            let known = &modules[at];
            let named = known.used.iter().find(|(name, _)| name == word);
            return match named {
                Some((_, other)) if other[0] != word => {
                    Some([absolute(modules, at, other)?.as_slice(), &path[1..]].concat())
                }
                _ => known.defined.contains(word).then(|| [&from, path].concat()),
            };
        }
    }
    let ups = path.iter().take_while(|word| *word == "super").count();
    from.truncate(from.len().checked_sub(ups)?);
    Some([&from, &path[ups..]].concat())
}

/// The module in which the item of this path is defined, following re-exports.
fn home(modules: &BTreeMap<Module, Names>, mut path: Module) -> Module {
    for _ in 0..8 {
        let length =
            (0..=path.len()).rev().find(|length| modules.contains_key(&path[..*length])).unwrap();
        let (module, rest) = (path[..length].to_vec(), &path[length..]);
        let Some(name) = rest.first() else { return module };
        let given = modules[&module].used.iter().find(|(called, _)| called == name);
        let Some((_, other)) = given else { return module };
        match absolute(modules, &module, other) {
            Some(other) if other != path => path = [&other, &rest[1..]].concat(),
            _ => return module,
        }
    }
    path
}

/// Who uses whom among the modules of each folder, and through which names.
type Uses = BTreeMap<Module, BTreeMap<String, BTreeMap<String, String>>>;

fn uses(modules: &BTreeMap<Module, Names>) -> Uses {
    let mut uses = Uses::new();
    for (at, names) in modules {
        for (_, written) in &names.used {
            let Some(path) = absolute(modules, at, written) else { continue };
            let other = home(modules, path);
            let shared = at.iter().zip(&other).take_while(|(one, two)| one == two).count();
            let (Some(one), Some(two)) = (at.get(shared), other.get(shared)) else { continue };
            let folder = uses.entry(at[..shared].to_vec()).or_default();
            let arrow = format!("{} names {}", at.join("::"), written.join("::"));
            folder.entry(one.clone()).or_default().insert(two.clone(), arrow);
        }
    }
    uses
}

/// The modules of a folder that remain after repeated removal of those that use no remaining one or
/// that no remaining one uses.
fn circles(mut uses: BTreeMap<String, BTreeMap<String, String>>) -> Vec<String> {
    loop {
        let left: BTreeSet<String> = uses.keys().cloned().collect();
        let used: BTreeSet<String> = uses.values().flat_map(|to| to.keys().cloned()).collect();
        for to in uses.values_mut() {
            to.retain(|other, _| left.contains(other));
        }
        uses.retain(|one, to| !to.is_empty() && used.contains(one));
        if uses.len() == left.len() {
            break;
        }
    }
    uses.into_iter()
        .flat_map(|(one, to)| {
            to.into_iter().map(move |(other, arrow)| format!("{one} -> {other}: {arrow}"))
        })
        .collect()
}

#[test]
fn modules_do_not_use_each_other_in_circles() {
    let mut found = Vec::new();
    let mut arrows = 0;
    for root in crates() {
        for (folder, uses) in uses(&modules(&root)) {
            arrows += uses.values().map(BTreeMap::len).sum::<usize>();
            for arrow in circles(uses) {
                found.push(format!("{} {}: {arrow}", root.display(), folder.join("::")));
            }
        }
    }
    assert!(arrows > 500, "only {arrows} uses were found");
    assert!(found.is_empty(), "on circles:\n{}", found.join("\n"));
}

#[test]
fn circles_are_found_through_what_a_head_gives_on() {
    let mut modules = BTreeMap::new();
    let texts = [
        (vec![], "mod a; mod b; pub use a::A; pub struct Shared;"),
        (vec!["a".to_owned()], "use super::{Shared, b::B}; pub struct A(Shared, B);"),
        (vec!["b".to_owned()], "pub struct B(Option<Box<crate::A>>);"),
    ];
    for (at, text) in texts {
        let mut walk = Walk { at, modules: &mut modules, for_tests: &mut Vec::new() };
        walk.visit_file(&syn::parse_file(text).unwrap());
    }
    let found = circles(uses(&modules)[&vec![]].clone());
    assert_eq!(found, ["a -> b: a names super::b::B", "b -> a: b names crate::A"]);
}

/// The lines before the unit tests at a file's end.
fn length(text: &str) -> usize {
    text.split("\n#[cfg(test)]\nmod tests {").next().unwrap().lines().count()
}

#[test]
fn a_file_is_read_at_one_sitting() {
    let mut long = Vec::new();
    for root in crates() {
        let modules = modules(&root);
        for file in files(&root).iter().filter(|file| modules.contains_key(&module(&root, file))) {
            let lines = length(&fs::read_to_string(file).unwrap());
            if lines > MOST_LINES {
                long.push(format!("{} has {lines} lines", file.display()));
            }
        }
    }
    assert!(long.is_empty(), "longer than {MOST_LINES}:\n{}", long.join("\n"));
}
