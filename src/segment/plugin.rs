//! How does a `.sig` file take part in the life of a tantivy segment?
