//! What a search asks: an index, or a service.

use std::sync::Arc;

use super::UserQuery;
use cento::scheme::frequency::FrequencyTable;
use cento::search::{Answer, ForeignSignature, Query, Searcher, Subject};
use cento::text::kind::no_text_in;
use cento::{Analyzer, Error, Part, Reason};
use cento_api::part::{exchanged_parts, parts_problem};
use cento_client::Client;
use cento_client::api::{DocumentResponse, SearchRequest};
use cento_report::{IndexState, PartedText};

/// The engine that answers queries: a local index or a service.
pub enum SearchEngine {
    Index { searcher: Searcher, frequencies: Option<Arc<FrequencyTable>> },
    Service { client: Client, boilerplate: Vec<String> },
}

impl SearchEngine {
    /// Runs a single query of the user, with the other options taken from `query`.
    pub fn search(&self, asked: UserQuery, query: &Query) -> cento::Result<Answer> {
        match self {
            SearchEngine::Index { searcher, frequencies } => {
                let config = searcher.snapshot().config();
                let mut query = query.clone();
                let subject = match asked {
                    UserQuery::Text(text, _) if text.trim().is_empty() => {
                        return Err(Error::input("the text", "it is empty; a query needs text"));
                    }
                    UserQuery::Text(text, _) => match no_text_in(&text) {
                        Some(why) => return Err(Error::input("the text", why)),
                        None => {
                            query.parts = text.parts;
                            Subject::Text(text.text)
                        }
                    },
                    UserQuery::Id(id) => Subject::Id(id),
                    UserQuery::Signature(signature) => {
                        ForeignSignature::subject_of(signature, config)?
                    }
                };
                query.subject = subject;
                query.frequencies.clone_from(frequencies);
                searcher.search(&query)
            }
            SearchEngine::Service { client, boilerplate } => {
                let mut request = SearchRequest {
                    boilerplate: boilerplate.clone(),
                    thresholds: query.thresholds,
                    options: query.options.clone(),
                    ..SearchRequest::default()
                };
                match asked {
                    UserQuery::Text(text, _) if text.parts.is_empty() => {
                        request.text = Some(text.text);
                    }
                    UserQuery::Text(text, _) => {
                        request.parts = Some(exchanged_parts(&text.parts, &text));
                    }
                    UserQuery::Id(id) => request.id = Some(id),
                    UserQuery::Signature(signature) => request.signature = Some(signature),
                }
                client.search(&request)
            }
        }
    }

    /// Reads a stored text with its parts.
    pub fn text_of(&self, id: &str) -> cento::Result<Option<PartedText>> {
        match self {
            SearchEngine::Index { searcher, .. } => {
                let snapshot = searcher.snapshot();
                let unknown = || Error::UnknownId { id: id.to_owned() };
                let address = snapshot.find(id)?.ok_or_else(unknown)?;
                Ok(PartedText::of(snapshot.document(address)?))
            }
            SearchEngine::Service { client, .. } => {
                let DocumentResponse { text, parts, .. } = client.document(id)?;
                let parts = parts.into_iter().map(|part| Part::new(part.name, part.start));
                let parts: Vec<Part> = parts.collect();
                let Some(text) = text else { return Ok(None) };
                match parts_problem(&parts, &text) {
                    Some(problem) => Err(Error::input(id, problem)),
                    None => Ok(Some(PartedText { text, parts })),
                }
            }
        }
    }

    /// Tells whether there is a document with this id.
    pub fn has(&self, id: &str) -> cento::Result<bool> {
        let found = match self {
            SearchEngine::Index { searcher, .. } => {
                let mut is_there = false;
                searcher.snapshot().find_all(id, &mut |_| {
                    is_there = true;
                    Ok(false)
                })?;
                return Ok(is_there);
            }
            SearchEngine::Service { client, .. } => client.document(id),
        };
        match found {
            Err(error) if error.reason() == Reason::UnknownId => Ok(false),
            found => found.map(|_| true),
        }
    }

    pub fn analyzer(&self) -> cento::Result<Analyzer> {
        match self {
            SearchEngine::Index { searcher, .. } => {
                Ok(searcher.snapshot().config().analyzer.clone())
            }
            SearchEngine::Service { client, .. } => client.stats()?.index.analyzer.parse(),
        }
    }

    /// Returns the state of the index for the foot of a report.
    pub fn state(&self, place: &str) -> cento::Result<IndexState> {
        let (generation, documents) = match self {
            SearchEngine::Index { searcher, .. } => {
                let snapshot = searcher.snapshot();
                (Some(snapshot.generation().to_string()), snapshot.documents())
            }
            SearchEngine::Service { client, .. } => (None, client.stats()?.index.documents),
        };
        Ok(IndexState { place: place.to_owned(), generation, documents })
    }
}
