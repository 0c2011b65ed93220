//! Detects whether the instructions of a skill reached the model.
//!
//! What counts is the content of the requests: agents load skills with many tools, after other tools and other skills, from
//! any copy, and with line numbers or other decoration. Names, paths and descriptions alone do not count.

use serde_json::Value;

/// The minimum length of a line that identifies instructions, in characters.
const LINE_MIN: usize = 24;

/// The maximum number of lines that are searched for.
const LINES_MAX: usize = 12;

/// Lines that occur only in the instructions of one skill.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InstructionMarkers {
    lines: Vec<String>,
    required: usize,
}

impl InstructionMarkers {
    /// Chooses lines of the body of a `SKILL.md` that do not occur in `other_texts`, such as the prompt and the files of the
    /// task, and are not changed when the skill is loaded.
    ///
    /// ```
    /// use prowess_evals::gateway::InstructionMarkers;
    ///
    /// let markers = InstructionMarkers::new("# Totals\n\nRound every amount to two decimals.\n", &["sum it up"]);
    /// assert!(markers.occur_in("  7→Round every amount to two decimals."));
    /// assert!(!markers.occur_in("There is a skill named totals."));
    /// ```
    pub fn new(body: &str, other_texts: &[&str]) -> Self {
        let is_changed = |line: &str| ["$", "!`", "{{", "@"].iter().any(|mark| line.contains(mark));
        let is_known = |line: &str| other_texts.iter().any(|text| text.contains(line));
        let distinct = |min: usize| {
            let mut lines: Vec<&str> = Vec::new();
            for line in body.lines().map(str::trim) {
                let long_enough = line.chars().count() >= min;
                if long_enough && !is_changed(line) && !is_known(line) && !lines.contains(&line) {
                    lines.push(line);
                }
            }
            lines
        };
        let mut lines = distinct(LINE_MIN);
        if lines.is_empty() {
            lines = distinct(1);
            // Short lines are common words, so the longest must occur together.
            lines.sort_by_key(|line| std::cmp::Reverse(line.chars().count()));
            lines.truncate(3);
        }
        // Spread over the whole body, because an agent may read only a part of it.
        let step = lines.len().div_ceil(LINES_MAX).max(1);
        let long = lines.first().is_some_and(|line| line.chars().count() >= LINE_MIN);
        let lines: Vec<String> = lines.into_iter().step_by(step).map(str::to_owned).collect();
        let required = if long { lines.len().div_ceil(3) } else { lines.len() };
        Self { lines, required }
    }

    /// Returns `true` if nothing identifies the instructions, so that they cannot be detected.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns `true` if enough of the lines occur in the text.
    pub fn occur_in(&self, text: &str) -> bool {
        !self.lines.is_empty()
            && self.lines.iter().filter(|line| text.contains(&***line)).count() >= self.required
    }

    /// Returns `true` if the instructions are in a request to a model, in any of its texts.
    pub(super) fn occur_in_request(&self, body: &Value) -> bool {
        if self.lines.is_empty() {
            return false;
        }
        let mut found = vec![false; self.lines.len()];
        visit_strings(body, &mut |text| {
            for (line, found) in self.lines.iter().zip(&mut found) {
                *found = *found || text.contains(&**line);
            }
        });
        found.into_iter().filter(|found| *found).count() >= self.required
    }
}

/// Visits all strings of a value, including JSON inside strings: tool results are often encoded twice.
fn visit_strings(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => {
            visit(text);
            if text.starts_with(['{', '[', '"'])
                && let Ok(inner @ (Value::Object(_) | Value::Array(_) | Value::String(_))) =
                    serde_json::from_str(text)
            {
                visit_strings(&inner, visit);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| visit_strings(value, visit)),
        Value::Object(fields) => fields.values().for_each(|value| visit_strings(value, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BODY: &str = "# Invoices\n\nTotal every line before you apply the discount.\n\nNever round intermediate results at all.\nRun scripts/total.py $ARGUMENTS with care please.\n";

    fn markers() -> InstructionMarkers {
        InstructionMarkers::new(BODY, &["sum these invoices"])
    }

    #[test]
    fn instructions_are_found_however_they_were_loaded() {
        let line = "Total every line before you apply the discount.";
        for request in [
            json!({"messages": [{"role": "user", "content": [{"type": "tool_result", "content": BODY}]}]}),
            json!({"input": [{"type": "function_call_output", "output": format!("{{\"text\":\"{line}\\n\"}}")}]}),
            json!({"messages": [{"content": format!("     3→{line}\n     4→")}]}),
            json!({"system": format!("<skill>{BODY}</skill>")}),
        ] {
            assert!(markers().occur_in_request(&request), "{request}");
        }
    }

    #[test]
    fn mentions_are_not_instructions() {
        for request in [
            json!({"messages": [{"content": "use the skill invoices in .claude/skills/invoices/SKILL.md"}]}),
            json!({"tools": [{"description": "invoices: Sums invoices and applies discounts"}]}),
            json!({"messages": [{"content": "Run scripts/total.py $ARGUMENTS with care please."}]}),
        ] {
            assert!(!markers().occur_in_request(&request), "{request}");
        }
    }

    #[test]
    fn lines_of_the_task_do_not_identify_a_skill() {
        let prompt =
            "Total every line before you apply the discount. Never round intermediate results at all.";
        assert!(InstructionMarkers::new(BODY, &[prompt]).lines.iter().all(|line| !prompt.contains(line)));
    }

    #[test]
    fn short_bodies_must_occur_completely() {
        let markers = InstructionMarkers::new("Be brief.\nUse tables.\n", &[]);
        assert!(markers.occur_in("Be brief.\nUse tables."));
        assert!(!markers.occur_in("Be brief."));
        assert!(InstructionMarkers::new("$ARGUMENTS\n", &[]).is_empty());
        assert!(!InstructionMarkers::default().occur_in(""));
    }
}
