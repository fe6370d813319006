//! Requests only to hosts of the public internet.
//!
//! Hosts are resolved once, and the connection goes to the addresses that were checked, so no
//! second answer of a name server can lead elsewhere.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::config::{Config, ConfigBuilder};
use ureq::http::Uri;
use ureq::typestate::AgentScope;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

use crate::address::is_public;
use crate::client::trusting_the_system;

/// Returns the configuration of requests that follow no redirect and take at most this time.
#[must_use]
pub fn config(time: Duration) -> ConfigBuilder<AgentScope> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .max_redirects(0)
        .timeout_global(Some(time))
        .user_agent(format!("cento/{}", env!("CARGO_PKG_VERSION")));
    trusting_the_system(config)
}

/// Returns an agent that connects only to public addresses, and to allowed addresses.
#[must_use]
pub fn agent(config: Config, allowed: AllowedAddresses) -> Agent {
    let resolver = PublicOnly { resolver: DefaultResolver::default(), allowed };
    Agent::with_parts(config, DefaultConnector::default(), resolver)
}

/// Decides which private addresses may be used.
#[derive(Clone)]
pub struct AllowedAddresses(Arc<dyn Fn(IpAddr) -> bool + Send + Sync>);

impl AllowedAddresses {
    /// Allows the addresses that the function accepts.
    pub fn new(is_allowed: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> AllowedAddresses {
        AllowedAddresses(Arc::new(is_allowed))
    }

    /// Returns whether an address is public or allowed.
    #[must_use]
    pub fn has(&self, address: IpAddr) -> bool {
        is_public(address) || (self.0)(address)
    }
}

impl fmt::Debug for AllowedAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllowedAddresses").finish_non_exhaustive()
    }
}

/// Resolves only hosts whose addresses are all public or allowed.
#[derive(Debug)]
struct PublicOnly {
    resolver: DefaultResolver,
    allowed: AllowedAddresses,
}

impl Resolver for PublicOnly {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.resolver.resolve(uri, config, timeout)?;
        // A private address among public addresses is an attack or a mistake.
        match found.iter().find(|address| !self.allowed.has(address.ip())) {
            Some(address) => {
                let what = format!("its address {} is not public, and is not used", address.ip());
                Err(ureq::Error::Other(what.into()))
            }
            None => Ok(found),
        }
    }
}
