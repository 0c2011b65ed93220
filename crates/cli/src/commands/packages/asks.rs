//! Questions: asked on a terminal, else answered by flags, else refused.

use std::io::{BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use prowess_package::{Asks, Candidate, Conflict, Item, OnConflict, PackageError, Prepared, Work};
use unicode_width::UnicodeWidthStr;

use super::told;
use crate::args::Global;
use crate::args::packages::{Answers, ConflictChoice};
use crate::output::{clean, cut};

/// Whoever answers.
pub(in crate::commands) struct Answering<'a> {
    answers: &'a Answers,
    terminal: bool,
    work: Arc<Work>,
}

impl<'a> Answering<'a> {
    pub(in crate::commands) fn new(answers: &'a Answers, global: &Global, work: &Arc<Work>) -> Self {
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self { answers, terminal: terminal && !global.json, work: Arc::clone(work) }
    }

    /// Whether a person can be asked.
    pub(in crate::commands) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// A question that is answered with yes or no; no is what is meant by nothing.
    pub(in crate::commands) fn confirm(&self, question: &str) -> Result<bool, PackageError> {
        Ok(matches!(self.ask(&format!("{question} [y/N] "))?.to_lowercase().as_str(), "y" | "yes"))
    }

    /// Asks and reads one line. The end of the input is no answer.
    fn ask(&self, question: &str) -> Result<String, PackageError> {
        let failed = |_| choose("the question could not be asked", "answer with flags; see --help");
        // No line of progress may come between a question and its answer.
        self.work.step("", 0);
        let mut err = std::io::stderr();
        err.write_all(question.as_bytes()).and_then(|()| err.flush()).map_err(failed)?;
        self.wait()?;
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line).map_err(failed)? == 0 {
            return Err(choose("nobody answered", "answer with flags; see --help"));
        }
        self.work.go_on()?;
        Ok(line.trim().to_owned())
    }

    /// Waits for a line. Reading would go on after Ctrl-C, and nobody would see that it was pressed.
    fn wait(&self) -> Result<(), PackageError> {
        const BEAT: Duration = Duration::from_millis(50);
        let stdin = std::io::stdin();
        loop {
            let found = prowess_fs::wait_readable(&stdin, BEAT);
            self.work.go_on().inspect_err(|_| drop(writeln!(std::io::stderr())))?;
            // Whatever else is wrong with it, reading will tell.
            if !matches!(found, Ok(false)) {
                return Ok(());
            }
        }
    }
}

fn choose(message: &str, hint: &str) -> PackageError {
    PackageError::Choose { message: message.to_owned(), hint: hint.to_owned() }
}

impl Asks for Answering<'_> {
    fn pick(&mut self, source: &str, there: &[Candidate]) -> Result<Vec<usize>, PackageError> {
        if !self.terminal {
            let there = there.iter().map(|candidate| candidate.name.clone()).collect();
            return Err(PackageError::Many { source_text: source.to_owned(), there });
        }
        let mut err = std::io::stderr();
        let _ = writeln!(err, "{} holds {} skills:", clean(source), there.len());
        let digits = there.len().to_string().len();
        let width = there.iter().map(|candidate| clean(&candidate.name).width()).max().unwrap_or_default();
        for (at, candidate) in there.iter().enumerate() {
            let description = cut(&candidate.description, 60);
            let name = clean(&candidate.name);
            let space = " ".repeat(width.min(40).saturating_sub(name.width()));
            let _ = writeln!(err, "  {:digits$}  {name}{space}  {description}", at + 1);
        }
        loop {
            let answer =
                self.ask("Which? Numbers or names, such as 1 3-5 pdf; all; or nothing to leave: ")?;
            match picked(&answer, there) {
                Ok(chosen) if chosen.is_empty() => {
                    return Err(choose("nothing was chosen", "nothing was changed"));
                }
                Ok(chosen) => return Ok(chosen),
                Err(word) => drop(writeln!(err, "{} is none of them", clean(&word))),
            }
        }
    }

    fn conflict(&mut self, conflict: &Conflict<'_>) -> Result<OnConflict, PackageError> {
        let name = &conflict.prepared.name;
        match self.answers.on_conflict {
            Some(choice) if self.answers.yes || self.terminal || choice == ConflictChoice::Skip => {
                return Ok(match choice {
                    ConflictChoice::Overwrite => OnConflict::Overwrite,
                    ConflictChoice::Skip => OnConflict::Skip,
                    ConflictChoice::Rename => OnConflict::Rename(free_name(conflict)),
                });
            }
            _ if !self.terminal => return Err(told::conflict(conflict)),
            _ => {}
        }
        let mut err = std::io::stderr();
        let _ = writeln!(err, "{}", clean(&told::conflict(conflict).to_string()));
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

    fn risk(&mut self, prepared: &Prepared) -> Result<bool, PackageError> {
        if self.answers.accept_risk {
            return Ok(true);
        }
        if !self.terminal {
            return Ok(false);
        }
        show_findings(prepared);
        self.confirm(&format!("The audit refuses {}. Install it all the same?", clean(&prepared.name)))
    }

    fn confirm_findings(&mut self, prepared: &Prepared) -> Result<bool, PackageError> {
        if self.answers.yes || self.answers.accept_risk {
            return Ok(true);
        }
        if !self.terminal {
            return Ok(false);
        }
        show_findings(prepared);
        self.confirm(&format!(
            "The audit has findings of high severity in {}. Install it?",
            clean(&prepared.name)
        ))
    }

    fn increase(&mut self, item: &Item) -> Result<bool, PackageError> {
        if self.answers.yes {
            return Ok(true);
        }
        if !self.terminal {
            return Ok(false);
        }
        let mut err = std::io::stderr();
        let _ = writeln!(err, "{} would bring more than before:", clean(&item.name));
        for line in item.changes().map(|changes| told::changes(&changes)).unwrap_or_default() {
            let _ = writeln!(err, "    {line}");
        }
        self.confirm("Update it?")
    }
}

/// Lists what the audit found, before the question about it.
fn show_findings(prepared: &Prepared) {
    let mut err = std::io::stderr();
    for finding in prepared.verdict.open() {
        let place = format!("{}:{}", clean(&finding.path), finding.line);
        let _ = writeln!(err, "  {} {place} {}", finding.severity.as_str(), clean(&finding.message));
    }
}

/// A name with a number that nothing has.
fn free_name(conflict: &Conflict<'_>) -> String {
    let name = &conflict.prepared.name;
    let parent = conflict.folder.parent().unwrap_or(conflict.folder);
    let taken = |name: &String| std::fs::symlink_metadata(parent.join(name)).is_ok();
    (2..).map(|number| format!("{name}-{number}")).find(|name| !taken(name)).unwrap_or_else(|| name.clone())
}

/// Which skills an answer means.
fn picked(answer: &str, there: &[Candidate]) -> Result<Vec<usize>, String> {
    let mut chosen = Vec::new();
    for word in answer.split([' ', ',']).filter(|word| !word.is_empty()) {
        let number = |text: &str| text.parse::<usize>().ok().filter(|at| (1..=there.len()).contains(at));
        let named = there.iter().position(|candidate| candidate.name == word);
        match (word, named, number(word), word.split_once('-')) {
            ("all" | "*", None, _, _) => chosen.extend(0..there.len()),
            (_, Some(at), _, _) => chosen.push(at),
            (_, None, Some(at), _) => chosen.push(at - 1),
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
