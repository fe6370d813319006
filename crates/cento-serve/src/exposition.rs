//! The text formats of Prometheus.
//!
//! OpenMetrics 1.0 is the newer format. In the classic format 0.0.4, a counter and its help have
//! the name of the sample, including `_total`, and there are no units and no end mark.

use std::fmt::Write;

use axum::http::{HeaderMap, header};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0, which scrapers get unless they request the older format.
    Open,
    /// The older Prometheus text format, version 0.0.4.
    Classic,
}

impl Format {
    /// Returns the format that a client prefers in its header `Accept`, by default OpenMetrics.
    pub fn accepted(headers: &HeaderMap) -> Format {
        let (mut open, mut classic) = (None, None);
        for value in headers.get_all(header::ACCEPT) {
            for range in value.to_str().unwrap_or_default().split(',') {
                let mut parts = range.split(';').map(str::trim);
                let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
                let quality = parts.find_map(|part| part.strip_prefix("q="));
                let quality = quality.map_or(1.0, |quality| quality.parse().unwrap_or(0.0));
                let place = match kind.as_str() {
                    "application/openmetrics-text" => &mut open,
                    "text/plain" | "text/*" => &mut classic,
                    _ => continue,
                };
                *place = Some(place.unwrap_or(0.0_f64).max(quality));
            }
        }
        match classic {
            Some(classic) if classic > open.unwrap_or(0.0) => Format::Classic,
            _ => Format::Open,
        }
    }

    /// Returns the value of the header `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Open => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Classic => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Converts metrics from OpenMetrics to this format.
    pub fn write(self, open: String) -> String {
        match self {
            Format::Open => open,
            Format::Classic => classic(&open),
        }
    }
}

fn classic(open: &str) -> String {
    let mut text = String::with_capacity(open.len());
    let mut help = "";
    for line in open.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            // The name is in the line with the type, which follows.
            (Some("#"), Some("HELP"), _, of) => help = of.unwrap_or_default(),
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => {
                let total = if kind == "counter" { "_total" } else { "" };
                let written =
                    writeln!(text, "# HELP {name}{total} {help}\n# TYPE {name}{total} {kind}");
                written.expect("a string takes every text");
            }
            (Some("#"), ..) => {}
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn the_format_is_the_one_that_is_accepted_most() {
        let check = |accept: &[&'static str], expected: Format| {
            let mut headers = HeaderMap::new();
            for value in accept {
                headers.append(header::ACCEPT, HeaderValue::from_static(value));
            }
            assert_eq!(Format::accepted(&headers), expected, "{accept:?}");
        };
        check(&[], Format::Open);
        check(&["*/*"], Format::Open);
        check(&["text/plain"], Format::Classic);
        check(&["text/plain;version=0.0.4"], Format::Classic);
        check(&["text/plain", "application/openmetrics-text"], Format::Open);
        // The headers of Prometheus, and of an old version without OpenMetrics.
        let new = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
        check(&[new], Format::Open);
        let old = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
                   encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3";
        check(&[old], Format::Classic);
        check(&["application/openmetrics-text; q=0.2, text/plain; q=0.4"], Format::Classic);
        check(&["TEXT/PLAIN; q=0"], Format::Open);
        check(&["text/html,application/xhtml+xml,*/*;q=0.8"], Format::Open);
        check(&["text/plain;q=much"], Format::Open);
    }

    #[test]
    fn counters_are_called_by_their_samples() {
        let open = "# HELP a_seconds Time.\n# TYPE a_seconds histogram\n# UNIT a_seconds seconds\n\
                    a_seconds_sum 1.5\na_seconds_count 2\na_seconds_bucket{le=\"+Inf\",of=\"x # y\"} 2\n\
                    # HELP b Things.\n# TYPE b counter\nb_total 3\n# HELP c Now.\n# TYPE c gauge\nc 4\n# EOF\n";
        let expected = "# HELP a_seconds Time.\n# TYPE a_seconds histogram\na_seconds_sum 1.5\n\
                        a_seconds_count 2\na_seconds_bucket{le=\"+Inf\",of=\"x # y\"} 2\n\
                        # HELP b_total Things.\n# TYPE b_total counter\nb_total 3\n# HELP c Now.\n\
                        # TYPE c gauge\nc 4\n";
        assert_eq!(Format::Classic.write(open.into()), expected);
        assert_eq!(Format::Open.write(open.into()), open);
    }
}
