//! Tokens in, signature out?
