//! Fuzz targets: cento reads untrusted bytes.
//!
//! Each target is a function that takes any bytes and panics if the bytes break a promise of cento.
//! libFuzzer calls targets with generated inputs (`targets/`), and an ordinary test with every kept
//! input (`crates/cento-cli/tests/it/fuzz_replay.rs`).

mod code;
mod http;
mod index;
mod logs;
mod search;
mod sig;
mod source;
mod spec;
mod text;
mod withdrawals;

pub use code::code;
pub use http::http;
pub use index::{frequencies, index};
pub use logs::logs;
pub use search::{filter, signature};
pub use sig::{sig, sig_forged};
pub use source::{archive, forms, jsonl};
pub use spec::spec;
pub use text::{charset, markup, stems, tokens};
pub use withdrawals::withdrawals;

/// A target, which panics if an input breaks a promise.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 18] = [
    ("archive", archive),
    ("charset", charset),
    ("code", code),
    ("filter", filter),
    ("forms", forms),
    ("frequencies", frequencies),
    ("http", http),
    ("index", index),
    ("jsonl", jsonl),
    ("logs", logs),
    ("markup", markup),
    ("sig", sig),
    ("sig_forged", sig_forged),
    ("signature", signature),
    ("spec", spec),
    ("stems", stems),
    ("tokens", tokens),
    ("withdrawals", withdrawals),
];

/// Inputs of a target by name, made anew by the present cento. Not all targets have any.
pub fn made(target: &str) -> Vec<(String, Vec<u8>)> {
    match target {
        "sig" | "sig_forged" => sig::segments(),
        "index" => index::parts(),
        "frequencies" => index::tables(),
        "withdrawals" => withdrawals::files(),
        "logs" => logs::files(),
        "forms" => source::examples(),
        _ => Vec::new(),
    }
}

/// Inputs that cover every choice of a target. No file holds these inputs.
pub fn of_all(target: &str) -> Vec<Vec<u8>> {
    match target {
        "tokens" => text::of_all(),
        _ => Vec::new(),
    }
}

/// Maximum length of a first line that chooses.
const NAME_BYTES_MAX: usize = 200;

/// Splits an input into the choice of its first line, and the bytes after the line. An input
/// without such a line was made by the fuzzer, and its first byte chooses one of `all`.
fn chosen<'a, T: Clone>(
    data: &'a [u8],
    named: impl Fn(&str) -> Option<T>,
    all: &[T],
) -> (T, &'a [u8]) {
    let end = data.iter().take(NAME_BYTES_MAX).position(|&byte| byte == b'\n');
    let line = end.and_then(|end| std::str::from_utf8(&data[..end]).ok());
    if let (Some(end), Some(chosen)) = (end, line.and_then(named)) {
        return (chosen, &data[end + 1..]);
    }
    let (number, rest) = choice(data);
    (all[number % all.len()].clone(), rest)
}

/// Returns the member of `all` with this name.
fn one_of<T: AsRef<str> + Clone>(all: &[T]) -> impl Fn(&str) -> Option<T> {
    move |name: &str| all.iter().find(|one| one.as_ref() == name).cloned()
}

/// Returns specifications of a family: the name alone, the example, and each parameter alone with
/// its minimum and its maximum.
fn specs(name: &str, example: &str, parameters: &[(&str, [String; 2])]) -> Vec<String> {
    let of_value = |(parameter, values): &(&str, [String; 2])| {
        let spec = |value| format!("{name}({parameter}={value})");
        values.each_ref().map(spec)
    };
    let bounds = parameters.iter().flat_map(of_value);
    [name.to_owned(), example.to_owned()].into_iter().chain(bounds).collect()
}

/// Splits off the first byte, which chooses what a target does.
fn choice(data: &[u8]) -> (usize, &[u8]) {
    data.split_first().map_or((0, data), |(&first, rest)| (usize::from(first), rest))
}
