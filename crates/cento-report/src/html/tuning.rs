//! Body of a report on settings.

use maud::{Markup, html};

use cento::search::Rank;
use cento_collections::tune::{SettingReport, Share};

use super::plot;
use super::text::VisibleText;
use super::{count, not_compared, not_compared_note};
use crate::number::{decimals, similarity};
use crate::tuning::TuningReport;

/// Writes the body of the page.
pub fn body(report: &TuningReport) -> Markup {
    let tuning = &report.tuning;
    let best = tuning.best.map(|best| &tuning.settings[best]);
    html! {
        section {
            @if let Some(best) = best {
                h2 { "Best: " (best.name()) }
                div.shares {
                    p { span.share { (similarity(best.recall.value)) } " of the originals found" }
                    p { span.share { (decimals(best.false_hits_a_query(), 3)) } " false hits a query" }
                    p { span.share { (decimals(best.fingerprints_ratio, 1)) } " times the fingerprints of the default" }
                }
                @for command in &report.commands { p { code { (VisibleText(command)) } } }
            } @else {
                h2 { "Nothing was found with any setting" }
            }
            @for warning in &tuning.warnings { p.warning { (VisibleText(warning)) "." } }
            (not_compared_note(&report.not_compared))
            p.note {
                (count(tuning.documents)) " documents. Thresholds and the best setting were chosen with "
                (count(tuning.queries_to_choose)) " queries; every figure is of "
                (count(tuning.queries_to_judge)) " others, made of other documents. Of the settings "
                "whose F1 is at most .01 below the best, the one with fewest fingerprints is the best. "
                @if tuning.judged_by_labels {
                    "A hit is false if a label says that it is another text."
                } @else {
                    "A hit is false if it is not the original, and has no twelve words in a row in common "
                    "with the query as it was before the edit."
                }
            }
        }
        section {
            h2 { "Settings" }
            p.note { "Below a share is the interval that has the true share in 95 of 100 cases. Ratios are to the first setting." }
            (settings(report))
        }
        section {
            h2 { "Recall and size" }
            p.note { "Each setting by its number in the table." }
            (plot::sizes(&tuning.settings, tuning.best))
        }
        section {
            h2 { "Recall by kind of query" }
            (kinds(report))
        }
        @if let Some(best) = best {
            section {
                h2 { "Originals found, by " (tuning.by.name()) }
                p.note {
                    "Originals by their " (tuning.by.name()) " with the query, in the runs of words or letters that the "
                    "setting compares: the share that is among the hits (broken line), and that also meets "
                    "the threshold of " (threshold(best.threshold)) ". Bars: the number of originals."
                }
                (plot::curve(best))
            }
            section {
                h2 { "What a threshold does" }
                p.note {
                    (best.threshold_option) ", by estimated similarities of the first " (count(tuning.hits_judged)) " hits with different texts, "
                    "without a threshold."
                }
                (thresholds(best))
            }
        }
        (not_compared(&report.not_compared))
    }
}

/// Writes a threshold without needless zeros.
fn threshold(threshold: f64) -> String {
    format!("{threshold}")
}

fn share(share: &Share) -> Markup {
    html! { (similarity(share.value)) br; span.note { (decimals(share.low, 2)) "-" (decimals(share.high, 2)) } }
}

fn settings(report: &TuningReport) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label="Settings" {
            table.list {
                thead { tr {
                    th.number scope="col" { "No." } th scope="col" { "Setting" }
                    th.number scope="col" { "Threshold" }
                    th.number scope="col" { "Recall" } th.number scope="col" { "First" }
                    th.number scope="col" { "False hits a query" } th.number scope="col" { "F1" }
                    th.number scope="col" { "Fingerprints" } th.number scope="col" { "Adding" }
                    th.number scope="col" { "Searching" }
                } }
                tbody { @for (number, setting) in report.tuning.settings.iter().enumerate() { tr {
                    td.number { (number + 1) }
                    th.setting-name scope="row" {
                        @if report.tuning.best == Some(number) { strong { (setting.name()) " (best)" } } @else { (setting.name()) }
                        @if setting.setting.preset.is_some() {
                            br; span.note {
                                (setting.setting.scheme) " over " (setting.setting.analyzer)
                                @if setting.setting.rank != Rank::Overlap { ", by weight" }
                            }
                        }
                    }
                    td.number { (threshold(setting.threshold)) }
                    td.number { (share(&setting.recall)) }
                    td.number { (share(&setting.first)) }
                    td.number { (decimals(setting.false_hits_a_query(), 3)) }
                    td.number { (similarity(setting.f1)) }
                    td.number { (decimals(setting.fingerprints_ratio, 2)) }
                    td.number { (decimals(setting.add_ratio, 1)) }
                    td.number { (decimals(setting.search_ratio, 1)) }
                } } }
            }
        }
        @for other in &report.tuning.not_tried {
            p.note { (other.setting.scheme) " over " (other.setting.analyzer) ": not tried: " (other.reason) "." }
        }
    }
}

fn kinds(report: &TuningReport) -> Markup {
    let Some(first) = report.tuning.settings.first() else { return html! {} };
    html! {
        div.wide tabindex="0" role="region" aria-label="Recall by kind" {
            table.list {
                thead { tr {
                    th.number scope="col" { "No." } th scope="col" { "Setting" }
                    @for kind in &first.kinds { th.number scope="col" { (VisibleText(&kind.kind)) } }
                } }
                tbody { @for (number, setting) in report.tuning.settings.iter().enumerate() { tr {
                    td.number { (number + 1) }
                    th scope="row" { (setting.name()) }
                    @for kind in &setting.kinds { td.number { (similarity(kind.recall.value)) } }
                } } }
                tbody { tr {
                    td {} th scope="row" { "Originals" }
                    @for kind in &first.kinds { td.number { (count(kind.recall.of)) } }
                } }
            }
        }
    }
}

fn thresholds(best: &SettingReport) -> Markup {
    html! {
        table.list {
            thead { tr {
                th.number scope="col" { "Threshold" } th.number scope="col" { "Recall" }
                th.number scope="col" { "False hits" } th.number scope="col" { "F1" } td {}
            } }
            tbody { @for point in &best.thresholds { tr {
                td.number { (threshold(point.threshold)) }
                td.number { (similarity(point.recall)) }
                td.number { (count(point.false_hits)) }
                td.number { (similarity(point.f1)) }
                td {}
            } } }
        }
    }
}
