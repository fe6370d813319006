//! Tokens for reading and for writing.
//!
//! They are bearer tokens (RFC 6750), each with a role. Without tokens every client that reaches
//! the service may do everything, which is why it then listens on the loopback address only.

use std::sync::{Arc, PoisonError, RwLock};

use axum::http::{HeaderMap, header};
use subtle::ConstantTimeEq;

use cento::{Error, Result};

/// The permissions of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// To search, and to read documents.
    Read,
    /// To add, remove, commit and compact too.
    Write,
}

/// A role, and its token.
type Token = (Role, Vec<u8>);

/// A shorter token could be guessed.
const TOKEN_BYTES_MIN: usize = 16;

/// The tokens of a service; without tokens, every client may do everything. All clones are replaced
/// together.
#[derive(Default, Clone)]
pub struct Tokens {
    tokens: Arc<RwLock<Vec<Token>>>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

impl Tokens {
    /// Reads tokens, one per line: `read` or `write`, then the token. Empty lines and lines that
    /// begin with `#` are ignored.
    ///
    /// # Errors
    /// When a line has another form, or a token is too short; `place` names the file.
    pub fn parse(text: &str, place: &str) -> Result<Tokens> {
        let mut tokens = Vec::new();
        // Editors of Windows write a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let refused = |what: &str| Error::input(format!("{place}:{number}"), what);
            let (role, token) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let role = match role {
                "read" => Role::Read,
                "write" => Role::Write,
                _ => return Err(refused("expected `read TOKEN` or `write TOKEN`")),
            };
            let token = token.trim();
            let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
            if token.len() < TOKEN_BYTES_MIN || !is_plain {
                let what = "a token must have at least 16 ASCII characters and no space; make one \
                            with `openssl rand -hex 32`";
                return Err(refused(what));
            }
            tokens.push((role, token.as_bytes().to_vec()));
        }
        if tokens.is_empty() {
            return Err(Error::input(place, "the file contains no token"));
        }
        Ok(Tokens { tokens: Arc::new(RwLock::new(tokens)) })
    }

    /// Replaces the tokens with those of `new`, from now on.
    ///
    /// # Panics
    /// When `new` is empty and the tokens before were not: every client could do everything then.
    pub fn replace(&self, new: Tokens) {
        let new = new.tokens.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut tokens = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
        assert!(tokens.is_empty() || !new.is_empty(), "tokens are replaced by tokens");
        *tokens = new;
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.tokens.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Returns the role of a request with these headers; `None` without a known token.
    pub fn role(&self, headers: &HeaderMap) -> Option<Role> {
        if self.is_empty() {
            return Some(Role::Write);
        }
        self.known(headers).map(|(role, _)| role)
    }

    /// Returns the role of the token of a request, and its number.
    pub fn known(&self, headers: &HeaderMap) -> Option<(Role, usize)> {
        let given = headers.get(header::AUTHORIZATION)?.as_bytes();
        let (scheme, given) = given.split_at_checked("Bearer ".len())?;
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return None;
        }
        // Every token is compared, in constant time, so that an answer reveals nothing about them.
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let known = (0..).zip(tokens.iter()).filter(|(_, (_, token))| token.ct_eq(given).into());
        known.fold(None, |most, (number, (role, _))| most.max(Some((*role, number))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(tokens: &Tokens, header: &str) -> Option<Role> {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, header.parse().unwrap());
        tokens.role(&headers)
    }

    #[test]
    fn a_token_has_a_role() {
        let text = "# who\nread 0123456789abcdef\n\nwrite  fedcba9876543210\n";
        let tokens = Tokens::parse(text, "tokens").unwrap();
        assert_eq!(role(&tokens, "Bearer 0123456789abcdef"), Some(Role::Read));
        assert_eq!(role(&tokens, "bearer fedcba9876543210"), Some(Role::Write));
        for other in ["Bearer 0123456789abcde", "Bearer", "Basic 0123456789abcdef", "Bearer "] {
            assert_eq!(role(&tokens, other), None, "{other}");
        }
        assert_eq!(tokens.role(&HeaderMap::new()), None);
    }

    #[test]
    fn without_tokens_everything_is_allowed() {
        assert_eq!(Tokens::default().role(&HeaderMap::new()), Some(Role::Write));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_role() {
        let tokens = Tokens::parse("\u{feff}read 0123456789abcdef\r\n", "tokens").unwrap();
        assert_eq!(role(&tokens, "Bearer 0123456789abcdef"), Some(Role::Read));
    }

    #[test]
    fn new_tokens_take_the_place_of_old_ones() {
        let tokens = Tokens::parse("read 0123456789abcdef", "tokens").unwrap();
        let clone = tokens.clone();
        tokens.replace(Tokens::parse("write fedcba9876543210", "tokens").unwrap());
        assert_eq!(role(&clone, "Bearer 0123456789abcdef"), None);
        assert_eq!(role(&clone, "Bearer fedcba9876543210"), Some(Role::Write));
    }

    #[test]
    fn malformed_tokens_are_refused() {
        for text in ["", "# nothing", "admin 0123456789abcdef", "read short", "read"] {
            assert!(Tokens::parse(text, "tokens").is_err(), "{text}");
        }
        let error = Tokens::parse("read 0123456789abcdef\nwrite x", "tokens").err().unwrap();
        assert!(error.to_string().starts_with("tokens:2: "), "{error}");
    }
}
