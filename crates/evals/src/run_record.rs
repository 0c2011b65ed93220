//! The stored result of a run.

use serde::{Deserialize, Serialize};

use crate::agent::{AgentEnd, AgentOutcome};
use crate::gateway::RunTotals;
use crate::grading::Grading;

/// Which version of the skill an agent had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// The skill.
    WithSkill,
    /// No skill.
    WithoutSkill,
    /// The version to compare with.
    OldSkill,
}

impl Variant {
    /// Returns the name in reports and directories.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WithSkill => "with_skill",
            Self::WithoutSkill => "without_skill",
            Self::OldSkill => "old_skill",
        }
    }
}

/// What a run is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunSubject {
    /// The case with this id.
    Case {
        /// The id.
        id: String,
    },
    /// The message at this position.
    Trigger {
        /// The position, from 0.
        index: usize,
    },
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// What the run is about.
    pub subject: RunSubject,
    /// Which version of the skill the agent had.
    pub variant: Variant,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// What the agent did.
    pub outcome: AgentOutcome,
    /// The requests of the agent.
    pub totals: RunTotals,
    /// The requests of the judge.
    pub judge_totals: RunTotals,
    /// The grading; `None` for messages.
    pub grading: Option<Grading>,
    /// How long the agent took, in milliseconds.
    pub duration_ms: u64,
    /// How long grading took, in milliseconds.
    pub grading_ms: u64,
    /// Whether the result was stored by an earlier session.
    #[serde(skip)]
    pub cached: bool,
}

impl RunRecord {
    /// Returns the share of expectations that hold; `None` if none were graded.
    pub fn score(&self) -> Option<f64> {
        let summary = self.grading.as_ref()?.summary;
        (summary.total > 0).then_some(summary.pass_rate)
    }

    /// Returns whether the instructions reached the model; `None` if that is not known, because the run ended before the
    /// agent was done.
    pub fn triggered(&self) -> Option<bool> {
        match (&self.outcome.end, self.totals.triggered) {
            (_, true) => Some(true),
            (AgentEnd::Finished, false) => Some(false),
            (AgentEnd::TimedOut | AgentEnd::Cancelled | AgentEnd::Failed(_), false) => None,
        }
    }

    /// Returns why the run has no result; `None` if it has one.
    pub fn error(&self) -> Option<String> {
        match &self.outcome.end {
            AgentEnd::Finished => None,
            AgentEnd::TimedOut => Some("timed out".to_owned()),
            AgentEnd::Cancelled if self.totals.triggered => None,
            AgentEnd::Cancelled => Some("cancelled".to_owned()),
            AgentEnd::Failed(reason) => Some(reason.clone()),
        }
    }
}
