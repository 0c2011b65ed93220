//! Prompts on a terminal, or their answers from options.

use std::io::{BufRead, IsTerminal, Stderr, Write};
use std::sync::Arc;
use std::time::Duration;

use prowess_package::{
    Candidate, InstallConflict, OnConflict, PackageError, PlanItem, PreparedSkill, Prompter, Task,
};
use unicode_width::UnicodeWidthStr;

use super::render;
use crate::args::GlobalArgs;
use crate::args::packages::{AnswerArgs, ConflictChoice};
use crate::output::{clean, truncate};
use crate::progress;

/// Answers prompts from options, or asks on the terminal.
pub(in crate::commands) struct TerminalPrompter<'a> {
    answers: &'a AnswerArgs,
    terminal: bool,
    task: Arc<Task>,
}

impl<'a> TerminalPrompter<'a> {
    pub(in crate::commands) fn new(answers: &'a AnswerArgs, global: &GlobalArgs, task: &Arc<Task>) -> Self {
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self { answers, terminal: terminal && !global.json, task: Arc::clone(task) }
    }

    /// Returns `true` if prompts can be shown.
    pub(in crate::commands) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Asks a yes-or-no question. The default is no.
    pub(in crate::commands) fn confirm(&self, question: &str) -> Result<bool, PackageError> {
        Ok(matches!(self.ask(&format!("{question} [y/N] "))?.to_lowercase().as_str(), "y" | "yes"))
    }

    /// Returns the standard error stream without a progress line.
    fn stderr(&self) -> Stderr {
        progress::hide_task_progress(&self.task);
        std::io::stderr()
    }

    /// Prints the findings of the audit before a prompt.
    fn show_findings(&self, prepared: &PreparedSkill) {
        let mut err = self.stderr();
        for finding in prepared.verdict.unsuppressed() {
            let location = format!("{}:{}", clean(&finding.path), finding.line);
            let _ = writeln!(err, "  {} {location} {}", finding.severity.as_str(), clean(&finding.message));
        }
    }

    /// Asks a question and reads a line. The end of the input is an error.
    fn ask(&self, question: &str) -> Result<String, PackageError> {
        let failed = |_| choose("cannot prompt for an answer", "answer with options; see --help");
        let mut err = self.stderr();
        err.write_all(question.as_bytes()).and_then(|()| err.flush()).map_err(failed)?;
        self.wait()?;
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line).map_err(failed)? == 0 {
            return Err(choose("no answer given", "answer with options; see --help"));
        }
        self.task.check_cancelled()?;
        Ok(line.trim().to_owned())
    }

    /// Waits for input and checks for cancellation, because a blocking read would not notice Ctrl-C.
    fn wait(&self) -> Result<(), PackageError> {
        const INTERVAL: Duration = Duration::from_millis(50);
        let stdin = std::io::stdin();
        loop {
            let readable = prowess_fs::wait_readable(&stdin, INTERVAL);
            self.task.check_cancelled().inspect_err(|_| drop(writeln!(std::io::stderr())))?;
            // The following read reports errors.
            if !matches!(readable, Ok(false)) {
                return Ok(());
            }
        }
    }
}

fn choose(message: &str, hint: &str) -> PackageError {
    PackageError::ChoiceRequired { message: message.to_owned(), hint: hint.to_owned() }
}

impl Prompter for TerminalPrompter<'_> {
    fn pick_skills(&mut self, source: &str, candidates: &[Candidate]) -> Result<Vec<usize>, PackageError> {
        if !self.terminal {
            let names = candidates.iter().map(|candidate| candidate.name.clone()).collect();
            return Err(PackageError::MultipleSkills { source_text: source.to_owned(), available: names });
        }
        let mut err = self.stderr();
        let _ = writeln!(err, "{} contains {} skills:", clean(source), candidates.len());
        let digits = candidates.len().to_string().len();
        let width =
            candidates.iter().map(|candidate| clean(&candidate.name).width()).max().unwrap_or_default();
        for (index, candidate) in candidates.iter().enumerate() {
            let description = truncate(&candidate.description, 60);
            let name = clean(&candidate.name);
            let space = " ".repeat(width.min(40).saturating_sub(name.width()));
            let _ = writeln!(err, "  {:digits$}  {name}{space}  {description}", index + 1);
        }
        loop {
            let answer = self
                .ask("Which skills? Numbers or names, such as 1 3-5 pdf, or all; press Enter to cancel: ")?;
            match parse_selection(&answer, candidates) {
                Ok(chosen) if chosen.is_empty() => {
                    return Err(choose("no skills selected", "no changes made"));
                }
                Ok(chosen) => return Ok(chosen),
                Err(word) => drop(writeln!(err, "{} is not in the list", clean(&word))),
            }
        }
    }

    fn resolve_conflict(&mut self, conflict: &InstallConflict<'_>) -> Result<OnConflict, PackageError> {
        let name = &conflict.prepared.name;
        match self.answers.on_conflict {
            Some(choice) if self.answers.yes || self.terminal || choice == ConflictChoice::Skip => {
                return Ok(match choice {
                    ConflictChoice::Overwrite => OnConflict::Overwrite,
                    ConflictChoice::Skip => OnConflict::Skip,
                    ConflictChoice::Rename => OnConflict::Rename(free_name(conflict)),
                });
            }
            _ if !self.terminal => return Err(render::conflict_error(conflict)),
            _ => {}
        }
        let mut err = self.stderr();
        let _ = writeln!(err, "{}", clean(&render::conflict_error(conflict).to_string()));
        let free = free_name(conflict);
        loop {
            let question = format!("[r]ename to {free}, [o]verwrite, [s]kip {}? ", clean(name));
            return Ok(match self.ask(&question)?.to_lowercase().as_str() {
                "r" | "rename" => OnConflict::Rename(free),
                "o" | "overwrite" => OnConflict::Overwrite,
                "s" | "skip" => OnConflict::Skip,
                _ => continue,
            });
        }
    }

    fn accept_risk(&mut self, prepared: &PreparedSkill) -> Result<bool, PackageError> {
        if self.answers.accept_risk {
            return Ok(true);
        }
        if !self.terminal {
            return Ok(false);
        }
        self.show_findings(prepared);
        self.confirm(&format!("The audit rejects {}. Install it anyway?", clean(&prepared.name)))
    }

    fn confirm_findings(&mut self, prepared: &PreparedSkill) -> Result<bool, PackageError> {
        if self.answers.yes || self.answers.accept_risk {
            return Ok(true);
        }
        if !self.terminal {
            return Ok(false);
        }
        self.show_findings(prepared);
        self.confirm(&format!(
            "The audit has high-severity findings in {}. Install it?",
            clean(&prepared.name)
        ))
    }

    fn accept_increase(&mut self, item: &PlanItem) -> Result<bool, PackageError> {
        if self.answers.yes {
            return Ok(true);
        }
        if !self.terminal {
            return Ok(false);
        }
        let mut err = self.stderr();
        let _ = writeln!(err, "the update of {} adds capabilities:", clean(&item.name));
        for line in item.changes().map(|changes| render::change_lines(&changes)).unwrap_or_default() {
            let _ = writeln!(err, "    {line}");
        }
        self.confirm("Install the update?")
    }
}

/// Returns an unused name with a number.
fn free_name(conflict: &InstallConflict<'_>) -> String {
    let name = &conflict.prepared.name;
    let parent = conflict.dir.parent().unwrap_or(conflict.dir);
    let exists = |name: &String| std::fs::symlink_metadata(parent.join(name)).is_ok();
    (2..).map(|number| format!("{name}-{number}")).find(|name| !exists(name)).unwrap_or_else(|| name.clone())
}

/// Parses the selection of skills.
fn parse_selection(answer: &str, candidates: &[Candidate]) -> Result<Vec<usize>, String> {
    let mut chosen = Vec::new();
    for word in answer.split([' ', ',']).filter(|word| !word.is_empty()) {
        let number =
            |text: &str| text.parse::<usize>().ok().filter(|index| (1..=candidates.len()).contains(index));
        let by_name = candidates.iter().position(|candidate| candidate.name == word);
        match (word, by_name, number(word), word.split_once('-')) {
            ("all" | "*", None, _, _) => chosen.extend(0..candidates.len()),
            (_, Some(index), _, _) => chosen.push(index),
            (_, None, Some(index), _) => chosen.push(index - 1),
            (_, None, None, Some((from, to))) => match (number(from), number(to)) {
                (Some(from), Some(to)) if from <= to => chosen.extend(from - 1..to),
                _ => return Err(word.to_owned()),
            },
            _ => return Err(word.to_owned()),
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}
