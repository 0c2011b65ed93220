//! Loading, stripping, linking and caching toolsets, and the errors of doing so.

use std::fs;

use crate::toolset_support::{TestSkills, output, tool};
use prowess_toolset::{Cancel, ToolCall, ToolsetLimits};
use serde_json::{Value, json};

/// Returns a module with one tool `t` that returns this expression.
fn module_returning(before: &str, expression: &str) -> String {
    format!(
        "import {{ Tool }} from '@agent/tools';\n{before}\nexport const Set = [Tool.define('t', {{ description: 'T.', \
         execute: async (args, ctx) => ({{ title: 'x', metadata: {{}}, output: String({expression}) }}) }})];\n"
    )
}

fn evaluate(before: &str, expression: &str) -> String {
    TestSkills::with_module(&module_returning(before, expression)).call("a", "t", json!({})).unwrap().output
}

#[test]
fn typescript_is_stripped() {
    for (before, expression, expected) in [
        ("enum Colour { Red, Green = 'g' }", "Colour.Red + Colour.Green", "0g"),
        ("namespace N { export const x = 4; }", "N.x", "4"),
        (
            "class P { constructor(private readonly x: number) {} get() { return this.x!; } }",
            "new P(3).get()",
            "3",
        ),
        (
            "abstract class A<T> { abstract f(): T; }\nclass B extends A<string> implements I { f(): string { return 'b'; } }\ninterface I {}",
            "new B().f()",
            "b",
        ),
        (
            "function f(a: string): string;\nfunction f(a: number): string;\nfunction f(a: any) { return typeof a; }",
            "f(1)",
            "number",
        ),
        ("type T = { a?: number };\nconst t = { a: 1 } satisfies T as const;", "t.a", "1"),
        ("const id = <T,>(x: T): T => x;", "id<string>('i')", "i"),
        ("declare const later: string;\nlet u: unknown = 5;", "(u as number) + 1", "6"),
        (
            "import type { ToolContext } from '@agent/tools';\nimport { type ToolInfo } from '@agent/tools';",
            "1",
            "1",
        ),
        // A type that is imported like a value is recognized by its use.
        (
            "import { ToolContext } from '@agent/tools';\nlet c: ToolContext | undefined;",
            "typeof c",
            "undefined",
        ),
        ("const top = await Promise.resolve('top');", "top", "top"),
    ] {
        assert_eq!(evaluate(before, expression), expected, "{before}");
    }
}

#[test]
fn modules_import_each_other() {
    let env = TestSkills::with_module(&module_returning(
        "import { a } from './lib/a';\nimport data from '../data.json';",
        "a + data.b",
    ));
    env.file("a/toolsets/lib/a.ts", "import { b } from './b.js';\nexport const a: string = 'a' + b;\n");
    env.file("a/toolsets/lib/b.mjs", "").file("a/toolsets/lib/b.ts", "export const b = 'b';\n");
    env.file("a/data.json", r#"{"b": "c"}"#);
    assert_eq!(env.call("a", "t", json!({})).unwrap().output, "abc");
}

#[test]
fn an_export_may_be_a_list_or_return_one() {
    for set in [
        "export const Set = [t];",
        "export const Set = t;",
        "export const Set = () => [t];",
        "export const Set = async () => [t];",
        "export const Set = Promise.resolve([Promise.resolve(t)]);",
        "const list = [t]; export { list as Set };",
        "export function Set() { return [t]; }",
    ] {
        for define in [
            "{ description: 'T.', execute }",
            "() => ({ description: 'T.', execute })",
            "async () => ({ description: 'T.', execute })",
        ] {
            let module = format!(
                "import {{ Tool }} from '@agent/tools';\nconst execute = async () => 'ok';\nconst t = Tool.define('t', {define});\n{set}\n"
            );
            assert_eq!(
                TestSkills::with_module(&module).call("a", "t", json!({})).unwrap().output,
                "ok",
                "{set} {define}"
            );
        }
    }
}

#[test]
fn load_errors_have_a_location_in_the_source() {
    for (module, expected) in [
        ("const a: number = ;\n", "toolsets/index.ts:1:19: Unexpected token"),
        (
            "interface A {}\n\nexport const Set: A = [\n",
            "toolsets/index.ts:4:1: Expected `]` but found `EOF`",
        ),
        (
            "type T = 1;\n\nconst x: T = 1;\n  nowhere();\nexport const Set = [];\n",
            "toolsets/index.ts:4:3: ReferenceError: nowhere is not defined",
        ),
        (
            "type A = string;\nexport const Set = [];\nfunction f(a: A): never { throw new Error('at load'); }\nf('x');\n",
            "toolsets/index.ts:3:37: at load",
        ),
        (
            "import { z } from 'zod';\nz.date();\n",
            "toolsets/index.ts:2:1: TypeError: z.date is not part of the built-in zod; bundle zod with the skill",
        ),
        (
            "import { z } from 'zod';\nexport const Set = [];\nz.string()\n  .trim();\n",
            "toolsets/index.ts:4:3: TypeError: .trim() is not part of the built-in zod; bundle zod with the skill",
        ),
        (
            "import { nothing } from '@agent/tools';\nnothing();\n",
            "toolsets/index.ts:1:10: SyntaxError: Could not find export 'nothing' in module '@agent/tools'",
        ),
        (
            "import _ from 'lodash';\n_();\n",
            "toolsets/index.ts:1:15: cannot import \"lodash\": packages are not loaded; available imports: files of the skill by relative path, \"@agent/tools\" and \"zod\"",
        ),
        ("import { x } from './gone';\nx();\n", "toolsets/index.ts:1:19: module toolsets/gone not found"),
        (
            "const fs = require('fs');\n",
            "toolsets/index.ts:1:12: require is not defined; CommonJS is not supported, use import and export",
        ),
        (
            "export const Other = [];\n",
            "toolsets/index.ts:1:1: the module does not export Set; it exports Other",
        ),
        (
            "export const Set = 5;\n",
            "toolsets/index.ts:1:1: Set must be an array of tools created with Tool.define",
        ),
        (
            "export const Set = [{ id: 'a b' }];\n",
            "toolsets/index.ts:1:1: a tool name must start with a letter and have at most 64 letters, digits, \"_\", \"-\" and \".\"; invalid name: a b",
        ),
        (
            "export const Set = [{ id: 't', execute() {} }];\n",
            "toolsets/index.ts:1:1: the tool t has no description",
        ),
        (
            "export const Set = [{ id: 't', description: 'd' }];\n",
            "toolsets/index.ts:1:1: the tool t has no execute",
        ),
        (
            "export const Set = [{ id: 't', description: 'd', execute() {}, parameters: {} }];\n",
            "toolsets/index.ts:1:1: the parameters of the tool t are not a zod schema",
        ),
        (
            "const t = { id: 't', description: 'd', execute() {} };\nexport const Set = [t, t];\n",
            "toolsets/index.ts:1:1: there are two tools named t",
        ),
        (
            "export const Set = () => { throw new Error('no tools today'); };\n",
            "toolsets/index.ts:1:38: no tools today",
        ),
        (
            "await new Promise(() => {});\nexport const Set = [];\n",
            "loading the toolset waits for a promise that is never settled: timers and network are not available",
        ),
    ] {
        assert_eq!(TestSkills::with_module(module).failure().to_string(), expected, "{module}");
    }
}

#[test]
fn errors_in_another_module_have_its_location() {
    let env = TestSkills::with_module(&module_returning("import { f } from './lib';", "f()"));
    env.file(
        "a/toolsets/lib.ts",
        "interface Long {\n  a: string;\n}\nexport function f(): Long {\n  throw new Error('deep');\n}\n",
    );
    let error = env.call("a", "t", json!({})).unwrap_err();
    assert_eq!(error.to_string(), "Error: deep");
    assert_eq!(error.location().unwrap().to_string(), "toolsets/lib.ts:5:13");
}

#[test]
fn invalid_module_files_are_reported() {
    let env = TestSkills::new();
    env.file("a/SKILL.md", "---\nname: a\ndescription: D.\ntoolsets: ['toolsets/inde:Set']\n---\nB\n");
    env.file("a/toolsets/index.ts", "");
    assert_eq!(env.failure().to_string(), "no such file: toolsets/inde.ts; did you mean toolsets/index.ts?");
    for (content, expected) in [
        (&b"export const x = '\xff';"[..], "toolsets/index.ts:1:1: the module is not UTF-8 text"),
        (b"export const x = '\0';", "toolsets/index.ts:1:1: the module contains a NUL character"),
        (&[b' '; 300 * 1024], "toolsets/index.ts:1:1: the module has 307200 bytes; the maximum is 262144"),
    ] {
        let env = TestSkills::with_module("");
        env.file("a/toolsets/index.ts", content);
        assert_eq!(env.failure().to_string(), expected);
    }
}

#[test]
fn a_failed_toolset_does_not_affect_others() {
    let env = TestSkills::with_module(&module_returning("", "'fine'"));
    env.file("a/SKILL.md", "---\nname: a\ndescription: D.\ntoolsets: ['toolsets/bad:Set', 'toolsets/index:Set', 'toolsets/tools.py']\n---\nB\n");
    env.file("a/toolsets/bad.ts", "export const Set = [\n");
    let loaded = env.tools("a").unwrap();
    assert_eq!((loaded.tools.len(), loaded.failures.len()), (1, 1));
    assert_eq!(env.call("a", "t", json!({})).unwrap().output, "fine");
}

#[test]
fn a_bundled_zod_is_used() {
    // A minimal zod: the exports of its package.json are used.
    let package = r#"{"name": "zod", "exports": {".": {"require": "./index.cjs", "import": "./index.js"}}}"#;
    let own = "const s = { safeParse: (v) => v.ok ? { success: true, data: v } : { success: false, error: { issues: [{ path: ['ok'], message: 'own zod' }] } } };\n\
               export const z = { object: () => s };\nexport const toJSONSchema = () => ({ type: 'object', title: 'own' });\n";
    let module = "import { Tool } from '@agent/tools'; import { z } from 'zod';\n\
                  export const Set = [Tool.define('t', { description: 'T.', parameters: z.object({}), execute: async () => 'ok' })];\n";
    for files in [
        &[("a/node_modules/zod/package.json", package), ("a/node_modules/zod/index.js", own)][..],
        &[("a/zod.mjs", own)],
        &[("a/toolsets/zod.js", own)],
    ] {
        let env = TestSkills::with_module(module);
        for (path, content) in files {
            env.file(path, content);
        }
        assert_eq!(env.tools("a").unwrap().tools[0].input_schema, json!({"type": "object", "title": "own"}));
        assert_eq!(env.call("a", "t", json!({"ok": true})).unwrap().output, "ok");
        assert_eq!(env.call("a", "t", json!({})).unwrap_err().to_string(), "ok: own zod");
    }
}

#[test]
fn the_context_of_a_call() {
    let env = tool(
        "ctx.metadata({ title: 'under way', metadata: { step: 1, n: 0 } }); console.log('said', { a: 1 }, [2]);\n\
         return { metadata: { n: 2, keys: Object.keys(ctx).sort() }, output: [ctx.sessionID, ctx.messageID, ctx.agent, ctx.callID, ctx.extra.x].join(' '),\n\
         attachments: [{ type: 'file', mime: 'text/plain', url: 'data:,x' }] };",
    );
    let registry = env.registry();
    let call = ToolCall {
        session_id: "s".into(),
        message_id: "m".into(),
        agent: "g".into(),
        call_id: "c".into(),
        extra: json!({"x": "e"}).as_object().unwrap().clone(),
        ..ToolCall::new("t", json!({}))
    };
    let result = env.toolsets().call(registry.snapshot().get("a").unwrap(), call, Cancel::default()).unwrap();
    assert_eq!((result.title.as_str(), result.output.as_str()), ("under way", "s m g c e"));
    let keys = json!(["abort", "agent", "callID", "extra", "messageID", "metadata", "sessionID"]);
    assert_eq!(Value::Object(result.metadata), json!({"step": 1, "n": 2, "keys": keys}));
    assert_eq!(result.attachments, [json!({"type": "file", "mime": "text/plain", "url": "data:,x"})]);
    assert_eq!(result.console, ["said {\"a\":1} [2]"]);
}

#[test]
fn common_globals_are_available() {
    for (expression, expected) in [
        ("new URL('../b?x=1#h', 'https://u:p@e.com:8080/a/c').href", "https://u:p@e.com:8080/b?x=1#h"),
        ("new URL('https://e.com/?a=1&b=%20c').searchParams.get('b')", " c"),
        ("new URLSearchParams({ a: '1 2', b: 'é' }).toString()", "a=1+2&b=%C3%A9"),
        ("URL.canParse('nothing')", "false"),
        ("new TextDecoder().decode(new TextEncoder().encode('é🦀'))", "é🦀"),
        ("new TextDecoder().decode(new Uint8Array([0xff, 65]))", "\u{fffd}A"),
        ("[...structuredClone(new Map([[1, { a: [new Date(5)] }]])).values()][0].a[0].getTime()", "5"),
        ("typeof queueMicrotask", "function"),
        ("Number.isInteger(Date.now()) && Date.now() > 1.7e12", "true"),
        ("[1, 2, 3].at(-1)", "3"),
        ("Object.groupBy([1, 2], (x) => (x % 2 ? 'odd' : 'even')).odd[0]", "1"),
        ("'a-b'.replaceAll('-', '+')", "a+b"),
        ("new Intl.NumberFormat('en').format(1)", "no"),
    ] {
        if expected == "no" {
            assert!(tool(&format!("return String({expression});")).call("a", "t", json!({})).is_err());
        } else {
            assert_eq!(output(&format!("return String({expression});")), expected, "{expression}");
        }
    }
}

#[test]
fn engines_are_kept_until_a_file_changes() {
    let env = TestSkills::with_module(&module_returning("let n = 0;", "`${++n} old`"));
    let (registry, toolsets) = (env.registry(), env.toolsets());
    let snapshot = registry.snapshot();
    let call = || {
        toolsets
            .call(snapshot.get("a").unwrap(), ToolCall::new("t", json!({})), Cancel::default())
            .unwrap()
            .output
    };
    assert_eq!(
        (toolsets.running(), call(), call(), toolsets.running()),
        (0, "1 old".into(), "2 old".into(), 1)
    );
    fs::write(env.path("a/toolsets/index.ts"), module_returning("let n = 0;", "`${++n} new`")).unwrap();
    assert_eq!((call(), toolsets.running()), ("1 new".into(), 1));
}

#[test]
fn only_recently_used_engines_are_kept() {
    let mut env = TestSkills::new();
    env.limits = ToolsetLimits { engines: 2, ..env.limits };
    for name in ["a", "b", "c"] {
        env.skill(name, &module_returning("let n = 0;", "++n"));
    }
    let (registry, toolsets) = (env.registry(), env.toolsets());
    let snapshot = registry.snapshot();
    let call = |skill: &str| {
        toolsets
            .call(snapshot.get(skill).unwrap(), ToolCall::new("t", json!({})), Cancel::default())
            .unwrap()
            .output
    };
    let calls: Vec<_> = ["a", "b", "a", "c", "a", "b"].map(call).into();
    assert_eq!(calls, ["1", "1", "2", "1", "3", "1"]);
    assert_eq!(toolsets.running(), 2);
}

#[test]
fn unused_skills_cost_nothing() {
    let env = TestSkills::new();
    for n in 0..100 {
        env.skill(&format!("s{n}"), "for (;;) {}\n");
    }
    let (registry, toolsets) = (env.registry(), env.toolsets());
    assert_eq!((registry.snapshot().enabled().count(), toolsets.running()), (100, 0));
}

#[test]
fn s003_10_toolsets_run_in_this_process_with_built_in_zod() {
    // In process: many calls of one engine, and zod without a bundled copy.
    let env = TestSkills::with_module(
        "import { Tool } from '@agent/tools'; import { z } from 'zod';\nlet calls = 0;\n\
         export const Set = [Tool.define('t', { description: 'T.', parameters: z.object({ n: z.number().int() }),\n\
         execute: async ({ n }) => ({ title: 't', metadata: {}, output: `${n} of ${++calls}` }) })];\n",
    );
    let (registry, toolsets) = (env.registry(), env.toolsets());
    let snapshot = registry.snapshot();
    for n in 1..=50 {
        let call = ToolCall::new("t", json!({"n": n}));
        let result = toolsets.call(snapshot.get("a").unwrap(), call, Cancel::default()).unwrap();
        assert_eq!(result.output, format!("{n} of {n}"));
    }
    assert_eq!(toolsets.running(), 1);
}
