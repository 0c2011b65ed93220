//! A conversation on a terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use prowess::policy::Recognised;
use prowess_chat::End;
use prowess_fs::TerminalMode;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::calls::Calls;
use super::editor::{Line, Typing};
use super::setup::{Again, Meant, Setup};
use super::turn::{Ended, Stops, turn};
use super::typed::{Typed, WORDS, typed};
use super::{message, trouble};
use crate::args::{Chat, Global};
use crate::columns;
use crate::commands::{Outcome, YES, chats, nothing_found};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, Tone, clean, counted};

/// How many chats `/chats` shows.
const CHATS: usize = 10;

/// A conversation that goes on.
struct Conversation<'a> {
    runtime: &'a Runtime,
    context: &'a Context,
    setup: Setup,
    chat: Meant,
    calls: Calls,
    stops: Stops,
    /// Whether an answer is on its way.
    busy: Arc<AtomicBool>,
    output: &'a mut Output,
}

pub(super) fn run(
    runtime: &Runtime,
    context: &Context,
    global: &Global,
    call: &Chat,
    output: &mut Output,
) -> Outcome {
    let setup = runtime.block_on(Setup::new(context, global, call, Again::Here))?;
    let chat = runtime.block_on(Meant::of(call, &setup))?;
    let busy = Arc::new(AtomicBool::new(false));
    let stops = runtime.block_on(async { Stops::new() })?;
    leave_when_told(runtime, &busy);
    let calls = Calls::default();
    let mut conversation = Conversation { runtime, context, setup, chat, calls, stops, busy, output };
    conversation.greet()?;
    conversation.go_on()
}

impl Conversation<'_> {
    fn greet(&mut self) -> Result<(), Failure> {
        match self.setup.no_model(self.context) {
            Some(line) => self.put(&line)?,
            None => self.put(&format!("model: {}", self.setup.agent.model().name()))?,
        }
        if let Some(line) = self.setup.not_available() {
            self.put(&line)?;
        }
        let which = match &self.chat {
            Meant::New => "a new chat".to_owned(),
            Meant::Old(kept) if kept.title.is_empty() => format!("going on with {}", kept.id),
            Meant::Old(kept) => {
                format!("going on with “{}”, {}", kept.title, counted(kept.messages as usize, "message"))
            }
        };
        self.put(&format!("{which}; /help tells what can be typed"))
    }

    fn go_on(&mut self) -> Outcome {
        let state = self.context.surroundings.state();
        let width = self.output.width();
        let mut typing = Typing::new(state, width).map_err(|error| Failure::call(error.to_string()))?;
        let mut pressed = false;
        loop {
            typing.offer(&self.setup.toolbox);
            self.output.finish()?;
            match typing.line() {
                Ok(Line::Typed(line)) => {
                    pressed = false;
                    if self.typed(&line)? == Next::Leave {
                        return Ok(YES);
                    }
                }
                Ok(Line::Interrupted) if pressed => return Ok(YES),
                Ok(Line::Interrupted) => {
                    pressed = true;
                    self.put("Ctrl-C again leaves, and so does Ctrl-D")?;
                }
                Ok(Line::Over) => return Ok(YES),
                Err(error) => return Err(Failure::call(format!("nothing can be typed here: {error}"))),
            }
        }
    }

    fn typed(&mut self, line: &str) -> Result<Next, Failure> {
        match typed(line) {
            Typed::Nothing => {}
            Typed::Quit => return Ok(Next::Leave),
            Typed::Help => self.help()?,
            Typed::Skills => self.skills()?,
            Typed::Expand(number) => self.expand(number)?,
            Typed::Odd(how) => self.put(how)?,
            Typed::New => {
                self.chat = Meant::New;
                self.put("a new chat")?;
            }
            Typed::Chats => {
                let shown = self.runtime.block_on(chats::listed(&*self.setup.store, CHATS, self.output));
                self.tell(shown)?;
            }
            Typed::Message(text) => return self.say(text),
        }
        Ok(Next::Stay)
    }

    /// One turn. What goes wrong is told, and the conversation goes on.
    fn say(&mut self, text: &str) -> Result<Next, Failure> {
        self.busy.store(true, Ordering::SeqCst);
        let said = self.runtime.block_on(async {
            message::check(text)?;
            let chat = self.chat.begun(&self.setup).await?;
            let kept = self.setup.store.chat(&chat).await.map_err(trouble::of_store)?;
            self.chat = Meant::Old(Box::new(kept));
            self.stops.forget().await;
            turn(&self.setup, &chat, text, &mut self.stops, &mut self.calls, self.output).await
        });
        self.busy.store(false, Ordering::SeqCst);
        super::notices(&self.setup, self.output);
        match said {
            Ok(Ended::Left) => return Ok(Next::Leave),
            Ok(Ended::So(End::Finished)) => {}
            Ok(Ended::So(end)) => {
                let about = end.about().unwrap_or_default();
                let line = self.output.tone(Tone::Faint, about);
                self.output.line(line)?;
            }
            Ok(Ended::BrokenOff(failure)) | Err(failure) => self.tell(Err(failure))?,
        }
        Ok(Next::Stay)
    }

    /// Something went wrong that does not end the conversation, unless nobody reads any more.
    fn tell(&mut self, result: Result<(), Failure>) -> Result<(), Failure> {
        match result {
            Err(failure) if failure.is_unread() => Err(failure),
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
        if mention.slash == Recognised::Yes {
            lines.push(("/NAME …".to_owned(), "Call a skill by its name; Tab completes it.".to_owned()));
        }
        if mention.dollar == Recognised::Yes {
            lines.push(("$NAME".to_owned(), "The same, anywhere in a message.".to_owned()));
        }
        lines.extend(WORDS.map(|(word, about)| (word.to_owned(), about.to_owned())));
        lines.push(("Ctrl-C".to_owned(), "Stop the answer; pressed again, leave.".to_owned()));
        lines.push((
            "\\ Enter".to_owned(),
            "A new line in the message; pasted lines stay together.".to_owned(),
        ));
        lines.push((
            "Up, Ctrl-R".to_owned(),
            "What was typed before; a line that begins with a space is not kept.".to_owned(),
        ));
        for (word, about) in lines {
            self.output.line(format!("{}  {about}", columns::pad(&word, widest)))?;
        }
        Ok(())
    }

    fn skills(&mut self) -> Result<(), Failure> {
        let snapshot = self.setup.toolbox.snapshot();
        let policy = self.context.policy();
        let skills: Vec<_> = snapshot
            .enabled()
            .map(|skill| (clean(&prowess_tools::key(skill, policy)).into_owned(), skill.description()))
            .collect();
        if skills.is_empty() {
            nothing_found(self.context, self.output);
        }
        let widest = skills.iter().map(|(name, _)| columns::width(name)).max().unwrap_or(0).min(30);
        let width = self.output.width();
        for (name, about) in &skills {
            let name = self.output.tone(Tone::Strong, &columns::pad(name, widest));
            let about = columns::cut(&clean(about), width.saturating_sub(widest + 2));
            self.output.line(format!("{name}  {about}"))?;
        }
        Ok(())
    }

    fn expand(&mut self, number: Option<usize>) -> Result<(), Failure> {
        let number = number.unwrap_or(self.calls.len());
        match self.calls.expanded(number) {
            Some(lines) => {
                for line in lines {
                    self.output.line(line)?;
                }
                Ok(())
            }
            None if self.calls.len() == 0 => self.put("nothing was called yet"),
            None => self.put(&format!("the calls are 1 to {}", self.calls.len())),
        }
    }

    /// A line from the program itself.
    fn put(&mut self, text: &str) -> Result<(), Failure> {
        for line in self.output.wrapped(&clean(text), 0) {
            let line = self.output.tone(Tone::Faint, &line);
            self.output.line(line)?;
        }
        Ok(self.output.finish()?)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Stay,
    Leave,
}

/// While somebody types, the terminal is not as a shell wants it: whoever ends this process gets it back as it was. While an
/// answer is on its way, the turn ends first.
fn leave_when_told(runtime: &Runtime, busy: &Arc<AtomicBool>) {
    let before = TerminalMode::of_input();
    let busy = Arc::clone(busy);
    // Before anything is shown: a signal that comes while nobody listens would be lost.
    let heard = {
        let _entered = runtime.enter();
        (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    };
    let (Ok(mut terminate), Ok(mut hangup)) = heard else { return };
    runtime.spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            if !busy.load(Ordering::SeqCst) {
                if let Some(before) = &before {
                    before.restore();
                }
                std::process::exit(1);
            }
        }
    });
}
