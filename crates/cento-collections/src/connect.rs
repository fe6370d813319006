//! What to find out about the documents that pairs connect.

/// What to find out about the documents that pairs connect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Connect {
    /// Nothing, which takes no time.
    #[default]
    Nothing,
    /// The clusters of documents: enough pairs to connect all documents of a cluster.
    Clusters,
    /// Every pair that connects two documents, up to a limit, and the clusters.
    Edges,
}
