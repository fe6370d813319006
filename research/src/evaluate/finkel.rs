//! Finkel, Zaslavsky, Monostori and Schmidt 2002: signature extraction on the RFCs.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cento::Measure;
use cento::Stop;
use cento::index::Config;
use cento::text::{Analyzer, Side, Tokens};
use clap::Args;

use super::{common, share};
use crate::Result;
use crate::cento::documents;
use crate::measure::keys;

/// Tables 1 to 4 on the RFCs.
#[derive(Debug, Args)]
pub struct Finkel {
    /// The RFCs: a JSON lines file with ids such as rfc1596.
    #[arg(long)]
    corpus: PathBuf,
    /// Java programs: a JSON lines file with ids as in IR-Plag, such as
    /// case-01/plagiarized/L1/02/T1.java.
    #[arg(long)]
    programs: Option<PathBuf>,
}

/// RFC 1, RFC 2, and the asymmetric similarities by MDR, signature extraction (SE) and
/// overlapping chunks (OV), in hundredths.
const TABLE_1: [(u32, u32, [u32; 6]); 12] = [
    (1596, 1604, [99, 99, 91, 92, 94, 94]),
    (2264, 2274, [99, 99, 96, 95, 94, 94]),
    (1138, 1148, [96, 95, 93, 92, 91, 89]),
    (1065, 1155, [96, 91, 71, 68, 84, 79]),
    (1048, 1084, [94, 91, 73, 67, 87, 82]),
    (2059, 2139, [92, 90, 77, 83, 83, 81]),
    (1084, 1395, [86, 84, 58, 64, 79, 75]),
    (1497, 1084, [82, 87, 38, 42, 73, 79]),
    (1600, 1410, [72, 77, 52, 48, 58, 61]),
    (2497, 2394, [19, 17, 33, 27, 16, 15]),
    (2422, 2276, [18, 3, 23, 6, 15, 2]),
    (2392, 2541, [16, 12, 27, 17, 13, 10]),
];

/// RFC 1, RFC 2, and the similarities by gzip, bzip2 and ppm, in hundredths.
const TABLE_4: [(u32, u32, [u32; 3]); 6] = [
    (1596, 1604, [4, 79, 75]),
    (1048, 1084, [89, 70, 73]),
    (1084, 1395, [87, 68, 72]),
    (1600, 1410, [3, 58, 61]),
    (2497, 2394, [27, 26, 28]),
    (2422, 2276, [6, 9, 10]),
];

/// Numbers of the RFCs in table 3.
const TABLE_3: [u32; 22] = [
    2264, 2274, 1138, 1148, 1596, 1604, 1395, 1084, 2139, 2059, 1048, 1065, 1155, 1497, 2394, 2392,
    2422, 2541, 2276, 1600, 1410, 2497,
];

/// Signature extraction, and overlapping chunks of ten tokens.
const SCHEMES: [&str; 2] = ["se(c=10)", "kgram(k=10)"];

struct Text {
    text: String,
    tokens: Tokens,
}

impl Text {
    fn side(&self) -> Side<'_> {
        Side { text: &self.text, tokens: &self.tokens, parts: &[] }
    }
}

impl Finkel {
    pub(super) fn run(self) -> Result<String> {
        let analyzer = Analyzer::default();
        let mut texts: HashMap<u32, Text> = HashMap::new();
        for document in documents(&self.corpus)? {
            let document = document?;
            let Some(number) = document.id.strip_prefix("rfc").and_then(|n| n.parse().ok()) else {
                continue;
            };
            let mut tokens = Tokens::default();
            analyzer.analyze(&document.text, &mut tokens, Stop::NEVER)?;
            texts.insert(number, Text { text: document.text, tokens });
        }
        let mut out = String::from("## Finkel et al. 2002: signature extraction\n\n");
        table_1(&texts, &mut out)?;
        table_2(&texts, &mut out)?;
        table_3(&texts, &mut out)?;
        table_4(&texts, &mut out)?;
        if let Some(programs) = &self.programs {
            table_of_programs(programs, &mut out)?;
        }
        Ok(out)
    }
}

fn of(texts: &HashMap<u32, Text>, number: u32) -> Result<&Text> {
    texts.get(&number).ok_or_else(|| format!("rfc{number} is not in the corpus").into())
}

fn hundredths(share: f64) -> f64 {
    100.0 * share
}

fn table_1(texts: &HashMap<u32, Text>, out: &mut String) -> Result {
    let configs = SCHEMES.map(|scheme| Config::new(scheme, "words", false));
    let [se, ov] = configs;
    let (se, ov) = (se?, ov?);
    let overlap: Measure = "overlap(n=10)".parse()?;
    *out += "Table 1, asymmetric similarities in hundredths, theirs / ours: MDR (`overlap(n=10)`), signature extraction (`se(c=10)`), overlapping \
             chunks (`kgram(k=10)`).\n\n| RFC 1 | RFC 2 | MDR 1 | MDR 2 | SE 1 | SE 2 | OV 1 | OV 2 |\n|---|---|---|---|---|---|---|---|\n";
    let mut errors = [0.0; 3];
    for (first, second, theirs) in TABLE_1 {
        let (a, b) = (of(texts, first)?, of(texts, second)?);
        let mut ours = vec![overlap.of(a.side(), b.side()), overlap.of(b.side(), a.side())];
        for config in [&se, &ov] {
            let (x, y) = (keys(config, &a.text)?, keys(config, &b.text)?);
            let both = common(&x, &y);
            ours.extend([share(both, x.len()), share(both, y.len())]);
        }
        write!(out, "| {first} | {second} |")?;
        for (i, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
            write!(out, " {theirs} / {:.0} |", hundredths(*ours))?;
            errors[i / 2] += (f64::from(*theirs) - hundredths(*ours)).abs() / 24.0;
        }
        out.push('\n');
    }
    writeln!(
        out,
        "\nMean difference in hundredths: MDR {:.1}, SE {:.1}, OV {:.1}. MDR and OV are defined by the texts. Signature extraction is a sample, \
         and a small one: it keeps chunks of nearly the median length, one in twenty here, so that documents with medians that differ by one token \
         share hardly a chunk. Which chunks there are depends on the hash of each word, and theirs is not known.\n\n",
        errors[0], errors[1], errors[2]
    )?;
    Ok(())
}

fn table_2(texts: &HashMap<u32, Text>, out: &mut String) -> Result {
    *out += "Table 2, all RFCs: signing, and distinct digests of 5 bytes.\n\n| | time, s | space, MB |\n|---|---|---|\n";
    let mut rows = Vec::new();
    for scheme in SCHEMES {
        let config = Config::new(scheme, "words", false)?;
        let started = Instant::now();
        let mut digests = 0;
        for text in texts.values() {
            digests += keys(&config, &text.text)?.len();
        }
        let (seconds, mb) = (started.elapsed().as_secs_f64(), digests as f64 * 5e-6);
        writeln!(out, "| `{scheme}` | {seconds:.2} | {mb:.2} |")?;
        rows.push((seconds, mb));
    }
    writeln!(
        out,
        "| factor, theirs 4.6 and 130 | {:.1} | {:.0} |\n",
        rows[1].0 / rows[0].0,
        rows[1].1 / rows[0].1
    )?;
    Ok(())
}

fn table_3(texts: &HashMap<u32, Text>, out: &mut String) -> Result {
    *out += "Table 3, the nearest of 22 RFCs by the shares of four common words (`style`), beside the symmetric similarity by `se(c=10)`.\n\n\
             | RFC | nearest | style | SE, hundredths |\n|---|---|---|---|\n";
    let se = Config::new("se(c=10)", "words", false)?;
    let style: Measure = "style".parse()?;
    for number in TABLE_3 {
        let text = of(texts, number)?;
        let mut nearest = (0, 0.0);
        for other in TABLE_3.into_iter().filter(|other| *other != number) {
            let similarity = style.of(text.side(), of(texts, other)?.side());
            if similarity > nearest.1 {
                nearest = (other, similarity);
            }
        }
        let (a, b) = (keys(&se, &text.text)?, keys(&se, &of(texts, nearest.0)?.text)?);
        let symmetric = share(2 * common(&a, &b), a.len() + b.len());
        writeln!(
            out,
            "| {number} | {} | {:.6} | {:.0} |",
            nearest.0,
            nearest.1,
            hundredths(symmetric)
        )?;
    }
    out.push('\n');
    Ok(())
}

fn table_4(texts: &HashMap<u32, Text>, out: &mut String) -> Result {
    *out += "Table 4, similarity by compression in hundredths, theirs / ours.\n\n| RFC 1 | RFC 2 | gzip | bzip2 | ppm |\n|---|---|---|---|---|\n";
    for (first, second, theirs) in TABLE_4 {
        let (a, b) = (of(texts, first)?, of(texts, second)?);
        write!(out, "| {first} | {second} |")?;
        for (name, theirs) in ["gzip", "bzip2", "ppm"].into_iter().zip(theirs) {
            let measure: Measure = name.parse()?;
            write!(out, " {theirs} / {:.0} |", hundredths(measure.of(a.side(), b.side())))?;
        }
        out.push('\n');
    }
    out.push('\n');
    Ok(())
}

/// Schemes and analyzers for programs.
const FOR_PROGRAMS: [(&str, &str); 5] = [
    ("syntax(min=10)", "code(language=java)"),
    ("winnow(k=5,w=4)", "code(language=java)"),
    ("winnow(k=10,w=4)", "code(language=java)"),
    ("winnow(k=5,w=4)", "code(language=java,names=1)"),
    ("winnow(k=5,w=4)", "words"),
];

/// Measures how much of an original program is in copies disguised in six ways, and in independent
/// programs for the same task.
fn table_of_programs(path: &Path, out: &mut String) -> Result {
    let mut originals: HashMap<String, String> = HashMap::new();
    let mut others: Vec<(String, &'static str, String)> = Vec::new();
    for document in documents(path)? {
        let document = document?;
        let mut parts = document.id.split('/');
        let (case, kind, level) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
        let case = case.unwrap_or_default().to_owned();
        match kind {
            Some("original") => drop(originals.insert(case, document.text)),
            Some("plagiarized") => {
                let level = LEVELS.into_iter().find(|other| *other == level);
                others.push((case, level.ok_or("a level that is not L1 to L6")?, document.text));
            }
            _ => others.push((case, NOT_PLAGIARISED, document.text)),
        }
    }
    writeln!(
        out,
        "Programs (section 2.1; {} Java programs of IR-Plag): mean share of the original's fingerprints in copies disguised by other comments and layout (L1), \
         names (L2), declarations (L3), methods (L4), statements (L5) and logic (L6), and in programs that others wrote for the same task; last, how often a copy of \
         L1 to L6 has more of its original than a program of another has, of all such pairs of one task.\n\n\
         | scheme | analyzer | L1 | L2 | L3 | L4 | L5 | L6 | others | copies first |\n|---|---|---|---|---|---|---|---|---|---|",
        originals.len() + others.len()
    )?;
    for (scheme, analyzer) in FOR_PROGRAMS {
        let config = Config::new(scheme, analyzer, false)?;
        let mut shares: Vec<(&str, &str, f64)> = Vec::new();
        for (case, level, text) in &others {
            let original = originals.get(case).ok_or_else(|| format!("{case} has no original"))?;
            let (a, b) = (keys(&config, original)?, keys(&config, text)?);
            shares.push((case, level, share(common(&a, &b), a.len())));
        }
        write!(out, "| `{scheme}` | `{analyzer}` |")?;
        for level in LEVELS.into_iter().chain([NOT_PLAGIARISED]) {
            let of_level: Vec<f64> =
                shares.iter().filter(|of| of.1 == level).map(|of| of.2).collect();
            write!(out, " {:.2} |", of_level.iter().sum::<f64>() / of_level.len().max(1) as f64)?;
        }
        let (mut first, mut all) = (0.0, 0.0);
        for copy in shares.iter().filter(|of| of.1 != NOT_PLAGIARISED) {
            for other in shares.iter().filter(|of| of.1 == NOT_PLAGIARISED && of.0 == copy.0) {
                all += 1.0;
                first += if copy.2 > other.2 {
                    1.0
                } else if copy.2 == other.2 {
                    0.5
                } else {
                    0.0
                };
            }
        }
        writeln!(out, " {:.3} |", first / all)?;
    }
    out.push('\n');
    Ok(())
}

const LEVELS: [&str; 6] = ["L1", "L2", "L3", "L4", "L5", "L6"];
const NOT_PLAGIARISED: &str = "others";
