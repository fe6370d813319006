//! Sends texts that were made to take long, and measures their effect on other clients.
//!
//! Each text is sent to every route that compares texts, at the service's default limits, while a
//! good client searches. The tool measures how long the text keeps the processor busy, even after
//! the answer, and how long the good client waits.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cento::search::SearchOptions;
use cento::{CompareOptions, Measure};
use cento_client::Client;
use cento_client::api::{
    Commit, CompareRequest, DocumentBody, PairsRequest, PassagesRequest, SearchRequest, TextOrId,
};
use clap::Args;
use fastrand::Rng;

use crate::Result;
use crate::service::Running;

/// Send a service texts that were made to take long, while a good client searches.
#[derive(Debug, Args)]
pub struct Hostile {
    /// A directory for the index, which is made anew, and the texts.
    #[arg(long)]
    work: PathBuf,
    /// Path of the cento program to test.
    #[arg(long, default_value = "target/release/cento")]
    cento: PathBuf,
    /// The bytes of each text; a request has two.
    #[arg(long, default_value = "5000000")]
    bytes: usize,
    /// Only make the texts, as files in the directory.
    #[arg(long)]
    texts_only: bool,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

const DOCUMENTS: u64 = 2000;

const STORED: &str = "hostile";

impl Hostile {
    pub(crate) fn run(self) -> Result {
        fs::create_dir_all(&self.work)?;
        if self.texts_only {
            for (name, texts) in self.texts() {
                for (side, text) in ["a", "b"].into_iter().zip(texts) {
                    fs::write(self.work.join(format!("{name}-{side}.txt")), text)?;
                }
            }
            return Ok(());
        }
        let index = self.work.join("hostile.idx");
        if index.exists() {
            fs::remove_dir_all(&index)?;
        }
        if !Command::new(&self.cento).arg("create").arg(&index).status()?.success() {
            return Err("the index could not be created".into());
        }
        let service = Running::start(&self.cento, &index, &[])?;
        let client = Client::new(&service.url, None)?;
        let mut rng = Rng::with_seed(self.seed);
        for number in 0..DOCUMENTS {
            client.add(&document(&number.to_string(), words(&mut rng, 400)), Commit::Auto)?;
        }
        let is_done = AtomicBool::new(false);
        println!("| texts | route | answer | s | processor s | s after the answer |");
        println!("|---|---|---|---|---|---|");
        std::thread::scope(|scope| -> Result {
            let good = scope.spawn(|| search(&service.url, &is_done));
            let sent = self.send(&service);
            is_done.store(true, Ordering::Relaxed);
            let (times, refused) = good.join().map_err(|_| "the good client panicked")??;
            sent?;
            let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize] as f64 / 1e3;
            println!(
                "\n{} searches of a good client: p50 {:.1} ms, p99 {:.1} ms, most {:.1} ms; \
                 {refused} were refused",
                times.len(),
                at(0.5),
                at(0.99),
                at(1.0)
            );
            Ok(())
        })
    }

    fn send(&self, service: &Running) -> Result {
        let client = Client::new(&service.url, None)?;
        for (name, [a, b]) in self.texts() {
            let row = |route: &str, request: &mut dyn FnMut() -> cento::Result<()>| -> Result {
                let (before, started) = (processor_seconds(service)?, Instant::now());
                let answer = request().map_or_else(|e| e.to_string(), |()| "200".into());
                let answered = started.elapsed();
                while computations(service)? > 0 {
                    std::thread::sleep(Duration::from_millis(5));
                }
                let after = (started.elapsed() - answered).as_secs_f64();
                println!(
                    "| {name} | {route} | {answer} | {:.2} | {:.2} | {after:.2} |",
                    answered.as_secs_f64(),
                    processor_seconds(service)? - before
                );
                Ok(())
            };
            let stored = document(STORED, b.clone());
            row("documents", &mut || client.add(&stored, Commit::Wait).map(drop))?;
            let compared = CompareRequest {
                a: TextOrId::Text(a.clone()),
                b: TextOrId::Text(b.clone()),
                options: CompareOptions::default(),
            };
            row("compare", &mut || client.compare(&compared).map(drop))?;
            let hit = STORED.to_owned();
            let asked =
                PassagesRequest { text: Some(a.clone()), hit, ..PassagesRequest::default() };
            row("passages", &mut || client.passages(&asked).map(drop))?;
            let documents = vec![document("a", a.clone()), document("b", b.clone())];
            let documents = documents.into_iter().map(Into::into).collect();
            let handful = PairsRequest { documents, ..PairsRequest::default() };
            row("pairs", &mut || client.pairs(&handful).map(drop))?;
            for verify in ["containment", "overlap", "cosine", "gzip"] {
                let options = SearchOptions::default()
                    .passages(verify == "containment")
                    .verify(verify.parse::<Measure>()?);
                let query =
                    SearchRequest { text: Some(a.clone()), options, ..SearchRequest::default() };
                let route = format!("search by {verify}");
                row(&route, &mut || client.search(&query).map(drop))?;
            }
        }
        Ok(())
    }

    fn texts(&self) -> Vec<(&'static str, [String; 2])> {
        let mut rng = Rng::with_seed(self.seed);
        let bytes = self.bytes;
        let letters = |rng: &mut Rng, bytes: usize| -> String {
            (0..bytes / 2).flat_map(|_| [rng.lowercase(), ' ']).collect()
        };
        let sentences: Vec<String> =
            (0..bytes / 60).map(|_| format!("{}. ", words(&mut rng, 10))).collect();
        let shuffled = [1, 2].map(|seed| {
            let mut order: Vec<&str> = sentences.iter().map(String::as_str).collect();
            Rng::with_seed(seed).shuffle(&mut order);
            order.concat()
        });
        let one = &sentences[0];
        vec![
            ("spiral", spiral(&mut rng, bytes)),
            ("letters", [letters(&mut rng, bytes), letters(&mut rng, bytes)]),
            ("shuffled", shuffled),
            ("sentence", [one.repeat(bytes / one.len()), one.repeat(bytes / one.len() - 7)]),
            ("word", [7, 1].map(|less| "word ".repeat(bytes / 5 - less))),
            ("dots", [7, 1].map(|less| ". ".repeat(bytes / 2 - less))),
            ("summaries", summaries(&mut rng, bytes)),
            ("misread", misread(&mut rng, bytes)),
        ]
    }
}

/// Makes texts with shared sentences, ordered so that every cut of a group of sentences separates a
/// sentence. Two shared sentences have four sentences between them that occur in a single text.
fn spiral(rng: &mut Rng, bytes: usize) -> [String; 2] {
    let count = bytes / 140;
    let shared: Vec<String> = (0..count).map(|_| words(rng, 4)).collect();
    let orders: [fn(usize) -> usize; 2] = [|place| place ^ 1, |place| (place + 1) ^ 1];
    orders.map(|order| {
        let mut places: Vec<usize> = (0..count).collect();
        places.sort_by_key(|&number| order(number));
        let mut text = String::new();
        for number in places {
            let _ = write!(text, "{}. ", shared[number]);
            for _ in 0..4 {
                let _ = write!(text, "{}. ", words(rng, 3));
            }
        }
        text
    })
}

/// Makes a text of summaries, each of a different part of the second text, which is as long as
/// allowed.
fn summaries(rng: &mut Rng, bytes: usize) -> [String; 2] {
    let (mut short, mut long) = (String::new(), String::new());
    while long.len() < bytes {
        for _ in 0..32 {
            let pair = words(rng, 2);
            let _ = write!(short, "{pair}. ");
            let _ = write!(long, "{pair} {}. ", words(rng, 8));
        }
        for _ in 0..5 {
            let _ = write!(short, "{}. ", words(rng, 9));
        }
    }
    [short, long]
}

/// Makes a text and a copy with one letter in seven misread. Letters are then aligned, and most
/// letters are equal.
fn misread(rng: &mut Rng, bytes: usize) -> [String; 2] {
    let mut own = String::new();
    while own.len() < bytes {
        let word: String = (0..rng.usize(3..9)).map(|_| rng.lowercase()).collect();
        let _ = write!(own, "{word} ");
    }
    let mut letter = |c: char| if c != ' ' && rng.u8(..7) == 0 { rng.lowercase() } else { c };
    let other = own.chars().map(&mut letter).collect();
    [own, other]
}

fn words(rng: &mut Rng, count: usize) -> String {
    let word = |_| format!("w{:x}", rng.u32(..1 << 22));
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

fn document(id: &str, text: String) -> DocumentBody {
    DocumentBody { id: id.to_owned(), text, meta: serde_json::Map::new(), id_place: None }
}

/// Searches until `is_done`. Returns the sorted times in microseconds and the number of failures.
fn search(url: &str, is_done: &AtomicBool) -> std::result::Result<(Vec<u64>, u64), String> {
    let client = Client::new(url, None).map_err(|e| e.to_string())?;
    let (mut times, mut refused) = (Vec::new(), 0);
    let mut rng = Rng::with_seed(2);
    while !is_done.load(Ordering::Relaxed) {
        let text = Some(words(&mut rng, 900));
        let options = SearchOptions::default().passages(true);
        let query = SearchRequest { text, options, ..SearchRequest::default() };
        let started = Instant::now();
        refused += u64::from(client.search(&query).is_err());
        times.push(started.elapsed().as_micros() as u64);
        std::thread::sleep(Duration::from_millis(20));
    }
    times.sort_unstable();
    Ok((times, refused))
}

pub fn processor_seconds(service: &Running) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", service.id()))?;
    // The fields after the name in parentheses: user and system time are the 12th and 13th fields,
    // in hundredths of a second.
    let fields: Vec<&str> =
        stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let field = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    Ok((field(11).unwrap_or(0.0) + field(12).unwrap_or(0.0)) / 100.0)
}

/// Returns the number of running computations that the service reports. Computations for the good
/// client take milliseconds.
fn computations(service: &Running) -> Result<u64> {
    let address = service.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let line = text.lines().find(|line| line.starts_with("cento_computations "));
    let count = line.and_then(|line| line.split(' ').nth(1)?.parse().ok());
    Ok(count.ok_or("the service does not count its computations")?)
}
