//! Which index is meant, one on disk or that of a service?

use std::path::PathBuf;

use clap::Args;

use cento::{Error, Result};
use cento_client::Client;

/// An index, or a service.
#[derive(Debug, Args)]
pub struct TargetArgs {
    /// The directory of the index; left away with --url.
    #[arg(required_unless_present = "url")]
    index: Option<PathBuf>,
    #[command(flatten)]
    service: ServiceArgs,
}

/// A service.
#[derive(Debug, Args)]
pub struct ServiceArgs {
    /// Ask the service at this address, such as http://127.0.0.1:7227, instead of an index on disk.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The token for the service. Better said in the environment, where nobody else sees it.
    #[arg(long, value_name = "TOKEN", env = "CENTO_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

/// Where the documents are.
pub enum Target {
    /// In an index in this directory.
    Index(PathBuf),
    /// With a service.
    Service(Client),
}

impl TargetArgs {
    /// What is meant. With `--url` what was taken for the index is the first of `others`.
    ///
    /// # Errors
    /// When the URL is none.
    pub fn target<T: From<PathBuf>>(&mut self, others: &mut Vec<T>) -> Result<Target> {
        let index = self.index.take();
        match self.service.client()? {
            Some(client) => {
                if let Some(first) = index {
                    others.insert(0, first.into());
                }
                Ok(Target::Service(client))
            }
            None => Ok(Target::Index(index.expect("it is required without --url"))),
        }
    }

    /// The service at an address that was found otherwise, with the token that was given.
    ///
    /// # Errors
    /// When the address is none.
    pub fn client_at(&self, url: &str) -> Result<Client> {
        self.service.client_at(url)
    }

    /// The same for who takes nothing else.
    ///
    /// # Errors
    /// When there is an index beside the URL, or this is none.
    pub fn only_target(&mut self) -> Result<Target> {
        let mut others: Vec<PathBuf> = Vec::new();
        let target = self.target(&mut others)?;
        match others.first() {
            None => Ok(target),
            Some(other) => {
                let what = "give an index or --url, not both";
                Err(Error::input(other.display().to_string(), what))
            }
        }
    }
}

impl ServiceArgs {
    /// The service, if one is named.
    ///
    /// # Errors
    /// When the URL is none.
    pub fn client(&self) -> Result<Option<Client>> {
        self.url.as_deref().map(|url| self.client_at(url)).transpose()
    }

    /// The service at this address.
    ///
    /// # Errors
    /// When the URL is none.
    pub fn client_at(&self, url: &str) -> Result<Client> {
        Client::new(url, self.token.as_deref())
    }
}
