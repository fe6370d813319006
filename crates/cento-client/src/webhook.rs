//! Posts of events to the receivers that clients of a service choose.

use std::net::IpAddr;
use std::time::Duration;

use cento_api::Refusal;
use ureq::Agent;
use ureq::http::Uri;
use ureq::http::header::CONTENT_TYPE;

use crate::address::parts;
use crate::public_hosts::{AllowedAddresses, agent, config};

/// Posts to receivers that clients of a service choose, at public addresses and at addresses that
/// the operator allows. Follows no redirect, reads no body of an answer, and takes a bounded time.
#[derive(Debug)]
pub struct WebhookClient {
    agent: Agent,
    time: Duration,
    allowed: AllowedAddresses,
}

/// The maximum length of the head of an answer to a post.
const HEAD_BYTES_MAX: usize = 16 << 10;

impl WebhookClient {
    /// Creates a client with this time limit for a post. `is_allowed` tells whether a private
    /// address may be used.
    pub fn new(
        time: Duration,
        is_allowed: impl Fn(IpAddr) -> bool + Send + Sync + 'static,
    ) -> WebhookClient {
        let config =
            config(time).max_idle_connections(0).max_response_header_size(HEAD_BYTES_MAX).build();
        let allowed = AllowedAddresses::new(is_allowed);
        WebhookClient { agent: agent(config, allowed.clone()), time, allowed }
    }

    /// Posts JSON with one more header. Returns the status of the answer.
    ///
    /// # Errors
    /// The reason, as a clause.
    pub fn post(&self, url: &str, header: &str, value: &str, body: &[u8]) -> Result<u16, String> {
        check_address(url).map_err(|refusal| refusal.what)?;
        let request = self.agent.post(url).header(CONTENT_TYPE, "application/json");
        match request.header(header, value).send(body) {
            Ok(response) => Ok(response.status().as_u16()),
            Err(ureq::Error::Timeout(_)) => Err(format!("it took longer than {:?}", self.time)),
            Err(ureq::Error::Other(other)) => Err(other.to_string()),
            Err(other) => Err(other.to_string()),
        }
    }

    /// Refuses a URL that is never posted to: any scheme except http and https, and a host given as
    /// an address that is neither public nor allowed.
    ///
    /// # Errors
    /// The reason, as a clause.
    pub fn check(&self, url: &str) -> Result<(), Refusal> {
        check_address(url)?;
        let uri: Uri = url.parse().map_err(|_| Refusal::from("it is not an address"))?;
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match host.parse::<IpAddr>() {
            Ok(address) if !self.allowed.has(address) => {
                let what = format!(
                    "its address {address} is not public; `cento serve --webhook-network` allows \
                     networks that are not public"
                );
                Err(what.into())
            }
            _ => Ok(()),
        }
    }
}

fn check_address(url: &str) -> Result<(), Refusal> {
    if parts(url).is_none() {
        return Err("it is no plain address of http or https".into());
    }
    if url.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("https"))
        && !cfg!(feature = "tls")
    {
        return Err(Refusal::unsupported("https", "tls", "cento-client"));
    }
    Ok(())
}
