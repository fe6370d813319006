//! Tokens for monitoring, reading and writing.
//!
//! Tokens are bearer tokens (RFC 6750) with a role and a name. Logs and metrics use the name, so
//! that an operator can find out who made a request. Without tokens every client may do everything.
//! Therefore a service without tokens listens only on the loopback address.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use axum::http::{HeaderMap, header};
use subtle::ConstantTimeEq;

use cento::{Error, Result};

/// The permissions of a token. A later role includes the earlier roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Reads the metrics only, because a monitor need not see documents.
    Metrics,
    /// Also searches and reads documents.
    Read,
    /// Also adds and removes documents, commits and compacts.
    Write,
}

#[derive(Clone)]
struct Token {
    role: Role,
    name: Arc<str>,
    secret: Vec<u8>,
}

impl Token {
    /// Returns whether the other token gives its owner the same permissions and name.
    fn is_same(&self, other: &Token) -> bool {
        (self.role, &self.name) == (other.role, &other.name)
    }
}

/// The token of a request, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownToken {
    /// The permissions of the token.
    pub role: Role,
    /// The name of the token. An old and a new token may share a name during a replacement.
    pub name: Arc<str>,
    /// The place of the token in the list.
    pub number: usize,
}

/// The minimum length of a token, against guessing.
const TOKEN_BYTES_MIN: usize = 16;

/// The maximum length of a name, which is in each line of the log.
const NAME_BYTES_MAX: usize = 64;

/// The tokens of a service. Without tokens every client may do everything. All clones are replaced
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
    /// Reads tokens, one per line: `metrics`, `read` or `write`, then a name, then the token. `#`
    /// at the start of a line or after a space begins a comment.
    ///
    /// # Errors
    /// When a line has another form, a token is too short, or two lines have the same token with
    /// different roles or names. `place` is the name of the file for the error.
    pub fn parse(text: &str, place: &str) -> Result<Tokens> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut lines: HashMap<Vec<u8>, (usize, usize)> = HashMap::new();
        // Windows editors write a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1..).zip(text.lines()) {
            let words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
            let words: Vec<&str> = words.collect();
            if !words.is_empty() {
                let refused = |what: String| Error::input(format!("{place}:{number}"), what);
                let token = parse_token(&words).map_err(|what| refused(what.to_owned()))?;
                let at = (number, tokens.len());
                let (line, first) = *lines.entry(token.secret.clone()).or_insert(at);
                // Which of the two counts would be a guess.
                if let Some(other) = tokens.get(first).filter(|other| !other.is_same(&token)) {
                    let what = if other.role == token.role { "name" } else { "role" };
                    return Err(refused(format!(
                        "line {line} has the same token with another {what}; give each its own \
                         token, or remove one of the lines"
                    )));
                }
                tokens.push(token);
            }
        }
        if tokens.is_empty() {
            return Err(Error::input(place, "the file contains no token"));
        }
        Ok(Tokens { tokens: Arc::new(RwLock::new(tokens)) })
    }

    /// Replaces the tokens of all clones from now on.
    ///
    /// # Panics
    /// When `new` is empty and the current tokens are not, because then every client could do
    /// everything.
    pub fn replace(&self, new: Tokens) {
        let new = new.tokens.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut tokens = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
        assert!(tokens.is_empty() || !new.is_empty(), "tokens are replaced by tokens");
        *tokens = new;
    }

    /// Tells whether there are no tokens, so that every client may do everything.
    pub fn is_empty(&self) -> bool {
        self.tokens.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Returns the role of a request by its headers, or `None` without a known token.
    pub fn role(&self, headers: &HeaderMap) -> Option<Role> {
        if self.is_empty() {
            return Some(Role::Write);
        }
        self.known(headers).map(|known| known.role)
    }

    /// Returns the token of a request.
    pub fn known(&self, headers: &HeaderMap) -> Option<KnownToken> {
        let given = headers.get(header::AUTHORIZATION)?.as_bytes();
        let (scheme, given) = given.split_at_checked("Bearer ".len())?;
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return None;
        }
        // Compare in constant time, so that an answer reveals nothing about the tokens.
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let known = (0..).zip(tokens.iter()).filter(|(_, own)| own.secret.ct_eq(given).into());
        // Comparing all tokens prevents the time from telling which token matched.
        known.last().map(|(number, own)| KnownToken {
            role: own.role,
            name: own.name.clone(),
            number,
        })
    }
}

/// Reads the words of a line.
fn parse_token(words: &[&str]) -> std::result::Result<Token, &'static str> {
    let form = "expected `metrics NAME TOKEN`, `read NAME TOKEN` or `write NAME TOKEN`";
    let &[role, name, secret] = words else { return Err(form) };
    let role = match role {
        "metrics" => Role::Metrics,
        "read" => Role::Read,
        "write" => Role::Write,
        _ => return Err(form),
    };
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
    if name.len() > NAME_BYTES_MAX || !name.bytes().all(is_of_name) {
        return Err("the name of a token has at most 64 letters, digits and `-_.@`");
    }
    if secret.len() < TOKEN_BYTES_MIN || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("a token must have at least 16 ASCII characters and no space; make one with \
                    `openssl rand -hex 32`");
    }
    Ok(Token { role, name: name.into(), secret: secret.as_bytes().to_vec() })
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
        let text = "# who\nread  alice 0123456789abcdef # until Friday\n\n\
                    write ci\tfedcba9876543210\n  metrics prometheus.1 0011223344556677\n";
        let tokens = Tokens::parse(text, "tokens").unwrap();
        assert_eq!(role(&tokens, "Bearer 0011223344556677"), Some(Role::Metrics));
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, "Bearer fedcba9876543210".parse().unwrap());
        let known = tokens.known(&headers).unwrap();
        assert_eq!((known.role, &*known.name, known.number), (Role::Write, "ci", 1));
        assert!(Role::Metrics < Role::Read && Role::Read < Role::Write);
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
        let tokens = Tokens::parse("\u{feff}read a 0123456789abcdef\r\n", "tokens").unwrap();
        assert_eq!(role(&tokens, "Bearer 0123456789abcdef"), Some(Role::Read));
    }

    #[test]
    fn new_tokens_take_the_place_of_old_ones() {
        let tokens = Tokens::parse("read a 0123456789abcdef", "tokens").unwrap();
        let clone = tokens.clone();
        tokens.replace(Tokens::parse("write a fedcba9876543210", "tokens").unwrap());
        assert_eq!(role(&clone, "Bearer 0123456789abcdef"), None);
        assert_eq!(role(&clone, "Bearer fedcba9876543210"), Some(Role::Write));
    }

    #[test]
    fn malformed_tokens_are_refused() {
        for text in [
            "",
            "# nothing",
            "admin a 0123456789abcdef",
            "read a short",
            "read",
            // A forgotten name or token must not turn the remaining word into a token.
            "read 0123456789abcdef",
            "read monitoring-prometheus",
            "read a b 0123456789abcdef",
            "read a/b 0123456789abcdef",
            "read a # 0123456789abcdef",
        ] {
            assert!(Tokens::parse(text, "tokens").is_err(), "{text}");
        }
        // A reader with the token of a writer could write.
        let text = "read a 0123456789abcdef\n\nwrite a 0123456789abcdef";
        let error = Tokens::parse(text, "tokens").err().unwrap().to_string();
        let said = "tokens:3: line 1 has the same token with another role; ";
        assert!(error.starts_with(said), "{error}");
        assert!(!error.contains("0123456789abcdef"), "{error}");
        let text = "read a 0123456789abcdef\nread b 0123456789abcdef";
        let error = Tokens::parse(text, "tokens").err().unwrap().to_string();
        assert!(error.contains("with another name"), "{error}");
        assert!(Tokens::parse("read a 0123456789abcdef\n".repeat(2).as_str(), "tokens").is_ok());
        let text = "read a 0123456789abcdef\nwrite a x";
        let error = Tokens::parse(text, "tokens").err().unwrap();
        assert!(error.to_string().starts_with("tokens:2: "), "{error}");
    }
}
