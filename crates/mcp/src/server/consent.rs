//! Asks the user of a client whether a script may run.
//!
//! Up to revision 2025-11-25, the server sends `elicitation/create` while the call waits. From 2026-07-28 on, the call
//! returns the question, and the client repeats the call with the answer. Such an answer counts only together with the
//! random state of a question that was asked about the same call: the same arguments, script, access and files of the skill.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use prowess_sandbox::{AccessSummary, ConsentAnswer};
use rmcp::model::{
    ClientCapabilities, ConstTitle, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, EnumSchema, LegacyEnumSchema, ProtocolVersion, SingleSelectEnumSchema,
    TitledSingleSelectEnumSchema,
};
use serde_json::{Value, json};

/// How long a client may take to answer.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The maximum number of questions of the newest revision that wait for an answer.
const PENDING_MAX: usize = 256;

/// The property of the answer.
const DECISION: &str = "decision";

/// The answers, with titles for people.
const CHOICES: [(ConsentAnswer, &str); 3] = [
    (ConsentAnswer::Once, "Once"),
    (ConsentAnswer::Always, "Always, until the files of the skill change"),
    (ConsentAnswer::Never, "Never for this skill"),
];

/// Returns `true` if a client can show forms to its user. A client that names no mode supports forms.
pub(super) fn supports_forms(capabilities: Option<&ClientCapabilities>) -> bool {
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation.as_ref());
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Returns the question whether a script may run.
pub(super) fn question(summary: &AccessSummary, version: Option<&ProtocolVersion>) -> Option<ElicitRequest> {
    let mut message = format!("{} wants to run {}.\n", summary.skill, summary.script);
    for (title, text) in &summary.rows {
        message.push_str(&format!("\n{title}: {text}"));
    }
    let (names, titles): (Vec<_>, Vec<_>) =
        CHOICES.iter().map(|(answer, title)| (answer.as_str().to_owned(), (*title).to_owned())).unzip();
    // Titles of choices have another form since revision 2025-11-25.
    let choices = match version.is_some_and(|version| *version >= ProtocolVersion::V_2025_11_25) {
        true => {
            let choices = names.into_iter().zip(titles).map(|(name, title)| ConstTitle::new(name, title));
            let mut choices = TitledSingleSelectEnumSchema::new(choices.collect());
            choices.title = Some("Allow it?".into());
            EnumSchema::Single(SingleSelectEnumSchema::Titled(choices))
        }
        false => {
            let mut choices = LegacyEnumSchema::new(names);
            choices.enum_names = Some(titles);
            choices.title = Some("Allow it?".into());
            EnumSchema::Legacy(choices)
        }
    };
    let requested_schema =
        ElicitationSchema::builder().required_enum_schema(DECISION, choices).build().ok()?;
    let params = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
    Some(ElicitRequest::new(params))
}

/// Returns the answer of a client. Anything but an accepted form with a known decision is a refusal for now.
pub(super) fn parse_answer(result: &ElicitResult) -> ConsentAnswer {
    let decision = result.content.as_ref().and_then(|content| content.get(DECISION)).and_then(Value::as_str);
    let choice = CHOICES.iter().find(|(answer, _)| Some(answer.as_str()) == decision);
    match (&result.action, choice) {
        (ElicitationAction::Accept, Some((answer, _))) => *answer,
        _ => ConsentAnswer::NotNow,
    }
}

/// Returns a digest of all that an answer is about.
pub(super) fn subject(arguments: &Value, summary: &AccessSummary) -> String {
    let AccessSummary { skill, script, rows, tree, .. } = summary;
    let subject = json!([arguments, skill, script, rows, tree]);
    prowess::digest(subject.to_string().as_bytes())
}

/// The questions that were returned to clients and have no answer yet.
#[derive(Debug, Default)]
pub(super) struct PendingQuestions {
    questions: Mutex<VecDeque<PendingQuestion>>,
}

#[derive(Debug)]
struct PendingQuestion {
    state: String,
    subject: String,
    asked: Instant,
}

impl PendingQuestions {
    /// Adds a question; returns the state that the client must send back.
    pub(super) fn add(&self, subject: String) -> String {
        self.add_at(subject, Instant::now())
    }

    fn add_at(&self, subject: String, now: Instant) -> String {
        let state = uuid::Uuid::new_v4().simple().to_string();
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        if questions.len() >= PENDING_MAX {
            questions.pop_front();
        }
        questions.push_back(PendingQuestion { state: state.clone(), subject, asked: now });
        state
    }

    /// Returns `true`, once, if a question with this state was asked about this subject.
    pub(super) fn take(&self, state: &str, subject: &str) -> bool {
        self.take_at(state, subject, Instant::now())
    }

    fn take_at(&self, state: &str, subject: &str, now: Instant) -> bool {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        questions.retain(|question| now.duration_since(question.asked) < ANSWER_TIMEOUT);
        let position =
            questions.iter().position(|question| question.state == state && question.subject == subject);
        position.and_then(|position| questions.remove(position)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> AccessSummary {
        AccessSummary {
            location: "~/skills/s".to_owned(),
            skill: "pdf".to_owned(),
            script: "scripts/fill.py".to_owned(),
            rows: vec![
                ("reads", "the skill, system files, in.pdf".to_owned()),
                ("network", "no access".to_owned()),
            ],
            tree: "t1".to_owned(),
        }
    }

    #[test]
    fn the_question_in_both_forms() {
        let text = |version| {
            let request = question(&summary(), Some(&version)).unwrap();
            serde_json::to_string_pretty(&request.params).unwrap()
        };
        insta::assert_snapshot!("question_2025_06_18", text(ProtocolVersion::V_2025_06_18));
        insta::assert_snapshot!("question_2025_11_25", text(ProtocolVersion::V_2025_11_25));
    }

    #[test]
    fn only_known_decisions_of_accepted_forms_count() {
        let answer = |value: Value| parse_answer(&serde_json::from_value(value).unwrap());
        let accepted =
            |decision: Value| answer(json!({"action": "accept", "content": {"decision": decision}}));
        assert_eq!(accepted(json!("once")), ConsentAnswer::Once);
        assert_eq!(accepted(json!("always")), ConsentAnswer::Always);
        assert_eq!(accepted(json!("never")), ConsentAnswer::Never);
        for decision in
            [json!("not now"), json!("forever"), json!("Once"), json!(true), json!(["once"]), json!(null)]
        {
            assert_eq!(accepted(decision.clone()), ConsentAnswer::NotNow, "{decision}");
        }
        for action in ["decline", "cancel"] {
            let refused = json!({"action": action, "content": {"decision": "once"}});
            assert_eq!(answer(refused), ConsentAnswer::NotNow);
        }
        assert_eq!(answer(json!({"action": "accept"})), ConsentAnswer::NotNow);
    }

    #[test]
    fn forms_are_supported_unless_only_urls_are() {
        let supports = |value: Value| supports_forms(Some(&serde_json::from_value(value).unwrap()));
        assert!(
            supports(json!({"elicitation": {}})) && supports(json!({"elicitation": {"form": {}, "url": {}}}))
        );
        assert!(
            !supports(json!({})) && !supports(json!({"elicitation": {"url": {}}})) && !supports_forms(None)
        );
    }

    #[test]
    fn a_state_counts_once_for_its_own_subject_and_in_time() {
        let (pending, now) = (PendingQuestions::default(), Instant::now());
        let about = subject(&json!({"script": "a"}), &summary());
        let state = pending.add_at(about.clone(), now);
        let other_files = AccessSummary { tree: "t2".to_owned(), ..summary() };
        let other_access = AccessSummary { rows: Vec::new(), ..summary() };
        for other in [
            subject(&json!({"script": "b"}), &summary()),
            subject(&json!({"script": "a"}), &other_files),
            subject(&json!({"script": "a"}), &other_access),
        ] {
            assert!(!pending.take_at(&state, &other, now));
        }
        assert!(!pending.take_at("", &about, now) && !pending.take_at("forged", &about, now));
        assert!(pending.take_at(&state, &about, now) && !pending.take_at(&state, &about, now));
        let late = pending.add_at(about.clone(), now);
        assert!(!pending.take_at(&late, &about, now + ANSWER_TIMEOUT));
        let evicted = pending.add_at(about.clone(), now);
        for _ in 0..PENDING_MAX {
            pending.add_at(about.clone(), now);
        }
        assert!(!pending.take_at(&evicted, &about, now));
    }
}
