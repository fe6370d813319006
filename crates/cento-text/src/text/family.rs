//! The description and implementation of a family of analyzers.
//!
//! The file of an analyzer has a [`Family`] for each name of the analyzer. The list of families in
//! `analyzer` is the only other place that names an analyzer.

use super::{PartHashes, Take, Tokens};
use crate::Result;
use crate::runtime::Stop;
use crate::spec::{self, Description, Parameter, Spec};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A family of analyzers: a name, its parameters, and how an analyzer is made.
#[derive(Debug)]
pub struct Family {
    /// The name before the parenthesis.
    pub name: &'static str,
    /// The parameters, in canonical order.
    pub parameters: &'static [Parameter],
    /// The tokens that the analyzer makes, as a clause.
    pub summary: &'static str,
    /// The source: paper and section. Empty if cento invented the method.
    pub source: &'static str,
    /// A specification that parses, as an example for users.
    pub example: &'static str,
    /// The function that builds an analyzer from a specification.
    pub(super) build: Build,
}

/// Builds an analyzer from a specification.
pub(super) type Build = fn(&Spec) -> Arc<dyn AnalyzerMethod>;

impl spec::Family for Family {
    fn describe(&self) -> Description {
        let Family { name, parameters, summary, source, example, .. } = *self;
        Description { name, parameters, summary, source, example }
    }
}

/// The implementation of an analyzer.
///
/// The loops of an analyzer are compiled for each kind of sink, so this trait cannot be a trait
/// object. [`AnalyzerMethod`] can.
pub(super) trait Tokenize: fmt::Debug + Send + Sync {
    /// Appends the tokens of `text`, which is at most `u32::MAX` bytes long. Cancellation is the
    /// only error.
    fn tokenize(&self, text: &str, tokens: &mut impl Take, stop: &Stop) -> Result<()>;

    /// Returns the temporary memory, in bytes, for the analysis of a text of this many bytes.
    fn scratch_bytes(&self, _text_bytes: usize) -> usize {
        0
    }

    /// Returns the bytes that are the tokens of an ASCII text, in their order, if there are only a
    /// few different tokens. Tokens of other texts may differ.
    fn alphabet(&self) -> Option<&'static [u8]> {
        None
    }

    /// Returns the specification of the analyzer whose tokens delimit passages, if it differs from
    /// this analyzer: an analyzer that omits no words.
    fn of_passages(&self) -> Option<String> {
        None
    }

    /// If this analyzer omits words or parts of words, returns the specification of the analyzer
    /// that reads the same texts without omissions, with the words of tags or without.
    fn of_all_words(&self, _with_tags: bool) -> Option<String> {
        None
    }

    fn tokens_a_word(&self) -> u32 {
        1
    }

    /// Returns texts that show the effects of the analyzer on all kinds of text.
    fn samples(&self) -> Vec<Cow<'static, str>> {
        vec![SAMPLE.into()]
    }

    /// Returns the contents of the tables that the analyzer reads, as numbers.
    fn table_hashes(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// A text in many scripts, with characters whose treatment Unicode has changed or may change.
pub(super) const SAMPLE: &str = include_str!("sample.txt");

/// The object-safe form of [`Tokenize`], with a method for each kind of sink.
pub(super) trait AnalyzerMethod: fmt::Debug + Send + Sync {
    fn push_tokens(&self, text: &str, tokens: &mut Tokens, stop: &Stop) -> Result<()>;
    fn push_parts(&self, text: &str, parts: &mut PartHashes<'_>, stop: &Stop) -> Result<()>;
    fn scratch_bytes(&self, text_bytes: usize) -> usize;
    fn alphabet(&self) -> Option<&'static [u8]>;
    fn of_passages(&self) -> Option<String>;
    fn of_all_words(&self, with_tags: bool) -> Option<String>;
    fn tokens_a_word(&self) -> u32;
    fn samples(&self) -> Vec<Cow<'static, str>>;
    fn table_hashes(&self) -> Vec<u64>;
}

impl<T: Tokenize> AnalyzerMethod for T {
    fn push_tokens(&self, text: &str, tokens: &mut Tokens, stop: &Stop) -> Result<()> {
        self.tokenize(text, tokens, stop)
    }

    fn push_parts(&self, text: &str, parts: &mut PartHashes<'_>, stop: &Stop) -> Result<()> {
        self.tokenize(text, parts, stop)
    }

    fn scratch_bytes(&self, text_bytes: usize) -> usize {
        Tokenize::scratch_bytes(self, text_bytes)
    }

    fn alphabet(&self) -> Option<&'static [u8]> {
        Tokenize::alphabet(self)
    }

    fn of_passages(&self) -> Option<String> {
        Tokenize::of_passages(self)
    }

    fn of_all_words(&self, with_tags: bool) -> Option<String> {
        Tokenize::of_all_words(self, with_tags)
    }

    fn tokens_a_word(&self) -> u32 {
        Tokenize::tokens_a_word(self)
    }

    fn samples(&self) -> Vec<Cow<'static, str>> {
        Tokenize::samples(self)
    }

    fn table_hashes(&self) -> Vec<u64> {
        Tokenize::table_hashes(self)
    }
}
