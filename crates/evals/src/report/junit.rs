//! A report as JUnit XML, for continuous integration.

use std::fmt::Write;

use prowess::catalog::escape::escape_xml_visibly;

use super::summary::SkillReport;

/// Renders reports as JUnit XML: one suite for each skill, one test for each case and message.
pub fn render_junit(reports: &[SkillReport]) -> String {
    let mut text =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"prowess test\">\n");
    for report in reports {
        let tests = report.cases.len() + report.triggers.len();
        let failed_case = |case: &&super::CaseSummary| case.passed == Some(false);
        let error_case = |case: &&super::CaseSummary| case.passed.is_none() && !case.errors.is_empty();
        let failures = report.cases.iter().filter(failed_case).count()
            + report.triggers.iter().filter(|trigger| trigger.passed == Some(false)).count();
        let errors = report.cases.iter().filter(error_case).count()
            + report.triggers.iter().filter(|trigger| trigger.passed.is_none()).count();
        let name = escape_xml_visibly(&report.skill);
        let _ = writeln!(
            text,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">"
        );
        for case in &report.cases {
            let _ =
                write!(text, "    <testcase classname=\"{name}\" name=\"{}\"", escape_xml_visibly(&case.id));
            let failed: Vec<String> = case
                .failed
                .iter()
                .map(|(expectation, evidence)| format!("{expectation}: {evidence}"))
                .collect();
            match case.passed {
                Some(false) => element(&mut text, "failure", &failed.join("\n")),
                None if !case.errors.is_empty() => element(&mut text, "error", &case.errors.join("\n")),
                Some(true) => text.push_str("/>\n"),
                None => text.push_str("><skipped message=\"nothing was graded\"/></testcase>\n"),
            }
        }
        for trigger in &report.triggers {
            let verb = if trigger.should_trigger { "loads" } else { "does not load" };
            let _ = write!(
                text,
                "    <testcase classname=\"{name}.triggers\" name=\"{verb}: {}\"",
                escape_xml_visibly(&trigger.query)
            );
            match trigger.passed {
                Some(true) => text.push_str("/>\n"),
                Some(false) => {
                    let loaded = trigger.triggered.map_or(0, |proportion| proportion.passed);
                    let total = trigger.triggered.map_or(0, |proportion| proportion.total);
                    element(&mut text, "failure", &format!("loaded in {loaded} of {total} runs"));
                }
                None => element(&mut text, "error", &trigger.errors.join("\n")),
            }
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn element(text: &mut String, name: &str, message: &str) {
    let first = message.lines().next().unwrap_or_default();
    let _ = writeln!(
        text,
        "><{name} message=\"{}\">{}</{name}></testcase>",
        escape_xml_visibly(first),
        escape_xml_visibly(message)
    );
}
