//! Plots of settings: recall by size, and the recall of one setting by similarity.

use maud::{Markup, html};

use cento_collections::tune::{CurveBin, SettingReport, Share};

/// The size of a plot, and the margins of its area.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 44.0;

/// The number of grid lines between shares.
const LINES: u32 = 5;

/// Returns the horizontal place of a share, 0 to 1, of the width of the area.
fn x(share: f64) -> f64 {
    LEFT + share * (WIDTH - LEFT - RIGHT)
}

fn y(share: f64) -> f64 {
    HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
}

fn at(coordinate: f64) -> String {
    format!("{coordinate:.1}")
}

/// Draws a plot with shares on its upward axis.
fn frame(label: &str, below: &str, ticks: &[(f64, String)], content: Markup) -> Markup {
    html! {
        svg.plot viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(label) {
            @for line in 0..=LINES {
                @let share = f64::from(line) / f64::from(LINES);
                line.grid x1=(at(LEFT)) x2=(at(WIDTH - RIGHT)) y1=(at(y(share))) y2=(at(y(share))) {}
                text.up x=(at(LEFT - 8.0)) y=(at(y(share) + 4.0)) { (format!("{share:.1}")) }
            }
            @for (share, name) in ticks {
                line.grid x1=(at(x(*share))) x2=(at(x(*share))) y1=(at(y(0.0))) y2=(at(y(0.0) + 5.0)) {}
                text x=(at(x(*share))) y=(at(y(0.0) + 20.0)) { (name) }
            }
            text x=(at(x(0.5))) y=(at(HEIGHT - 6.0)) { (below) }
            (content)
        }
    }
}

/// Draws the recall of each setting by its number of fingerprints, on a logarithmic scale.
pub fn sizes(settings: &[SettingReport], best: Option<usize>) -> Markup {
    let ratio = |setting: &SettingReport| setting.fingerprints_ratio.max(1e-6).log2();
    let least = settings.iter().map(ratio).fold(0.0, f64::min).floor();
    let most = settings.iter().map(ratio).fold(1.0, f64::max).ceil();
    let place = |log: f64| 0.03 + 0.94 * (log - least) / (most - least);
    let step = ((most - least) / 8.0).ceil().max(1.0);
    let number = ((most - least) / step) as u32;
    let ticks = (0..=number).map(|tick| {
        let log = least + f64::from(tick) * step;
        (place(log), format!("{}", log.exp2()))
    });
    let ticks: Vec<_> = ticks.collect();
    // Draws the best setting last, above the others.
    let mut order: Vec<usize> = (0..settings.len()).collect();
    order.sort_by_key(|&number| Some(number) == best);
    frame(
        "Recall and size of each setting",
        "Fingerprints, as a ratio to those of the first setting",
        &ticks,
        html! {
            @for number in order {
                @let setting = &settings[number];
                @let (x, y) = (x(place(ratio(setting))), y(setting.recall.value));
                g class=(if Some(number) == best { "setting best" } else { "setting" }) {
                    title { (setting.name()) }
                    circle cx=(at(x)) cy=(at(y)) r="11" {}
                    text x=(at(x)) y=(at(y + 4.0)) { (number + 1) }
                }
            }
        },
    )
}

/// Draws the share of originals that are found, and that also meet the threshold, by similarity.
pub fn curve(setting: &SettingReport) -> Markup {
    let bins = &setting.curve;
    let width = 1.0 / bins.len().max(1) as f64;
    let most = bins.iter().map(|bin| bin.found.of).max().unwrap_or(0).max(1);
    let ticks: Vec<_> = bins.iter().map(|bin| (bin.from, format!("{:.1}", bin.from))).collect();
    let points = |of: fn(&CurveBin) -> Share| {
        let known = bins.iter().filter(move |bin| bin.found.of > 0);
        let point = known.map(move |bin| (x(bin.from + width / 2.0), y(of(bin).value)));
        point.collect::<Vec<_>>()
    };
    let line = |points: &[(f64, f64)]| {
        let all = points.iter().map(|(x, y)| format!("{},{}", at(*x), at(*y)));
        all.collect::<Vec<_>>().join(" ")
    };
    let (found, passed) = (points(|bin| bin.found), points(|bin| bin.passed));
    let below = "Similarity of the texts";
    frame(
        "Share of originals found, by similarity",
        below,
        &ticks,
        html! {
            @for bin in bins {
                // A third of the height, behind the lines.
                @let height = (y(0.0) - y(1.0)) / 3.0 * bin.found.of as f64 / most as f64;
                rect.count x=(at(x(bin.from + width / 8.0))) width=(at(x(width * 0.75) - x(0.0))) y=(at(y(0.0) - height)) height=(at(height)) {
                    title { (bin.found.of) " originals" }
                }
            }
            line.threshold x1=(at(x(setting.threshold))) x2=(at(x(setting.threshold))) y1=(at(y(0.0))) y2=(at(y(1.0))) {}
            polyline.found points=(line(&found)) {}
            polyline points=(line(&passed)) {}
            @for (x, y) in &passed { circle.point cx=(at(*x)) cy=(at(*y)) r="3.5" {} }
        },
    )
}
