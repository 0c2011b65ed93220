//! The line editor, with history and completion of skill names.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prowess::Snapshot;
use prowess::catalog::escape::one_line;
use prowess::policy::{MentionPolicy, MentionSyntax};
use prowess_format::hidden;
use prowess_routing::Router;
use prowess_tools::Toolbox;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hint, Hinter};
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::input::{COMMANDS, is_continued, join_continued};
use crate::columns;
use crate::output::clean;

/// The name of the history file in the state directory.
const HISTORY_FILE: &str = "chat-history";

/// The maximum number of history entries.
const HISTORY_MAX: usize = 1_000;

/// The maximum number of completions.
const COMPLETIONS_MAX: usize = 200;

const PROMPT: &str = "> ";

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditorEvent {
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D or end of input.
    Eof,
}

pub(super) struct LineEditor {
    editor: Editor<ChatCompleter, DefaultHistory>,
    file: Option<PathBuf>,
}

impl LineEditor {
    /// Creates an editor whose history is stored in a private file of the state directory.
    pub(super) fn new(state: Option<PathBuf>, width: usize, styled: bool) -> Result<Self, ReadlineError> {
        let config = Config::builder()
            .max_history_size(HISTORY_MAX)?
            .history_ignore_dups(true)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .bell_style(rustyline::config::BellStyle::None)
            .build();
        let mention = MentionPolicy { slash: MentionSyntax::Disabled, dollar: MentionSyntax::Disabled };
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(ChatCompleter {
            skills: Vec::new(),
            files: Vec::new(),
            router: None,
            mention,
            width,
            styled,
        }));
        let file = state.filter(|state| ensure_dir(state)).map(|state| state.join(HISTORY_FILE));
        if let Some(file) = &file {
            // The history is optional.
            let _ = editor.load_history(file);
        }
        Ok(Self { editor, file })
    }

    /// Updates the skills that are completed.
    pub(super) fn update_skills(&mut self, toolbox: &Toolbox) {
        let policy = toolbox.registry().policy();
        if let Some(completion) = self.editor.helper_mut() {
            let snapshot = toolbox.snapshot();
            completion.skills = completable_skills(&snapshot);
            completion.router = Some(toolbox.router(&snapshot));
            completion.mention = policy.mention;
        }
    }

    /// Updates the files of the chat, whose paths are completed after `/save`.
    pub(super) fn update_files(&mut self, paths: Vec<String>) {
        if let Some(completion) = self.editor.helper_mut() {
            completion.files = paths;
        }
    }

    /// Reads a line, including its continuation lines.
    pub(super) fn read_line(&mut self) -> Result<EditorEvent, ReadlineError> {
        match self.editor.readline(PROMPT) {
            Ok(line) => {
                let _ = self.editor.add_history_entry(line.as_str());
                if let Some(file) = &self.file {
                    // The history is optional.
                    let _ = self.editor.append_history(file);
                }
                Ok(EditorEvent::Line(join_continued(&line)))
            }
            Err(ReadlineError::Interrupted) => Ok(EditorEvent::Interrupted),
            Err(ReadlineError::Eof) => Ok(EditorEvent::Eof),
            Err(error) => Err(error),
        }
    }
}

/// Creates the directory if needed. Returns `false` if that fails.
fn ensure_dir(state: &Path) -> bool {
    state.is_dir() || prowess_fs::create_private_dir_all(state).is_ok()
}

/// A skill that can be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CompletableSkill {
    name: String,
    about: String,
    /// The hint about its arguments: `[file] [mode]`.
    arguments: Option<String>,
}

/// The maximum length of a hint about arguments, in characters.
const ARGUMENTS_MAX: usize = 60;

fn completable_skills(snapshot: &Snapshot) -> Vec<CompletableSkill> {
    let mut skills: Vec<_> = snapshot
        .enabled()
        .filter(|skill| skill.manifest().is_some_and(|manifest| manifest.user_invocable()))
        .map(|skill| CompletableSkill {
            name: skill.key().into(),
            about: clean(skill.description()).into_owned(),
            arguments: skill
                .manifest()
                .and_then(|manifest| manifest.argument_hint())
                .map(|hint| one_line(&clean(hint), ARGUMENTS_MAX).into_owned()),
        })
        // Names that cannot be typed are not completed.
        .filter(|skill| {
            hidden::find_hidden(&skill.name).is_none() && !skill.name.contains(char::is_whitespace)
        })
        .collect();
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    skills
}

/// Completes skill names and chat commands.
struct ChatCompleter {
    /// Sorted by name.
    skills: Vec<CompletableSkill>,
    /// The paths of the files of the chat.
    files: Vec<String>,
    /// Finds similar names if no name has the typed prefix.
    router: Option<Arc<Router>>,
    mention: MentionPolicy,
    width: usize,
    /// Whether hints are dimmed.
    styled: bool,
}

impl ChatCompleter {
    /// Returns the start of the completed word and its completions.
    fn complete_at(&self, line: &str, cursor: usize) -> (usize, Vec<Pair>) {
        let before = line.get(..cursor).unwrap_or_default();
        if let Some(typed) = before.trim_start().strip_prefix("/file ") {
            return path_completions(line, cursor, typed);
        }
        if let Some(typed) = before.trim_start().strip_prefix("/save ") {
            return (cursor - typed.len(), saved_completions(&self.files, typed.trim_start()));
        }
        let start = before
            .rfind(char::is_whitespace)
            .map_or(0, |index| index + before[index..].chars().next().map_or(1, char::len_utf8));
        let word = &before[start..];
        let is_first = before[..start].trim().is_empty();
        let (sign, syntax) = match word.chars().next() {
            Some('/') if is_first => ("/", self.mention.slash),
            Some('$') => ("$", self.mention.dollar),
            _ => return (start, Vec::new()),
        };
        let commands = COMMANDS.iter().filter(|_| sign == "/");
        let commands =
            commands.map(|(word, about)| ((*word).to_owned(), (*word).to_owned(), (*about).to_owned()));
        let is_command =
            |name: &str| sign == "/" && COMMANDS.iter().any(|(word, _)| word.get(1..) == Some(name));
        let typed = &word[sign.len()..];
        let is_completable =
            |skill: &&CompletableSkill| syntax == MentionSyntax::Enabled && !is_command(&skill.name);
        // The name, the name with a hint about arguments, and the description.
        let completion = |skill: &CompletableSkill| {
            let name = format!("{sign}{}", skill.name);
            let label = skill.arguments.as_ref().map(|hint| format!("{name} {hint}"));
            (name.clone(), label.unwrap_or(name), skill.about.clone())
        };
        let commands = commands.filter(|(name, _, _)| name.starts_with(word));
        let mut completions: Vec<_> = self
            .with_prefix(typed)
            .filter(is_completable)
            .map(completion)
            .chain(commands)
            .take(COMPLETIONS_MAX)
            .collect();
        if completions.is_empty() {
            completions.extend(self.similar_to(typed).filter(is_completable).map(completion));
        }
        let widest = completions.iter().map(|(_, label, _)| columns::width(label)).max().unwrap_or(0);
        let pair = |(name, label, about): &(String, String, String)| Pair {
            // As wide as the terminal, so that each completion has its own line.
            display: columns::pad(
                &columns::truncate(
                    &format!("{}  {about}", columns::pad(label, widest)),
                    self.width.saturating_sub(3),
                ),
                self.width.saturating_sub(3),
            ),
            replacement: format!("{name} "),
        };
        (start, completions.iter().map(pair).collect())
    }
}

impl ChatCompleter {
    /// Returns the hint about arguments for a line that ends with the name of a skill and a space.
    fn argument_hint(&self, line: &str) -> Option<String> {
        let name = line.strip_suffix(' ')?.strip_prefix('/')?;
        if self.mention.slash != MentionSyntax::Enabled
            || COMMANDS.iter().any(|(word, _)| word.get(1..) == Some(name))
        {
            return None;
        }
        let index = self.skills.binary_search_by(|skill| (*skill.name).cmp(name)).ok()?;
        self.skills.get(index)?.arguments.clone()
    }

    fn with_prefix(&self, typed: &str) -> impl Iterator<Item = &CompletableSkill> {
        let start = self.skills.partition_point(|skill| &*skill.name < typed);
        self.skills.iter().skip(start).take_while(move |skill| skill.name.starts_with(typed))
    }

    /// Returns the skills with similar names: a word inside the name, or a typo.
    fn similar_to(&self, typed: &str) -> impl Iterator<Item = &CompletableSkill> {
        let found = self.router.iter().flat_map(|router| router.complete(typed));
        found.filter_map(|found| {
            let index = self.skills.binary_search_by(|skill| (*skill.name).cmp(found.name)).ok()?;
            self.skills.get(index)
        })
    }
}

/// Completes a local path after `/file`. Names with hidden characters are not completed.
fn path_completions(line: &str, cursor: usize, typed: &str) -> (usize, Vec<Pair>) {
    let completed = FilenameCompleter::new().complete_path(line, cursor);
    let (start, mut pairs) = completed.unwrap_or((cursor, Vec::new()));
    // The path must not start before the argument.
    if start < cursor - typed.len() {
        return (cursor, Vec::new());
    }
    let is_shown = |text: &str| hidden::find_hidden(text).is_none() && !text.contains(char::is_control);
    pairs.retain(|pair| is_shown(&pair.display) && is_shown(&pair.replacement));
    pairs.truncate(COMPLETIONS_MAX);
    (start, pairs)
}

/// Completes the path of a file of the chat after `/save`, in quotes if it needs them.
fn saved_completions(files: &[String], typed: &str) -> Vec<Pair> {
    let start = typed.trim_start_matches(['"', '\'']);
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    let quote = |path: &String| match path.chars().all(is_plain) {
        true => format!("{path} "),
        false => format!("\"{}\" ", path.replace('\\', "\\\\").replace('"', "\\\"")),
    };
    let pair = |path: &String| Pair { display: clean(path).into_owned(), replacement: quote(path) };
    files.iter().filter(|path| path.starts_with(start)).map(pair).take(COMPLETIONS_MAX).collect()
}

impl Completer for ChatCompleter {
    type Candidate = Pair;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        Ok(self.complete_at(line, cursor))
    }
}

impl Validator for ChatCompleter {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_continued(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

/// The hint about the arguments of a skill, shown after its name. It is not inserted.
struct ArgumentHint(String);

impl Hint for ArgumentHint {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for ChatCompleter {
    type Hint = ArgumentHint;

    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<ArgumentHint> {
        (cursor == line.len()).then(|| self.argument_hint(line)).flatten().map(ArgumentHint)
    }
}

impl Highlighter for ChatCompleter {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        match self.styled {
            true => Cow::Owned(format!("\u{1b}[2m{hint}\u{1b}[0m")),
            false => Cow::Borrowed(hint),
        }
    }
}

impl Helper for ChatCompleter {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn completion() -> ChatCompleter {
        let skill = |name: &str| CompletableSkill {
            name: name.to_owned(),
            about: format!("Does {name}."),
            arguments: (name == "pdf").then(|| "[file] [pages]".to_owned()),
        };
        let skills = ["heal", "help", "pdf", "pdf-forms"].map(skill).to_vec();
        ChatCompleter {
            skills,
            files: ["out/a.csv", "out/b \"c\".csv", "notes.txt"].map(str::to_owned).to_vec(),
            router: None,
            mention: MentionPolicy { slash: MentionSyntax::Enabled, dollar: MentionSyntax::Enabled },
            width: 60,
            styled: false,
        }
    }

    fn names(line: &str) -> (usize, Vec<String>) {
        let (start, pairs) = completion().complete_at(line, line.len());
        (start, pairs.into_iter().map(|pair| pair.replacement).collect())
    }

    #[test]
    fn skills_that_are_not_user_invocable_are_not_completed() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        for (name, extra_fields) in [("for-all", ""), ("for-models", "user-invocable: false\n")] {
            let skill = home.join(".agents/skills").join(name);
            std::fs::create_dir_all(&skill).unwrap();
            let text = format!("---\nname: {name}\ndescription: Does it.\n{extra_fields}---\nDo it.\n");
            std::fs::write(skill.join("SKILL.md"), text).unwrap();
        }
        let host_env =
            prowess::HostEnv { project: home.join("p"), home: Some(home.clone()), path: "".into() };
        let registry = prowess::Registry::open_in(
            prowess::Policy::default(),
            host_env,
            &prowess::ScanProgress::default(),
        );
        let snapshot = registry.snapshot();
        assert!(snapshot.get("for-models").is_some());
        let names: Vec<_> = completable_skills(&snapshot).into_iter().map(|skill| skill.name).collect();
        assert!(names.iter().any(|name| name == "for-all"), "{names:?}");
        assert!(!names.iter().any(|name| name == "for-models"), "{names:?}");
    }

    #[test]
    fn completions_depend_on_the_position() {
        let with_space = |names: &[&str]| names.iter().map(|name| format!("{name} ")).collect::<Vec<_>>();
        assert_eq!(names("/p"), (0, with_space(&["/pdf", "/pdf-forms", "/previous"])));
        assert_eq!(names("/he"), (0, with_space(&["/heal", "/help"])));
        assert_eq!(names("  /pdf-"), (2, with_space(&["/pdf-forms"])));
        assert_eq!(names("fill in /p").1, with_space(&[]));
        assert_eq!(names("äö fill $p"), (10, with_space(&["$pdf", "$pdf-forms"])));
        assert_eq!(names("$hel").1, with_space(&["$help"]));
        assert_eq!(names("").1, with_space(&[]));
    }

    #[test]
    fn files_are_completed_after_their_commands() {
        assert_eq!(names("/save o"), (6, vec!["out/a.csv ".into(), r#""out/b \"c\".csv" "#.into()]));
        assert_eq!(names("/save \"out/b").1, [r#""out/b \"c\".csv" "#]);
        assert_eq!(names("/save x").1, [] as [&str; 0]);
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        for name in ["report.csv", "rep\u{202e}ort.csv", "other"] {
            std::fs::write(path(name), "").unwrap();
        }
        let (start, completed) = names(&format!("/file {}", path("re")));
        assert_eq!(
            completed.iter().map(|path| path.trim_end().to_owned()).collect::<Vec<_>>(),
            [path("report.csv")]
        );
        assert_eq!(start, 6);
    }

    #[test]
    fn completions_are_listed_with_descriptions() {
        let (_, pairs) = completion().complete_at("/", 1);
        let lines: Vec<_> = pairs.iter().map(|pair| pair.display.trim_end()).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn arguments_are_hinted_after_the_name() {
        let hint = |line: &str| completion().argument_hint(line);
        assert_eq!(hint("/pdf ").as_deref(), Some("[file] [pages]"));
        for line in ["/pdf", "/pdf a", "/pdf  ", "pdf ", "/help ", "/heal ", "/unknown ", ""] {
            assert_eq!(hint(line), None, "{line}");
        }
    }

    #[test]
    fn completions_follow_the_mention_policy() {
        let without_mentions = ChatCompleter {
            mention: MentionPolicy { slash: MentionSyntax::Disabled, dollar: MentionSyntax::Disabled },
            ..completion()
        };
        assert_eq!(without_mentions.complete_at("/pdf", 4).1.len(), 0);
        assert_eq!(without_mentions.complete_at("/help", 5).1.len(), 1);
        assert_eq!(without_mentions.complete_at("$pdf", 4).1.len(), 0);
    }

    #[test]
    fn similar_names_are_completed_if_no_prefix_matches() {
        let mut policy = prowess::Policy::default();
        policy.scan.roots.retain(|root| root.to_string() == "bundled");
        let snapshot = prowess::Registry::open(policy).unwrap().snapshot();
        let completion = ChatCompleter {
            skills: completable_skills(&snapshot),
            router: Some(Arc::new(Router::new(snapshot))),
            ..completion()
        };
        let names = |line: &str| {
            let (_, pairs) = completion.complete_at(line, line.len());
            pairs.into_iter().map(|pair| pair.replacement).collect::<Vec<_>>()
        };
        assert_eq!(names("/helo"), ["/hello-world "]);
        assert_eq!(names("$wrold"), ["$hello-world "]);
        assert_eq!(names("$zzzz"), [] as [&str; 0]);
    }

    proptest! {
        #[test]
        fn any_input_is_handled(line in any::<String>(), at in any::<prop::sample::Index>()) {
            let cursor = line.floor_char_boundary(at.index(line.len() + 1));
            let (start, _) = completion().complete_at(&line, cursor);
            prop_assert!(start <= cursor && line.is_char_boundary(start));
        }
    }
}
