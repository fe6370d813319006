//! Schemes: the selection of a few fingerprints that represent a document.
//!
//! A [`Scheme`] reduces the tokens of a document to a *signature*: fingerprints, each a number and
//! the position of the piece it represents. Documents that share text share fingerprints. A scheme
//! is a pure function: the same tokens give the same signature on every machine, always. An index
//! stores the scheme's specification and refuses another scheme.
//!
//! | specification | selects | fingerprints a token |
//! |---|---|---|
//! | `kgram(k=5)` | all runs of k tokens | 1 |
//! | `pairs(n=100)` | all pairs of tokens, and the single tokens of short texts | 1; 2 in short texts |
//! | `mod(k=5,p=6)` | runs whose value is divisible by `p` | 1 / p |
//! | `winnow(k=5,w=10)` | the least of every `w` runs in a row | 2 / (w + 1) |
//! | `every(k=5,l=6)` | every `l`-th run | 1 / l |
//! | `random(k=5,l=6,seed=1)` | one of every `l` runs, at random | 1 / l |
//! | `extremum(k=5,h=5)` | runs of greater value than `h` on either side | 1 / (2 h + 1) |
//! | `anchor(k=5,p=6)` | runs that begin with certain words | about 1 / p |
//! | `infrequent(k=5,f=1)` | runs that begin with a word the document has at most `f` times | varies |
//! | `breaking(p=6,revised=1)` | segments between words whose hash is divisible by `p` | 1 / p |
//! | `dct(p=6)` | quantised cosine transforms of the segments of `breaking`, of `p` tokens and more | less than 1 / p |
//! | `se(c=10,variance=1)` | segments as of `breaking`, of nearly median length, `c` tokens in the mean | varies |
//! | `syntax(min=10)` | the subroutines of programs, over the analyzer `code` | varies |
//! | `spotsigs(c=2,d=1)` | what follows small words | 0.15 in English |
//! | `minhash(k=5,b=16,r=8)` | least hashes, in bands | b a document |
//! | `supershingle(k=5)` | least hashes, joined by 14 | 6 a document |
//! | `megashingle(k=5)` | pairs of supershingles | 15 a document |
//! | `simhash(k=2,d=3)` | blocks of a similarity hash | 4 to 35 a document |
//! | `lsh(b=16,r=8,w=50)` | projections of the words' frequencies | b a document |
//! | `fbw(q=4,w=146)` | the rarest of every `w` runs in a row, by a frequency table | 2 / (w + 1) |
//! | `rare(k=5,f=1)` | runs that a collection has at most `f` times | varies |
//! | `spex(k=5)` | runs that a collection has at least twice | varies |
//! | `imatch(min=2,ppm=1000,n=6)` | the words that are neither rare nor frequent, as a whole | n + 1 a document |
//! | `keywords(min=2,ppm=1000,t=2)` | the words of `imatch` that the document has `t` times, as a whole | 1 a document |
//! | `fuzzy(c=16,r=3,n=3,w=60)` | how far classes of words deviate from their expected share | n a document |
//!
//! A scheme is one file, with a [`Family`] for each name of its method and a line in the list of
//! schemes. The last six read a frequency table. Schemes whose fingerprints represent runs of
//! tokens are overlap methods (Seo and Croft 2008, section 4.1; Potthast and Stein 2008, table 1).
//! Segments do not overlap, and sketches represent whole documents. Only winnowing guarantees a
//! find: any shared run of `w + k - 1` tokens has a shared fingerprint.
//!
//! The crates above compare signatures.

mod breaking;
mod dct;
pub mod estimate;
mod family;
mod fbw;
mod fingerprint;
pub mod frequency;
mod fuzzy;
mod grams;
mod imatch;
mod keyed;
mod kgram;
mod lsh;
mod minhash;
mod modulo;
mod ngram;
mod pairs;
mod rare;
mod se;
mod select;
mod simhash;
pub mod spex;
mod spotsigs;
mod syntax;
mod winnow;

pub use cento_api::DEFAULT_SPEC;
pub use estimate::Estimator;
pub use estimate::KeyedSignature;
pub use family::{Extent, Family, Kind, Table};
pub use fingerprint::Fingerprint;
pub use fingerprint::distinct_keys;
pub use grams::Grams;
pub use ngram::values as run_values;

use crate::key::Lock;
use crate::runtime::Stop;
use crate::spec::{Spec, SpecGrammar};
use crate::{Error, Reason, Refusal, Result};
use family::SchemeBuilder;
use frequency::FrequencyTable;
use std::fmt;
use std::sync::Arc;

/// All schemes, in display order.
static FAMILIES: [&Family; 25] = [
    &kgram::FAMILY,
    &pairs::FAMILY,
    &modulo::FAMILY,
    &winnow::FAMILY,
    &select::EVERY,
    &select::RANDOM,
    &select::EXTREMUM,
    &select::ANCHOR,
    &select::INFREQUENT,
    &breaking::FAMILY,
    &dct::FAMILY,
    &se::FAMILY,
    &syntax::FAMILY,
    &spotsigs::FAMILY,
    &minhash::MINHASH,
    &minhash::SUPERSHINGLE,
    &minhash::MEGASHINGLE,
    &simhash::FAMILY,
    &lsh::FAMILY,
    &fbw::FAMILY,
    &rare::RARE,
    &rare::SPEX,
    &imatch::IMATCH,
    &imatch::KEYWORDS,
    &fuzzy::FAMILY,
];

static GRAMMAR: SpecGrammar<Family> = SpecGrammar { noun: "scheme", families: &FAMILIES };

/// Returns all families of schemes, in display order.
///
/// ```
/// use cento_text::scheme::families;
///
/// let names: Vec<&str> = families().iter().map(|family| family.name).collect();
/// assert!(["winnow", "minhash", "simhash"].iter().all(|name| names.contains(name)));
/// ```
#[must_use]
pub fn families() -> &'static [&'static Family] {
    &FAMILIES
}

/// A way to sign documents. Prints as the specification that [`parse`] reads.
///
/// Every scheme is of one of the [`families`]. Users cannot add a scheme, because an index stores
/// only the specification, and must find the scheme when the index is opened.
///
/// ```
/// // Winnowing finds every shared run of w + k - 1 tokens.
/// let scheme = cento_text::scheme::parse("winnow(k=5,w=10)")?;
/// assert_eq!((scheme.run_tokens(), scheme.window()), (Some(5), Some(10)));
/// assert_eq!(scheme.family().name, "winnow");
/// # Ok::<(), cento_text::Error>(())
/// ```
#[doc(alias = "winnowing")]
#[doc(alias = "shingle")]
#[doc(alias = "shingling")]
#[doc(alias = "MinHash")]
#[doc(alias = "SimHash")]
#[doc(alias = "fingerprinting")]
#[derive(Debug, Clone)]
pub struct Scheme {
    spec: Spec,
    family: &'static Family,
    method: Arc<dyn SchemeMethod>,
    /// The lock of the key that the fingerprints depend on, if any.
    lock: Option<Arc<Lock>>,
}

impl Scheme {
    /// Returns the scheme with fingerprints that depend on the key of this lock.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use cento_text::{Key, key::Lock, scheme};
    ///
    /// // The fingerprints of the same tokens depend on the key.
    /// let plain = scheme::parse("kgram(k=2)")?;
    /// let lock = Arc::new(Lock::open(&Key::new(*b"sixteen random b")));
    /// let keyed = plain.clone().locked(lock)?;
    /// let (mut a, mut b) = (Vec::new(), Vec::new());
    /// plain.sign(&[1, 2, 3], &mut a, cento_text::Stop::NEVER)?;
    /// keyed.sign(&[1, 2, 3], &mut b, cento_text::Stop::NEVER)?;
    /// assert!(a.len() == b.len() && a != b);
    /// # Ok::<(), cento_text::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the scheme recognizes words by their hashes, or looks words up in a table.
    pub fn locked(self, lock: Arc<Lock>) -> Result<Scheme> {
        let why = match () {
            () if self.family.table().is_some() => "it reads a frequency table, which has no key",
            () if self.method.recognizes_words() => "it recognizes words by their hashes",
            () => {
                let (spec, method) = (self.to_string(), self.method);
                let method = Arc::new(keyed::Keyed { spec, method, lock: lock.clone() });
                return Ok(Scheme { method, lock: Some(lock), ..self });
            }
        };
        let what = format!("its fingerprints cannot depend on a key: {why}; choose another scheme");
        Err(Error::spec(self.to_string(), what))
    }

    /// Returns the lock of the key that the fingerprints depend on, if any.
    pub fn lock(&self) -> Option<&Arc<Lock>> {
        self.lock.as_ref()
    }

    /// Returns the family of the scheme.
    #[must_use]
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// Returns the name and the parameters.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the number of bits of a fingerprint's key.
    #[must_use]
    pub fn key_bits(&self) -> u8 {
        self.method.key_bits()
    }

    /// Returns the length of the piece that a fingerprint represents, or `None` if a fingerprint
    /// represents the whole document.
    ///
    /// ```
    /// use cento_text::scheme::{self, Extent};
    ///
    /// assert_eq!(scheme::parse("kgram(k=3)")?.extent(), Some(Extent::Exactly(3)));
    /// // A sketch represents the whole document.
    /// assert_eq!(scheme::parse("minhash")?.extent(), None);
    /// # Ok::<(), cento_text::Error>(())
    /// ```
    #[must_use]
    pub fn extent(&self) -> Option<Extent> {
        match self.family.kind {
            Kind::Positional { span } => Some(span(&self.spec)),
            Kind::Sketch => None,
        }
    }

    /// Returns the number of tokens that a fingerprint represents, or `None` if the number varies.
    /// In a document with fewer tokens, a fingerprint represents the whole document.
    #[must_use]
    pub fn span(&self) -> Option<usize> {
        match self.extent() {
            Some(Extent::Exactly(tokens)) => Some(tokens),
            _ => None,
        }
    }

    /// Returns the number of consecutive candidate places among which at least one is selected, or
    /// `None` if no number guarantees a selection.
    #[must_use]
    pub fn window(&self) -> Option<usize> {
        self.method.window()
    }

    /// Returns the scheme that keeps all runs of a text, if this scheme chooses runs by their
    /// neighbors. `None` for other schemes.
    ///
    /// All fingerprints of this scheme are fingerprints of the returned scheme. So all runs of a
    /// text find a document of which the text is an edited copy, even if the edits changed which
    /// runs the text would keep.
    ///
    /// ```
    /// let scheme = cento_text::scheme::parse("winnow(k=5,w=10)")?;
    /// assert_eq!(scheme.of_all_runs().map(|all| all.to_string()).as_deref(), Some("kgram(k=5)"));
    /// # Ok::<(), cento_text::Error>(())
    /// ```
    #[must_use]
    pub fn of_all_runs(&self) -> Option<Scheme> {
        let tokens = self.method.chosen_run_tokens()?;
        let all = parse(&format!("kgram(k={tokens})")).ok()?;
        match &self.lock {
            Some(lock) => all.locked(lock.clone()).ok(),
            None => Some(all),
        }
    }

    /// Returns how many common tokens in a row guarantee a common fingerprint, or `None` without a
    /// guarantee.
    ///
    /// ```
    /// use cento_text::scheme;
    ///
    /// assert_eq!(scheme::parse("winnow(k=5,w=10)")?.guarantee(), Some(14));
    /// assert_eq!(scheme::parse("minhash")?.guarantee(), None);
    /// # Ok::<(), cento_text::Error>(())
    /// ```
    #[must_use]
    pub fn guarantee(&self) -> Option<usize> {
        self.span().zip(self.window()).map(|(span, window)| span + window - 1)
    }

    /// Returns the length in tokens of the runs that the similarity of texts is measured on: the
    /// length of the runs behind the fingerprints. `None` if fingerprints represent segments or
    /// single words.
    #[must_use]
    pub fn run_tokens(&self) -> Option<usize> {
        let parameters = self.family.parameters;
        match parameters.iter().any(|parameter| parameter.name == "k") {
            true => Some(self.spec.get("k") as usize),
            false => self.span().or(self.estimator().map(|estimator| estimator.run_tokens())),
        }
    }

    /// Returns the estimator of the similarity of texts from their fingerprints. `None` for schemes
    /// that select by place, cut segments or represent whole documents, and for schemes whose
    /// estimates have not been measured.
    #[must_use]
    pub fn estimator(&self) -> Option<Estimator> {
        self.method.estimator()
    }

    /// Returns the length in tokens of the runs that two available texts are compared by. For prose
    /// whose fingerprints are segments, this is the default scheme's length, because a changed word
    /// changes a whole segment, so the share of common segments is far below the resemblance.
    /// Otherwise as [`run_tokens`](Self::run_tokens). `None` for other fingerprints.
    pub fn compared_run_tokens(&self, is_of_programs: bool) -> Option<usize> {
        let of_segments = || self.segment_tokens().filter(|_| !is_of_programs).map(|_| RUN_TOKENS);
        self.run_tokens().or_else(of_segments)
    }

    /// Returns the usual length in tokens of the segments behind fingerprints, or `None` for other
    /// fingerprints.
    pub fn segment_tokens(&self) -> Option<u32> {
        self.method.segment_tokens()
    }

    /// Replaces the contents of `signature` with the fingerprints of the document whose tokens have
    /// these hashes, ordered by position.
    ///
    /// Only a document without tokens has an empty signature. A short document has at least one
    /// fingerprint, of all its tokens if necessary, so that an exact copy can be found.
    ///
    /// ```
    /// // `kgram(k=3)` keeps every run of three tokens (a shingle).
    /// let scheme = cento_text::scheme::parse("kgram(k=3)")?;
    /// let mut signature = Vec::new();
    /// scheme.sign(&[10, 20, 30, 40], &mut signature, cento_text::Stop::NEVER)?;
    /// assert_eq!(signature.iter().map(|one| one.position).collect::<Vec<_>>(), [0, 1]);
    /// # Ok::<(), cento_text::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Cancelled`] soon after `stop` is set. [`Reason::NeedsKey`] if the index is keyed
    /// and the key is unknown. No other errors.
    pub fn sign(
        &self,
        hashes: &[u64],
        signature: &mut Vec<Fingerprint>,
        stop: &Stop,
    ) -> Result<()> {
        stop.check()?;
        signature.clear();
        self.method.sign(hashes, signature, stop)?;
        stop.check()
    }

    /// Returns a signer that takes a document part by part, so that its tokens need not fit into
    /// memory. `None` if the scheme needs all tokens at once.
    ///
    /// ```
    /// let scheme = cento_text::scheme::parse("kgram(k=2)")?;
    /// let mut signature = Vec::new();
    /// let mut signer = scheme.signer().expect("k-grams need no more than k tokens at once");
    /// signer.push(&[1, 2], &mut signature);
    /// signer.push(&[3], &mut signature);
    /// signer.finish(&mut signature);
    /// // The run of tokens 2 and 3 spans both parts.
    /// assert_eq!(signature.len(), 2);
    /// # Ok::<(), cento_text::Error>(())
    /// ```
    #[must_use]
    pub fn signer(&self) -> Option<Box<dyn Signer + '_>> {
        self.method.signer()
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

/// Signs a document whose tokens arrive part by part, with the result of [`Scheme::sign`].
pub trait Signer {
    /// Takes the hashes of the next tokens, and appends the fingerprints that later tokens cannot
    /// change.
    fn push(&mut self, hashes: &[u64], signature: &mut Vec<Fingerprint>);

    /// Appends the remaining fingerprints after the last tokens.
    fn finish(self: Box<Self>, signature: &mut Vec<Fingerprint>);
}

/// The number of tokens of the runs that texts are compared by if fingerprints do not represent
/// runs: the default scheme's number.
pub const RUN_TOKENS: usize = 5;

/// The bytes per token that a scheme without a [`Signer`] needs to sign: the hash, and values,
/// places or an entry of a growing table.
pub const TOKEN_BYTES: usize = 8 + 64;

/// The implementation of a scheme. Keys are hashes of sequences unless `key_bits` is overridden.
trait SchemeMethod: fmt::Debug + Send + Sync {
    fn key_bits(&self) -> u8 {
        ngram::KEY_BITS
    }

    /// Returns the bits of a key that have a meaning of their own.
    fn key_flags(&self) -> u64 {
        0
    }

    /// Tells whether the method compares tokens with the hashes of known words or signs.
    fn recognizes_words(&self) -> bool {
        false
    }

    fn window(&self) -> Option<usize> {
        None
    }

    fn estimator(&self) -> Option<Estimator> {
        None
    }

    /// Returns the number of tokens of a run, if the method chooses runs by their neighbors.
    fn chosen_run_tokens(&self) -> Option<usize> {
        None
    }

    /// Returns the usual length in tokens of the segments that fingerprints stand for as a whole,
    /// or `None` for other fingerprints.
    fn segment_tokens(&self) -> Option<u32> {
        None
    }

    /// Appends the fingerprints of a document to an empty signature. A method that takes more than
    /// some tens of nanoseconds per token must check `stop` meanwhile. Cancellation is the only
    /// error.
    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, stop: &Stop) -> Result<()>;

    fn signer(&self) -> Option<Box<dyn Signer + '_>> {
        None
    }
}

/// Returns the scheme that `spec` describes. Missing parameters take their defaults.
///
/// ```
/// use cento_text::{Stop, scheme, text::{Tokens, analyzer::Analyzer}};
///
/// let scheme = scheme::parse("winnow(w=4)")?;
/// assert_eq!(scheme.to_string(), "winnow(k=5,w=4)");
/// let (mut tokens, mut signature) = (Tokens::default(), Vec::new());
/// Analyzer::default().analyze("one two three four five six", &mut tokens, Stop::NEVER)?;
/// scheme.sign(&tokens.hashes, &mut signature, Stop::NEVER).unwrap();
/// // A short text keeps all of its runs.
/// assert_eq!(signature.len(), 2);
/// # Ok::<(), cento_text::Error>(())
/// ```
///
/// # Errors
///
/// [`crate::Error::Spec`], which lists the allowed values.
pub fn parse(spec: &str) -> Result<Scheme> {
    parse_with(spec, None)
}

/// Does the work of [`parse`], also for schemes that read a frequency table.
///
/// # Errors
///
/// [`crate::Error::Spec`], also when the scheme needs a table and `table` is missing or counts
/// other grams, or when the scheme reads no table.
pub fn parse_with(spec: &str, table: Option<&Arc<FrequencyTable>>) -> Result<Scheme> {
    let text = spec;
    let (spec, family) = GRAMMAR.parse(text)?;
    let refused = |refusal: Refusal| Err(Error::spec(text, refusal));
    let method = match (&family.build, table) {
        (SchemeBuilder::Alone(build), None) => build(&spec),
        (SchemeBuilder::Alone(_), Some(_)) => return refused("it reads no frequency table".into()),
        (SchemeBuilder::With(..), None) => {
            let what = "it needs a frequency table";
            return refused(Refusal::new(Reason::NeedsFrequencyTable, what));
        }
        (SchemeBuilder::With(needed, build), Some(table)) => {
            let (q, has) = (needed.run_tokens(&spec), table.header().q);
            if q != has {
                let what = format!("it needs counts of runs of {q}; the table has q={has}");
                return refused(Refusal::new(Reason::OtherFrequencyTable, what));
            }
            build(&spec, table.clone())
        }
    };
    Ok(Scheme { spec, family, method: method.into(), lock: None })
}

#[cfg(test)]
mod tests;
