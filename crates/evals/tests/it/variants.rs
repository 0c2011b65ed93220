//! With and without a skill, and with an old version of it.

use prowess_evals::report::{
    ReportInfo, SkillReport, list_reports, read_report, render_junit, render_markdown, write_report,
};
use prowess_evals::{SkillVersion, Variant};

use crate::support::{SKILL, SessionSetup, TestSkill, helpful_server};

fn report(skill: &TestSkill, records: &[prowess_evals::RunRecord]) -> SkillReport {
    let info = ReportInfo {
        agent: "prowess chat".to_owned(),
        model: "test-model".to_owned(),
        timestamp: "2026-01-31T12:00:00Z".to_owned(),
        runs: 1,
        ..ReportInfo::default()
    };
    let mut records = records.to_vec();
    for record in &mut records {
        // Times differ.
        (record.duration_ms, record.grading_ms) = (1_500, 0);
    }
    let mut report = SkillReport::new(&skill.skill, &records, info, Vec::new());
    report.path = "skills/totals".to_owned();
    report
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_is_compared_with_no_skill() {
    let (skill, server) = (TestSkill::new(&[]), helpful_server().await);
    let (results, budget) = SessionSetup::new(&skill, &server).run().await;
    assert_eq!((results.stopped, results.warnings), (None, vec![]));
    let scores: Vec<_> = results
        .records
        .iter()
        .map(|record| (record.variant, record.score().unwrap(), record.triggered().unwrap()))
        .collect();
    assert_eq!(
        scores,
        [
            (Variant::WithSkill, 1.0, true),
            (Variant::WithoutSkill, 0.5, false),
            (Variant::WithSkill, 1.0, false),
            (Variant::WithoutSkill, 1.0, false)
        ]
    );
    // Three requests with the skill, two without, and one for each greeting: the server counts the same.
    assert_eq!((budget.spending().requests, server.requests().len()), (7, 7));
    let report = report(&skill, &results.records);
    insta::assert_snapshot!("report_as_markdown", render_markdown(&report));
    insta::assert_snapshot!("report_as_junit", render_junit(&[report]));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_in_the_form_that_other_tools_read() {
    let (skill, server) = (TestSkill::new(&[]), helpful_server().await);
    let (results, _) = SessionSetup::new(&skill, &server).run().await;
    let report = report(&skill, &results.records);
    let mut records = results.records;
    records.iter_mut().for_each(|record| (record.duration_ms, record.grading_ms) = (1_500, 100));
    let dir = skill.dir.path().join("reports/totals");
    let first = write_report(&dir, &skill.skill, &report, &records).unwrap();
    let second = write_report(&dir, &skill.skill, &report, &records).unwrap();
    assert_eq!((first, second), (dir.join("iteration-1"), dir.join("iteration-2")));
    let mut files = Vec::new();
    prowess::visit_files(&dir.join("iteration-1"), 0, &mut |path, _| files.push(path.to_owned()));
    let read = |path: &str| std::fs::read_to_string(dir.join("iteration-1").join(path)).unwrap();
    insta::assert_snapshot!(
        [
            files.join("\n"),
            read("eval-1/without_skill/run-1/grading.json"),
            read("eval-1/with_skill/run-1/timing.json"),
            read("eval-1/with_skill/run-1/eval_metadata.json"),
            read("eval-1/with_skill/run-1/transcript.md"),
            read("benchmark.json"),
        ]
        .join("\n=====\n")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_reports_are_listed_and_read() {
    let (skill, server) = (TestSkill::new(&[]), helpful_server().await);
    let (results, _) = SessionSetup::new(&skill, &server).run().await;
    let report = report(&skill, &results.records);
    for _ in 0..2 {
        write_report(&skill.dir.path().join("reports/totals"), &skill.skill, &report, &results.records)
            .unwrap();
    }
    let reports = skill.dir.path().join("reports");
    let listed = list_reports(&reports, 100);
    assert_eq!(listed.iter().map(|report| report.iteration).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(
        (listed[0].pass_rate, listed[0].change, listed[0].p_value, listed[0].complete),
        (Some(1.0), Some(0.25), Some(1.0), true)
    );
    assert_eq!(list_reports(&reports, 1).len(), 1);
    let stored = read_report(&reports, "totals", 1).unwrap();
    assert_eq!((stored.info, stored.comparisons[0].improved.clone()), (report.info, vec!["1".to_owned()]));
    for skill in ["../reports/totals", "..", "", "unknown"] {
        assert_eq!(read_report(&reports, skill, 1), None, "{skill}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluations_are_not_shown_to_the_agent() {
    let (skill, server) = (TestSkill::new(&[]), helpful_server().await);
    SessionSetup::new(&skill, &server).run().await;
    for request in server.requests() {
        let body = request.body.to_string();
        assert!(!body.contains("evals.json") && !body.contains("total.txt contains"), "{body}");
    }
    assert!(skill.skill.version.staged.files.iter().all(|(path, ..)| !path.starts_with("evals/")));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_versions_are_compared() {
    let mut skill = TestSkill::new(&[]);
    let old = SKILL.replace("two decimals", "three decimals");
    let files = vec![("SKILL.md".to_owned(), old.into_bytes(), false)];
    skill.skill.old_version = Some(SkillVersion::new("totals", files).unwrap());
    let server = helpful_server().await;
    let mut setup = SessionSetup::new(&skill, &server);
    setup.options.baseline = false;
    let (results, _) = setup.run().await;
    let report = report(&skill, &results.records);
    assert_eq!(report.variants.keys().copied().collect::<Vec<_>>(), [Variant::WithSkill, Variant::OldSkill]);
    assert_eq!(report.comparisons[0].with, Variant::OldSkill);
    assert!(server.requests().iter().any(|request| request.body.to_string().contains("three decimals")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_grades_texts_and_does_not_know_the_variant() {
    let evals = r#"{"evals": [{"id": 1, "prompt": "Say hello", "expectations": ["The agent greets"]}]}"#;
    let (skill, server) = (TestSkill::new(&[("evals/evals.json", evals)]), helpful_server().await);
    let mut setup = SessionSetup::new(&skill, &server);
    setup.judge = true;
    let (results, budget) = setup.run().await;
    assert!(results.records.iter().all(|record| record.score() == Some(1.0)));
    assert_eq!(budget.spending().requests, 4);
    let judged: Vec<_> = server.requests().into_iter().filter(|r| r.body["model"] == "judge-model").collect();
    assert_eq!(judged.len(), 2);
    assert_eq!(judged[0].body, judged[1].body);

    // Without a judge, nothing is claimed.
    let (results, _) = SessionSetup::new(&skill, &server).run().await;
    assert!(results.records.iter().all(|record| record.score().is_none()));
}
