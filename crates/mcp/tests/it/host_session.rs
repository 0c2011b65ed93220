//! Conversations that load skills from servers: what the model is told, and what it cannot make happen.

use std::sync::Arc;

use crate::host_world::{Script, World, skill};
use prowess::policy::{Activation, CatalogFormat, Scripts};
use prowess::supply::approvals::Grants;
use prowess_mcp::host::Sources;
use prowess_tools::{Envelope, PromptRequest, Session, Toolbox, prompt};
use serde_json::{Value, json};

const NOTHING: Grants = Grants { allow_tools: false, allow_run: false };

struct Talk {
    world: World,
    script: Script,
    sources: Sources,
    toolbox: Toolbox,
    session: Session,
}

impl Talk {
    fn new(skills: &[Value], change: impl Fn(&mut World), grants: Grants) -> Self {
        let mut world = World::new();
        change(&mut world);
        let script = world.script("docs", skills);
        let sources = world.sources(&script);
        let registry = Arc::new(world.registry(&sources));
        world.approve(&sources, "docs/pdf", grants);
        Self { world, script, sources, toolbox: Toolbox::new(registry), session: Session::default() }
    }

    fn call(&mut self, tool: &str, params: Value) -> Envelope {
        self.toolbox.call(&mut self.session, tool, params)
    }

    /// What went wrong.
    fn refused(&mut self, tool: &str, params: Value) -> String {
        let error = self.call(tool, params).error.unwrap();
        format!("{}: {}", error.code, error.message)
    }
}

#[test]
fn a_model_is_always_told_where_it_comes_from() {
    let mut talk = Talk::new(&[skill("pdf"), skill("other")], |_| (), NOTHING);
    let mut all = String::new();
    for (tool, params) in [
        ("skills.search", json!({"query": "does pdf remotely"})),
        ("skills.activate", json!({"name": "docs/pdf"})),
        ("skills.readResource", json!({"name": "docs/pdf", "path": "references/a.md"})),
        ("skills.readResource", json!({"name": "docs/pdf", "path": "SKILL.md"})),
        ("skills.listResources", json!({"name": "docs/pdf"})),
    ] {
        let envelope = talk.call(tool, params);
        assert!(envelope.error.is_none(), "{envelope:?}");
        all.push_str(&format!("{tool}:\n{}\n", envelope.text));
    }
    all.push_str(&prompt(&talk.toolbox, &PromptRequest::default()).text);
    insta::assert_snapshot!(all);
    let data = talk.call("skills.activate", json!({"name": "docs/pdf", "args": "x"})).data;
    assert_eq!((&data["origin"], &data["uri"]), (&json!("MCP server docs"), &json!("skill://pdf/SKILL.md")));
}

#[test]
fn what_is_not_approved_is_neither_offered_nor_loaded() {
    let mut talk = Talk::new(&[skill("pdf"), skill("other")], |_| (), NOTHING);
    assert!(!prompt(&talk.toolbox, &PromptRequest::default()).text.contains("docs/other"));
    assert_eq!(
        talk.refused("skills.activate", json!({"name": "docs/other"})),
        "UNTRUSTED: the skill docs/other is not trusted: the user has not approved it"
    );
    assert_eq!(
        talk.refused("skills.activate", json!({"name": "pdf"})),
        "NOT_FOUND: there is no skill named pdf"
    );
}

#[test]
fn nothing_of_it_is_run() {
    let allow = |world: &mut World| world.policy.run.scripts = Scripts::Allowed;
    let mut talk = Talk::new(&[skill("pdf")], allow, NOTHING);
    insta::assert_snapshot!(
        talk.refused("skills.run", json!({"name": "docs/pdf", "script": "scripts/run.sh"})),
        @"ACCESS_DENIED: nothing of docs/pdf is run here: it comes from the MCP server docs. To run what it brings, get the skill from its author and install it: prowess install SOURCE"
    );
    assert!(
        talk.script.requests().iter().all(|request| !request.contains("run.sh")),
        "it is not even fetched"
    );
}

/// A skill of the machine with a script and a tool.
fn local(world: &mut World) {
    world.policy.run.scripts = Scripts::Allowed;
    let folder = world.path("home/.agents/skills/local");
    for (path, text) in [
        ("SKILL.md", "---\nname: local\ndescription: Is here.\ntoolsets: [\"toolsets/index:Set\"]\n---\nB\n"),
        ("scripts/run.sh", "#!/bin/sh\necho ran\n"),
        (
            "toolsets/index.ts",
            "import { Tool } from '@agent/tools';\nexport const Set = [Tool.define('t', { description: 'T.', \
             execute: async () => ({ title: 'T', metadata: {}, output: 'ran' }) })];\n",
        ),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn while_it_is_loaded_nothing_else_is_run_either() {
    let run = json!({"name": "local", "script": "scripts/run.sh"});
    let mut talk = Talk::new(&[skill("pdf")], local, NOTHING);
    talk.session.call_by_name("local");
    assert!(talk.call("t", json!({})).error.is_none(), "a tool of the machine's own skill works");
    talk.call("skills.activate", json!({"name": "docs/pdf"}));
    let denied = "ACCESS_DENIED: nothing is run while docs/pdf is loaded in this conversation: it comes from a server. \
        The user can allow it: prowess trust --mcp docs/pdf --allow-run";
    assert_eq!(talk.refused("skills.run", run.clone()), denied);
    assert_eq!(talk.refused("t", json!({})), denied);
    // It is over with the conversation, or once the conversation has no instructions of it any more.
    talk.session.ledger.release("docs/pdf");
    assert!(talk.call("t", json!({})).error.is_none());
}

#[test]
fn the_user_can_allow_it() {
    let mut talk = Talk::new(&[skill("pdf")], local, Grants { allow_tools: false, allow_run: true });
    talk.session.call_by_name("local");
    talk.call("skills.activate", json!({"name": "docs/pdf"}));
    assert!(talk.call("t", json!({})).error.is_none());
    // The server takes the skill away: what allowed it is gone, and the instructions are still there.
    talk.script.write(&json!({"skills": []}));
    talk.sources.all()[0].ask().unwrap();
    assert!(talk.refused("t", json!({})).contains("nothing is run while docs/pdf is loaded"));
}

#[test]
fn a_conversation_reads_only_what_it_loaded() {
    let mut talk = Talk::new(&[skill("pdf")], |_| (), NOTHING);
    talk.call("skills.activate", json!({"name": "docs/pdf"}));
    let mut changed = skill("pdf");
    changed["files"]["references/b.md"] = json!("B\n");
    talk.script.write(&json!({"skills": [changed]}));
    talk.sources.all()[0].ask().unwrap();
    let read = |path: &str| json!({"name": "docs/pdf", "path": path});
    let refused =
        "UNTRUSTED: the skill docs/pdf is not trusted: it has changed at its server and needs approval again";
    assert_eq!(talk.refused("skills.activate", json!({"name": "docs/pdf"})), refused);
    // Even the user's approval of the new files does not put them beside the old instructions.
    talk.world.approve(&talk.sources, "docs/pdf", NOTHING);
    let held = "CONFLICT: the skill docs/pdf has changed since it was loaded in this conversation; activate it again before \
        you read its files";
    for path in ["references/a.md", "references/b.md"] {
        assert_eq!(talk.refused("skills.readResource", read(path)), held);
    }
    assert_eq!(talk.refused("skills.listResources", json!({"name": "docs/pdf"})), held);
    // It is kept with the conversation.
    let kept = serde_json::to_string(&talk.session.ledger).unwrap();
    talk.session.ledger = serde_json::from_str(&kept).unwrap();
    assert_eq!(talk.refused("skills.readResource", read("references/b.md")), held);
    let other = &mut Session::default();
    assert!(talk.toolbox.call(other, "skills.readResource", read("references/b.md")).error.is_none());
    talk.call("skills.activate", json!({"name": "docs/pdf"}));
    assert!(talk.call("skills.readResource", read("references/b.md")).error.is_none());
}

#[test]
fn it_is_never_pushed_into_what_the_system_says() {
    let mut pushy = skill("pdf");
    let source = "---\nname: pdf\ndescription: Does it.\ntriggers:\n  keywords: [invoice]\n---\nPUSHED\n";
    pushy["files"]["SKILL.md"] = json!(source);
    pushy["frontmatter"] =
        json!({"name": "pdf", "description": "Does it.", "triggers": {"keywords": ["invoice"]}});
    let preset = |world: &mut World| {
        world.policy.activation = Activation::Pushed { max: 3 };
        world.policy.catalog.format = CatalogFormat::Tiers;
    };
    let talk = Talk::new(&[pushy], preset, NOTHING);
    let asked = PromptRequest { query: Some("an invoice, please"), ..PromptRequest::default() };
    let text = prompt(&talk.toolbox, &asked).text;
    assert!(!text.contains("PUSHED") && text.contains("docs/pdf (from MCP server docs)"), "{text}");
}

#[test]
fn a_skill_inside_another_is_a_file_of_it_and_nothing_more() {
    let mut outer = skill("pdf");
    let inner_source = skill("pdf/inner")["files"]["SKILL.md"].clone();
    outer["files"]["inner/SKILL.md"] = inner_source;
    let mut inner = skill("pdf/inner");
    inner["files"] = json!({"SKILL.md": inner["files"]["SKILL.md"]});
    let mut talk = Talk::new(&[outer, inner], |_| (), NOTHING);
    talk.call("skills.activate", json!({"name": "docs/pdf"}));
    let read = talk.call("skills.readResource", json!({"name": "docs/pdf", "path": "inner/SKILL.md"}));
    assert!(read.error.is_none(), "{read:?}");
    assert!(
        talk.refused("skills.activate", json!({"name": "docs/pdf/inner"}))
            .contains("the user has not approved it")
    );
    assert_eq!(talk.session.ledger.names().collect::<Vec<_>>(), ["docs/pdf"]);
    talk.world.approve(&talk.sources, "docs/pdf/inner", NOTHING);
    assert!(talk.call("skills.activate", json!({"name": "docs/pdf/inner"})).error.is_none());
}

#[test]
fn reading_its_instructions_as_a_file_loads_nothing() {
    let mut talk = Talk::new(&[skill("pdf")], |_| (), NOTHING);
    talk.call("skills.readResource", json!({"name": "docs/pdf", "path": "SKILL.md"}));
    assert_eq!(talk.session.ledger.served().count() + talk.session.ledger.names().count(), 0);
}
