//! Tests of the text of mails.

use super::*;

#[test]
fn soft_breaks_of_a_text_without_spaces_are_no_spaces() {
    let mail = |more: &str| {
        let head = format!("Content-Type: text/plain; charset=utf-8; format=flowed{more}\n\n");
        let text = "\u{6e2f}\u{306e} \n\u{6c34}\u{8eca} \n>\u{53e4}\u{3044} \n> \u{51ac}\nend";
        parse(format!("{head}{text}").into_bytes(), None).unwrap().text
    };
    let joined = "\u{6e2f}\u{306e}\u{6c34}\u{8eca}\n>\u{53e4}\u{3044}\u{51ac}\nend";
    assert_eq!(mail("; delsp=yes"), joined);
    assert!(mail("").contains("\u{306e} \n\u{6c34}"));
}
use base64ish::base64;

/// The encoding of files in mails.
mod base64ish {
    pub fn base64(bytes: &[u8]) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for three in bytes.chunks(3) {
            let bits = three.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte));
            let bits = bits << (8 * (3 - three.len()));
            for at in 0..4 {
                let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
                out.push(if at > three.len() { '=' } else { letter.into() });
            }
        }
        out
    }
}

fn mail(bytes: &str) -> Mail {
    parse(bytes.as_bytes().to_vec(), None).unwrap()
}

#[test]
fn the_text_of_a_mail_is_subject_and_body() {
    let plain = "From: a@b\r\nSubject: =?utf-8?q?caf=C3=A9?=\r\n\r\nHello\r\nyou\r\n";
    assert_eq!(mail(plain).text, "caf\u{e9}\n\nHello\nyou\n");
    let both = "Subject: s\nContent-Type: multipart/alternative; boundary=x\n\n--x\n\
                Content-Type: text/plain\n\nplain\n--x\nContent-Type: text/html\n\n\
                <p>page</p>\n--x--\n";
    let Mail { text, attachments, .. } = mail(both);
    assert_eq!((text.trim(), attachments), ("s\n\nplain", vec![]));
    let page = "Content-Type: text/html; charset=utf-8\n\n<p>only a<br>page</p>\n";
    assert_eq!(mail(page).text, "only a\npage");
    let quoted = "Content-Transfer-Encoding: quoted-printable\n\
                  Content-Type: text/plain; charset=iso-8859-1\n\ncaf=E9 lo=\nng\n";
    assert_eq!(mail(quoted).text.trim(), "caf\u{e9} long");
}

#[test]
fn letters_are_read_in_the_encoding_that_is_named_or_found() {
    // Non-ASCII letters became U+FFFD.
    let text = "Die Gr\u{f6}\u{df}e der St\u{e4}dte f\u{fc}hrt zu H\u{e4}ndlern.";
    let latin: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
    let read = |head: &str, bytes: &[u8], encoding: Option<&str>| {
        let mail = [format!("Subject: s\n{head}\n").as_bytes(), bytes, b"\n"].concat();
        let Mail { text, .. } = parse(mail, encoding).unwrap();
        text.trim_start_matches("s\n\n").trim().to_owned()
    };
    let plain = |charset: &str| format!("Content-Type: text/plain; charset={charset}\n");
    for head in ["", &plain("unknown-8bit"), &plain("us-ascii"), &plain("iso-8859-1")] {
        assert_eq!(read(head, &latin, None), text, "{head}");
        assert_eq!(read(head, &latin, Some("latin1")), text, "{head}");
    }
    let quoted = "Content-Transfer-Encoding: quoted-printable\n";
    assert_eq!(
        read(quoted, b"f=FChrt zu=\n H=E4ndlern", Some("latin1")),
        "f\u{fc}hrt zu H\u{e4}ndlern"
    );
    let encoded = "Content-Transfer-Encoding: base64\n";
    assert_eq!(read(encoded, base64(&latin).as_bytes(), None), text);
    assert_eq!(read("", b"f\x81hrt", Some("cp850")), "f\u{fc}hrt");
    assert_eq!(read(&plain("cp852"), b"\x9f", None), "\u{10d}");
    // The parser knows no encoding of several bytes.
    assert_eq!(
        read(&plain("gb2312"), b"\xb5\xc0\xbf\xc9\xb5\xc0", None),
        "\u{9053}\u{53ef}\u{9053}"
    );
    let page = "Content-Type: text/html\n";
    let body = [b"<meta charset=latin1><p>", &latin[..]].concat();
    assert_eq!(read(page, &body, None), text);
    assert_eq!(read("", text.as_bytes(), None), text);
    assert!(parse(b"Subject: s\n\nDie St\x84dte f\x81hren".to_vec(), None).is_err());
}

#[test]
fn the_subject_and_attached_texts_have_letters_too() {
    let mail = b"Subject: Gr\xfc\xdfe\n an alle\n\
        Content-Type: multipart/mixed; boundary=x\n\n--x\n\n\
        Viele Gr\xfc\xdfe, es f\xfchrt zu Schwierigkeiten f\xfcr die H\xe4ndler.\n--x\n\
        Content-Disposition: attachment; filename=a.txt\n\
        Content-Type: text/plain\n\nf\xfcr\n--x\n\
        Content-Disposition: attachment; filename=b.txt\n\
        Content-Type: text/plain; charset=latin1\n\nf\xfcr\n--x--\n";
    for encoding in [None, Some("latin1")] {
        let Mail { text, attachments, .. } = parse(mail.to_vec(), encoding).unwrap();
        assert!(text.starts_with("Gr\u{fc}\u{df}e an alle\n\nViele Gr\u{fc}\u{df}e, es"), "{text}");
        let files: Vec<_> = attachments.into_iter().map(|file| file.bytes.unwrap()).collect();
        assert_eq!(files, [&b"f\xfcr"[..], "\u{feff}f\u{fc}r".as_bytes()]);
    }
}

#[test]
fn a_subject_is_read_in_the_encoding_of_its_text_and_may_have_encoded_words() {
    let head = "Content-Type: text/plain; charset=";
    let check = |mail: &[u8], encoding: Option<&str>, expected: &str| {
        let Mail { text, .. } = parse(mail.to_vec(), encoding).unwrap();
        assert_eq!(text.trim(), expected);
    };
    let encoded = b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= an J\xfcrgen\n\nF\xfcr die St\xe4dte.\n";
    check(encoded, None, "Gr\u{fc}\u{df}e an J\u{fc}rgen\n\nF\u{fc}r die St\u{e4}dte.");
    let utf8 = format!("Subject: f\u{fc}r\n{head}utf-8\n\nf\u{fc}r\n");
    check(utf8.as_bytes(), Some("latin1"), "f\u{fc}r\n\nf\u{fc}r");
    // Non-ASCII letters were read as windows-1252.
    let ascii = format!("Subject: s\n{head}us-ascii\n\nDie Gr\u{f6}\u{df}e\n");
    check(ascii.as_bytes(), None, "s\n\nDie Gr\u{f6}\u{df}e");
    check(
        b"Subject: a\nSubject: f\xfcr b\n\nf\xfcr alle\n",
        Some("latin1"),
        "f\u{fc}r b\n\nf\u{fc}r alle",
    );
}

#[test]
fn a_page_that_a_browser_saved_is_a_page() {
    // Once the text had all menus of the page, and every style sheet was a document.
    let mhtml = |address: &str| {
        format!(
            "From: <Saved by Blink>\nSubject: A page\nMIME-Version: 1.0\n\
             Content-Type: multipart/related; type=\"text/html\"; boundary=\"x\"\n\n--x\n\
             Content-Type: text/html; charset=iso-8859-1\n{address}\
             Content-Transfer-Encoding: quoted-printable\n\n<p>caf=E9</p>\n--x\n\
             Content-Type: text/css\nContent-Location: cid:css-1\n\np {{ color: red }}\n\
             --x--\n"
        )
    };
    let Mail { text, page, attachments, .. } = mail(&mhtml("Content-Location: http://a.org/\n"));
    assert_eq!((text.as_str(), attachments), ("", vec![]));
    assert_eq!(page.unwrap().trim_ascii_end(), "\u{feff}<p>caf\u{e9}</p>".as_bytes());
    assert_eq!(mail(&mhtml("")).page, None, "a mail with a page and its style");
}

#[test]
fn an_attachment_is_a_file_and_so_is_a_mail() {
    let part = |head: &str, body: &str| format!("--x\n{head}\n\n{body}\n");
    let file = |name: &str, bytes: &[u8]| {
        let head = format!(
            "Content-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\
             Content-Disposition: attachment; filename=\"{name}\""
        );
        part(&head, &base64(bytes))
    };
    let forwarded = "Content-Type: Message/RFC822";
    let all = [
        "Subject: s\nContent-Type: multipart/mixed; boundary=x\n\n".to_owned(),
        part("Content-Type: text/plain", "body"),
        file("../a b.bin", b"\0\x01\xff"),
        file("a b.bin", b"other"),
        part(forwarded, "Subject: inner\n\nwords"),
        part("Content-Type: image/png\nContent-Transfer-Encoding: base64", "iVBORw0K"),
        "--x--\n".to_owned(),
    ];
    let Mail { text, attachments, .. } = mail(&all.concat());
    assert_eq!(text.trim(), "s\n\nbody");
    let found: Vec<(&str, &[u8])> =
        attachments.iter().map(|found| (&*found.name, found.bytes.as_deref().unwrap())).collect();
    let inner = b"Subject: inner\n\nwords";
    let expected: [(&str, &[u8]); 3] =
        [("a b.bin", b"\0\x01\xff"), ("a b.bin (2)", b"other"), ("part 3.eml", inner)];
    assert_eq!(found, expected);
}

#[test]
fn the_parts_of_a_digest_are_mails() {
    // Once parts without a separate type became a single text with the headers of the parts.
    let inner = |number: u32| format!("Subject: s{number}\nFrom: a@b.c\n\nwords {number}");
    let part = |number: u32| format!("--y\n\n{}\n", inner(number));
    let plain = "--y\nContent-Type: text/plain\n\nan introduction\n";
    let digest = format!(
        "Subject: s\nContent-Type: multipart/digest; boundary=y\n\n{plain}{}{}--y--\n",
        part(1),
        part(2)
    );
    let Mail { text, attachments, .. } = mail(&digest);
    assert_eq!(text.trim(), "s\n\nan introduction");
    let found: Vec<_> = attachments
        .iter()
        .map(|found| (&*found.name, found.bytes.as_deref().unwrap().to_vec()))
        .collect();
    let expected = [(1, "part 1.eml"), (2, "part 2.eml")];
    let expected = expected.map(|(number, name)| (name, inner(number).into_bytes()));
    assert_eq!(found, expected);
}

#[test]
fn an_attachment_that_cannot_be_decoded_is_no_text() {
    // The encoded letters were the text of the file.
    let encoded = base64(b"words of a file that is attached");
    let head = "Subject: s\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nbody\n--x\n\
                Content-Type: text/plain; name=a.txt\nContent-Transfer-Encoding: BASE64\n\n";
    let files = |rest: &str| {
        let Mail { text, attachments, .. } = mail(&format!("{head}{rest}"));
        assert_eq!(text.trim(), "s\n\nbody");
        attachments.into_iter().map(|file| (file.name, file.bytes)).collect::<Vec<_>>()
    };
    let read = Ok(b"words of a file that is attached".to_vec());
    assert_eq!(files(&format!("{encoded}\n--x--\n")), [("a.txt".to_owned(), read)]);
    let unread = [("a.txt".to_owned(), Err(UNDECODED))];
    assert_eq!(files(&format!("{}\n", &encoded[..20])), unread);
    assert_eq!(files(&format!("{}*{}\n--x--\n", &encoded[..20], &encoded[20..])), unread);
    let alone = "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n";
    let alone = |body: &str| parse(format!("Subject: s\n{alone}{body}\n").into_bytes(), None);
    assert_eq!(alone(&base64(b"words")).unwrap().text, "s\n\nwords");
    assert_eq!(alone("d29y*ZHM="), Err(UNDECODED.to_owned()));
}

#[test]
fn hostile_mails_are_refused_or_taken_as_they_are() {
    // Freeing nested messages would overflow the stack.
    let deep = "Content-Type: message/rfc822\n\n".repeat(300_000);
    let Mail { attachments, .. } = mail(&deep);
    assert_eq!(attachments.len(), 1);
    let bytes = attachments[0].bytes.as_deref().unwrap();
    assert!(bytes.starts_with(b"Content-Type: message/"));
    let wide = format!("Content-Type: text/plain{}\n\nx", "; a*1=b".repeat(1_000_000));
    assert!(parse(wide.into_bytes(), None).unwrap_err().contains("a header of more than"));
    let parts = "--y\nContent-Type: multipart/mixed; boundary=x\n\n".repeat(100_000);
    let parts = format!("Content-Type: multipart/mixed; boundary=y\n\n{parts}");
    assert!(parse(parts.into_bytes(), None).unwrap_err().contains("too many for its size"));
    assert!(parse(b"".to_vec(), None).unwrap_err().contains("no mail"));
}

#[test]
fn a_plain_text_that_only_points_to_the_page_is_not_the_mail() {
    let page = "the tide turned at four, and by five the boats came in with the wind ".repeat(5);
    let both = |plain: &str| {
        mail(&format!(
            "Subject: s\nContent-Type: multipart/alternative; boundary=x\n\n--x\n\
             Content-Type: text/plain\n\n{plain}\n--x\nContent-Type: text/html\n\n\
             <p>{page}</p><p style=\"display:none\">ghost</p>\n--x--\n"
        ))
    };
    let found = both("This needs an HTML viewer.");
    assert_eq!((found.text.as_str(), found.hidden), (&*format!("s\n\n{}", page.trim_end()), 5));
    let short = "The tide turned at four, and all the boats came in by five.";
    assert_eq!((both(short).text.trim(), both(short).hidden), (&*format!("s\n\n{short}"), 0));
}

#[test]
fn signatures_keys_cards_and_calendars_are_no_files() {
    let part = |kind: &str, body: &str| format!("--x\nContent-Type: {kind}\n\n{body}\n");
    let all = [
        "Subject: s\nContent-Type: multipart/mixed; boundary=x\n\n".to_owned(),
        part("text/plain", "body"),
        part("application/pgp-signature; name=s.asc", "-----BEGIN PGP SIGNATURE-----\nabc"),
        part("application/pkcs7-signature; name=smime.p7s", "abc"),
        part("application/octet-stream; name=k.asc", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"),
        part("application/octet-stream; name=secret.asc", "-----BEGIN PGP MESSAGE-----\nabc"),
        part("text/x-vcard", "BEGIN:VCARD"),
        part("text/calendar; charset=utf-8", "BEGIN:VCALENDAR"),
        part("text/plain; name=a.txt\nContent-Disposition: attachment", "words"),
        "--x--\n".to_owned(),
    ];
    let Mail { text, attachments, .. } = mail(&all.concat());
    assert_eq!(text.trim(), "s\n\nbody");
    assert_eq!(
        attachments.iter().map(|file| &*file.name).collect::<Vec<_>>(),
        ["secret.asc", "a.txt"]
    );
}

#[test]
fn a_signature_in_the_text_is_no_text() {
    let text = |body: &str| mail(&format!("Subject: s\n\n{body}")).text;
    let signed = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA1\n\nbody\n- -- \nAnn\n\
        -----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\nafter\n";
    assert_eq!(text(signed), "s\n\nbody\n-- \nAnn\nafter\n");
    let cut = "a\n-----BEGIN PGP SIGNATURE-----\nis how it begins\n";
    assert_eq!(text(cut), format!("s\n\n{cut}"));
}
