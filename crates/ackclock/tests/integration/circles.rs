//! The files of a module have no cyclic imports. A reader therefore needs only a file and the files that it imports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::tidy::{code, rust_files};

type Module = Vec<String>;

/// The names in `use` statements of a source text, with braces expanded.
fn used_paths(text: &str) -> Vec<Vec<String>> {
    let code = code(text).join(" ");
    let statements = code.split("use ").skip(1).filter_map(|rest| rest.split(';').next());
    statements.flat_map(|statement| expand(statement.trim())).map(|path| segments(&path)).collect()
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(|segment| segment.split(" as ").next().unwrap_or(segment).trim().to_owned()).collect()
}

/// `a::{b, c::{d}}` as `a::b` and `a::c::d`.
fn expand(tree: &str) -> Vec<String> {
    let Some((before, inside)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let inside = inside.trim_end().strip_suffix('}').unwrap_or(inside);
    let (mut depth, mut branch, mut branches) = (0, String::new(), Vec::new());
    for character in inside.chars().chain([',']) {
        depth += i32::from(character == '{') - i32::from(character == '}');
        if character == ',' && depth == 0 {
            branches.push(std::mem::take(&mut branch));
        } else {
            branch.push(character);
        }
    }
    let branches = branches.iter().map(|branch| branch.trim()).filter(|branch| !branch.is_empty());
    branches.flat_map(expand).map(|path| format!("{before}{path}")).collect()
}

/// The module of a file below `src`, whose name is its path.
fn module_of(relative: &Path) -> Module {
    let path = relative.with_extension("");
    let mut names: Module = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.pop_if(|name| name == "mod");
    names
}

/// The file in a module that a path of a `use` statement refers to. Paths into other crates give none.
fn resolve(from: &Module, path: &[String], files: &BTreeMap<Module, PathBuf>) -> Option<Module> {
    let mut here = from.clone();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => (here, rest) = (Module::new(), &rest[1..]),
        "self" => rest = &rest[1..],
        "super" => {}
        _ => return None,
    }
    while rest.first().is_some_and(|name| name == "super") {
        here.pop()?;
        rest = &rest[1..];
    }
    let lengths = (0..=rest.len()).rev();
    let named = lengths.map(|length| [&here[..], &rest[..length]].concat());
    named.into_iter().find(|module| files.contains_key(module))
}

/// The imports between files, without tests. A folder's files do not use its `mod.rs`, which only re-exports their
/// items.
fn uses(files: &BTreeMap<Module, PathBuf>) -> BTreeMap<Module, BTreeSet<Module>> {
    let used_by = |(module, file): (&Module, &PathBuf)| {
        let paths = used_paths(&fs::read_to_string(file).unwrap());
        let used = paths.iter().filter_map(|path| resolve(module, path, files));
        let used: BTreeSet<_> = used.filter(|other| other != module && !module.starts_with(other)).collect();
        (module.clone(), used)
    };
    files.iter().map(used_by).collect()
}

/// Modules that a module reaches, and the first step on the path back to itself, if there is one.
fn circle(start: &Module, uses: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    let mut came_from: BTreeMap<Module, Module> = BTreeMap::new();
    let mut open = vec![start.clone()];
    while let Some(module) = open.pop() {
        for next in &uses[&module] {
            if next == start {
                let mut path = vec![start.clone(), module.clone()];
                while let Some(before) = came_from.get(path.last()?) {
                    path.push(before.clone());
                }
                path.reverse();
                return Some(path);
            }
            if uses.contains_key(next) && !came_from.contains_key(next) {
                came_from.insert(next.clone(), module.clone());
                open.push(next.clone());
            }
        }
    }
    None
}

#[test]
fn files_of_a_module_use_each_other_in_one_direction() {
    let crates = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    let of_crate = |folder: PathBuf| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        circles(&folder.join("src")).into_iter().map(move |path| {
            let files: Vec<_> = path.iter().map(|module| module.join("/")).collect();
            format!("{name}: {}", files.join(" -> "))
        })
    };
    let mut found: Vec<_> = crates.flat_map(|entry| of_crate(entry.unwrap().path())).collect();
    found.sort();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The imports between the files in this folder.
fn circles(src: &Path) -> Vec<Vec<Module>> {
    let named = rust_files(src).into_iter().map(|file| (module_of(file.strip_prefix(src).unwrap()), file));
    let is_test = |module: &Module| module.iter().any(|name| name == "tests");
    let files: BTreeMap<_, _> = named.filter(|(module, _)| !is_test(module)).collect();
    let uses = uses(&files);
    files.keys().filter_map(|module| circle(module, &uses)).collect()
}

#[test]
fn braces_of_use_statements_are_expanded() {
    let text = "use super::{a, b::{self, c as d},\n    e};\n// use crate::no;\npub use crate::f;\n";
    let paths: Vec<_> = used_paths(text).iter().map(|path| path.join("::")).collect();
    assert_eq!(paths, ["super::a", "super::b::self", "super::b::c", "super::e", "crate::f"]);
}

#[test]
fn a_circle_is_found() {
    let module = |name: &str| vec![name.to_owned()];
    let edge = |from, to: &[&str]| (module(from), to.iter().map(|name| module(name)).collect());
    let mut uses = BTreeMap::from([edge("a", &["b"]), edge("b", &["c", "d"]), edge("c", &[]), edge("d", &["a"])]);
    assert_eq!(circle(&module("a"), &uses), Some(["a", "b", "d", "a"].map(module).to_vec()));
    assert_eq!(circle(&module("c"), &uses), None);
    uses.remove(&module("d"));
    assert_eq!(circle(&module("a"), &uses), None);
}
