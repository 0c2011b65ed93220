//! A test project with one skill `s` that provides tools as a Python program.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use prowess::Registry;
use prowess_sandbox::{Protection, RunOptions, SandboxTier};
#[allow(unused_imports)]
pub use prowess_testing::processes::count_processes;
pub use prowess_testing::script_env::{ScriptEnv, TIERS, rerun_as_unprivileged_user};
use prowess_toolset::{
    Cancel, Conversation, LoadedTools, ProgramLimits, Programs, ToolCall, ToolResult, ToolsetError,
};
use serde_json::{Value, json};

/// The start of every test program: `answer` writes a result, and `call` is defined by the test.
const PROGRAM_START: &str = r#"import json, os, sys, time
def say(**message):
    sys.stdout.write(json.dumps(message) + "\n"); sys.stdout.flush()
def answer(call, output, **more):
    say(type="result", id=call["id"], output=output, **more)
TOOLS = [{"name": "t", "description": "T.", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
"#;

const PROGRAM_END: &str = r#"
if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "tools": say(type="tools", protocol=1, tools=TOOLS)
        elif message["type"] == "call": call(message)
"#;

/// Returns a program with one tool `t` and this body of `call`.
pub fn program_with_call(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!("{PROGRAM_START}def call(call):\n{body}{PROGRAM_END}")
}

/// A skill with programs, and a conversation.
pub struct TestPrograms {
    pub env: ScriptEnv,
    pub programs: Programs,
    pub conversation: Conversation,
    pub tier: Option<SandboxTier>,
}

impl TestPrograms {
    /// Creates a skill whose program runs this body when it is called.
    pub fn with_call(body: &str) -> Self {
        Self::with_program(&program_with_call(body))
    }

    /// Creates a skill with this program.
    pub fn with_program(text: &str) -> Self {
        let env = ScriptEnv::with("toolsets: [toolsets/tools.py]\n");
        env.write("home/.prowess/skills/s/toolsets/tools.py", text);
        Self::with_project(env)
    }

    pub fn with_project(mut env: ScriptEnv) -> Self {
        env.policy.run.limits.time = std::time::Duration::from_millis(20_000);
        let limits = ProgramLimits { failures: 100, ..ProgramLimits::default() };
        let (programs, conversation) = (Programs::with_limits(limits), Conversation::default());
        Self { env, programs, conversation, tier: None }
    }

    pub fn limits(mut self, change: impl FnOnce(&mut ProgramLimits)) -> Self {
        let mut limits = ProgramLimits { failures: 100, ..ProgramLimits::default() };
        change(&mut limits);
        self.programs = Programs::with_limits(limits);
        self
    }

    /// Sets the time limit of a call.
    pub fn timeout_ms(mut self, time: u32) -> Self {
        self.env.policy.run.limits.time = std::time::Duration::from_millis(time.into());
        self
    }

    pub fn on(mut self, tier: SandboxTier) -> Self {
        self.tier = Some(tier);
        self
    }

    fn with<T>(&self, action: impl FnOnce(&prowess::Skill, &RunOptions<'_>) -> T) -> T {
        let registry: Registry = self.env.registry();
        let snapshot = registry.snapshot();
        let skill = snapshot.all().iter().find(|skill| skill.name() == "s").unwrap();
        let mut options = RunOptions::from_registry(&registry);
        options.helper = prowess_testing::script_env::helper();
        options.environment = vec![("SECRET".into(), "hunter2".into()), ("GIVEN".into(), "given".into())];
        if let Some(tier) = self.tier {
            options.protection = Protection::Only(tier);
        }
        action(skill, &options)
    }

    pub fn tools(&self) -> Result<LoadedTools, ToolsetError> {
        self.with(|skill, options| self.programs.tools(skill, &self.conversation, options))
    }

    /// Returns the error of the program.
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

    /// Returns the error of a call.
    pub fn error(&self) -> String {
        self.call(json!({})).unwrap_err().to_string()
    }

    pub fn log(&self) -> Vec<prowess_sandbox::log::RunRecord> {
        let path = prowess_sandbox::log::path(&self.env.host_env()).unwrap();
        prowess_sandbox::log::read_records(&path, 100)
    }
}

/// Waits until a condition is met. Returns `false` on a timeout.
pub fn wait_for(condition: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    loop {
        if condition() {
            return true;
        }
        if started.elapsed() >= Duration::from_secs(10) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
