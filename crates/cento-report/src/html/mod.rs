//! Reports as self-contained HTML files.
//!
//! A file loads nothing from elsewhere. Texts, ids and names are untrusted: maud escapes them,
//! [`text`] shows controls, and a policy in the file allows only its style sheet and its script, by
//! their hashes. The script contains no data, and reads numbers from attributes.

mod decontamination;
mod document;
mod drawing;
mod excerpt;
mod families;
mod lineage;
mod names;
mod pairs;
mod plot;
mod text;
mod timeline;
mod tuning;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::decontamination::DecontaminationReport;
use crate::families::FamiliesReport;
use crate::lineage::LineageReport;
use crate::number::{count, counted};
use crate::omission::NotCompared;
use crate::pairs::PairsReport;
use crate::reuse::ReuseReport;
use crate::run::{IndexState, Run};
use crate::tuning::TuningReport;
use text::{VisibleText, plain};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// Hashes of the style sheet and the script. A test compares them with the files.
const STYLE_SHA256: &str = "opP0syjWgO5pCcu8WwBVkjj+dUrUrBO3w3aM743bGKI=";
const SCRIPT_SHA256: &str = "5cHc0EuF2PCOnOY6ova+F8iV4FjBX7LVwTbMwotSc4A=";

const COLORS: usize = 12;

impl ReuseReport {
    /// Writes the report as one HTML file.
    #[must_use]
    pub fn html(&self) -> String {
        page(&self.run, "Reused text", document::body(self))
    }
}

impl PairsReport {
    /// Writes the report as one HTML file.
    #[must_use]
    pub fn html(&self) -> String {
        page(&self.run, "Similar documents", pairs::body(self))
    }
}

impl TuningReport {
    /// Writes the report as one HTML file.
    #[must_use]
    pub fn html(&self) -> String {
        page(&self.run, "Settings", tuning::body(self))
    }
}

impl FamiliesReport {
    /// Writes the report as one HTML file.
    #[must_use]
    pub fn html(&self) -> String {
        page(&self.run, "Families of passages", families::body(self))
    }
}

impl LineageReport {
    /// Writes the report as one HTML file.
    #[must_use]
    pub fn html(&self) -> String {
        page(&self.run, "Lineage of documents", lineage::body(self))
    }
}

impl DecontaminationReport {
    /// Writes the report as one HTML file.
    #[must_use]
    pub fn html(&self) -> String {
        page(&self.run, "Questions of benchmarks in a corpus", decontamination::body(self))
    }
}

fn page(run: &Run, title: &str, body: Markup) -> String {
    let title = run.title.as_deref().unwrap_or(title);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_SHA256}'; script-src 'sha256-{SCRIPT_SHA256}'; \
         base-uri 'none'; form-action 'none'"
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="referrer" content="no-referrer";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "cento " (run.version) };
                title { (plain(title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { h1 { bdi { (VisibleText(title)) } } }
                main { (body) }
                footer { (foot(run)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn not_compared(list: &[NotCompared]) -> Markup {
    html! {
        @if !list.is_empty() {
            section.missing id="not-compared" {
                h2 { "Not compared" }
                p.note { "These are in none of the numbers of this report, or not with all of their text." }
                table.list {
                    thead { tr { th scope="col" { "Name" } th scope="col" { "Reason" } } }
                    tbody { @for NotCompared { name, reason } in list { tr {
                        th scope="row" { bdi { (VisibleText(name)) } } td { bdi { (VisibleText(reason)) } }
                    } } }
                }
            }
        }
    }
}

/// Names the parts of the texts that a reader does not see.
fn warnings(list: &[NotCompared]) -> Markup {
    html! {
        @for NotCompared { name, reason } in list {
            p.warning { bdi { (VisibleText(name)) } " " (reason) "." }
        }
    }
}

fn not_compared_note(list: &[NotCompared]) -> Markup {
    html! {
        @if !list.is_empty() {
            p.warning { a href="#not-compared" {
                (counted(list.len() as u64, "text")) @if list.len() == 1 { " was" } @else { " were" }
                " not compared, or only in part"
            } "." }
        }
    }
}

fn foot(run: &Run) -> Markup {
    html! {
        h2 { "About this report" }
        dl.run {
            dt { "Made by" } dd { "cento " (run.version) ", " (VisibleText(&run.action)) }
            @if let Some(date) = &run.date { dt { "Date" } dd { (VisibleText(date)) } }
            @if let Some(IndexState { place, generation, documents }) = &run.index {
                dt { "Index" } dd { bdi { (VisibleText(place)) } }
                @if let Some(generation) = generation { dt { "Generation" } dd { (VisibleText(generation)) } }
                dt { "Documents" } dd { (count(*documents)) }
            }
            @for (name, value) in &run.parameters {
                dt { (VisibleText(name)) } dd { bdi { (VisibleText(value)) } }
            }
        }
    }
}

/// Writes a share in per cent, as the script does.
fn percent(thousandths: u64) -> String {
    format!("{}.{}\u{a0}%", thousandths / 10, thousandths % 10)
}

/// Returns the class of a source or a cluster by its number from 1.
fn color(number: usize) -> String {
    format!("c{}", number % COLORS)
}

/// Shows an id, as a link if the id is an address.
fn linked(id: &str, link: Option<&str>) -> Markup {
    html! {
        @match link {
            Some(link) => a href=(link) rel="noopener noreferrer nofollow" { bdi { (VisibleText(id)) } },
            None => bdi { (VisibleText(id)) },
        }
    }
}

#[cfg(test)]
mod tests;
