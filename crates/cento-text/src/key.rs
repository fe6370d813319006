//! Which secret do the fingerprints of a keyed index depend on?
//!
//! A [`Key`] is 16 random bytes shared by two or more parties. SipHash-2-4, a keyed pseudorandom
//! function (Aumasson and Bernstein 2012), is applied to everything that an index derives from a
//! text: to the hashes of tokens, so that the key decides which fingerprints are chosen and where,
//! to the chosen fingerprints, so that a fingerprint tells nothing of its tokens, and to the digest
//! of the text. Every use has its own derived key, including the check value that tells which key
//! an index or a signature needs. The derived keys are outputs of the same function under the
//! secret, as NIST SP 800-108 derives keys. SECURITY.md states what a key protects.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

use siphasher::sip::SipHasher24;
use siphasher::sip128;

use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::reason::{Reason, Refusal};

const KEY_BYTES: usize = 16;

/// The maximum length in bytes of a key file: 32 digits, and spaces around them.
const FILE_BYTES_MAX: u64 = 256;

/// A secret that the fingerprints of a keyed index depend on.
///
/// A key is never printed, logged or stored: [`check_value`](Self::check_value) identifies it. With
/// the key, the fingerprints of any text can be computed and compared.
///
/// ```
/// use cento_text::Key;
///
/// let [key, other] = [b"sixteen random b", b"sixteen others b"].map(|secret| Key::new(*secret));
/// assert_ne!(key.check_value(), other.check_value());
/// ```
#[derive(Clone)]
pub struct Key {
    tokens: SipHasher24,
    fingerprints: SipHasher24,
    texts: sip128::SipHasher24,
    check_value: u64,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

impl Key {
    /// Makes a key of random bytes. Do not use a word or a phrase, which can be guessed.
    #[must_use]
    pub fn new(secret: [u8; KEY_BYTES]) -> Key {
        let secret = sip128::SipHasher24::new_with_key(&secret);
        // Every label contains the version of the whole derivation.
        let derived = |label: &str| secret.hash(label.as_bytes());
        let key = |label: &str| u128::from(derived(label)).to_le_bytes();
        Key {
            tokens: SipHasher24::new_with_key(&key("cento key 1: tokens")),
            fingerprints: SipHasher24::new_with_key(&key("cento key 1: fingerprints")),
            texts: sip128::SipHasher24::new_with_key(&key("cento key 1: texts")),
            check_value: derived("cento key 1: check value").h1,
        }
    }

    /// Reads a key from a file: 32 hexadecimal digits on one line, as `openssl rand -hex 16`
    /// writes.
    ///
    /// # Errors
    /// When the file cannot be read or contains anything else, and on Unix when users outside the
    /// group can read the file, or when anybody but the owner can write to it.
    pub fn read(path: impl AsRef<Path>) -> Result<Key> {
        let path = path.as_ref();
        let failed = |e| Error::io("read the key in", path, e);
        let refused = |what: &str| Err(Error::input(path.display().to_string(), what));
        let file = std::fs::File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return refused("it is a directory; name the file with the key");
        }
        if !is_private(&metadata) {
            return refused("other users can read this key, or change it; run `chmod 600` on it");
        }
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
        let digits = bytes.trim_ascii();
        match secret_of(digits) {
            Some(secret) if secret.iter().any(|byte| *byte != secret[0]) => Ok(Key::new(secret)),
            Some(_) => refused("all bytes of this key are equal; `openssl rand -hex 16` makes one"),
            None => refused(
                "it is not a key, which is 32 hexadecimal digits; `openssl rand -hex 16` makes one",
            ),
        }
    }

    /// Returns the value that tells which key an index or a signature was made with. The value
    /// reveals nothing else of the key.
    #[must_use]
    pub fn check_value(&self) -> CheckValue {
        CheckValue(self.check_value)
    }

    /// Returns the keyed hash of a token.
    ///
    /// ```
    /// use cento_text::Key;
    ///
    /// let (ours, theirs) = (Key::new(*b"sixteen random b"), Key::new(*b"sixteen others b"));
    /// // Without the key, nobody can tell which word a hash stands for.
    /// assert_ne!(ours.token(7), theirs.token(7));
    /// assert_eq!(ours.token(7), ours.clone().token(7));
    /// ```
    #[inline]
    pub fn token(&self, hash: u64) -> u64 {
        self.tokens.hash(&hash.to_le_bytes())
    }

    /// Returns the keyed hash of a fingerprint's key.
    #[inline]
    pub fn fingerprint(&self, key: u64) -> u64 {
        self.fingerprints.hash(&key.to_le_bytes())
    }

    /// Returns the keyed digest of a text.
    pub fn digest(&self, text: &str) -> Digest {
        Digest::from(u128::from(self.texts.hash(text.as_bytes())))
    }
}

/// Identifies a [`Key`]. Prints as 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckValue(u64);

impl fmt::Display for CheckValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl CheckValue {
    /// Reads the output of `Display`, and only that form: `None` for capitals or fewer digits.
    pub fn parse(text: &str) -> Option<CheckValue> {
        let value = CheckValue(u64::from_str_radix(text, 16).ok()?);
        (value.to_string() == text).then_some(value)
    }
}

/// The need for a key, and the key once it is known.
#[derive(Debug)]
pub struct Lock {
    check_value: CheckValue,
    key: OnceLock<Key>,
}

impl Lock {
    /// Makes the lock of an index or a signature that needs the key with this check value.
    pub fn closed(check_value: CheckValue) -> Lock {
        Lock { check_value, key: OnceLock::new() }
    }

    /// Makes a lock whose key is known.
    pub fn open(key: &Key) -> Lock {
        Lock { check_value: key.check_value(), key: key.clone().into() }
    }

    /// Returns the check value of the key that the lock needs.
    pub fn check_value(&self) -> CheckValue {
        self.check_value
    }

    /// Makes the key known. Returns `false` without effect if the check value of `key` differs.
    pub fn unlock(&self, key: &Key) -> bool {
        let fits = key.check_value() == self.check_value;
        if fits {
            self.key.get_or_init(|| key.clone());
        }
        fits
    }

    /// Returns the key, or `None` while it is unknown.
    pub fn known(&self) -> Option<&Key> {
        self.key.get()
    }

    /// Returns the key, for an error message about the scheme `spec`.
    ///
    /// # Errors
    /// [`Reason::NeedsKey`] while the key is unknown.
    pub fn key(&self, spec: &str) -> Result<&Key> {
        self.key.get().ok_or_else(|| {
            let what = format!(
                "its fingerprints depend on a key here, the one with the check value {}, without \
                 which no text can be signed",
                self.check_value
            );
            Error::spec(spec, Refusal::new(Reason::NeedsKey, what))
        })
    }
}

/// Reads exactly 32 hexadecimal digits.
fn secret_of(digits: &[u8]) -> Option<[u8; KEY_BYTES]> {
    let (mut secret, nibble) = ([0; KEY_BYTES], |digit: u8| char::from(digit).to_digit(16));
    if digits.len() != 2 * KEY_BYTES {
        return None;
    }
    for (byte, pair) in secret.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = (nibble(pair[0])? << 4 | nibble(pair[1])?) as u8;
    }
    Some(secret)
}

/// Returns whether only the owner and perhaps the group can read a file, and only the owner can
/// write to it.
#[cfg(unix)]
fn is_private(file: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.permissions().mode() & 0o027 == 0
}

/// Other systems do not examine permissions (SECURITY.md, "Keyed indexes").
#[cfg(not(unix))]
fn is_private(_: &std::fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(seed: u8) -> Key {
        Key::new(std::array::from_fn(|at| seed.wrapping_add(at as u8)))
    }

    #[test]
    fn the_derivation_is_that_of_version_1() {
        // For SipHash-2-4 itself: the first vector of its reference implementation.
        let of_paper = SipHasher24::new_with_key(&std::array::from_fn(|at| at as u8));
        assert_eq!(
            of_paper.hash(&[]).to_le_bytes(),
            [0x31, 0x0e, 0x0e, 0xdd, 0x47, 0xdb, 0x6f, 0x72]
        );
        let key = key(0);
        let found = [key.check_value, key.token(1), key.fingerprint(1), key.digest("text").low];
        // As a program in Python computes the values from segments-format.md, section 3.
        let expected = [
            0xea74_9923_4458_c911,
            0xa358_aecb_9114_47d5,
            0x0799_3cdc_ce5a_ad26,
            0x5084_1855_615d_bf22,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_key_is_not_printed() {
        assert_eq!(format!("{:?}", key(1)), "Key { .. }");
        assert!(!format!("{:?}", Lock::open(&key(1))).contains("tokens"));
    }

    #[test]
    fn a_lock_opens_with_its_key_alone() {
        let lock = Lock::closed(key(1).check_value());
        assert_eq!(lock.key("kgram").unwrap_err().reason(), Reason::NeedsKey);
        assert!(!lock.unlock(&key(2)) && lock.key("kgram").is_err());
        assert!(lock.unlock(&key(1)) && lock.key("kgram").is_ok());
    }

    #[test]
    fn a_check_value_is_read_as_it_is_printed() {
        let value = key(3).check_value();
        assert_eq!(CheckValue::parse(&value.to_string()), Some(value));
        for text in ["", "12", "+123456789abcdef", "0123456789ABCDEF", "0123456789abcdef0"] {
            assert_eq!(CheckValue::parse(text), None, "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_no_key_or_no_secret_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let digits = "000102030405060708090a0b0c0d0e0F";
        let read = |text: &str, mode: u32| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            Key::read(&path).map(|key| key.check_value).map_err(|error| error.to_string())
        };
        for text in [digits, &format!("{digits}\n"), &format!(" {digits} \r\n")] {
            assert_eq!(read(text, 0o600), Ok(key(0).check_value));
        }
        assert!(read(digits, 0o640).is_ok() && read(digits, 0o400).is_ok());
        for mode in [0o644, 0o660, 0o604, 0o602] {
            assert!(read(digits, mode).unwrap_err().contains("chmod 600"), "{mode:o}");
        }
        let zero = "0".repeat(32);
        for (text, said) in [
            ("", "32 hexadecimal digits"),
            (&digits[1..], "32 hexadecimal digits"),
            ("a pass phrase of 32 letters, yes!", "32 hexadecimal digits"),
            (&format!("{digits}{digits}"), "32 hexadecimal digits"),
            (&zero, "all bytes of this key are equal"),
        ] {
            let error = read(text, 0o600).unwrap_err();
            assert!(error.contains(said), "{error}");
            assert!(text.len() < 20 || !error.contains(&text[..20]), "it is not printed");
        }
        let error = Key::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("it is a directory"), "{error}");
    }
}
