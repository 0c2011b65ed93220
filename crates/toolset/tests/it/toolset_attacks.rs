//! Attacks of a hostile toolset. None succeeds, and each is reported.

use std::time::Duration;

use crate::toolset_support::{TestSkills, error, output, tool};
use prowess_toolset::{Cancel, ToolCall, ToolsetError};
use serde_json::json;

fn quick(body: &str) -> TestSkills {
    let mut env = tool(body);
    env.limits.call_time = Duration::from_millis(300);
    env
}

fn timed_out(body: &str) {
    let error = quick(body).call("a", "t", json!({})).unwrap_err();
    assert!(matches!(error, ToolsetError::Time { .. }), "{body}: {error:?}");
    assert_eq!(error.to_string(), "the call took longer than 0.3 s and was stopped");
}

#[test]
fn endless_loops_end() {
    for body in [
        "for (;;) {}",
        "while (true) { try { for (;;) {} } catch {} finally { for (;;) {} } }",
        "const f = async () => { for (;;) await null; }; await f();",
        "const again = () => { Promise.resolve().then(again); }; again(); await new Promise(() => {});",
        "return { then(done) { done(this); } };",
        "/(a+)+$/.test('a'.repeat(40) + 'b');",
        "return new Proxy({}, { get() { for (;;) {} } });",
        "return { get output() { for (;;) {} } };",
        "return { metadata: { toJSON() { for (;;) {} } }, output: '' };",
        "let a = [1] as any; for (let i = 0; i < 60; i++) a = [a, a]; return { metadata: { a }, output: '' };",
        "[1, 2].sort(() => { for (;;) {} });",
        "throw { get message() { for (;;) {} } };",
    ] {
        timed_out(body);
    }
}

#[test]
fn calls_time_out_even_in_native_loops() {
    for body in [
        "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);",
        "new Array(2 ** 32 - 1).join('');",
        "Array.prototype.reverse.call({ length: 2 ** 53 - 1 });",
        "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);",
    ] {
        let error = quick(body).call("a", "t", json!({})).unwrap_err();
        assert!(
            matches!(error, ToolsetError::Time { .. } | ToolsetError::Memory { .. }),
            "{body}: {error:?}"
        );
    }
}

#[test]
fn an_endless_loop_while_loading_ends() {
    let mut env = TestSkills::with_module("for (;;) {}\nexport const Set = [];\n");
    env.limits.load_time = Duration::from_millis(300);
    assert_eq!(env.failure().to_string(), "loading the toolset took longer than 0.3 s and was stopped");
    let mut env = TestSkills::with_module("export const Set = async () => { for (;;) await null; };\n");
    env.limits.load_time = Duration::from_millis(300);
    assert!(matches!(env.failure(), ToolsetError::Time { .. }));
}

/// A module that loops where the engine does not check the time: its thread cannot be stopped.
const STUCK: &str = "Array.prototype.reverse.call({ length: 2 ** 53 - 1 });\nexport const Set = [];\n";

/// Returns the number of threads of this process that run an engine of the skill `stuck`.
fn stuck_engines() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let name =
        |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.map(name).filter(|name| name.trim() == "toolset stuck").count()
}

/// Repeated and concurrent requests do not start the same code again.
#[test]
fn a_module_that_cannot_be_stopped_while_loading_is_started_once() {
    let mut env = TestSkills::new();
    env.skill("stuck", STUCK);
    env.limits.load_time = Duration::from_millis(200);
    let registry = env.registry();
    let snapshot = registry.snapshot();
    let skill = snapshot.get("stuck").unwrap();
    let toolsets = env.toolsets();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert!(matches!(toolsets.tools(skill), Err(ToolsetError::Time { .. }))));
        }
    });
    let error = toolsets.tools(skill).unwrap_err();
    assert_eq!(error.to_string(), "loading the toolset took longer than 0.2 s and was stopped");
    let call = ToolCall::new("t", json!({}));
    assert_eq!(toolsets.call(skill, call, Cancel::default()), Err(error.clone()));
    assert_eq!(env.toolsets().tools(skill), Err(error), "another host, as after a reload");
    assert_eq!(stuck_engines(), 1);
    // Other files are a different module.
    env.skill("stuck", "export const Set = [];\n");
    let registry = env.registry();
    assert!(toolsets.tools(registry.snapshot().get("stuck").unwrap()).is_ok());
    env.skill("stuck", STUCK);
    let registry = env.registry();
    assert!(toolsets.tools(registry.snapshot().get("stuck").unwrap()).is_err());
    assert_eq!(stuck_engines(), 2, "the stuck one, and the one that loaded in between");
}

#[test]
fn memory_has_a_limit() {
    for body in [
        "let s = 'x'; for (;;) s += s;",
        "const all = []; for (;;) all.push(new Array(1000).fill(1));",
        "new Uint8Array(1 << 30);",
        "return { output: 'x'.repeat(60 * 1024 * 1024) + 'y'.repeat(60 * 1024 * 1024) };",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i });",
    ] {
        let mut env = tool(body);
        env.limits.memory = 16 * 1024 * 1024;
        let error = env.call("a", "t", json!({})).unwrap_err();
        let is_limit = matches!(error, ToolsetError::Memory { .. })
            || error.to_string().contains("memory")
            || error.to_string().contains("string too long")
            || error.to_string().contains("invalid array buffer length");
        assert!(is_limit, "{body}: {error:?}");
    }
}

#[test]
fn recursion_has_a_limit() {
    let error = error("const f = () => f() + 1; f();");
    assert!(
        matches!(&error, ToolsetError::Stack { location: Some(location), .. } if location.line == 3),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .starts_with("the call recursed too deeply and was stopped, at toolsets/index.ts:3:")
    );
    for body in [
        "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return { metadata: o, output: '' };",
        "const o = {}; Object.defineProperty(o, 'o', { enumerable: true, get: () => o.o }); JSON.stringify(o);",
        "new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).test('a');",
        "JSON.parse('['.repeat(1e6) + ']'.repeat(1e6));",
        "eval('['.repeat(1e5) + ']'.repeat(1e5));",
    ] {
        assert!(tool(body).call("a", "t", json!({})).is_err(), "{body}");
    }
}

#[test]
fn deeply_nested_sources_do_not_crash_the_process() {
    let deep = 40_000;
    for source in [
        "[".repeat(deep),
        format!("export const x = {}1{};", "(".repeat(deep), ")".repeat(deep)),
        format!("export const x = {}1;", "!".repeat(deep)),
        format!("export const x = {}1;", "a=>".repeat(deep)),
        format!("export const x = 1{};", "+1".repeat(deep)),
        format!("export const x = 1{};", "**1".repeat(deep)),
        format!("type T = {}1{};", "A<".repeat(deep), ">".repeat(deep)),
        format!("type T = {}1;", "keyof ".repeat(deep)),
        "if(1)".repeat(deep) + ";",
        format!("export const x = {}1{};", "[']',".repeat(deep), "]".repeat(deep)),
        format!("export const x = a{};", "?.a".repeat(deep)),
        format!("export const x = {}1{};", "`${".repeat(deep), "}`".repeat(deep)),
        format!("export const x = 1{};", "?1:1".repeat(deep)),
    ] {
        let loaded = TestSkills::with_module(&source).tools("a");
        assert!(loaded.is_err() || !loaded.unwrap().failures.is_empty(), "{}", &source[..60]);
    }
}

#[test]
fn no_host_apis_are_available() {
    for name in [
        "process",
        "require",
        "module",
        "fetch",
        "XMLHttpRequest",
        "WebSocket",
        "Deno",
        "Bun",
        "std",
        "os",
        "setTimeout",
        "setInterval",
        "performance",
        "Atomics",
        "SharedArrayBuffer",
        "WebAssembly",
        "navigator",
        "Worker",
        "host",
        "print",
        "scriptArgs",
        "load",
        "importScripts",
        "__dirname",
        "__filename",
        "global",
        "window",
    ] {
        assert_eq!(output(&format!("return typeof {name};")), "undefined", "{name}");
    }
    for import in
        ["fs", "node:fs", "node:child_process", "../../b/toolsets/index", "/etc/passwd", "file:///etc/passwd"]
    {
        let failure =
            TestSkills::with_module(&format!("import x from '{import}';\nexport const Set = [x];\n"))
                .failure();
        assert_eq!(
            failure.location().map(ToString::to_string).as_deref(),
            Some("toolsets/index.ts:1:15"),
            "{failure:?}"
        );
    }
    let thrown = error("await import('node:fs');");
    assert!(thrown.to_string().contains("cannot import \"node:fs\""), "{thrown}");
    for import in ["../b/x.ts", "/etc/passwd", "node:fs", "SKILL.md"] {
        for body in [
            format!("await eval(`import('{import}')`);"),
            format!("await new Function(`return import('{import}')`)();"),
        ] {
            error(&body);
        }
    }
    let thrown = error("await import('../../../../etc/passwd');");
    assert!(thrown.to_string().contains("is outside of the skill"), "{thrown}");
}

#[test]
fn symlinks_are_not_followed() {
    let env = TestSkills::with_module("import { secret } from './secret';\nexport const Set = [secret];\n");
    std::fs::write(env.path("outside.ts"), "export const secret = 1;").unwrap();
    std::os::unix::fs::symlink(env.path("outside.ts"), env.path("a/toolsets/secret.ts")).unwrap();
    assert_eq!(env.failure().to_string(), "toolsets/index.ts:1:24: module toolsets/secret not found");
    let env = TestSkills::new();
    env.file("a/SKILL.md", "---\nname: a\ndescription: D.\ntoolsets: ['t/index:Set']\n---\nB\n");
    env.file("b/t/index.ts", "export const Set = [];\n");
    std::os::unix::fs::symlink(env.path("b/t"), env.path("a/t")).unwrap();
    assert_eq!(env.failure().code(), prowess::ErrorCode::AccessDenied);
}

#[test]
fn polluted_prototypes_do_not_affect_other_skills() {
    const POLLUTE: &str = "
        Object.prototype.polluted = 'yes';
        Object.prototype.toJSON = () => 'hijacked';
        Array.prototype.map = () => { throw new Error('map'); };
        Array.prototype[Symbol.iterator] = function* () { yield 'evil'; };
        JSON.stringify = () => 'evil'; JSON.parse = () => ({ evil: 1 });
        Promise.prototype.then = function () { throw new Error('then'); };
        String.prototype.slice = () => 'evil'; Reflect.apply = () => 'evil';
        globalThis.String = () => 'evil';";
    let env = TestSkills::new();
    let two = |body: &str| {
        format!(
            "import {{ Tool }} from '@agent/tools';\nconst t = (id, execute) => Tool.define(id, {{ description: 'D.', execute }});\n\
             export const Set = [t('pollute', async () => {{ {body} return {{ output: 'done' }}; }}),\n\
             t('look', async () => ({{ title: 'x', metadata: {{ seen: ({{}} as any).polluted ?? 'no' }}, output: `out ${{({{}} as any).polluted}}` }}))];\n"
        )
    };
    env.skill("a", &two(POLLUTE)).skill("b", &two(""));
    let (registry, toolsets) = (env.registry(), env.toolsets());
    let snapshot = registry.snapshot();
    let call = |skill: &str, id: &str| {
        toolsets.call(snapshot.get(skill).unwrap(), ToolCall::new(id, json!({})), Cancel::default())
    };
    // The skill may break itself; errors are reported, and other skills are not affected.
    let _ = call("a", "pollute");
    let after = call("a", "look");
    assert!(after.is_err() || after.is_ok_and(|result| !result.output.contains("undefined")));
    let other = call("b", "look").unwrap();
    assert_eq!((other.output.as_str(), &other.metadata["seen"]), ("out undefined", &json!("no")));
    assert_eq!(serde_json::to_string(&json!({"a": [1]})).unwrap(), r#"{"a":[1]}"#);
}

#[test]
fn pollution_before_tools_are_described_is_harmless() {
    let env = TestSkills::with_module(
        "import { Tool } from '@agent/tools';\nObject.prototype.toJSON = () => 'x'; JSON.stringify = () => 'evil';\n\
         export const Set = [Tool.define('t', { description: 'D.', execute: async () => ({ output: 'fine' }) })];\n",
    );
    assert_eq!(env.call("a", "t", json!({})).unwrap().output, "fine");
}

#[test]
fn special_keys_are_ordinary_keys() {
    let env = TestSkills::with_module(
        "import { Tool } from '@agent/tools'; import { z } from 'zod';\n\
         export const Set = [Tool.define('t', { description: 'D.', parameters: z.looseObject({ a: z.string() }),\n\
         execute: async (args) => ({ output: `${Object.getPrototypeOf(args) === Object.prototype} ${Object.keys(args)} ${({} as any).x}` }) })];\n",
    );
    let hostile =
        serde_json::from_str(r#"{"a": "b", "__proto__": {"x": 1}, "constructor": {"prototype": {"x": 1}}}"#);
    assert_eq!(env.call("a", "t", hostile.unwrap()).unwrap().output, "true a,constructor undefined");
}

#[test]
fn invalid_results_are_reported() {
    for (body, expected) in [
        ("throw new Error('boom');", "Error: boom"),
        ("throw new TypeError('a\\nb\\u202Ec');", "Error: a b\\u{202e}c"),
        ("throw 'text';", "Error: text"),
        ("throw null;", "Error: null (the engine also throws null when it is out of memory)"),
        ("throw Symbol('s');", "Error: Symbol(s)"),
        ("throw {};", "Error: the tool threw a value without a message"),
        (
            "throw { toString() { throw 1; }, get message() { throw 2; } };",
            "Error: the tool threw a value without a message",
        ),
        ("throw new Proxy({}, { get() { throw 1; } });", "Error: the tool threw a value without a message"),
        ("return;", "execute returned undefined instead of { title, metadata, output }"),
        ("return null;", "execute returned null instead of { title, metadata, output }"),
        ("return 5;", "execute returned number instead of { title, metadata, output }"),
        ("return () => 1;", "execute returned function instead of { title, metadata, output }"),
        (
            "return { output: 1n };",
            "the tool's output cannot be converted to JSON: BigInt are forbidden in JSON.stringify",
        ),
        (
            "return { metadata: { n: 1n }, output: '' };",
            "the tool's metadata cannot be converted to JSON: BigInt are forbidden in JSON.stringify",
        ),
        (
            "const o: any = {}; o.o = o; return { metadata: o, output: '' };",
            "the tool's metadata cannot be converted to JSON: circular reference",
        ),
        (
            "return { metadata: { toJSON() { throw new Error('no'); } }, output: '' };",
            "the tool's metadata cannot be converted to JSON: no",
        ),
        ("return { metadata: [], output: '' };", "the tool's metadata is not an object"),
        ("return { attachments: 'x', output: '' };", "the tool's attachments are not an array"),
        ("return { get output() { throw new Error('bomb'); } };", "Error: bomb"),
        ("return { title: { toString() { throw new Error('bomb'); } }, output: '' };", "Error: bomb"),
        ("return { then() { throw new Error('bomb'); } };", "Error: bomb"),
        ("return { then(_, no) { no(new Error('bomb')); } };", "Error: bomb"),
        (
            "await new Promise(() => {});",
            "the call waits for a promise that is never settled: timers and network are not available",
        ),
        (
            "return { metadata: { a: 'x'.repeat(300 * 1024) }, output: '' };",
            "the tool's metadata has 307208 characters; the maximum is 262144",
        ),
        ("ctx.nothing();", "Error: not a function"),
    ] {
        assert_eq!(error(body).to_string(), expected, "{body}");
    }
}

#[test]
fn long_output_is_truncated() {
    let result = tool("return { output: 'é'.repeat(900 * 1024) };").call("a", "t", json!({})).unwrap();
    assert!(result.truncated && result.output.len() == 1024 * 1024);
    let result = tool("return { output: 'x'.repeat(1024 * 1024) };").call("a", "t", json!({})).unwrap();
    assert!(!result.truncated);
    assert_eq!(output("return { output: 'a\\ud800b' };"), "a\u{fffd}b");
    assert_eq!(output("return { output: 'a\\x1b[31mred\\x1b]0;title\\x07 b\\0' };"), "ared b");
    let result = tool("for (let i = 0; i < 1e5; i++) console.log('x'.repeat(100)); return 'ok';").call(
        "a",
        "t",
        json!({}),
    );
    assert!(result.unwrap().console.iter().map(String::len).sum::<usize>() < 64 * 1024);
}

#[test]
fn an_engine_that_was_stopped_is_replaced() {
    let mut env = tool("if (ctx.extra.loop) for (;;) {} return 'fine';");
    env.limits.call_time = Duration::from_millis(100);
    let (registry, toolsets) = (env.registry(), env.toolsets());
    let snapshot = registry.snapshot();
    let call = |looping: bool| {
        let mut call = ToolCall::new("t", json!({}));
        if looping {
            call.extra.insert("loop".to_owned(), true.into());
        }
        toolsets.call(snapshot.get("a").unwrap(), call, Cancel::default()).map(|result| result.output)
    };
    // The thread of a stopped engine may end at any time during the next call.
    for _ in 0..10 {
        assert!(matches!(call(true), Err(ToolsetError::Time { .. })));
        let mut after = call(false);
        while after == Err(ToolsetError::Busy) {
            after = call(false);
        }
        assert_eq!(after.as_deref(), Ok("fine"));
    }
}

#[test]
fn cancelling_ends_a_call_and_the_tool_can_see_it() {
    for (body, expected) in [
        ("for (;;) {}", Err(ToolsetError::Cancelled)),
        ("while (!ctx.abort.aborted) {} return 'saw it';", Ok("saw it")),
        (
            "let told = false; ctx.abort.addEventListener('abort', () => { told = true; }); while (!told) await null; return 'told';",
            Ok("told"),
        ),
        (
            "for (;;) ctx.abort.throwIfAborted();",
            Err(ToolsetError::Thrown { message: "the call was cancelled".to_owned(), location: None }),
        ),
    ] {
        let env = tool(body);
        let registry = env.registry();
        let (snapshot, toolsets, cancel) = (registry.snapshot(), env.toolsets(), Cancel::default());
        let _ = toolsets.tools(snapshot.get("a").unwrap()).unwrap();
        let answer = std::thread::scope(|scope| {
            let flag = cancel.clone();
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(200));
                flag.cancel();
            });
            toolsets.call(snapshot.get("a").unwrap(), ToolCall::new("t", json!({})), cancel)
        });
        let answer = answer.map(|result| result.output).map_err(|error| match error {
            ToolsetError::Thrown { message, .. } => ToolsetError::Thrown { message, location: None },
            other => other,
        });
        assert_eq!(answer.as_deref(), expected.as_deref(), "{body}");
    }
}

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
