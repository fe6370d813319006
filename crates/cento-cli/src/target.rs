//! The target of a verb: an index on disk, or a service.

use std::path::PathBuf;

use clap::Args;

use cento::{Error, Result};
use cento_client::Client;

/// An index, or a service.
#[derive(Debug, Args)]
pub struct TargetArgs {
    /// Directory of your index. Omit it with --url.
    #[arg(required_unless_present = "url")]
    index: Option<PathBuf>,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Args)]
pub struct ServiceArgs {
    /// Use the service at this address, such as http://127.0.0.1:7227, instead of an index on disk.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Token for the service. Prefer the environment variable, because other users can see the
    /// arguments of a command.
    #[arg(long, value_name = "TOKEN", env = "CENTO_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

/// The place of the documents.
pub enum Target {
    /// In an index in this directory.
    Index(PathBuf),
    /// The index behind a service.
    Service(Client),
}

impl TargetArgs {
    /// Returns the target. With `--url`, the first positional argument is not the index but the
    /// first of `others`.
    ///
    /// # Errors
    /// When the URL is invalid.
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

    /// Connects to a service at an address from elsewhere, with the token of the command line.
    ///
    /// # Errors
    /// When the address is invalid.
    pub fn client_at(&self, url: &str) -> Result<Client> {
        self.service.client_at(url)
    }

    /// Returns the target of a verb without further positional arguments.
    ///
    /// # Errors
    /// When both an index and a URL are given, or the URL is invalid.
    pub fn only_target(&mut self) -> Result<Target> {
        let mut others: Vec<PathBuf> = Vec::new();
        let target = self.target(&mut others)?;
        match others.first() {
            None => Ok(target),
            Some(other) => {
                let what = "give either an index or --url, not both";
                Err(Error::input(other.display().to_string(), what))
            }
        }
    }
}

impl ServiceArgs {
    /// Connects to the service, if a URL is given.
    ///
    /// # Errors
    /// When the URL is invalid.
    pub fn client(&self) -> Result<Option<Client>> {
        self.url.as_deref().map(|url| self.client_at(url)).transpose()
    }

    /// Connects to the service at this address.
    ///
    /// # Errors
    /// When the URL is invalid.
    pub fn client_at(&self, url: &str) -> Result<Client> {
        Client::new(url, self.token.as_deref())
    }
}
