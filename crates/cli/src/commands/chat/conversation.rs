//! The interactive chat.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use prowess::policy::MentionSyntax;
use prowess_chat::store::{MESSAGES_MAX, MessageVersions, Store, TurnStart, UserMessage};
use prowess_chat::{EndReason, Role};
use prowess_fs::TerminalMode;
use prowess_tools::json::{ListFilter, listed_skills};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::editor::{EditorEvent, LineEditor};
use super::input::{COMMANDS, ChatInput, parse_input};
use super::setup::{ChatSetup, ContinueHint, SelectedChat};
use super::tool_calls::ToolCallLog;
use super::turn::{StopSignals, TurnEnd, run_turn};
use super::{errors, files, message};
use crate::args::{ChatArgs, GlobalArgs};
use crate::columns;
use crate::commands::{CommandResult, SUCCESS, chats, print_no_skills};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, TextStyle, clean, clean_path, format_size, pluralize};

/// The number of chats that `/chats` shows.
const CHATS: usize = 10;

/// An interactive chat.
struct InteractiveChat<'a> {
    runtime: &'a Runtime,
    context: &'a CommandContext,
    setup: ChatSetup,
    chat: SelectedChat,
    calls: ToolCallLog,
    /// The files for the next message, by their paths in the chat.
    attached: Vec<String>,
    stops: StopSignals,
    /// Whether a turn is running.
    busy: Arc<AtomicBool>,
    output: &'a mut Output,
}

pub(super) fn run(
    runtime: &Runtime,
    context: &CommandContext,
    global: &GlobalArgs,
    args: &ChatArgs,
    output: &mut Output,
) -> CommandResult {
    let setup = runtime.block_on(ChatSetup::new(context, global, args, ContinueHint::NextMessage))?;
    let chat = runtime.block_on(SelectedChat::select(args, &setup))?;
    let busy = Arc::new(AtomicBool::new(false));
    let stops = runtime.block_on(async { StopSignals::new() })?;
    exit_on_signal(runtime, &busy);
    let calls = ToolCallLog::default();
    let attached = Vec::new();
    let mut conversation =
        InteractiveChat { runtime, context, setup, chat, calls, attached, stops, busy, output };
    conversation.greet()?;
    for path in &args.files {
        let added = conversation.add_file(path);
        conversation.report_failure(added)?;
    }
    conversation.run_loop()
}

impl InteractiveChat<'_> {
    fn greet(&mut self) -> Result<(), Failure> {
        match self.setup.rehearsal_notice(self.context) {
            Some(line) => self.print(&line)?,
            None => self.print(&format!("model: {}", self.setup.agent.model().name()))?,
        }
        if let Some(line) = self.setup.unavailable_summary() {
            self.print(&line)?;
        }
        let description = match &self.chat {
            SelectedChat::New => "new chat".to_owned(),
            SelectedChat::Existing(stored) if stored.title.is_empty() => format!("continuing {}", stored.id),
            SelectedChat::Existing(stored) => {
                format!("continuing “{}”, {}", stored.title, pluralize(stored.messages as usize, "message"))
            }
        };
        self.print(&format!("{description}; type /help for a list of commands"))
    }

    fn run_loop(&mut self) -> CommandResult {
        let state = self.context.host_env.state_dir();
        let width = self.output.width();
        let mut editor = LineEditor::new(state, width, self.output.styled())
            .map_err(|error| Failure::usage(error.to_string()))?;
        let mut interrupted = false;
        loop {
            editor.update_skills(&self.setup.toolbox);
            editor.update_files(self.file_paths());
            self.output.finish()?;
            match editor.read_line() {
                Ok(EditorEvent::Line(line)) => {
                    interrupted = false;
                    if self.handle_line(&line)? == Next::Leave {
                        return Ok(SUCCESS);
                    }
                }
                Ok(EditorEvent::Interrupted) if interrupted => return Ok(SUCCESS),
                Ok(EditorEvent::Interrupted) => {
                    interrupted = true;
                    self.print("press Ctrl-C again or Ctrl-D to quit")?;
                }
                Ok(EditorEvent::Eof) => return Ok(SUCCESS),
                Err(error) => return Err(Failure::usage(format!("cannot read from the terminal: {error}"))),
            }
        }
    }

    fn handle_line(&mut self, line: &str) -> Result<Next, Failure> {
        match parse_input(line) {
            ChatInput::Empty => {}
            ChatInput::Quit => return Ok(Next::Leave),
            ChatInput::Help => self.help()?,
            ChatInput::Skills => self.skills()?,
            ChatInput::Expand(number) => self.expand(number)?,
            ChatInput::InvalidCommand(message) => self.print(message)?,
            ChatInput::New => {
                self.chat = SelectedChat::New;
                self.attached.clear();
                self.print("new chat")?;
            }
            ChatInput::Chats => {
                let printed =
                    self.runtime.block_on(chats::print_chats(&*self.setup.store, CHATS, self.output));
                self.report_failure(printed)?;
            }
            ChatInput::AddFile(path) => {
                let added = self.add_file(&path);
                self.report_failure(added)?;
            }
            ChatInput::Files => {
                let printed = self.files();
                self.report_failure(printed)?;
            }
            ChatInput::Save(path, dir) => {
                let saved = self.save(&path, dir.as_deref());
                self.report_failure(saved)?;
            }
            ChatInput::Message(text) => return self.send(Turn::Ask(text)),
            ChatInput::Edit(text) => return self.send(Turn::Edit(text)),
            ChatInput::Retry => return self.send(Turn::Retry),
            ChatInput::PreviousVersion => {
                let switched = self.switch_version(|versions| versions.previous.clone());
                self.report_failure(switched)?;
            }
            ChatInput::NextVersion => {
                let switched = self.switch_version(|versions| versions.next.clone());
                self.report_failure(switched)?;
            }
            ChatInput::Delete => {
                let deleted = self.delete_last();
                self.report_failure(deleted)?;
            }
        }
        Ok(Next::Stay)
    }

    /// Runs a turn. Errors are printed and do not end the chat.
    fn send(&mut self, turn: Turn<'_>) -> Result<Next, Failure> {
        self.busy.store(true, Ordering::SeqCst);
        let result = self.runtime.block_on(async {
            if let Turn::Ask(text) | Turn::Edit(text) = turn {
                message::check_message(text)?;
            }
            let (last, id) = match turn {
                Turn::Ask(_) => (None, ensure_chat(&mut self.chat, &self.setup).await?),
                Turn::Edit(_) | Turn::Retry => {
                    let id = self.existing_chat()?;
                    (Some(last_exchange(&*self.setup.store, &id).await?), id)
                }
            };
            self.stops.discard_pending().await;
            let message = |text| UserMessage { text, files: &self.attached };
            let start = match (turn, &last) {
                (Turn::Ask(text), _) => TurnStart::Ask(message(text)),
                (Turn::Edit(text), Some((question, _))) => TurnStart::Replace(message(text), question),
                (Turn::Retry, Some((_, Some(reply)))) => TurnStart::Regenerate(reply),
                (Turn::Edit(_) | Turn::Retry, _) => return Err(nothing_to_change()),
            };
            run_turn(&self.setup, &id, start, &mut self.stops, &mut self.calls, self.output).await
        });
        if result.is_ok() {
            self.attached.clear();
        }
        self.busy.store(false, Ordering::SeqCst);
        super::print_chat_notices(&self.setup, self.output);
        match result {
            Ok(TurnEnd::Abandoned) => return Ok(Next::Leave),
            Ok(TurnEnd::Ended(EndReason::Finished)) => {}
            Ok(TurnEnd::Ended(end)) => {
                let about = end.description().unwrap_or_default();
                let line = self.output.styled_text(TextStyle::Faint, about);
                self.output.line(line)?;
            }
            Ok(TurnEnd::Failed(failure)) | Err(failure) => self.report_failure(Err(failure))?,
        }
        Ok(Next::Stay)
    }

    /// Returns the id of the chat, unless it is new.
    fn existing_chat(&self) -> Result<String, Failure> {
        match &self.chat {
            SelectedChat::Existing(chat) => Ok(chat.id.clone()),
            SelectedChat::New => Err(nothing_to_change()),
        }
    }

    /// Shows another version of the last message that has several.
    fn switch_version(&mut self, choose: fn(&MessageVersions) -> Option<String>) -> Result<(), Failure> {
        let chat = self.existing_chat()?;
        let store = &*self.setup.store;
        let switched = self.runtime.block_on(async {
            let page = store.messages(&chat, None, MESSAGES_MAX).await?;
            let versions = page.messages.iter().rev().find_map(|message| page.versions.get(&message.id));
            let Some(versions) = versions else {
                return Ok(Err("no message of this chat has other versions"));
            };
            let Some(id) = choose(versions) else { return Ok(Err("there is no further version")) };
            store.switch_version(&chat, &id).await?;
            let page = store.messages(&chat, None, MESSAGES_MAX).await?;
            let start = page.messages.iter().position(|message| message.id == id).unwrap_or_default();
            let texts = page.messages[start..].iter().map(|message| (message.role, message.to_request().0));
            let versions = page.versions.get(&id).map(|versions| (versions.index, versions.count));
            Ok(Ok((versions.unwrap_or((1, 1)), texts.collect::<Vec<_>>())))
        });
        match switched.map_err(errors::store_failure)? {
            Err(message) => self.print(message),
            Ok(((index, count), texts)) => {
                self.print(&format!("version {index} of {count}"))?;
                for (role, text) in texts {
                    let mark = if role == Role::User { "you: " } else { "" };
                    for line in text.lines() {
                        self.output.line(format!("{mark}{}", clean(line)))?;
                    }
                }
                Ok(self.output.finish()?)
            }
        }
    }

    /// Deletes the last message of the user and its reply.
    fn delete_last(&mut self) -> Result<(), Failure> {
        let chat = self.existing_chat()?;
        let store = &*self.setup.store;
        self.runtime.block_on(async {
            loop {
                // The reply first, in all its versions.
                let (question, reply) = last_exchange(store, &chat).await?;
                let id = reply.as_ref().unwrap_or(&question);
                store.delete_message(&chat, id).await.map_err(errors::store_failure)?;
                if reply.is_none() {
                    return Ok::<(), Failure>(());
                }
            }
        })?;
        self.print("deleted your last message and its reply")
    }

    /// Adds a local file to the chat, for the next message.
    fn add_file(&mut self, path: &Path) -> Result<(), Failure> {
        let path = expand_home(path, self.context.host_env.home.as_deref());
        files::check_count(self.attached.len() + 1)?;
        let local = files::read_local_file(&path, self.setup.file_limits)?;
        let added = self.runtime.block_on(async {
            let chat = ensure_chat(&mut self.chat, &self.setup).await?;
            files::add_file(&*self.setup.store, &chat, local, self.setup.file_limits).await
        })?;
        if !self.attached.contains(&added.path) {
            self.attached.push(added.path.clone());
        }
        let (path, size) = (clean(&added.path), format_size(added.size));
        self.print(&format!(
            "added {path} ({size}, {}); it is attached to the next message",
            added.media_type
        ))
    }

    /// Returns the paths of the files of the chat, for completion.
    fn file_paths(&self) -> Vec<String> {
        let SelectedChat::Existing(chat) = &self.chat else { return Vec::new() };
        // A store that does not respond must not prevent input.
        let files = self.runtime.block_on(self.setup.store.files(&chat.id)).unwrap_or_default();
        files.into_iter().map(|file| file.path).collect()
    }

    fn files(&mut self) -> Result<(), Failure> {
        let SelectedChat::Existing(chat) = &self.chat else { return self.print("this chat has no files") };
        let files = self.runtime.block_on(self.setup.store.files(&chat.id)).map_err(errors::store_failure)?;
        if files.is_empty() {
            return self.print("this chat has no files; add one with /file PATH");
        }
        Ok(files::print_files(&files, self.output)?)
    }

    fn save(&mut self, path: &str, dir: Option<&Path>) -> Result<(), Failure> {
        let SelectedChat::Existing(chat) = &self.chat else { return self.print("this chat has no files") };
        let dir = dir.map(|dir| expand_home(dir, self.context.host_env.home.as_deref()));
        let saving = files::save_file(&*self.setup.store, &chat.id, path, dir.as_deref());
        let target = self.runtime.block_on(saving)?;
        self.print(&format!("saved {}", clean_path(&target)))
    }

    /// Prints a failure without ending the chat, unless standard output was closed.
    fn report_failure(&mut self, result: Result<(), Failure>) -> Result<(), Failure> {
        match result {
            Err(failure) if failure.is_broken_pipe() => Err(failure),
            Err(failure) => {
                failure.report(self.output);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn help(&mut self) -> Result<(), Failure> {
        let mention = self.context.policy().mention;
        let widest = 10;
        let mut lines: Vec<(String, String)> = Vec::new();
        if mention.slash == MentionSyntax::Enabled {
            lines.push(("/NAME …".to_owned(), "Call a skill; press Tab to complete its name.".to_owned()));
        }
        if mention.dollar == MentionSyntax::Enabled {
            lines.push(("$NAME".to_owned(), "Call a skill anywhere in a message.".to_owned()));
        }
        lines.extend(COMMANDS.map(|(command, description)| (command.to_owned(), description.to_owned())));
        lines.push(("Ctrl-C".to_owned(), "Stop the reply; press again to quit.".to_owned()));
        lines.push(("\\ Enter".to_owned(), "Insert a line break; pasted lines are one message.".to_owned()));
        lines.push((
            "Up, Ctrl-R".to_owned(),
            "Search the history; lines that start with a space are not saved.".to_owned(),
        ));
        for (command, description) in lines {
            self.output.line(format!("{}  {description}", columns::pad(&command, widest)))?;
        }
        Ok(())
    }

    fn skills(&mut self) -> Result<(), Failure> {
        let snapshot = self.setup.toolbox.snapshot();
        let skills: Vec<_> = listed_skills(&snapshot, ListFilter::WithoutExamples)
            .map(|skill| (clean(skill.key()).into_owned(), skill.description()))
            .collect();
        if skills.is_empty() {
            print_no_skills(self.context, self.output);
        }
        let widest = skills.iter().map(|(name, _)| columns::width(name)).max().unwrap_or(0).min(30);
        let width = self.output.width();
        for (name, about) in &skills {
            let name = self.output.styled_text(TextStyle::Strong, &columns::pad(name, widest));
            let about = columns::truncate(&clean(about), width.saturating_sub(widest + 2));
            self.output.line(format!("{name}  {about}"))?;
        }
        Ok(())
    }

    fn expand(&mut self, number: Option<usize>) -> Result<(), Failure> {
        let number = number.unwrap_or(self.calls.len());
        match self.calls.details(number) {
            Some(lines) => {
                for line in lines {
                    self.output.line(line)?;
                }
                Ok(())
            }
            None if self.calls.len() == 0 => self.print("no tool calls yet"),
            None => {
                self.print(&format!("there is no such call; use a number from 1 to {}", self.calls.len()))
            }
        }
    }

    /// Prints a message of the program.
    fn print(&mut self, text: &str) -> Result<(), Failure> {
        for line in self.output.wrap(&clean(text), 0) {
            let line = self.output.styled_text(TextStyle::Faint, &line);
            self.output.line(line)?;
        }
        Ok(self.output.finish()?)
    }
}

/// Returns the id of the chat, which is created if it is new.
async fn ensure_chat(chat: &mut SelectedChat, setup: &ChatSetup) -> Result<String, Failure> {
    let id = chat.get_or_create(setup).await?;
    let stored = setup.store.chat(&id).await.map_err(errors::store_failure)?;
    *chat = SelectedChat::Existing(Box::new(stored));
    Ok(id)
}

/// What to send.
#[derive(Debug, Clone, Copy)]
enum Turn<'a> {
    Ask(&'a str),
    Edit(&'a str),
    Retry,
}

/// Returns the ids of the last message of the user and of its reply.
async fn last_exchange(store: &dyn Store, chat: &str) -> Result<(String, Option<String>), Failure> {
    let page = store.messages(chat, None, MESSAGES_MAX).await.map_err(errors::store_failure)?;
    let index = page.messages.iter().rposition(|message| message.role == Role::User);
    let index = index.ok_or_else(nothing_to_change)?;
    let reply = page.messages.get(index + 1).map(|message| message.id.clone());
    Ok((page.messages[index].id.clone(), reply))
}

fn nothing_to_change() -> Failure {
    Failure::usage("this chat has no message yet").hint("type a message first")
}

/// Replaces `~` at the start of a path, as a shell does.
fn expand_home(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(inner), Some(home)) => home.join(inner),
        _ => path.to_owned(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Stay,
    Leave,
}

/// Restores the terminal and exits on a termination signal while the line editor is active. During a turn, the turn is
/// stopped first.
fn exit_on_signal(runtime: &Runtime, busy: &Arc<AtomicBool>) {
    let initial_mode = TerminalMode::current();
    let busy = Arc::clone(busy);
    // Listen before anything is shown, so that no signal is lost.
    let signals = {
        let _entered = runtime.enter();
        (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    };
    let (Ok(mut terminate), Ok(mut hangup)) = signals else { return };
    runtime.spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            if !busy.load(Ordering::SeqCst) {
                if let Some(initial_mode) = &initial_mode {
                    initial_mode.restore();
                }
                std::process::exit(1);
            }
        }
    });
}
