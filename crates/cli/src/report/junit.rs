//! Problems as JUnit XML, which most CI systems display. Each skill is a test case.

use std::io::{self, Write};
use std::path::Path;

use prowess::catalog::escape::escape_xml_visibly;
use prowess::check::PassedOverSkill;

use super::problem::{Problem, SkillProblems, passed_over_text};
use super::{pluralize, uri};

/// Writes a test suite. A skill fails if one of its problems makes the command fail; others are part of its output.
pub(crate) fn write(
    out: &mut dyn Write,
    suite: &str,
    skills: &[SkillProblems<'_>],
    passed_over: &[PassedOverSkill],
    base: &Path,
) -> io::Result<()> {
    let (tests, skipped) = (skills.len() + passed_over.len(), passed_over.len());
    let failures = skills.iter().filter(|skill| !failing(skill).is_empty()).count();
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"");
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"prowess\" {counts}>")?;
    writeln!(out, "  <testsuite name=\"{}\" {counts}>", escape_xml_visibly(suite))?;
    for skill in skills {
        write_case(out, suite, skill, base)?;
    }
    for skill in passed_over {
        let name = escape_xml_visibly(&uri::relative_path(&skill.path, base));
        writeln!(out, "    <testcase classname=\"{}\" name=\"{name}\">", escape_xml_visibly(suite))?;
        writeln!(out, "      <skipped message=\"{}\"/>", escape_xml_visibly(passed_over_text(skill)))?;
        writeln!(out, "    </testcase>")?;
    }
    writeln!(out, "  </testsuite>\n</testsuites>")
}

fn failing<'s, 'a>(skill: &'s SkillProblems<'a>) -> Vec<&'s Problem<'a>> {
    skill.problems.iter().filter(|problem| problem.level >= skill.fails_from).collect()
}

fn write_case(out: &mut dyn Write, suite: &str, skill: &SkillProblems<'_>, base: &Path) -> io::Result<()> {
    let name = escape_xml_visibly(&uri::relative_path(skill.path, base));
    let case = format!("    <testcase classname=\"{}\" name=\"{name}\"", escape_xml_visibly(suite));
    if skill.problems.is_empty() {
        return writeln!(out, "{case}/>");
    }
    writeln!(out, "{case}>")?;
    let failing = failing(skill);
    if let Some(first) = failing.first() {
        // Some systems keep only one failure of a test.
        let count = pluralize(failing.len(), "problem");
        let text: Vec<_> = failing.iter().map(|problem| line(problem, base)).collect();
        let text = escape_xml_visibly(&text.join("\n"));
        writeln!(
            out,
            "      <failure message=\"{count}\" type=\"{}\">{text}</failure>",
            escape_xml_visibly(first.code)
        )?;
    }
    let others: Vec<_> = skill
        .problems
        .iter()
        .filter(|problem| problem.level < skill.fails_from)
        .map(|problem| line(problem, base))
        .collect();
    if !others.is_empty() {
        writeln!(out, "      <system-out>{}</system-out>", escape_xml_visibly(&others.join("\n")))?;
    }
    writeln!(out, "    </testcase>")
}

fn line(problem: &Problem<'_>, base: &Path) -> String {
    let path = uri::relative_path(problem.path, base);
    let position = problem.position.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
    format!("{path}{position}: {}[{}]: {}", problem.severity, problem.code, problem.text)
}
