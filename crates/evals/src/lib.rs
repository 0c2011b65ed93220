//! Runs the evaluations that skills carry: each case with and without the skill, graded, within hard limits.
//!
//! | module | subject |
//! |---|---|
//! | [`suite`] | the evaluations of a skill, in the formats that tools write |
//! | `skill_under_test` | the skill, its evaluations, and the version to compare it with |
//! | [`plan`] | which runs a session consists of, and what they may cost |
//! | `session` | makes the runs |
//! | [`agent`] | the agents that do the tasks: the chat loop, programs, agents with the Agent Client Protocol |
//! | [`gateway`] | the only way from agents to a model: counts, limits, records, and detects loaded instructions |
//! | [`budget`] | hard limits on requests, tokens, money and time |
//! | [`grading`] | checks, and a judge |
//! | `run_record`, `result_store` | results of runs, and where they are stored |
//! | `staging` | directories that appear complete or not at all |
//! | [`statistics`] | intervals and tests |
//! | [`report`] | summaries, and the files that other tools read |
//! | `routing_advice` | which requests a skill loses without a model, and which words would help |

pub mod agent;
pub mod budget;
pub mod gateway;
pub mod grading;
pub mod plan;
pub mod report;
mod result_store;
mod routing_advice;
mod run_record;
mod session;
mod skill_under_test;
mod staging;
pub mod statistics;
pub mod suite;

pub use result_store::{ResultStore, StoreResultError, TestPaths};
pub use routing_advice::{LostRequest, RoutingResult};
pub use run_record::{RunRecord, RunSubject, Variant};
pub use session::{SessionEvent, SessionResults, SessionStop, TestSession};
pub use skill_under_test::{LoadSkillError, SkillUnderTest, SkillVersion, staged_files};
