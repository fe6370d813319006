//! Sources of a text on the web.
//!
//! The internet module of Sharapova and Sharapov (2011): [`queries`] cuts a text into windows and
//! takes the rarest run of words of each window. [`add_sources`] sends these runs to a search
//! engine, fetches the pages that most answers contain, and adds them to an index.
//!
//! You do not know these hosts, so requests are limited: robots.txt is obeyed, a host gets one
//! request at a time with a pause after each, pages have a maximum size and time, and private
//! addresses are refused, also after redirects. Parts of your text go to the search engine.

mod engine;
mod fetch;
mod redirect;
mod robots;
mod sources;
mod windows;

pub use engine::EngineAddress;
pub use sources::{AnsweredQuery, Failure, IndexedPage, WebOptions, WebReport, add_sources};
pub use windows::{Collection, queries};
