//! Runs evaluations: in parallel, within the budget, each run with a new workspace.

mod grade;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prowess::Registry;
use prowess_sandbox::{InputFile, SandboxHelper};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::agent::{AgentEnd, AgentOutcome, AgentTask, EvalAgent, StagedSkill};
use crate::budget::{Budget, CapError};
use crate::gateway::{Gateway, ReplayError, RequestMatching, RunHandle, RunOptions, RunTotals, StopReason};
use crate::grading::Judge;
use crate::plan::{PlannedRun, TestOptions};
use crate::result_store::ResultStore;
use crate::run_record::{RunRecord, RunSubject, Variant};
use crate::skill_under_test::{SkillUnderTest, SkillVersion};
use crate::suite::EvalCase;

/// Everything that the runs of a session share.
pub struct TestSession {
    /// The skill.
    pub skill: SkillUnderTest,
    /// The agent.
    pub agent: Arc<dyn EvalAgent>,
    /// The judge, if there is one.
    pub judge: Option<Judge>,
    /// The gateway.
    pub gateway: Arc<Gateway>,
    /// The budget.
    pub budget: Arc<Budget>,
    /// The stored results; `None` if results are neither used nor stored.
    pub results: Option<ResultStore>,
    /// A registry with the skill, for checks with scripts.
    pub registry: Arc<Registry>,
    /// The sandbox helper.
    pub helper: SandboxHelper,
    /// The options.
    pub options: TestOptions,
    /// How a replay compares the requests of the agent.
    pub matching: RequestMatching,
}

/// An event of a session, for progress.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionEvent {
    /// A run starts.
    Started(String),
    /// A run ended, with its score if it was graded.
    Finished {
        /// The name of the run.
        name: String,
        /// The share of expectations that hold.
        score: Option<f64>,
        /// Why there is no result.
        error: Option<String>,
        /// Whether the result was stored before.
        cached: bool,
    },
}

/// The results of a session.
#[derive(Debug, Default)]
pub struct SessionResults {
    /// The results, in the order of the plan.
    pub records: Vec<RunRecord>,
    /// Why the session ended early.
    pub stopped: Option<SessionStop>,
    /// Problems that do not end a session.
    pub warnings: Vec<String>,
}

/// Why a session ended early.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionStop {
    /// A limit is reached.
    Cap(CapError),
    /// A recording cannot be used.
    Replay(ReplayError),
    /// The user cancelled it.
    Cancelled,
}

impl TestSession {
    /// Runs the plan. `cancel` ends all runs; results that are complete are kept.
    pub async fn run(
        self: Arc<Self>,
        plan: Vec<PlannedRun>,
        cancel: &CancellationToken,
        on_event: Arc<dyn Fn(SessionEvent) + Send + Sync>,
    ) -> SessionResults {
        let permits = Arc::new(Semaphore::new(self.options.jobs.max(1)));
        let all = cancel.child_token();
        let mut tasks = JoinSet::new();
        let mut results = SessionResults::default();
        let mut records: BTreeMap<usize, RunRecord> = BTreeMap::new();
        let deadline = tokio::time::sleep(self.budget.remaining_time());
        tokio::pin!(deadline);
        let mut time_is_over = false;
        let mut queue = plan.into_iter().enumerate().peekable();
        while queue.peek().is_some() || !tasks.is_empty() {
            let joined = tokio::select! {
                // Runs start in the order of the plan.
                permit = Arc::clone(&permits).acquire_owned(), if queue.peek().is_some() => {
                    if let Some((position, run)) = queue.next() {
                        let (session, all, on_event) = (Arc::clone(&self), all.clone(), Arc::clone(&on_event));
                        tasks.spawn(async move {
                            let _permit = permit.ok();
                            let result = match all.is_cancelled() {
                                true => Err(SessionStop::Cancelled),
                                false => session.run_one(&run, &all, &*on_event).await,
                            };
                            (position, result)
                        });
                    }
                    continue;
                }
                joined = tasks.join_next(), if !tasks.is_empty() => joined,
                () = &mut deadline, if !time_is_over => {
                    time_is_over = true;
                    all.cancel();
                    continue;
                }
            };
            match joined {
                None => {}
                Some(Ok((position, Ok((record, warnings))))) => {
                    records.insert(position, record);
                    results.warnings.extend(warnings);
                }
                Some(Ok((_, Err(stop)))) => {
                    all.cancel();
                    let first = results.stopped.take();
                    // The cause is more informative than its consequence.
                    results.stopped = match first {
                        None | Some(SessionStop::Cancelled) => Some(stop),
                        first => first,
                    };
                }
                Some(Err(error)) => results.warnings.push(format!("a run failed: {error}")),
            }
        }
        if time_is_over && matches!(results.stopped, None | Some(SessionStop::Cancelled)) {
            results.stopped = Some(SessionStop::Cap(CapError::Time(self.budget.time_cap())));
        }
        results.records = records.into_values().collect();
        results
    }

    async fn run_one(
        &self,
        run: &PlannedRun,
        cancel: &CancellationToken,
        on_event: &(dyn Fn(SessionEvent) + Send + Sync),
    ) -> Result<(RunRecord, Vec<String>), SessionStop> {
        let finished = |record: &RunRecord| SessionEvent::Finished {
            name: run.name.clone(),
            score: record.score(),
            error: record.error(),
            cached: record.cached,
        };
        if let Some(record) = self.results.as_ref().and_then(|results| results.load(&run.key)) {
            on_event(finished(&record));
            return Ok((record, Vec::new()));
        }
        on_event(SessionEvent::Started(run.name.clone()));
        let (record, is_complete) = match &run.subject {
            RunSubject::Case { id } => {
                let case = self.skill.suite.cases.iter().find(|case| case.id == *id);
                let case = case.ok_or(SessionStop::Cancelled)?;
                self.run_case(run, case, cancel).await?
            }
            RunSubject::Trigger { index } => {
                let trigger = self.skill.suite.triggers.get(*index).ok_or(SessionStop::Cancelled)?;
                let case = EvalCase {
                    id: String::new(),
                    name: None,
                    prompt: trigger.query.clone(),
                    files: Vec::new(),
                    expectations: Vec::new(),
                    should_trigger: Some(trigger.should_trigger),
                };
                (self.run_agent(run, &case, cancel).await?, true)
            }
        };
        let mut warnings = Vec::new();
        // A run that failed, or whose judge failed, is repeated next time.
        let is_result = is_complete && !matches!(record.outcome.end, AgentEnd::Failed(_));
        if let Some(results) = self.results.as_ref().filter(|_| is_result)
            && let Err(error) = results.store(&run.key, &record)
        {
            warnings.push(format!("the result of {} is not stored: {error}", run.name));
        }
        on_event(finished(&record));
        Ok((record, warnings))
    }

    /// Returns the version of the skill that the agent has.
    fn version(&self, variant: Variant) -> Option<&SkillVersion> {
        match variant {
            Variant::WithSkill => Some(&self.skill.version),
            Variant::OldSkill => self.skill.old_version.as_ref(),
            Variant::WithoutSkill => None,
        }
    }

    /// Lets the agent do a task.
    async fn run_agent(
        &self,
        run: &PlannedRun,
        case: &EvalCase,
        cancel: &CancellationToken,
    ) -> Result<RunRecord, SessionStop> {
        let is_trigger = matches!(run.subject, RunSubject::Trigger { .. });
        let version = self.version(run.variant).unwrap_or(&self.skill.version);
        let options = RunOptions {
            name: run.name.clone(),
            markers: version.markers(&case.prompt, &case.files),
            stop_when_triggered: is_trigger,
            max_requests: if is_trigger { self.options.trigger_requests } else { self.options.run_requests },
            matching: self.matching,
        };
        let handle = self.open_run(options, &self.options.model)?;
        let tested = self.version(run.variant).map(|version| version.staged.clone());
        let neighbors = self.options.neighbors.iter().map(|version| version.staged.clone());
        let neighbors = neighbors.filter(|staged| staged.name != self.skill.name);
        let skills: Vec<StagedSkill> = tested.into_iter().chain(neighbors).collect();
        let files = case.files.iter().map(|(path, bytes)| InputFile::new(path, bytes.clone()));
        let files = files.collect::<Result<Vec<_>, _>>();
        let run_cancel = cancel.child_token();
        let started = Instant::now();
        let mut outcome = match files {
            Err(error) => {
                AgentOutcome { end: AgentEnd::Failed(error.to_string()), ..AgentOutcome::default() }
            }
            Ok(files) => {
                let task = AgentTask {
                    prompt: &case.prompt,
                    files,
                    skills: &skills,
                    gateway: handle.address(),
                    time: self.options.run_time.min(self.budget.remaining_time()),
                    cancel: run_cancel.clone(),
                };
                let stopped = handle.stopped();
                let work = self.agent.run(task);
                tokio::pin!(work);
                tokio::select! {
                    outcome = &mut work => outcome,
                    () = stopped.cancelled() => {
                        // Everything that the agent started ends before the next run.
                        run_cancel.cancel();
                        work.await
                    }
                }
            }
        };
        let duration_ms = elapsed_ms(started);
        handle.wait_for_responses().await;
        let totals = handle.totals();
        match handle.stop_reason() {
            Some(StopReason::Cap(error)) => return Err(SessionStop::Cap(error)),
            Some(StopReason::Replay(error)) => return Err(SessionStop::Replay(error)),
            Some(StopReason::Triggered) => outcome.end = AgentEnd::Finished,
            // A message that did not load the skill with so many requests does not load it.
            Some(StopReason::Requests(_)) if is_trigger => outcome.end = AgentEnd::Finished,
            Some(StopReason::Requests(max)) => {
                outcome.end = AgentEnd::Failed(format!("the limit of {max} requests of a run is reached"));
            }
            None if cancel.is_cancelled() => return Err(SessionStop::Cancelled),
            None => {}
        }
        handle.finish_recording().map_err(SessionStop::Replay)?;
        if outcome.end == AgentEnd::Finished && totals.requests == 0 && !totals.triggered {
            outcome.end = AgentEnd::Failed(
                "the agent sent no request through the gateway, so nothing was counted; check its base URL"
                    .to_owned(),
            );
        }
        Ok(RunRecord {
            subject: run.subject.clone(),
            variant: run.variant,
            repetition: run.repetition,
            outcome,
            totals,
            judge_totals: RunTotals::default(),
            grading: None,
            duration_ms,
            grading_ms: 0,
            cached: false,
        })
    }

    fn open_run(&self, options: RunOptions, model: &str) -> Result<RunHandle, SessionStop> {
        self.gateway.open_run(options, model).map_err(SessionStop::Replay)
    }
}

fn elapsed_ms(started: Instant) -> u64 {
    let elapsed: Duration = started.elapsed();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
