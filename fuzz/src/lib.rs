//! Fuzz targets: cento reads untrusted bytes.
//!
//! Each target is a function that takes any bytes and panics if they break a promise of cento.
//! libFuzzer calls them with generated inputs (`targets/`), and an ordinary test with every input
//! that is kept (`crates/cento-cli/tests/it/fuzz_replay.rs`).

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

/// Every target, by its name.
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

/// Inputs of a target that are made by the present cento, by name; not all targets have such.
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

/// Inputs of a target for everything that it can choose; no file has them.
pub fn of_all(target: &str) -> Vec<Vec<u8>> {
    match target {
        "tokens" => text::of_all(),
        _ => Vec::new(),
    }
}

/// The longest first line that names something.
const NAME_BYTES_MAX: usize = 200;

/// Splits an input into what its first line chooses, and the rest after that line. An input without
/// such a line is one that the fuzzer made: its first byte chooses one of `all`.
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

/// Returns the one of `all` that has this name.
fn one_of<T: AsRef<str> + Clone>(all: &[T]) -> impl Fn(&str) -> Option<T> {
    move |name: &str| all.iter().find(|one| one.as_ref() == name).cloned()
}

/// Returns specifications of a family of these parameters, each with its least and greatest value:
/// its name alone, its example, and each of the values alone.
fn specs(name: &str, example: &str, parameters: &[(&str, [String; 2])]) -> Vec<String> {
    let of_value = |(parameter, values): &(&str, [String; 2])| {
        let spec = |value| format!("{name}({parameter}={value})");
        values.each_ref().map(spec)
    };
    let bounds = parameters.iter().flat_map(of_value);
    [name.to_owned(), example.to_owned()].into_iter().chain(bounds).collect()
}

/// The first byte, which chooses among what a target can do, and the rest.
fn choice(data: &[u8]) -> (usize, &[u8]) {
    data.split_first().map_or((0, data), |(&first, rest)| (usize::from(first), rest))
}
