//! You have two texts, and want to know how similar they are and which words they share. No index
//! is needed.
//!
//! `cargo run --example compare_texts`

use cento::{Comparison, Config, Result, compare};

/// The text to compare with `B`.
pub const A: &str = "The quick brown fox jumps over the lazy dog near the old mill, and nobody in \
                     the village sees it happen.";
/// A text that shares a run of words with `A`.
pub const B: &str = "Yesterday the quick brown fox jumps over the lazy dog near the old mill, or \
                     so the miller says.";

/// Compares both texts by runs of five words.
pub fn comparison() -> Result<Comparison> {
    let config = Config::new("kgram(k=5)", "words", false)?;
    compare(&config.scheme, &config.analyzer, A, B)
}

/// Prints the similarity and the passages.
pub fn main() -> Result<()> {
    let found = comparison()?;
    println!("resemblance {:.2}", found.similarity.resemblance);
    for passage in &found.passages {
        println!("a: {}", &A[passage.a.0 as usize..passage.a.1 as usize]);
        println!("b: {}", &B[passage.b.0 as usize..passage.b.1 as usize]);
    }
    Ok(())
}
