//! Worlds with one skill `s` that brings tools as a program in Python.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use prowess::Registry;
use prowess_sandbox::{Options, Protection, Tier};
#[allow(unused_imports)]
pub use prowess_testing::scripts::{TIERS, World, once_more_as_an_ordinary_user};
use prowess_toolset::{
    Cancel, Conversation, Loaded, ProgramLimits, Programs, ToolCall, ToolResult, ToolsetError,
};
use serde_json::{Value, json};

/// What every program of these tests begins with: `answer` says a result, and `call` is what a test brings.
const BEGIN: &str = r#"import json, os, sys, time
def say(**message):
    sys.stdout.write(json.dumps(message) + "\n"); sys.stdout.flush()
def answer(call, output, **more):
    say(type="result", id=call["id"], output=output, **more)
TOOLS = [{"name": "t", "description": "T.", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
"#;

const END: &str = r#"
if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "tools": say(type="tools", protocol=1, tools=TOOLS)
        elif message["type"] == "call": call(message)
"#;

/// A program of one tool `t` that does this with `call`.
pub fn doing(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!("{BEGIN}def call(call):\n{body}{END}")
}

/// One skill, its programs, and a conversation that goes on.
pub struct Scene {
    pub world: World,
    pub programs: Programs,
    pub conversation: Conversation,
    pub tier: Option<Tier>,
}

impl Scene {
    /// A skill whose program does this when it is called.
    pub fn doing(body: &str) -> Self {
        Self::of(&doing(body))
    }

    /// A skill whose program is this.
    pub fn of(text: &str) -> Self {
        let world = World::with("toolsets: [toolsets/tools.py]\n");
        world.write("home/.prowess/skills/s/toolsets/tools.py", text);
        Self::over(world)
    }

    pub fn over(mut world: World) -> Self {
        world.policy.run.limits.time = std::time::Duration::from_millis(20_000);
        let limits = ProgramLimits { failures: 100, ..ProgramLimits::default() };
        let (programs, conversation) = (Programs::with_limits(limits), Conversation::default());
        Self { world, programs, conversation, tier: None }
    }

    pub fn limits(mut self, change: impl FnOnce(&mut ProgramLimits)) -> Self {
        let mut limits = ProgramLimits { failures: 100, ..ProgramLimits::default() };
        change(&mut limits);
        self.programs = Programs::with_limits(limits);
        self
    }

    /// A call may take so long.
    pub fn timeout_ms(mut self, time: u32) -> Self {
        self.world.policy.run.limits.time = std::time::Duration::from_millis(time.into());
        self
    }

    pub fn on(mut self, tier: Tier) -> Self {
        self.tier = Some(tier);
        self
    }

    fn with<T>(&self, work: impl FnOnce(&prowess::Skill, &Options<'_>) -> T) -> T {
        let registry: Registry = self.world.registry();
        let snapshot = registry.snapshot();
        let skill = snapshot.all().iter().find(|skill| skill.name() == "s").unwrap();
        let mut options = Options::of(&registry);
        options.helper = prowess_testing::scripts::helper();
        options.environment = vec![("SECRET".into(), "hunter2".into()), ("GIVEN".into(), "given".into())];
        if let Some(tier) = self.tier {
            options.protection = Protection::Only(tier);
        }
        work(skill, &options)
    }

    pub fn tools(&self) -> Result<Loaded, ToolsetError> {
        self.with(|skill, options| self.programs.tools(skill, &self.conversation, options))
    }

    /// What is wrong with the one program.
    pub fn failure(&self) -> String {
        let loaded = self.tools().unwrap();
        assert!(loaded.tools.is_empty(), "{loaded:?}");
        loaded.failures.first().unwrap().to_string()
    }

    pub fn call(&self, arguments: Value) -> Result<ToolResult, ToolsetError> {
        self.call_with(ToolCall::new("t", arguments), &Cancel::default())
    }

    pub fn call_with(&self, call: ToolCall, cancel: &Cancel) -> Result<ToolResult, ToolsetError> {
        self.with(|skill, options| {
            self.programs.call(skill, call, cancel.clone(), &self.conversation, options)
        })
    }

    pub fn output(&self) -> String {
        self.call(json!({})).unwrap().output
    }

    /// The error of a call, in words.
    pub fn error(&self) -> String {
        self.call(json!({})).unwrap_err().to_string()
    }

    pub fn log(&self) -> Vec<prowess_sandbox::log::Record> {
        let path = prowess_sandbox::log::path(&self.world.surroundings()).unwrap();
        prowess_sandbox::log::read(&path, 100)
    }
}

/// How many processes have this in their command line.
pub fn running(text: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let commands = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    commands.filter(|command| String::from_utf8_lossy(command).contains(text)).count()
}

/// Waits until something is so; whether it came to be.
pub fn wait_for(what: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        if what() {
            return true;
        }
        if begun.elapsed() >= Duration::from_secs(10) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
