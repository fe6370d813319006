//! Drawings over time: the carriers of a passage, the versions of a document.

use maud::{Markup, html};

use super::color;
use super::text::plain;

/// The size of a drawing, and the margins of its area.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 70.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 34.0;

/// The usual distance between lanes, and the minimum distance between many lanes.
const LANE: f64 = 30.0;
const LANE_MIN: f64 = 7.0;

const HEIGHT: f64 = 24.0 * LANE;

/// The maximum number of lanes. Points beyond share the last lane.
const LANES_MAX: usize = (HEIGHT / LANE_MIN) as usize;

/// The width of the area of points without a time.
const UNDATED: f64 = 110.0;

/// A document in a drawing.
pub struct Point {
    /// The time, or `None` for a document without a date.
    pub time: Option<f64>,
    /// The number in the table, shown if there is room.
    pub number: Option<usize>,
    /// The lane, from 0 on.
    pub lane: usize,
    /// The number of the color.
    pub color: usize,
    /// The name, shown when a reader points at the point.
    pub title: String,
    /// The date, shown below the time axis for the first and the last point.
    pub date: String,
    /// The earlier point that a line leads from.
    pub from: Option<usize>,
    /// Whether the direction of the line is certain.
    pub is_certain: bool,
}

/// Draws points by time, from left to right. Points without a time are at the right end. If no
/// point has a time, all points are at equal distances in their order.
pub fn timeline(label: &str, points: &[Point]) -> Markup {
    let times = || points.iter().filter_map(|point| point.time);
    let (first, last) =
        (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max));
    let has_undated = points.iter().any(|point| point.time.is_none()) && first <= last;
    let right = if has_undated { RIGHT + UNDATED } else { RIGHT };
    let x = |at: usize| -> f64 {
        let share = match points[at].time {
            Some(_) if last <= first => 0.0,
            Some(time) => (time - first) / (last - first),
            None if has_undated => return WIDTH - RIGHT,
            None => at as f64 / (points.len() - 1).max(1) as f64,
        };
        LEFT + share * (WIDTH - LEFT - right)
    };
    let lanes = points.iter().map(|point| point.lane.min(LANES_MAX - 1)).max().unwrap_or(0);
    let lane = (HEIGHT / (lanes + 1) as f64).clamp(LANE_MIN, LANE);
    let radius = (lane * 0.27).max(3.0);
    let y = |at: usize| TOP + points[at].lane.min(LANES_MAX - 1) as f64 * lane;
    let floor = TOP + lanes as f64 * lane + 18.0;
    let height = floor + BOTTOM - 6.0;
    let dated = || (0..points.len()).filter(|&at| points[at].time.is_some() || !has_undated);
    let earliest = dated().min_by(|&a, &b| x(a).total_cmp(&x(b)));
    let latest = dated().max_by(|&a, &b| x(a).total_cmp(&x(b)));
    let latest = latest.filter(|&at| earliest.is_some_and(|first| x(at) - x(first) > 120.0));
    html! {
        svg.graph width=(WIDTH) height=(place(height)) viewBox={ "0 0 " (WIDTH) " " (place(height)) } role="img" aria-label=(label) {
            line.edge x1=(place(LEFT)) x2=(place(WIDTH - right)) y1=(place(floor)) y2=(place(floor)) stroke-width="1" {}
            @for at in [earliest, latest].into_iter().flatten() {
                line.edge x1=(place(x(at))) x2=(place(x(at))) y1=(place(floor)) y2=(place(floor + 5.0)) stroke-width="1" {}
                text x=(place(x(at))) y=(place(floor + 20.0)) { (plain(&points[at].date)) }
            }
            @if has_undated {
                text x=(place(WIDTH - RIGHT)) y=(place(floor + 20.0)) { "no date" }
            }
            @for (at, point) in points.iter().enumerate() {
                @if let Some(from) = point.from {
                    @let dashes = if point.is_certain { None } else { Some("4 4") };
                    line.edge x1=(place(x(from))) y1=(place(y(from))) x2=(place(x(at))) y2=(place(y(at))) stroke-width="1.5" stroke-dasharray=[dashes] {}
                }
            }
            @for (at, point) in points.iter().enumerate() {
                g {
                    title { (plain(&point.title)) }
                    circle class=(color(point.color)) cx=(place(x(at))) cy=(place(y(at))) r=(place(radius)) {}
                    @if let Some(number) = point.number.filter(|_| lane == LANE) {
                        text x=(place(x(at))) y=(place(y(at) + 4.5)) { (number) }
                    }
                }
            }
        }
    }
}

fn place(coordinate: f64) -> String {
    format!("{coordinate:.1}")
}
