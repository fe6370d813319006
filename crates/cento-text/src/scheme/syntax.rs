//! Fingerprints of the subroutines of a program.
//!
//! Syntax-based chunking (Finkel et al. 2002, section 2.1): every paragraph of a program, as the
//! analyzer `code` marks paragraphs, is one fingerprint. Paragraphs of fewer than `min` tokens are
//! dropped, because any program may have short paragraphs.

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, L_MAX, SEGMENTS, SchemeBuilder};
use super::ngram;
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::runtime::Stop;
use crate::spec::Parameter;
use crate::text::paragraph_break;

pub(super) const FAMILY: Family = Family {
    name: "syntax",
    parameters: &[Parameter::number(
        "min",
        10,
        1,
        L_MAX,
        "subroutines of fewer tokens are left out",
    )],
    summary: "the subroutines of programs, over the analyzer `code`",
    density: "varies",
    source: "Finkel, Zaslavsky, Monostori and Schmidt 2002, section 2.1",
    example: "syntax(min=10)",
    kind: SEGMENTS,
    build: SchemeBuilder::Alone(|spec| Box::new(Syntax::new(spec.get("min") as usize))),
    #[cfg(test)]
    laws: Laws {
        small: &["syntax(min=3)"],
        pins: &[("syntax(min=3)", "code(language=c)", 15530761461153668865)],
        has_one: true,
        ..Laws::NONE
    },
};

/// `syntax(min)`. A document without a long paragraph has one fingerprint of the whole.
#[derive(Debug)]
struct Syntax {
    min: usize,
    paragraph_break: u64,
}

impl Syntax {
    fn new(min: usize) -> Syntax {
        Syntax { min, paragraph_break: paragraph_break() }
    }
}

impl SchemeMethod for Syntax {
    fn recognizes_words(&self) -> bool {
        true
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        let mut position = 0;
        for paragraph in hashes.split(|hash| *hash == self.paragraph_break) {
            if paragraph.len() >= self.min {
                signature.push(ngram::fingerprint(ngram::value(paragraph), position));
            }
            position += paragraph.len() + 1;
        }
        if signature.is_empty() && !hashes.is_empty() {
            signature.push(ngram::fingerprint(ngram::value(hashes), 0));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::parse;
    use crate::text::{Analyzer, Tokens};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn paragraphs_are_signed_as_the_documents_they_would_be(
            paragraphs in prop::collection::vec(prop::collection::vec(1u64..4, 0..6), 1..6),
            min in 1usize..5,
        ) {
            let sign = |hashes: Vec<u64>| {
                let mut signature = Vec::new();
                parse(&format!("syntax(min={min})")).unwrap().sign(&hashes, &mut signature, Stop::NEVER).unwrap();
                signature
            };
            let mut expected = Vec::new();
            let mut at = 0;
            for paragraph in &paragraphs {
                if paragraph.len() >= min {
                    let key = sign(paragraph.clone())[0].key;
                    expected.push(Fingerprint { key, position: at });
                }
                at += paragraph.len() as u32 + 1;
            }
            let whole = paragraphs.join(&paragraph_break());
            let found = sign(whole.clone());
            if expected.is_empty() {
                prop_assert_eq!(found.len(), usize::from(!whole.is_empty()));
            } else {
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn a_renamed_and_moved_subroutine_is_found() {
        let sign = |text: &str| -> Vec<u64> {
            let analyzer: Analyzer = "code(language=python)".parse().unwrap();
            let (mut tokens, mut signature) = (Tokens::default(), Vec::new());
            analyzer.analyze(text, &mut tokens, Stop::NEVER).unwrap();
            parse("syntax").unwrap().sign(&tokens.hashes, &mut signature, Stop::NEVER).unwrap();
            signature.iter().map(|fingerprint| fingerprint.key).collect()
        };
        let sum = "def total(items):\n    sum = 0\n    for item in items:\n        sum += item\n    return sum\n";
        let other =
            "def greet(name, times):\n    for i in range(times):\n        print('hello', name)\n";
        let copied = "def f(xs):\n  # mine\n  s = 1\n  for x in xs:\n    s += x\n  return s\n";
        assert_eq!(sign(&format!("{other}{copied}"))[1], sign(sum)[0]);
        assert_ne!(sign(sum), sign(other));
    }
}
