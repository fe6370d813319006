//! The abilities of each text format. The same text, with a hyphenated word, a note, a table, a
//! caption, hidden words, a line number, a non-ASCII letter and an author, reads alike in every
//! format with such features. The table in `docs/reference/formats.md` is generated from this test.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use crate::common::run::Dir;
use crate::common::zip;

/// How a format handles one of the [`ABILITIES`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ability {
    /// As the test of the ability demands.
    Yes,
    Absent,
    /// The feature stays in the text.
    Text,
}

use Ability::{Absent, Text, Yes};

/// Returns whether a text shows that its format has an ability.
type Test = fn(&str) -> bool;

/// The abilities, each with a test for the text of the samples below.
const ABILITIES: [(&str, Test); 8] = [
    ("joined words", |text| text.contains("har\u{ad}bour") || text.contains("harbour")),
    ("notes", |text| text.contains("steamer reached") && text.contains("A note about it.")),
    ("captions", |text| text.contains("A picture of it")),
    ("tables", |text| words(text).windows(2).any(|pair| pair == ["alpha", "beta"])),
    ("hidden text", |text| !text.contains("hidden")),
    ("line numbers", |text| !words(text).iter().any(|word| word.contains('5'))),
    ("encodings", |text| text.contains("caf\u{e9}")),
    ("metadata", |text| !text.contains("Bob")),
];

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

struct Sample {
    format: &'static str,
    name: &'static str,
    /// In this encoding, if not in UTF-8.
    bytes: Vec<u8>,
    /// In the order of [`ABILITIES`].
    abilities: [Ability; 8],
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

const NOTE: &str = "A note about it.";

/// The body of a web page and of a chapter of an e-book.
const BODY: &str = "<p>The steamer<a epub:type='noteref' href='#n1'>1</a> reached the \
har&#173;bour \
    at caf\u{e9} noon<span style='display:none'> hidden</span>.</p><table><tr><td>alpha</td>\
    <td>beta</td></tr></table><figure><img alt='x'/><figcaption>A picture of it</figcaption>\
    </figure><p id='n1'>A note about it.</p>";

fn html() -> String {
    format!(
        "<html><head><meta charset='iso-8859-1'><meta name='author' content='Bob'></head><body>\
         {BODY}</body></html>"
    )
}

/// An OCR page in HTML.
const HOCR: &str = "<html><head><meta name='author' content='Bob'></head><body>\
    <div class='ocr_page'><span class='ocr_line'>The steamer reached the har-</span>\n\
    <span class='ocr_line'>bour at caf\u{e9} noon.</span></div></body></html>";

/// An OCR page in XML.
const ALTO: &str = "<?xml version='1.0'?><alto xmlns='http://www.loc.gov/standards/alto/ns-v4#'>\
    <Description><fileName>Bob.tif</fileName></Description><Layout><Page><PrintSpace><TextBlock>\
    <TextLine><String CONTENT='steamer'/><SP/><String CONTENT='har-'/></TextLine><TextLine>\
    <String CONTENT='bour'/><SP/><String CONTENT='caf\u{e9}'/></TextLine></TextBlock>\
    </PrintSpace></Page></Layout></alto>";

/// A TEI edition with the features.
fn tei() -> String {
    format!(
        "<?xml version='1.0' encoding='iso-8859-1'?><TEI xmlns='http://www.tei-c.org/ns/1.0'>\
         <teiHeader><author>Bob</author></teiHeader><text><body><p>The steamer<note>{NOTE}</note> \
         reached the har-<lb n='5'/>bour at caf\u{e9} noon<del>hidden</del>.</p><table><row><cell>\
         alpha</cell><cell>beta</cell></row></table><figure><head>A picture of it</head></figure>\
         </body></text></TEI>"
    )
}

fn law() -> String {
    format!(
        "<?xml version='1.0' encoding='iso-8859-1'?><akomaNtoso><act><meta><author>Bob</author>\
         </meta><body><section><content><p>The steamer<authorialNote><p>{NOTE}</p>\
         </authorialNote> reached the har\u{ad}bour at caf\u{e9} noon.</p><table><tr><td>alpha</td>\
         <td>beta</td></tr></table></content></section></body></act></akomaNtoso>"
    )
}

fn latex() -> String {
    format!(
        "\\documentclass{{a}}\\usepackage[latin1]{{inputenc}}% Bob\n\\begin{{document}}\n\
         The steamer\\footnote{{{NOTE}}} reached the har\\-bour at caf\u{e9} \
         noon\\phantom{{hidden}}.\n\\begin{{tabular}}{{ll}}\nalpha & beta\\\\\n\\end{{tabular}}\n\
         \\caption{{A picture of it}}\n\\end{{document}}\n"
    )
}

fn markdown() -> String {
    format!(
        "---\nauthor: Bob\n---\n\nThe steamer[^1] reached the har\u{ad}bour at caf\u{e9} noon.<!-- hidden -->\n\n\
         ![A picture of it](a.png)\n\n| alpha | beta |\n|---|---|\n| x | y |\n\n[^1]: {NOTE}\n"
    )
}

const NOTEBOOK: &str = "{\"cells\":[{\"cell_type\":\"markdown\",\"source\":[\"har\u{ad}bour at \
    caf\u{e9} noon\"]},{\"cell_type\":\"code\",\"source\":[\"x\"],\"outputs\":[{\"text\":\
    [\"hidden\"]}]}],\"metadata\":{\"authors\":[{\"name\":\"Bob\"}]}}";

const SUBTITLES: &str = "5\n00:00:01,000 --> 00:00:02,000\n<font color=\"red\">har\u{ad}bour\
    </font> at caf\u{e9} noon\n";

const TEXT: &str = "The steamer reached the har\u{ad}bour at caf\u{e9} noon.\n";

const MAIL: &str = "From: Bob\nMessage-ID: <1>\nSubject: s\nContent-Type: text/plain; \
    charset=iso-8859-1\n\n";

/// Returns a sample for every text and document format.
fn samples() -> Vec<Sample> {
    let a = Absent;
    let sample = |format, name, bytes, abilities| Sample { format, name, bytes, abilities };
    let page = [Yes, Yes, Yes, Yes, Yes, a, Yes, Yes];
    let lines = [Yes, a, a, a, a, a, Yes, Yes];
    vec![
        sample("text", "a.txt", latin1(TEXT), [Yes, a, a, a, a, a, Yes, a]),
        sample("html", "b.html", latin1(&html()), page),
        sample("hocr", "c.hocr", HOCR.into(), lines),
        sample("xml (TEI)", "d.xml", latin1(&tei()), [Yes; 8]),
        sample("xml (ALTO, PAGE)", "e.xml", ALTO.into(), lines),
        sample("xml (others)", "f.xml", latin1(&law()), [Yes, Yes, a, Yes, a, a, Yes, Yes]),
        sample("latex", "g.tex", latin1(&latex()), page),
        sample("markdown", "h.md", markdown().into(), [Yes, Yes, Yes, Yes, Yes, a, Yes, Text]),
        sample("notebook", "i.ipynb", NOTEBOOK.into(), [Yes, a, a, a, Yes, a, Yes, Yes]),
        sample("subtitles", "j.srt", latin1(SUBTITLES), [Yes, a, a, a, a, Yes, Yes, a]),
        sample("mail", "k.eml", latin1(&format!("{MAIL}{TEXT}")), lines),
        sample("documents (docx)", "l.docx", docx(), page),
        sample("documents (odt)", "m.odt", odt(), page),
        sample("documents (epub)", "n.epub", epub(), page),
        sample("office (rtf)", "o.rtf", RTF.to_vec(), page),
        sample("pdf", "p.pdf", pdf(), [Yes; 8]),
    ]
}

const ODF: &str = "urn:oasis:names:tc:opendocument:xmlns";

fn docx() -> Vec<u8> {
    const W: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    const P: &str = "http://schemas.openxmlformats.org/package/2006";
    const O: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let run = |text: &str| format!("<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>");
    let cell = |text: &str| format!("<w:tc><w:p>{}</w:p></w:tc>", run(text));
    let relation = |kind: &str, target: &str| {
        format!(
            "<Relationships xmlns='{P}/relationships'><Relationship Id='r1' Type='{O}/{kind}' \
             Target='{target}'/></Relationships>"
        )
    };
    let document = format!(
        "<w:document xmlns:w='{W}'><w:body><w:p>{}<w:r><w:footnoteReference w:id='2'/></w:r>{}\
         <w:r><w:softHyphen/></w:r>{}<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>\
         <w:tbl><w:tr>{}{}</w:tr></w:tbl><w:p>{}</w:p></w:body></w:document>",
        run("The steamer"),
        run(" reached the har"),
        run("bour at caf\u{e9} noon."),
        cell("alpha"),
        cell("beta"),
        run("A picture of it"),
    );
    let main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
    let types = format!(
        "<Types xmlns='{P}/content-types'><Default Extension='xml' ContentType='application/xml'/>\
         <Override PartName='/word/document.xml' ContentType='{main}'/></Types>"
    );
    let notes = format!(
        "<w:footnotes xmlns:w='{W}'><w:footnote w:id='2'><w:p>{}</w:p></w:footnote></w:footnotes>",
        run(NOTE)
    );
    zip(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", relation("officeDocument", "word/document.xml").as_bytes()),
        ("word/_rels/document.xml.rels", relation("footnotes", "footnotes.xml").as_bytes()),
        ("word/footnotes.xml", notes.as_bytes()),
        ("docProps/core.xml", b"<c><creator>Bob</creator></c>"),
        ("word/document.xml", document.as_bytes()),
    ])
}

fn odt() -> Vec<u8> {
    let content = format!(
        "<office:document-content xmlns:office='{ODF}:office:1.0' xmlns:text='{ODF}:text:1.0' \
         xmlns:table='{ODF}:table:1.0' xmlns:style='{ODF}:style:1.0'><office:automatic-styles>\
         <style:style style:name='H' style:family='text'><style:text-properties \
         text:display='none'/></style:style></office:automatic-styles><office:body><office:text>\
         <text:p>The steamer<text:note text:note-class='footnote'><text:note-citation>1\
         </text:note-citation><text:note-body><text:p>{NOTE}</text:p></text:note-body></text:note> \
         reached the har\u{ad}bour at caf\u{e9} noon<text:span text:style-name='H'>hidden\
         </text:span>.</text:p><table:table><table:table-row><table:table-cell><text:p>alpha\
         </text:p></table:table-cell><table:table-cell><text:p>beta</text:p></table:table-cell>\
         </table:table-row></table:table><text:p>A picture of it</text:p></office:text>\
         </office:body></office:document-content>"
    );
    zip(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("meta.xml", b"<m><creator>Bob</creator></m>"),
        ("content.xml", content.as_bytes()),
    ])
}

fn epub() -> Vec<u8> {
    let container = format!(
        "<container xmlns='{ODF}:container'><rootfiles><rootfile full-path='b.opf' \
         media-type='application/oebps-package+xml'/></rootfiles></container>"
    );
    let package = "<package xmlns='http://www.idpf.org/2007/opf' version='3.0'><metadata>\
        <creator>Bob</creator></metadata><manifest><item id='c' href='c.xhtml' \
        media-type='application/xhtml+xml'/></manifest><spine><itemref idref='c'/></spine>\
        </package>";
    let chapter = format!(
        "<html xmlns='http://www.w3.org/1999/xhtml' xmlns:epub='http://www.idpf.org/2007/ops'>\
         <body>{BODY}</body></html>"
    );
    zip(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container.as_bytes()),
        ("b.opf", package.as_bytes()),
        ("c.xhtml", chapter.as_bytes()),
    ])
}

const RTF: &[u8] = b"{\\rtf1\\ansi{\\info{\\author Bob}}The steamer{\\super\\chftn}{\\footnote\
    \\pard A note about it.} reached the har\\-bour at caf\\'e9 noon{\\v hidden}.\\par\\trowd \
    alpha\\cell beta\\cell\\row A picture of it\\par}";

/// A page whose note is raised above the line, with white words, numbers of lines in the margin and
/// an author.
#[cfg(feature = "pdf")]
fn pdf() -> Vec<u8> {
    let page = b"BT /F 12 Tf 14 TL 50 740 Td (The steamer) Tj /F 7 Tf 5 Ts (1) Tj 0 Ts /F 12 Tf \
        ( reached the har-) Tj T* (bour at caf\\351 noon.) Tj T* (alpha beta) Tj T* \
        (A picture of it) Tj T* 1 g (hidden) Tj 0 g ET BT /F 8 Tf 50 60 Td (1 A note about it.) \
        Tj ET BT /F 8 Tf 14 TL 20 740 Td (1) Tj T* (2) Tj T* (3) Tj T* (4) Tj ET BT /F 8 Tf \
        20 60 Td (5) Tj ET";
    let pdf = crate::documents::pdf_with(&[page.to_vec()], "");
    let end = pdf.windows(7).rposition(|bytes| bytes == b"trailer").unwrap();
    let trailer = String::from_utf8(pdf[end..].to_vec()).unwrap();
    let trailer = trailer.replace("/Root", "/Info<</Author(Bob)>>/Root");
    [&pdf[..end], trailer.as_bytes()].concat()
}

/// Without PDF support, no such page can be read.
#[cfg(not(feature = "pdf"))]
fn pdf() -> Vec<u8> {
    Vec::new()
}

/// Returns whether this build reads the format of a sample.
fn is_built(sample: &Sample) -> bool {
    let name = sample.format.split(' ').next().unwrap_or_default();
    cento_source::formats().iter().any(|format| format.name == name && format.is_built)
}

#[test]
fn formats_have_the_abilities_of_the_table() {
    let dir = Dir::new();
    let samples = samples();
    for sample in samples.iter().filter(|sample| is_built(sample)) {
        dir.write(&format!("in/{}", sample.name), &sample.bytes);
    }
    let run = dir.run(&["add", "x.idx", "in", "--html", "all"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let exported = dir.run(&["export", "x.idx"]).out;
    let texts: BTreeMap<String, String> = exported
        .lines()
        .map(|line| {
            let document: Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| document[name].as_str().unwrap().to_owned();
            (field("id").replace("in/", ""), field("text"))
        })
        .collect();
    for sample in samples.iter().filter(|sample| is_built(sample)) {
        let text = &texts[sample.name];
        for ((ability, holds), expected) in ABILITIES.iter().zip(sample.abilities) {
            if expected != Absent {
                let is_done = expected == Yes;
                assert_eq!(holds(text), is_done, "{}: {ability}: {text:?}", sample.format);
            }
        }
    }
}

/// Returns the table of the reference page.
pub fn table() -> String {
    let names: Vec<&str> = ABILITIES.iter().map(|(name, _)| *name).collect();
    let mut made = format!("| format | {} |\n|---|", names.join(" | "));
    made.push_str(&"---|".repeat(ABILITIES.len()));
    made.push('\n');
    for Sample { format, abilities, .. } in &samples() {
        let cells = abilities.map(|ability| match ability {
            Yes => "yes",
            Absent => "-",
            Text => "is text",
        });
        let _ = writeln!(made, "| {format} | {} |", cells.join(" | "));
    }
    made
}
