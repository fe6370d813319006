//! Lists the elements of XML vocabularies whose names decide more than their places.

/// Elements outside the text in any vocabulary. Entries of an index name words of the text again.
pub const SKIPPED: [&str; 5] = ["script", "style", "binary", "indexterm", "index-term"];

/// Elements whose text comes after everything else.
pub const NOTES: [&str; 4] = ["footnote", "fn", "authorialNote", "endnote"];

/// Elements above the line, which may be marks of notes.
pub const RAISED: [&str; 2] = ["sup", "superscript"];

/// Quotations of paragraphs in any vocabulary.
pub const BLOCK_QUOTES: [&str; 2] = ["blockquote", "disp-quote"];

/// Elements in the line, although they may often be alone: articles have citations of raised
/// numbers, which are not among words.
pub const INLINE: [&str; 13] = [
    "bold",
    "emphasis",
    "ext-link",
    "italic",
    "monospace",
    "named-content",
    "rb",
    "sc",
    "strike",
    "styled-content",
    "sub",
    "subscript",
    "underline",
];

/// The elements of a vocabulary that need a rule of their own.
pub struct Vocabulary {
    /// The names of its root elements.
    roots: &'static [&'static str],
    /// Elements without text of the document.
    pub skipped: &'static [&'static str],
    /// Elements whose text comes after everything else.
    pub notes: &'static [&'static str],
    /// Elements that begin and end a line.
    pub lines: &'static [&'static str],
    /// Lines of a printed page, where a word may go on.
    pub printed: &'static [&'static str],
    /// Elements in the line.
    pub inline: &'static [&'static str],
    /// Elements with a letter each. White space between them is no text.
    pub letters: &'static [&'static str],
    /// Elements with a word each.
    pub words: &'static [&'static str],
    /// Quotations in the line.
    pub quoted: &'static [&'static str],
    /// Quotations of paragraphs.
    pub block_quotes: &'static [&'static str],
    /// Lists of works, which may have a title.
    pub bibliographies: &'static [&'static str],
}

/// Returns the vocabularies whose documents have this root.
pub fn of_root(root: &str) -> Vec<&'static Vocabulary> {
    VOCABULARIES.iter().filter(|vocabulary| vocabulary.roots.contains(&root)).collect()
}

const NOTHING: Vocabulary = Vocabulary {
    roots: &[],
    skipped: &[],
    notes: &[],
    lines: &[],
    printed: &[],
    inline: &[],
    letters: &[],
    words: &[],
    quoted: &[],
    block_quotes: &[],
    bibliographies: &[],
};

static VOCABULARIES: [Vocabulary; 16] = [
    Vocabulary { roots: &["akomaNtoso"], skipped: &["meta"], ..NOTHING },
    Vocabulary {
        roots: &["nitf"],
        skipped: &["head"],
        quoted: &["q"],
        block_quotes: &["bq"],
        ..NOTHING
    },
    Vocabulary {
        roots: &["NewsML", "newsItem", "newsMessage", "packageItem"],
        skipped: &[
            "NewsEnvelope",
            "NewsManagement",
            "Identification",
            "AdministrativeMetadata",
            "RightsMetadata",
            "header",
            "catalogRef",
            "itemMeta",
            "rightsInfo",
            "contentMeta",
        ],
        ..NOTHING
    },
    Vocabulary {
        roots: &["article", "book", "pmc-articleset"],
        skipped: &[
            "journal-meta",
            "article-id",
            "article-categories",
            "pub-date",
            "permissions",
            "history",
            "counts",
            "custom-meta-group",
            "pubdate",
            "copyright",
            "releaseinfo",
            "tex-math",
        ],
        bibliographies: &["ref-list"],
        ..NOTHING
    },
    // DocBook. In other vocabularies, remarks are text.
    Vocabulary {
        roots: &[
            "appendix", "article", "book", "chapter", "part", "preface", "refentry", "sect1",
            "section", "set",
        ],
        skipped: &["remark"],
        quoted: &["quote"],
        block_quotes: &["epigraph"],
        bibliographies: &["bibliography", "bibliolist"],
        ..NOTHING
    },
    // DITA.
    Vocabulary {
        roots: &["bookmap", "concept", "dita", "map", "reference", "task", "topic"],
        skipped: &["draft-comment", "prolog", "required-cleanup"],
        quoted: &["q"],
        block_quotes: &["lq"],
        ..NOTHING
    },
    Vocabulary {
        roots: &["FictionBook"],
        skipped: &["description"],
        block_quotes: &["cite", "epigraph"],
        ..NOTHING
    },
    Vocabulary { roots: &["tt"], skipped: &["head", "metadata"], ..NOTHING },
    Vocabulary {
        roots: &["rss", "feed", "RDF"],
        skipped: &[
            "link",
            "guid",
            "pubDate",
            "lastBuildDate",
            "generator",
            "ttl",
            "id",
            "updated",
            "published",
            "language",
            "url",
            "uri",
            "author",
            "contributor",
            "creator",
            "category",
            // Exports of WordPress.
            "post_id",
            "post_date",
            "post_date_gmt",
            "post_modified",
            "post_modified_gmt",
            "post_name",
            "post_parent",
            "post_password",
            "post_type",
            "postmeta",
            "comment_status",
            "is_sticky",
            "menu_order",
            "ping_status",
            "status",
        ],
        ..NOTHING
    },
    // Memories of translators.
    Vocabulary { roots: &["tmx", "xliff"], skipped: &["header", "note", "prop"], ..NOTHING },
    Vocabulary { roots: &["svg"], skipped: &["metadata", "defs"], ..NOTHING },
    // FineReader, with an element for each letter.
    Vocabulary {
        roots: &["document"],
        skipped: &["charRecVariants", "wordRecVariants"],
        printed: &["line"],
        inline: &["charParams", "formatting"],
        letters: &["charParams"],
        ..NOTHING
    },
    // The text layer of DjVu.
    Vocabulary {
        roots: &["DjVuXML"],
        skipped: &["HEAD"],
        printed: &["LINE"],
        words: &["WORD"],
        ..NOTHING
    },
    // PDF as pdftohtml converts it.
    Vocabulary { roots: &["pdf2xml"], skipped: &["outline"], printed: &["text"], ..NOTHING },
    // Bibles: OSIS and USX.
    Vocabulary {
        roots: &["osis", "usx"],
        // USX names its file in `book`.
        skipped: &["header", "book"],
        notes: &["note"],
        lines: &["verse"],
        inline: &["char", "divineName", "hi", "seg", "transChange", "w"],
        ..NOTHING
    },
    // Bibles: Zefania.
    Vocabulary {
        roots: &["XMLBIBLE"],
        skipped: &["INFORMATION"],
        notes: &["NOTE"],
        lines: &["VERS"],
        inline: &["STYLE", "gr"],
        ..NOTHING
    },
];
