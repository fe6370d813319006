//! Fingerprints that depend on a secret.
//!
//! Wraps the method of any scheme that treats tokens as mere numbers. The method gets the keyed
//! hash of each token. Its fingerprints are hashed with the key again, and cut to the same number
//! of bits. A run therefore has the same fingerprint in all texts of the key. The key changes which
//! runs are selected, and where, but not how many, nor the guarantee of winnowing, nor the
//! estimates.
//!
//! A key that is cut twice loses some information: two different runs have the same fingerprint by
//! chance twice as often as without a secret.

use std::sync::Arc;

use super::{Estimator, Fingerprint, SchemeMethod, Signer};
use crate::Result;
use crate::key::{Key, Lock};
use crate::runtime::Stop;
use crate::text::mark::{is_marked, marked};

#[derive(Debug)]
pub(super) struct Keyed {
    /// The specification of the scheme, for error messages.
    pub spec: String,
    pub method: Arc<dyn SchemeMethod>,
    pub lock: Arc<Lock>,
}

/// Returns the keyed hash of a token. Only a marked token has a marked hash, because schemes treat
/// marked tokens differently.
fn token(key: &Key, hash: u64) -> u64 {
    let keyed = key.token(hash);
    match (is_marked(hash), is_marked(keyed)) {
        (true, _) => marked(keyed),
        (false, true) => keyed & (u64::MAX >> 1),
        (false, false) => keyed,
    }
}

/// The hash function of fingerprints, for a key and a scheme.
struct Hashing<'a> {
    key: &'a Key,
    bits: u8,
    flags: u64,
}

impl Hashing<'_> {
    fn of(&self, signature: &mut [Fingerprint]) {
        for fingerprint in signature {
            let keyed = self.key.fingerprint(fingerprint.key) >> (64 - self.bits);
            fingerprint.key = keyed & !self.flags | fingerprint.key & self.flags;
        }
    }
}

impl Keyed {
    fn hashing<'a>(&self, key: &'a Key) -> Hashing<'a> {
        Hashing { key, bits: self.key_bits(), flags: self.method.key_flags() }
    }
}

impl SchemeMethod for Keyed {
    fn key_bits(&self) -> u8 {
        self.method.key_bits()
    }

    fn key_flags(&self) -> u64 {
        self.method.key_flags()
    }

    fn window(&self) -> Option<usize> {
        self.method.window()
    }

    fn estimator(&self) -> Option<Estimator> {
        self.method.estimator()
    }

    fn chosen_run_tokens(&self) -> Option<usize> {
        self.method.chosen_run_tokens()
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, stop: &Stop) -> Result<()> {
        let key = self.lock.key(&self.spec)?;
        let keyed: Vec<u64> = hashes.iter().map(|&hash| token(key, hash)).collect();
        self.method.sign(&keyed, signature, stop)?;
        self.hashing(key).of(signature);
        Ok(())
    }

    /// Returns no signer without the key. The text then goes to `sign`, which refuses it.
    fn signer(&self) -> Option<Box<dyn Signer + '_>> {
        let key = self.lock.key(&self.spec).ok()?;
        let signer = self.method.signer()?;
        Some(Box::new(KeyedSigner { hashing: self.hashing(key), signer, keyed: Vec::new() }))
    }
}

/// Signs a text whose tokens arrive in parts.
struct KeyedSigner<'a> {
    hashing: Hashing<'a>,
    signer: Box<dyn Signer + 'a>,
    /// The keyed tokens of a part, kept to reuse the memory.
    keyed: Vec<u64>,
}

impl Signer for KeyedSigner<'_> {
    fn push(&mut self, hashes: &[u64], signature: &mut Vec<Fingerprint>) {
        let before = signature.len();
        self.keyed.clear();
        self.keyed.extend(hashes.iter().map(|&hash| token(self.hashing.key, hash)));
        self.signer.push(&self.keyed, signature);
        self.hashing.of(&mut signature[before..]);
    }

    fn finish(self: Box<Self>, signature: &mut Vec<Fingerprint>) {
        let before = signature.len();
        self.signer.finish(signature);
        self.hashing.of(&mut signature[before..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;
    use crate::scheme::{Scheme, families, parse};
    use crate::text::PART_TOKENS;
    use crate::{Error, Reason};
    use std::collections::HashSet;

    fn key(seed: u8) -> Key {
        Key::new(std::array::from_fn(|at| seed.wrapping_mul(31).wrapping_add(at as u8)))
    }

    fn keyed(spec: &str, seed: u8) -> Scheme {
        parse(spec).unwrap().locked(Arc::new(Lock::open(&key(seed)))).unwrap()
    }

    fn sign(scheme: &Scheme, hashes: &[u64]) -> Vec<Fingerprint> {
        let mut signature = Vec::new();
        scheme.sign(hashes, &mut signature, Stop::NEVER).unwrap();
        signature
    }

    fn tokens(seed: u64, count: usize) -> Vec<u64> {
        (0..count as u64).map(|i| mix64(seed << 40 | i)).collect()
    }

    /// All schemes that can have a key.
    fn specs() -> impl Iterator<Item = &'static str> {
        let lock = Arc::new(Lock::open(&key(1)));
        families().iter().filter(|family| family.table().is_none()).filter_map(move |family| {
            parse(family.example).unwrap().locked(lock.clone()).ok().map(|_| family.example)
        })
    }

    #[test]
    fn most_schemes_can_have_a_key() {
        let refused = |spec: &str| {
            let lock = Arc::new(Lock::open(&key(1)));
            parse(spec).unwrap().locked(lock).unwrap_err().to_string()
        };
        assert!(specs().count() >= 16, "{:?}", specs().collect::<Vec<_>>());
        for spec in ["spotsigs", "syntax(min=10)"] {
            assert!(refused(spec).contains("recognizes words"), "{spec}");
        }
    }

    #[test]
    fn equal_texts_have_equal_fingerprints_under_one_key_and_no_other() {
        let text = tokens(1, 3_000);
        for spec in specs() {
            let [a, again, b] = [1, 1, 2].map(|seed| sign(&keyed(spec, seed), &text));
            let plain = sign(&parse(spec).unwrap(), &text);
            assert_eq!(a, again, "{spec}");
            let keys = |signature: &[Fingerprint]| -> HashSet<u64> {
                signature.iter().map(|fingerprint| fingerprint.key).collect()
            };
            // With 40 bits and 3,000 fingerprints, a common key occurs once in 1e5 trials by
            // chance.
            for other in [&b, &plain] {
                assert_eq!(keys(&a).intersection(&keys(other)).count(), 0, "{spec}");
            }
            let bits = parse(spec).unwrap().key_bits();
            assert!(bits == 64 || a.iter().all(|fingerprint| fingerprint.key >> bits == 0));
        }
    }

    #[test]
    fn the_places_of_fingerprints_depend_on_the_key() {
        let text = tokens(1, 3_000);
        for spec in ["winnow(k=5,w=10)", "mod(k=5,p=6)", "breaking(p=6)"] {
            let places = |scheme: &Scheme| -> HashSet<u32> {
                sign(scheme, &text).iter().map(|fingerprint| fingerprint.position).collect()
            };
            let [a, b] = [places(&keyed(spec, 1)), places(&parse(spec).unwrap())];
            let common = a.intersection(&b).count() as f64;
            // As many as two random choices have in common.
            let by_chance = a.len() as f64 * b.len() as f64 / 3_000.0;
            assert!((common - by_chance).abs() < 6.0 * by_chance.sqrt(), "{spec}: {common}");
        }
    }

    #[test]
    fn a_keyed_signature_has_what_two_texts_share() {
        let (a, b) = (tokens(1, 400), tokens(2, 400));
        let both = [&b[..200], &a[100..300], &b[200..]].concat();
        for spec in ["winnow(k=5,w=10)", "kgram(k=3)", "pairs(n=100)"] {
            let scheme = keyed(spec, 1);
            let keys = |text: &[u64]| -> HashSet<u64> {
                sign(&scheme, text).iter().map(|fingerprint| fingerprint.key).collect()
            };
            let shared = keys(&a).intersection(&keys(&both)).count();
            assert!(shared >= 200 / 11, "{spec}: {shared}");
        }
    }

    #[test]
    fn fingerprints_are_among_those_of_all_runs() {
        for spec in specs() {
            for (scheme, count) in [0, 3, 5, 20, 300]
                .into_iter()
                .flat_map(|n| [(parse(spec).unwrap(), n), (keyed(spec, 1), n)])
            {
                let Some(all) = scheme.of_all_runs() else { continue };
                let text = tokens(6, count);
                let all = sign(&all, &text);
                assert!(
                    sign(&scheme, &text).iter().all(|one| all.contains(one)),
                    "{spec}, {count}"
                );
            }
        }
        let has = |spec: &str| parse(spec).unwrap().of_all_runs().is_some();
        assert!(has("winnow") && has("random") && !has("mod") && !has("minhash"));
    }

    #[test]
    fn parts_are_signed_as_the_whole() {
        let text = tokens(3, PART_TOKENS + 700);
        for spec in specs() {
            let scheme = keyed(spec, 1);
            let Some(mut signer) = scheme.signer() else { continue };
            let mut signature = Vec::new();
            text.chunks(1_000).for_each(|part| signer.push(part, &mut signature));
            signer.finish(&mut signature);
            assert_eq!(signature, sign(&scheme, &text), "{spec}");
        }
    }

    #[test]
    fn marks_and_the_kinds_of_pairs_stay() {
        for at in 0..2_000 {
            let hash = mix64(at);
            assert!(!is_marked(token(&key(1), hash)) && is_marked(token(&key(1), marked(hash))));
        }
        let short = tokens(4, 20);
        let kinds = |scheme: &Scheme| -> Vec<(u64, u32)> {
            sign(scheme, &short).iter().map(|found| (found.key & 1, found.position)).collect()
        };
        assert_eq!(kinds(&keyed("pairs(n=100)", 1)), kinds(&parse("pairs(n=100)").unwrap()));
    }

    #[test]
    fn nothing_is_signed_without_the_key() {
        let lock = Arc::new(Lock::closed(key(1).check_value()));
        let scheme = parse("winnow(k=5,w=10)").unwrap().locked(lock.clone()).unwrap();
        assert!(scheme.signer().is_none());
        let error = scheme.sign(&tokens(1, 50), &mut Vec::new(), Stop::NEVER).unwrap_err();
        assert_eq!(error.reason(), Reason::NeedsKey);
        assert!(matches!(error, Error::Spec { .. }));
        assert!(lock.unlock(&key(1)) && scheme.signer().is_some());
    }

    #[test]
    fn keyed_fingerprints_are_those_of_version_1() {
        let digest = |spec: &str| {
            let signature = sign(&keyed(spec, 1), &tokens(5, 500));
            signature.iter().fold(0, |sum, f| mix64(sum ^ f.key ^ u64::from(f.position) << 40))
        };
        let found = ["winnow(k=5,w=10)", "pairs(n=100)", "minhash(k=5,b=16,r=8)"].map(digest);
        assert_eq!(found, [2385767342780254423, 12928344629025683248, 3291427394058280598]);
    }
}
