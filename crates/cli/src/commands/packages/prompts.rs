//! Prompts on a terminal, or their answers from options.

use std::io::{BufRead, IsTerminal, Read, Stderr, Write};
use std::sync::Arc;
use std::time::Duration;

use prowess_fs::TerminalMode;
use prowess_package::{
    Candidate, InstallConflict, OnConflict, PackageError, PlanItem, PreparedSkill, Prompter, Task,
};

use super::picker::{Picker, PickerStep, parse_keys};
use super::render;
use crate::args::GlobalArgs;
use crate::args::packages::{AnswerArgs, ConflictChoice};
use crate::output::clean;
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

    /// Returns `true` if the user passed `--yes`.
    pub(super) fn answers_yes(&self) -> bool {
        self.answers.yes
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

    /// Prints what a prompt is about, even with `--quiet`.
    pub(in crate::commands) fn show(&self, text: &str) {
        let _ = writeln!(self.stderr(), "{text}");
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
    pub(in crate::commands) fn ask(&self, question: &str) -> Result<String, PackageError> {
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

    /// Shows a list with checkboxes until the user confirms or cancels it. Returns the chosen candidates.
    fn run_picker(&self, picker: &mut Picker) -> Result<Option<Vec<usize>>, PackageError> {
        let failed = |_| choose("cannot prompt for an answer", "answer with options; see --help");
        let mode = KeyMode::enable().map_err(failed)?;
        let (mut err, mut drawn) = (self.stderr(), 0);
        let chosen = loop {
            let width = match prowess_fs::terminal_columns(&err) {
                0 => 80,
                columns => columns,
            };
            let lines = picker.lines(width.saturating_sub(1));
            let back = if drawn > 0 { format!("\u{1b}[{drawn}A") } else { String::new() };
            let frame = format!("{back}\r\u{1b}[J{}\n", lines.join("\n"));
            err.write_all(frame.as_bytes()).and_then(|()| err.flush()).map_err(failed)?;
            drawn = lines.len();
            self.wait()?;
            let mut bytes = [0; 256];
            let count = std::io::stdin().lock().read(&mut bytes).map_err(failed)?;
            self.task.check_cancelled()?;
            let keys = parse_keys(bytes.get(..count).unwrap_or_default());
            let step =
                keys.into_iter().map(|key| picker.press(key)).find(|step| *step != PickerStep::Continue);
            match step {
                Some(PickerStep::Chosen(chosen)) => break Some(chosen),
                Some(PickerStep::Cancelled) => break None,
                // The end of the input.
                None if count == 0 => break None,
                Some(PickerStep::Continue) | None => {}
            }
        };
        drop(mode);
        Ok(chosen)
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

/// The mode in which keys are read as they are pressed. The previous mode is restored on drop.
struct KeyMode(TerminalMode);

impl KeyMode {
    fn enable() -> std::io::Result<Self> {
        let mode = TerminalMode::current().ok_or(std::io::ErrorKind::Unsupported)?;
        mode.read_keys()?;
        Ok(Self(mode))
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        self.0.restore();
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
        match self.run_picker(&mut Picker::new(source, candidates))? {
            Some(chosen) if !chosen.is_empty() => Ok(chosen),
            _ => Err(choose("no skills selected", "no changes made")),
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

    fn accept_removal(&mut self, item: &PlanItem) -> Result<bool, PackageError> {
        if self.answers.yes {
            return Ok(true);
        }
        let plugin = item.before.as_ref().and_then(|before| before.plugin.as_ref());
        let plugin = plugin.map(|plugin| clean(&plugin.name).into_owned()).unwrap_or_default();
        let question = format!("The plugin {plugin} no longer has {}. Remove it?", clean(&item.name));
        Ok(self.terminal && self.confirm(&question)?)
    }
}

/// Returns an unused name with a number.
fn free_name(conflict: &InstallConflict<'_>) -> String {
    let name = &conflict.prepared.name;
    let parent = conflict.dir.parent().unwrap_or(conflict.dir);
    let exists = |name: &String| std::fs::symlink_metadata(parent.join(name)).is_ok();
    (2..).map(|number| format!("{name}-{number}")).find(|name| !exists(name)).unwrap_or_else(|| name.clone())
}
