//! Which few numbers stand for this document?
//!
//! A [`Scheme`] reduces the tokens of a document to its *signature*: fingerprints, each a number
//! and the place where it was taken. Documents that share text share fingerprints. A scheme is a
//! pure function: the same tokens give the same signature on every machine, for ever; an index
//! stores the scheme's specification and refuses another.
//!
//! | specification | selects | fingerprints a token |
//! |---|---|---|
//! | `kgram(k=5)` | all sequences of k tokens | 1 |
//! | `mod(k=5,p=6)` | those divisible by `p` | 1 / p |
//! | `winnow(k=5,w=10)` | the least of every `w` in a row | 2 / (w + 1) |
//! | `fbw(q=4,w=146)` | the rarest of every `w` in a row, by a frequency table | 2 / (w + 1) |
//! | `rare(k=5,f=1)`, `spex(k=5)` | those that a collection has at most `f` times, at least twice | varies |
//! | `imatch(min=2,ppm=1000,n=6)` | the words that are neither rare nor frequent, as a whole | n + 1 a document |
//! | `keywords(min=2,ppm=1000,t=2)` | those of them that the document has `t` times, as a whole | 1 a document |
//! | `fuzzy(c=16,r=3,n=3,w=60)` | how far classes of words deviate from their expected share | n a document |
//! | `every(k=5,l=6)` | every l-th | 1 / l |
//! | `random(k=5,l=6,seed=1)` | one of every `l`, at random | 1 / l |
//! | `extremum(k=5,h=5)` | the greatest among `h` on either side | 1 / (2 h + 1) |
//! | `anchor(k=5,p=6)` | those that begin with certain words | about 1 / p |
//! | `infrequent(k=5,f=1)` | those that begin with a word the document has at most `f` times | varies |
//! | `breaking(p=6,revised=1)` | segments between words whose hash is divisible by `p` | 1 / p |
//! | `dct(p=6)` | their quantised cosine transforms | less than 1 / p |
//! | `se(c=10,variance=1)` | such segments of nearly median length | varies |
//! | `syntax(min=10)` | the subroutines of programs, over the analyser `code` | varies |
//! | `spotsigs(c=2,d=1)` | what follows small words | 0.15 in English |
//! | `minhash(k=5,b=16,r=8)` | least hashes, in bands | b a document |
//! | `supershingle(k=5)`, `megashingle(k=5)` | least hashes, joined | 6, 15 a document |
//! | `simhash(k=2,d=3)` | blocks of a similarity hash | 4 to 35 a document |
//! | `lsh(b=16,r=8,w=50)` | projections of the words' frequencies | b a document |
//!
//! Those down to `infrequent` are overlap methods but for `imatch`, `keywords` and `fuzzy` (Seo and Croft 2008, section 4.1; Potthast and Stein 2008,
//! table 1), the next five do not overlap, and the others, like these three, see whole documents. Only winnowing
//! guarantees a find: any shared run of `w + k - 1` tokens has a shared fingerprint.
//!
//! Comparing signatures is left to those who read them.

mod breaking;
mod counted;
mod dct;
mod fbw;
pub mod frequency;
mod fuzzy;
mod kgram;
mod lsh;
mod minhash;
mod modulo;
mod ngram;
mod se;
mod select;
mod simhash;
pub mod spex;
mod spotsigs;
mod syntax;
mod winnow;

use crate::Result;
use crate::spec::{Family, Grammar, Parameter, Spec};
use crate::stop::Stop;
use frequency::FrequencyTable;
use minhash::Joining;
use se::Culling;
use select::Rule;
use std::fmt;
use std::sync::Arc;

/// A number that stands for a piece of a document, and where the piece begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint {
    /// The number: below `2^key_bits` of its scheme, and spread evenly.
    pub key: u64,
    /// The index of the piece's first token.
    pub position: u32,
}

/// A way to sign documents; prints as the specification that [`parse`] reads.
pub trait Scheme: fmt::Debug + fmt::Display + Send + Sync {
    /// How many bits a key has.
    fn key_bits(&self) -> u8;

    /// How many tokens a fingerprint stands for, at most.
    fn span(&self) -> usize;

    /// The number of consecutive fingerprintable places of which one at least is taken; none if
    /// there is no such number.
    fn window(&self) -> Option<usize> {
        None
    }

    /// Replaces the contents of `signature` by the fingerprints of the document with tokens of these
    /// hashes, by position.
    ///
    /// Only a document without tokens has an empty signature: a short one has one fingerprint at
    /// least, made of all its tokens if need be, so that an exact copy of it can be found.
    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>);

    /// The same, as long as somebody waits for it.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    fn sign_until(
        &self,
        hashes: &[u64],
        signature: &mut Vec<Fingerprint>,
        stop: Stop<'_>,
    ) -> Result<()> {
        stop.check()?;
        self.sign(hashes, signature);
        stop.check()
    }

    /// What signs a document part by part, so that its tokens need not be held; none if the scheme has
    /// to see all of them.
    fn signer(&self) -> Option<Box<dyn Signer + '_>> {
        None
    }
}

/// Signs one document whose tokens come part by part, as [`Scheme::sign`] does.
pub trait Signer {
    /// Appends the fingerprints that are certain after the tokens of these hashes, which come next.
    fn push(&mut self, hashes: &[u64], signature: &mut Vec<Fingerprint>);

    /// Appends those that are left when all tokens have come.
    fn finish(self: Box<Self>, signature: &mut Vec<Fingerprint>);
}

/// What a scheme without a [`Signer`] takes for a while to sign, for each token: its hash, and values,
/// places or an entry of a table that is growing.
pub const TOKEN_BYTES: usize = 8 + 64;

/// What a scheme does, whatever it is called: the methods of [`Scheme`], of keys that are hashes of
/// sequences if it does not say otherwise.
trait Method: fmt::Debug + Send + Sync {
    fn key_bits(&self) -> u8 {
        ngram::KEY_BITS
    }

    fn span(&self) -> usize;

    fn window(&self) -> Option<usize> {
        None
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>);

    /// Those that take more than some tens of nanoseconds a token look at `stop` meanwhile.
    fn sign_until(
        &self,
        hashes: &[u64],
        signature: &mut Vec<Fingerprint>,
        _stop: Stop<'_>,
    ) -> Result<()> {
        self.sign(hashes, signature);
        Ok(())
    }

    fn signer(&self) -> Option<Box<dyn Signer + '_>> {
        None
    }
}

/// What a method that may be stopped gives when it is not.
fn never_stopped<T>(signed: Result<T>) -> T {
    signed.expect("signing fails only when it is stopped")
}

/// A method with the specification that it is read from.
#[derive(Debug)]
struct Specified<M> {
    spec: Spec,
    method: M,
}

impl<M> fmt::Display for Specified<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

impl<M: Method> Scheme for Specified<M> {
    fn key_bits(&self) -> u8 {
        self.method.key_bits()
    }

    fn span(&self) -> usize {
        self.method.span()
    }

    fn window(&self) -> Option<usize> {
        self.method.window()
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>) {
        self.method.sign(hashes, signature);
    }

    fn signer(&self) -> Option<Box<dyn Signer + '_>> {
        self.method.signer()
    }

    fn sign_until(
        &self,
        hashes: &[u64],
        signature: &mut Vec<Fingerprint>,
        stop: Stop<'_>,
    ) -> Result<()> {
        stop.check()?;
        self.method.sign_until(hashes, signature, stop)?;
        stop.check()
    }
}

fn named(spec: &Spec, method: impl Method + 'static) -> Box<dyn Scheme> {
    Box::new(Specified { spec: spec.clone(), method })
}

/// The specification of the scheme used when none is named.
///
/// On 366 MB of English documentation it keeps 10.4 M fingerprints, 28 a kilobyte.
pub const DEFAULT_SPEC: &str = "winnow(k=5,w=10)";

/// The longest sequence of tokens that can be hashed.
const K_MAX: u32 = 64;

/// The widest window; more than a page of text.
const W_MAX: u32 = 512;

/// The longest stretch of which one k-gram is kept, and the longest mean length of a segment.
const L_MAX: u32 = 4096;

const fn number(name: &'static str, default: u32, min: u32, max: u32) -> Parameter {
    Parameter::number(name, default, min, max)
}

const K: Parameter = number("k", 5, 1, K_MAX);

static GRAMMAR: Grammar = Grammar {
    noun: "scheme",
    absent: &[],
    families: &[
        Family { name: "kgram", parameters: &[K] },
        Family { name: "mod", parameters: &[K, number("p", 6, 1, 1 << 20)] },
        Family { name: "winnow", parameters: &[K, number("w", 10, 1, W_MAX)] },
        Family { name: "fbw", parameters: &[number("q", 4, 1, K_MAX), number("w", 146, 1, W_MAX)] },
        Family { name: "rare", parameters: &[K, number("f", 1, 1, L_MAX)] },
        Family { name: "spex", parameters: &[K] },
        Family {
            name: "imatch",
            parameters: &[
                number("min", 2, 0, u32::MAX),
                number("ppm", 1000, 1, 1_000_000),
                number("n", 6, 0, 64),
            ],
        },
        Family {
            name: "keywords",
            parameters: &[
                number("min", 2, 0, u32::MAX),
                number("ppm", 1000, 1, 1_000_000),
                number("t", 2, 1, 1000),
            ],
        },
        Family {
            name: "fuzzy",
            parameters: &[
                number("c", 16, 2, 64),
                number("r", 3, 2, 8),
                number("n", 3, 1, 64),
                number("w", 60, 1, 1000),
            ],
        },
        Family { name: "every", parameters: &[K, number("l", 6, 1, L_MAX)] },
        Family {
            name: "random",
            parameters: &[K, number("l", 6, 1, L_MAX), number("seed", 1, 0, u32::MAX)],
        },
        Family { name: "extremum", parameters: &[K, number("h", 5, 1, W_MAX)] },
        Family { name: "anchor", parameters: &[K, number("p", 6, 1, L_MAX)] },
        Family { name: "infrequent", parameters: &[K, number("f", 1, 1, L_MAX)] },
        Family {
            name: "breaking",
            parameters: &[number("p", 6, 1, L_MAX), number("revised", 1, 0, 1)],
        },
        Family { name: "dct", parameters: &[number("p", 6, 2, L_MAX)] },
        Family {
            name: "se",
            parameters: &[number("c", 10, 1, L_MAX), number("variance", 1, 0, 1)],
        },
        Family { name: "syntax", parameters: &[number("min", 10, 1, L_MAX)] },
        Family { name: "spotsigs", parameters: &[number("c", 2, 1, 8), number("d", 1, 1, 8)] },
        Family {
            name: "minhash",
            parameters: &[K, number("b", 16, 1, 256), number("r", 8, 1, 64)],
        },
        Family { name: "supershingle", parameters: &[K] },
        Family { name: "megashingle", parameters: &[K] },
        Family { name: "simhash", parameters: &[number("k", 2, 1, K_MAX), number("d", 3, 1, 4)] },
        Family {
            name: "lsh",
            parameters: &[number("b", 16, 1, 256), number("r", 8, 1, 64), number("w", 50, 1, 1000)],
        },
    ],
};

/// The scheme that `spec` describes; parameters left out take their defaults.
///
/// ```
/// use cento::{scheme, text::{Tokens, analyzer::Analyzer}};
///
/// let scheme = scheme::parse("winnow(w=4)")?;
/// assert_eq!(scheme.to_string(), "winnow(k=5,w=4)");
/// let (mut tokens, mut signature) = (Tokens::default(), Vec::new());
/// Analyzer::default().analyze("one two three four five six", &mut tokens)?;
/// scheme.sign(&tokens.hashes, &mut signature);
/// assert_eq!(signature.len(), 1);
/// # Ok::<(), cento::Error>(())
/// ```
///
/// # Errors
///
/// [`crate::Error::Spec`], naming what is allowed.
pub fn parse(spec: &str) -> Result<Box<dyn Scheme>> {
    parse_with(spec, None)
}

/// As [`parse`], for schemes that read a frequency table too.
///
/// # Errors
///
/// [`crate::Error::Spec`], also when the scheme needs a table and has none, or one of other grams,
/// or needs none.
pub fn parse_with(spec: &str, table: Option<&Arc<FrequencyTable>>) -> Result<Box<dyn Scheme>> {
    let text = spec;
    let spec = Spec::parse(spec, &GRAMMAR)?;
    let get = |name: &str| spec.get(name) as usize;
    let refused = |what: &str| Err(crate::Error::spec(text, what));
    if let Some(q) = counted_grams(&spec) {
        let Some(table) = table.cloned() else {
            let what = "it needs a frequency table";
            return refused(what);
        };
        if table.header().q != q {
            let has = table.header().q;
            return refused(&format!("it needs counts of runs of {q}; the table has q={has}"));
        }
        let rule = match spec.name() {
            "fbw" => return Ok(named(&spec, fbw::Fbw::new(q, get("w"), table))),
            "fuzzy" => return Ok(named(&spec, fuzzy::Fuzzy::new(&spec, &table))),
            "rare" => counted::Rule::AtMost(u64::from(spec.get("f"))),
            "spex" => counted::Rule::AtLeast(2),
            name => counted::Rule::Match {
                min: u64::from(spec.get("min")),
                ppm: u64::from(spec.get("ppm")),
                lexicons: if name == "imatch" { u64::from(spec.get("n")) } else { 0 },
                times: if name == "keywords" { get("t") } else { 1 },
            },
        };
        return Ok(named(&spec, counted::Counted::new(q, rule, table)));
    }
    if table.is_some() {
        return refused("it reads no frequency table");
    }
    Ok(match spec.name() {
        "kgram" => named(&spec, kgram::Kgram::new(get("k"))),
        "mod" => named(&spec, modulo::Modulo::new(get("k"), spec.get("p"))),
        "winnow" => named(&spec, winnow::Winnow::new(get("k"), get("w"))),
        "breaking" => named(&spec, breaking::Breaking::new(get("p"), get("revised") == 1)),
        "dct" => named(&spec, dct::Dct::new(get("p"))),
        "se" => {
            let culling = if get("variance") == 1 { Culling::Variance } else { Culling::Sqrt };
            named(&spec, se::Se::new(get("c"), culling))
        }
        "syntax" => named(&spec, syntax::Syntax::new(get("min"))),
        "spotsigs" => named(&spec, spotsigs::Spotsigs::new(get("c"), get("d"))),
        "minhash" => {
            let joining = Joining::Bands { bands: get("b"), rows: get("r") };
            named(&spec, minhash::Minhash::new(get("k"), joining))
        }
        "supershingle" => named(&spec, minhash::Minhash::new(get("k"), Joining::Super)),
        "megashingle" => named(&spec, minhash::Minhash::new(get("k"), Joining::Mega)),
        "simhash" => named(&spec, simhash::Simhash::new(get("k"), spec.get("d"))),
        "lsh" => named(&spec, lsh::Lsh::new(get("b"), get("r"), spec.get("w"))),
        name => {
            let rule = match name {
                "every" => Rule::Every { l: get("l") },
                "random" => Rule::Random { l: get("l"), seed: u64::from(spec.get("seed")) },
                "extremum" => Rule::Extremum { h: get("h") },
                "anchor" => Rule::Anchor { p: u64::from(spec.get("p")) },
                "infrequent" => Rule::Infrequent { f: spec.get("f") },
                name => unreachable!("`{name}` is in the grammar and has no scheme"),
            };
            named(&spec, select::Select::new(get("k"), rule))
        }
    })
}

/// The tokens of the grams that a table must count, for the schemes that read one.
fn counted_grams(spec: &Spec) -> Option<usize> {
    match spec.name() {
        "fbw" => Some(spec.get("q") as usize),
        "rare" | "spex" => Some(spec.get("k") as usize),
        "imatch" | "keywords" | "fuzzy" => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
