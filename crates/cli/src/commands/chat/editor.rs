//! Typing: a line that can be edited, with history, and completion of skills.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::policy::{Mention, Recognised};
use prowess::{Policy, Snapshot};
use prowess_format::hidden;
use prowess_routing::Router;
use prowess_tools::{Toolbox, key};
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::typed::{WORDS, goes_on, joined};
use crate::columns;
use crate::output::clean;

/// The file below the user's state.
const FILE: &str = "chat-history";

/// How many lines are remembered.
const LINES_MAX: usize = 1_000;

/// How many skills are offered at once.
const OFFERED_MAX: usize = 200;

/// What stands before what is typed.
const PROMPT: &str = "> ";

/// What came of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Something was typed.
    Typed(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or nobody is there any more.
    Over,
}

/// A line that can be edited.
pub(super) struct Typing {
    editor: Editor<Completion, DefaultHistory>,
    file: Option<PathBuf>,
}

impl Typing {
    /// Lines are remembered in a file of the state that only the user can read.
    pub(super) fn new(state: Option<PathBuf>, width: usize) -> Result<Self, ReadlineError> {
        let config = Config::builder()
            .max_history_size(LINES_MAX)?
            .history_ignore_dups(true)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .bell_style(rustyline::config::BellStyle::None)
            .build();
        let mention = Mention { slash: Recognised::No, dollar: Recognised::No };
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Completion { offered: Vec::new(), router: None, mention, width }));
        let file = state.filter(|state| made(state)).map(|state| state.join(FILE));
        if let Some(file) = &file {
            // There is none at first; one that cannot be read is nobody's loss.
            let _ = editor.load_history(file);
        }
        Ok(Self { editor, file })
    }

    /// Which skills are completed from now on.
    pub(super) fn offer(&mut self, toolbox: &Toolbox) {
        let policy = toolbox.registry().policy();
        if let Some(completion) = self.editor.helper_mut() {
            let snapshot = toolbox.snapshot();
            completion.offered = offered(&snapshot, policy);
            completion.router = Some(toolbox.router(&snapshot));
            completion.mention = policy.mention;
        }
    }

    /// Waits for a line, or for several that belong together.
    pub(super) fn line(&mut self) -> Result<Line, ReadlineError> {
        match self.editor.readline(PROMPT) {
            Ok(line) => {
                let _ = self.editor.add_history_entry(line.as_str());
                if let Some(file) = &self.file {
                    // Remembering is a comfort; talking goes on without it.
                    let _ = self.editor.append_history(file);
                }
                Ok(Line::Typed(joined(&line)))
            }
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::Over),
            Err(error) => Err(error),
        }
    }
}

/// Whether the folder is there, or could be made.
fn made(state: &Path) -> bool {
    state.is_dir() || prowess_fs::make_private_folders(state).is_ok()
}

/// A skill by the name that calls it, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Offered {
    name: String,
    about: String,
}

fn offered(snapshot: &Snapshot, policy: &Policy) -> Vec<Offered> {
    let mut offered: Vec<_> = snapshot
        .enabled()
        .filter(|skill| skill.manifest().is_some_and(|manifest| manifest.user_invocable()))
        .map(|skill| Offered {
            name: key(skill, policy).into_owned(),
            about: clean(skill.description()).into_owned(),
        })
        // What cannot be typed cannot be completed.
        .filter(|skill| hidden::first(&skill.name).is_none() && !skill.name.contains(char::is_whitespace))
        .collect();
    offered.sort_by(|one, other| one.name.cmp(&other.name));
    offered
}

/// Completes names of skills, and the words for the terminal.
struct Completion {
    /// In the order of names.
    offered: Vec<Offered>,
    /// Knows what could be meant where no name begins with what was typed.
    router: Option<Arc<Router>>,
    mention: Mention,
    width: usize,
}

impl Completion {
    /// Where the word begins that is completed, and what it could become.
    fn completed(&self, line: &str, cursor: usize) -> (usize, Vec<Pair>) {
        let before = line.get(..cursor).unwrap_or_default();
        let start = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = &before[start..];
        let is_first = before[..start].trim().is_empty();
        let (sign, skills) = match word.chars().next() {
            Some('/') if is_first => ("/", self.mention.slash),
            Some('$') => ("$", self.mention.dollar),
            _ => return (start, Vec::new()),
        };
        let words = WORDS.iter().filter(|_| sign == "/");
        let words = words.map(|(word, about)| ((*word).to_owned(), (*about).to_owned()));
        let is_word = |name: &str| sign == "/" && WORDS.iter().any(|(word, _)| word.get(1..) == Some(name));
        let typed = &word[sign.len()..];
        let is_offered = |skill: &&Offered| skills == Recognised::Yes && !is_word(&skill.name);
        let told = |skill: &Offered| (format!("{sign}{}", skill.name), skill.about.clone());
        let words = words.filter(|(name, _)| name.starts_with(word));
        let mut fitting: Vec<_> =
            self.beginning(typed).filter(is_offered).map(told).chain(words).take(OFFERED_MAX).collect();
        if fitting.is_empty() {
            fitting.extend(self.meant(typed).filter(is_offered).map(told));
        }
        let widest = fitting.iter().map(|(name, _)| columns::width(name)).max().unwrap_or(0);
        let pair = |(name, about): &(String, String)| Pair {
            // As wide as the terminal, so that each has a line of its own.
            display: columns::pad(
                &columns::cut(
                    &format!("{}  {about}", columns::pad(name, widest)),
                    self.width.saturating_sub(3),
                ),
                self.width.saturating_sub(3),
            ),
            replacement: format!("{name} "),
        };
        (start, fitting.iter().map(pair).collect())
    }
}

impl Completion {
    /// The skills whose names begin so.
    fn beginning(&self, typed: &str) -> impl Iterator<Item = &Offered> {
        let start = self.offered.partition_point(|skill| &*skill.name < typed);
        self.offered.iter().skip(start).take_while(move |skill| skill.name.starts_with(typed))
    }

    /// The skills that could be meant in another way: a word in the middle of a name, or one that is mistyped.
    fn meant(&self, typed: &str) -> impl Iterator<Item = &Offered> {
        let found = self.router.iter().flat_map(|router| router.complete(typed));
        found.filter_map(|found| {
            let at = self.offered.binary_search_by(|skill| (*skill.name).cmp(found.name)).ok()?;
            self.offered.get(at)
        })
    }
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        Ok(self.completed(line, cursor))
    }
}

impl Validator for Completion {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match goes_on(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Hinter for Completion {
    type Hint = String;
}

impl Highlighter for Completion {}

impl Helper for Completion {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn completion() -> Completion {
        let skill = |name: &str| Offered { name: name.to_owned(), about: format!("Does {name}.") };
        let offered = ["heal", "help", "pdf", "pdf-forms"].map(skill).to_vec();
        Completion {
            offered,
            router: None,
            mention: Mention { slash: Recognised::Yes, dollar: Recognised::Yes },
            width: 60,
        }
    }

    fn names(line: &str) -> (usize, Vec<String>) {
        let (start, pairs) = completion().completed(line, line.len());
        (start, pairs.into_iter().map(|pair| pair.replacement).collect())
    }

    #[test]
    fn skills_that_users_do_not_call_are_not_completed() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for (name, more) in [("for-all", ""), ("for-models", "user-invocable: false\n")] {
            let skill = home.join(".agents/skills").join(name);
            std::fs::create_dir_all(&skill).unwrap();
            let text = format!("---\nname: {name}\ndescription: Does it.\n{more}---\nDo it.\n");
            std::fs::write(skill.join("SKILL.md"), text).unwrap();
        }
        let world =
            prowess::Surroundings { project: home.join("p"), home: Some(home.clone()), path: "".into() };
        let registry = prowess::Registry::open_in(Policy::default(), world, &prowess::Progress::default());
        let snapshot = registry.snapshot();
        assert!(snapshot.get("for-models").is_some());
        let names: Vec<_> =
            offered(&snapshot, registry.policy()).into_iter().map(|skill| skill.name).collect();
        assert!(names.iter().any(|name| name == "for-all"), "{names:?}");
        assert!(!names.iter().any(|name| name == "for-models"), "{names:?}");
    }

    #[test]
    fn what_is_completed_where() {
        let all = |names: &[&str]| names.iter().map(|name| format!("{name} ")).collect::<Vec<_>>();
        assert_eq!(names("/p"), (0, all(&["/pdf", "/pdf-forms"])));
        assert_eq!(names("/he"), (0, all(&["/heal", "/help"])));
        assert_eq!(names("  /pdf-"), (2, all(&["/pdf-forms"])));
        assert_eq!(names("fill in /p").1, all(&[]));
        assert_eq!(names("äö fill $p"), (10, all(&["$pdf", "$pdf-forms"])));
        assert_eq!(names("$hel").1, all(&["$help"]));
        assert_eq!(names("").1, all(&[]));
    }

    #[test]
    fn as_it_is_listed() {
        let (_, pairs) = completion().completed("/", 1);
        let lines: Vec<_> = pairs.iter().map(|pair| pair.display.trim_end()).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn as_the_preset_has_it() {
        let quiet =
            Completion { mention: Mention { slash: Recognised::No, dollar: Recognised::No }, ..completion() };
        assert_eq!(quiet.completed("/pdf", 4).1.len(), 0);
        assert_eq!(quiet.completed("/help", 5).1.len(), 1);
        assert_eq!(quiet.completed("$pdf", 4).1.len(), 0);
    }

    #[test]
    fn what_could_be_meant_where_no_name_begins_so() {
        let mut policy = Policy::default();
        policy.scan.roots.retain(|root| root.to_string() == "bundled");
        let snapshot = prowess::Registry::open(policy.clone()).unwrap().snapshot();
        let completion = Completion {
            offered: offered(&snapshot, &policy),
            router: Some(Arc::new(Router::new(snapshot))),
            ..completion()
        };
        let names = |line: &str| {
            let (_, pairs) = completion.completed(line, line.len());
            pairs.into_iter().map(|pair| pair.replacement).collect::<Vec<_>>()
        };
        assert_eq!(names("/helo"), ["/hello-world "]);
        assert_eq!(names("$wrold"), ["$hello-world "]);
        assert_eq!(names("$zzzz"), [] as [&str; 0]);
    }

    proptest! {
        #[test]
        fn whatever_is_typed(line in any::<String>(), at in any::<prop::sample::Index>()) {
            let cursor = line.floor_char_boundary(at.index(line.len() + 1));
            let (start, _) = completion().completed(&line, cursor);
            prop_assert!(start <= cursor && line.is_char_boundary(start));
        }
    }
}
