//! Mails, mailboxes and attachments.

use crate::common::{Dir, read_one, read_stream, words, zip};

#[test]
fn mails_are_documents_and_so_are_attachments() {
    let dir = Dir::new();
    let passage = words(1, 60);
    let mail = |body: &str| format!("From: a@b\nMessage-ID: <1>\nSubject: s\n\n{body}\n");
    dir.write("in/a.eml", mail(&passage));
    dir.write("in/b", mail(&passage));
    let separator = "From a@b Mon Jan  1 12:00:00 2024\n";
    let mails = [mail(&passage), mail(&format!("{} {passage}", words(2, 30)))];
    dir.write("in/c.mbox", format!("{separator}{}\n{separator}{}", mails[0], mails[1]));
    let attached = |name: &str, bytes: &[u8]| {
        let bytes: String = bytes.iter().map(|byte| format!("={byte:02X}")).collect();
        format!(
            "--x\nContent-Type: application/octet-stream; name={name}\nContent-Transfer-Encoding: \
             quoted-printable\n\n{bytes}\n"
        )
    };
    let archive = zip(&[("inner.txt", passage.as_bytes()), ("n.zip", &zip(&[("x", b"y")]))]);
    let parts = [
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n".to_owned(),
        format!("--x\nContent-Type: text/plain\n\n{}\n", words(3, 20)),
        attached("d.txt", passage.as_bytes()),
        attached("e.zip", &archive),
        format!("--x\nContent-Type: message/rfc822\n\n{}", mail(&passage)),
        "--x--\n".into(),
    ];
    dir.write("in/d.eml", parts.concat());
    dir.write("in/e.zip", zip(&[("f.eml", parts.concat().as_bytes())]));
    let found = read_one(&dir, "in");
    let with_passage = [
        "in/a.eml",
        "in/b",
        "in/c.mbox/1",
        "in/c.mbox/2",
        "in/d.eml/d.txt",
        "in/d.eml/e.zip/inner.txt",
        "in/d.eml/part 3.eml",
        "in/e.zip/f.eml/d.txt",
        "in/e.zip/f.eml/part 3.eml",
    ];
    let mut expected = [&with_passage[..], &["in/d.eml", "in/e.zip/f.eml"]].concat();
    expected.sort_unstable();
    assert_eq!(found.ids(), expected);
    for id in with_passage {
        assert!(found.text(id).contains(&passage), "{id}");
    }
    // Archives are read up to a nesting of two.
    let left: Vec<&str> =
        found.left_out.iter().map(|left| left.split(':').next().unwrap()).collect();
    assert_eq!(left, ["in/d.eml/e.zip/n.zip", "in/e.zip/f.eml/e.zip"]);
}

#[test]
fn a_file_of_a_mail_that_cannot_be_decoded_is_named() {
    let head = "Subject: s\nContent-Type: multipart/mixed; boundary=x\n\n";
    let part = "--x\nContent-Type: text/plain; name=a.txt\nContent-Transfer-Encoding: base64\n\n";
    let mail = format!("{head}--x\n\n{}\n{part}dGhlIGZpcnN0\nIHdvcmRz", words(1, 60));
    let found = read_stream("a.eml", mail.as_bytes());
    assert_eq!(found.ids(), ["a.eml"]);
    assert_eq!(found.unread, ["cannot read a.eml/a.txt: its base64 is cut short or invalid"]);
}
