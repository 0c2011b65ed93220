//! What a session shows: pass rates with intervals, costs, and which messages load the skill.

mod benchmark;
mod case_summary;
mod comparison;
mod files;
mod junit;
mod markdown;
mod summary;

pub use benchmark::Benchmark;
pub use case_summary::{CaseChange, CaseSummary, TriggerSummary};
pub use comparison::Comparison;
pub use files::{StoredReport, WriteReportError, check_report_dir, list_reports, read_report, write_report};
pub use junit::render_junit;
pub use markdown::{describe_comparison, render_markdown};
pub use summary::{ReportInfo, SkillReport, VariantSummary};
