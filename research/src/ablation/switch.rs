//! Copies the sources and gives each rule a switch.

use std::path::Path;

use super::rules::{RULES, Rule};
use crate::Result;

/// The environment variable with the name of the rule to switch off.
pub const VARIABLE: &str = "CENTO_WITHOUT";

/// Paths of the repository that the build needs.
const COPIED: [&str; 11] = [
    ".cargo",
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "benches",
    "crates",
    "examples",
    "research",
    "src",
    "tests",
    "tools",
];

/// The directory of the rules, below the root of the repository.
pub const DIRECTORY: &str = "crates/cento-text/src/compare/align";

/// Copies the sources at `root` to `work` and turns the rules into switches there. Unchanged files
/// are not written again, so that the next build is short.
pub fn copy(root: &Path, work: &Path) -> Result {
    for part in COPIED {
        copy_part(&root.join(part), &work.join(part))?;
    }
    let mut files = files(&root.join(DIRECTORY))?;
    switch_all(&mut files)?;
    std::fs::create_dir_all(work.join(DIRECTORY))?;
    for (name, text) in files {
        write(&work.join(DIRECTORY).join(name), text.as_bytes())?;
    }
    Ok(())
}

/// Reads the files of a directory, with their names.
pub fn files(directory: &Path) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            continue;
        }
        let name =
            path.file_name().and_then(|name| name.to_str()).ok_or("a file without a name")?;
        files.push((name.to_owned(), std::fs::read_to_string(&path)?));
    }
    Ok(files)
}

/// Copies a file, or the files of a directory; not the rules.
fn copy_part(from: &Path, to: &Path) -> Result {
    if from.parent().is_some_and(|parent| parent.ends_with(DIRECTORY)) && !from.is_dir() {
        return Ok(());
    }
    if !from.is_dir() {
        return write(to, &std::fs::read(from)?);
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let name = entry?.file_name();
        copy_part(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}

/// Writes a file, unless the content is equal.
fn write(path: &Path, bytes: &[u8]) -> Result {
    if !std::fs::read(path).is_ok_and(|old| old == bytes) {
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

/// Turns all rules into switches in the files of [`DIRECTORY`], given with their names.
pub fn switch_all(files: &mut [(String, String)]) -> Result {
    // Expressions first, as they are written in the sources.
    let (expressions, constants): (Vec<_>, Vec<_>) =
        RULES.iter().partition(|rule| !rule.code.is_empty());
    expressions.into_iter().chain(constants).try_for_each(|rule| switch(rule, files))
}

/// Turns a rule into a switch.
fn switch(rule: &Rule, files: &mut [(String, String)]) -> Result {
    let file = files.iter_mut().find(|(name, _)| name == rule.file);
    let (_, text) = file.ok_or_else(|| format!("{}: no file {}", rule.name, rule.file))?;
    if !rule.code.is_empty() {
        if text.matches(rule.code).count() != 1 {
            return Err(
                format!("{}: `{}` is not in {} once", rule.name, rule.code, rule.file).into()
            );
        }
        *text = text.replace(rule.code, &either(rule, rule.code));
        return Ok(());
    }
    let constant = format!("const {}: ", rule.name);
    let (before, rest) = text.split_once(&constant).ok_or_else(|| format!("no {constant}"))?;
    let (declared, after) = rest.split_once(';').ok_or("a constant without an end")?;
    let (kind, value) = declared.split_once(" = ").ok_or("a constant without a value")?;
    let function = format!(
        "#[allow(non_snake_case, unused_parens)]\nfn {}() -> {kind} {{ {} }}",
        rule.name,
        either(rule, value)
    );
    let mut visible = before.to_owned();
    // The visibility goes before the function.
    let line = visible.rfind('\n').map_or(0, |at| at + 1);
    let visibility = visible.split_off(line);
    let function = function.replace("\nfn ", &format!("\n{visibility}fn "));
    *text = format!("{visible}{function}{after}");
    let declares = |text: &str| text.contains(&constant);
    for (_, text) in files.iter_mut().filter(|(name, text)| name == rule.file || !declares(text)) {
        *text = called(text, rule.name);
    }
    Ok(())
}

/// Returns the expression of a rule, or the replacement code.
fn either(rule: &Rule, code: &str) -> String {
    format!(
        "(if {{ static OFF: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| \
         std::env::var({VARIABLE:?}).is_ok_and(|rule| rule == {:?})); *OFF }} \
         {{ {} }} else {{ {code} }})",
        rule.number().to_string(),
        rule.without
    )
}

/// Turns each use of a constant into a call, except in comments and in lists of names.
fn called(text: &str, name: &str) -> String {
    let mut lines = Vec::new();
    let mut is_use = false;
    for line in text.split('\n') {
        let code = line.trim_start();
        is_use |= ["use ", "pub use ", "pub(crate) use "].iter().any(|use_| code.starts_with(use_));
        let is_code = !is_use && !code.starts_with("//");
        lines.push(if is_code { calls(line, name) } else { line.to_owned() });
        is_use &= !code.ends_with(';');
    }
    lines.join("\n")
}

fn calls(line: &str, name: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut code, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        let is_use = is_whole && !after.starts_with("()") && !before.ends_with("fn ");
        code = code + before + name + if is_use { "()" } else { "" };
        rest = after;
    }
    code + rest
}
