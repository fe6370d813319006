//! Measures recall of edited copies in many scripts, and of texts of a few words.
//!
//! Texts and edits are shared with the tests: see crates/cento-testing/src/udhr.rs.

use cento::search::Rank;
use cento_testing::udhr::{Articles, CHANGES, Change, Kind, LANGUAGES, Setting, ShortTexts};
use clap::Args;

use crate::Result;

/// Measure edited copies, passages and short texts in eight languages.
#[derive(Debug, Args)]
pub struct Scripts {
    /// The number of times that each article is edited.
    #[arg(long, default_value = "4")]
    rounds: u64,
}

/// Per cent of words to edit.
const EDITS: [u32; 3] = [5, 10, 20];

/// The settings for articles and for passages of them.
const SETTINGS: [Setting; 2] = [
    Setting { scheme: cento::scheme::DEFAULT_SPEC, rank: Rank::Overlap },
    Setting { scheme: "reuse", rank: Rank::Weight },
];

/// Numbers of words of a title, a headline and a tweet.
const WORDS: [usize; 3] = [5, 10, 25];

/// The schemes for texts of a few words.
const SHORT: [&str; 6] = [
    cento::scheme::DEFAULT_SPEC,
    "reuse",
    "winnow(k=3,w=10)",
    "kgram(k=3)",
    "kgram(k=2)",
    "kgram(k=1)",
];

impl Scripts {
    pub(crate) fn run(self) -> Result {
        println!("Found first, share of the copy in passages, share of passages beside the copy:");
        let collections = [Articles::new(SETTINGS[0])?, Articles::new(SETTINGS[1])?];
        for (kind, what) in [(Kind::Copy, "copies"), (Kind::Passage, "passages")] {
            let columns = SETTINGS.map(|setting| {
                EDITS.map(|edits| {
                    if setting.rank == Rank::Overlap {
                        format!("{edits} %")
                    } else {
                        format!("`{}`, {edits} %", setting.scheme)
                    }
                })
            });
            heading(what, &columns.concat());
            for language in &LANGUAGES {
                print!("| {} |", language.name);
                for articles in &collections {
                    for edits in EDITS {
                        let found = articles.find(language, kind, edits, self.rounds)?;
                        print!(
                            " {:.2} {:.2} {:.2} |",
                            found.first_share(),
                            found.covered_share(),
                            found.beside_share()
                        );
                    }
                }
                println!();
            }
        }
        println!();
        println!("Found first, in all languages and in the worst; other hits of a changed text:");
        let columns = ["words", "copy", "one word replaced", "one word added", "other hits"];
        heading("scheme", &columns.map(str::to_owned));
        for scheme in SHORT {
            for words in WORDS {
                short(scheme, words)?;
            }
        }
        Ok(())
    }
}

/// Prints the row of a scheme and a number of words.
fn short(scheme: &'static str, words: usize) -> Result {
    let texts = ShortTexts::new(Setting { scheme, rank: Rank::Overlap }, words)?;
    print!("| `{scheme}` | {words} |");
    let (mut searches, mut others) = (0, 0);
    for change in CHANGES {
        let (mut queries, mut first) = (0, 0);
        let mut worst = (1.0, "");
        for language in &LANGUAGES {
            let found = texts.find(language, change)?;
            (queries, first) = (queries + found.queries, first + found.first);
            if change != Change::None {
                (searches, others) = (searches + found.queries, others + found.others);
            }
            if found.first_share() < worst.0 {
                worst = (found.first_share(), language.name);
            }
        }
        print!(" {:.2}", first as f64 / queries as f64);
        match worst {
            (_, "") => print!(" |"),
            (share, name) => print!(" ({name} {share:.2}) |"),
        }
    }
    println!(" {:.2} |", others as f64 / searches as f64);
    Ok(())
}

fn heading(first: &str, columns: &[String]) {
    println!();
    println!("| {first} | {} |", columns.join(" | "));
    println!("|---|{}", "---|".repeat(columns.len()));
}
