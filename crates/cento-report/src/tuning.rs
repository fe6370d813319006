//! A report on tried settings.

use serde::Serialize;

use cento_collections::tune::TuneReport;

use crate::omission::NotCompared;
use crate::run::Run;

/// The tried settings, and their findings.
#[derive(Debug, Clone, Serialize)]
pub struct TuningReport {
    /// The origin of the numbers.
    pub run: Run,
    /// The settings, and which is best.
    #[serde(flatten)]
    pub tuning: TuneReport,
    /// The commands that use the best setting.
    pub commands: Vec<String>,
    /// The inputs that were not used, with reasons.
    pub not_compared: Vec<NotCompared>,
}
