//! Tests of office documents and e-books in zip files.

use std::io::{Cursor, Write};

use super::text_of_zip;
use crate::extracted::ExtractedText;

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

pub(crate) fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        out.start_file(*name, zip::write::SimpleFileOptions::default()).expect("a name");
        out.write_all(text.as_bytes()).expect("memory");
    }
    out.finish().expect("memory").into_inner()
}

fn relations(all: &[(&str, &str, &str)]) -> String {
    let one = |(id, kind, target): &(&str, &str, &str)| {
        format!("<Relationship Id='{id}' Type='{RELATIONS}/{kind}' Target='{target}'/>")
    };
    format!("<Relationships>{}</Relationships>", all.iter().map(one).collect::<String>())
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

#[test]
fn a_word_document_is_read_with_its_notes_headers_and_embedded_parts() {
    let body = format!(
        "<w:document><w:body>{}<w:altChunk r:id='c'/><w:altChunk r:id='d'/><w:p><w:r><w:rPr><w:rStyle \
         w:val='S'/></w:rPr><w:t>unseen</w:t></w:r></w:p>{}</w:body></w:document>",
        paragraph("one"),
        paragraph("two")
    );
    let docx = zipped(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &relations(&[("r", "officeDocument", "word/document.xml")])),
        ("word/document.xml", &body),
        (
            "word/_rels/document.xml.rels",
            &relations(&[
                ("a", "footnotes", "footnotes.xml"),
                ("b", "styles", "styles.xml"),
                ("c", "aFChunk", "/word/chunk.html"),
                ("d", "aFChunk", "chunk.bin"),
                ("e", "header", "header1.xml"),
                ("f", "header", "header2.xml"),
                ("g", "comments", "comments.xml"),
            ]),
        ),
        (
            "word/styles.xml",
            "<w:styles><w:style w:styleId='S'><w:rPr><w:vanish/></w:rPr></w:style></w:styles>",
        ),
        (
            "word/footnotes.xml",
            &format!("<w:footnotes><w:footnote>{}</w:footnote></w:footnotes>", paragraph("note")),
        ),
        ("word/chunk.html", "<html><title>no</title><body><p>web <b>page</b></body></html>"),
        ("word/chunk.bin", "x"),
        ("word/header1.xml", &format!("<w:hdr>{}</w:hdr>", paragraph("head"))),
        ("word/header2.xml", &format!("<w:hdr>{}</w:hdr>", paragraph("head"))),
        ("word/comments.xml", &format!("<w:comments>{}</w:comments>", paragraph("no"))),
    ]);
    let ExtractedText { text, missing, hidden } = text_of_zip(&docx).unwrap();
    assert_eq!((&*text, hidden), ("one\n\nweb page\n\ntwo\n\nnote\n\nhead", 6));
    assert!(missing.unwrap().contains("word/chunk.bin is in a form that is not read there"));
}

#[test]
fn slides_are_pages_in_their_order() {
    let slide = |text: &str| {
        format!(
            "<p:sld><p:cNvPr descr='pic'/><a:p><a:r><a:t>{text}</a:t></a:r>\
             <a:r><a:rPr baseline='30000'/>\
             <a:t>1</a:t></a:r><a:fld><a:t>7</a:t></a:fld></a:p></p:sld>"
        )
    };
    let pptx = zipped(&[
        ("[Content_Types].xml", "<Types/>"),
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldId id='256' r:id='b'/><p:sldId id='257' r:id='a'/></p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            &relations(&[("a", "slide", "slides/slide1.xml"), ("b", "slide", "slides/slide2.xml")]),
        ),
        ("ppt/slides/slide1.xml", &slide("second")),
        ("ppt/slides/slide2.xml", &slide("first")),
        (
            "ppt/slides/_rels/slide2.xml.rels",
            &relations(&[("n", "notesSlide", "../notesSlides/n.xml")]),
        ),
        ("ppt/notesSlides/n.xml", &slide("note")),
    ]);
    let text = text_of_zip(&pptx).unwrap().text;
    assert_eq!(text, "first\n\nnote\n\npic\n\npic\u{c}second\n\npic");
}

#[test]
fn an_e_book_is_read_in_the_encoding_and_with_the_names_that_its_chapters_have() {
    let chapter = "<?xml version='1.0'?><html><head><title/><script src='x'/></head>\
                   <BODY><p>caf&eacute; na&iuml;ve</p><script/><p>end</p></BODY></html>";
    let epub = |encryption: &str| {
        zipped(&[
            ("mimetype", "application/epub+zip"),
            ("META-INF/container.xml", "<container><rootfile full-path='O/b.opf'/></container>"),
            ("META-INF/encryption.xml", encryption),
            (
                "O/b.opf",
                "<package><item id='a' href='a%20b.xhtml#x'/><item id='c' href='c.xhtml'/><spine>\
                 <itemref idref='a'/><itemref idref='a'/><itemref idref='c'/></spine></package>",
            ),
            ("O/a b.xhtml", chapter),
        ])
    };
    let ExtractedText { text, missing, .. } = text_of_zip(&epub("<encryption/>")).unwrap();
    assert_eq!(text, "caf\u{e9} na\u{ef}ve\nend");
    assert!(missing.unwrap().contains("O/c.xhtml"));
    let locked = "<encryption><CipherReference URI='O/a%20b.xhtml'/></encryption>";
    assert!(text_of_zip(&epub(locked)).unwrap_err().contains("encrypted"));
}

#[test]
fn an_unreadable_document_is_named_by_its_kind() {
    let check = |files: &[(&str, &str)], what: &str| {
        let why = text_of_zip(&zipped(files)).unwrap_err();
        assert!(why.contains(what), "{why}");
    };
    check(&[("[Content_Types].xml", "<Types/>"), ("xl/workbook.xml", "")], "spreadsheet");
    let odt = ("mimetype", "application/vnd.oasis.opendocument.text");
    check(
        &[odt, ("META-INF/manifest.xml", "<x><encryption-data/></x>"), ("content.xml", "")],
        "encrypted",
    );
    check(&[odt], "content.xml");
    check(&[("a", "b")], "no document");
    assert!(text_of_zip(b"PK\x03\x04").unwrap_err().contains("damaged"));
}
