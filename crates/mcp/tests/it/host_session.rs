//! Conversations that use skills of servers.

use std::sync::Arc;

use crate::host_support::{NO_GRANTS, ServerScript, TestHost, skill};
use prowess::ledger::Ledger;
use prowess::policy::{ActivationMode, CatalogFormat, ScriptPolicy};
use prowess::remote::approvals::ApprovalGrants;
use prowess_mcp::host::McpRemoteSources;
use prowess_tools::{Envelope, PromptRequest, Session, Toolbox, render_prompt};
use serde_json::{Value, json};

struct TestConversation {
    host: TestHost,
    script: ServerScript,
    sources: McpRemoteSources,
    toolbox: Toolbox,
    session: Session,
}

impl TestConversation {
    fn new(skills: &[Value], change: impl Fn(&mut TestHost), grants: ApprovalGrants) -> Self {
        let mut host = TestHost::new();
        change(&mut host);
        let script = host.script("docs", skills);
        let sources = host.sources(&script);
        let registry = Arc::new(host.registry(&sources));
        host.approve(&sources, "docs/pdf", grants);
        Self { host, script, sources, toolbox: Toolbox::new(registry), session: Session::default() }
    }

    fn call(&mut self, tool: &str, params: Value) -> Envelope {
        self.toolbox.call(&mut self.session, tool, params)
    }

    fn call_error(&mut self, tool: &str, params: Value) -> String {
        let error = self.call(tool, params).error.unwrap();
        format!("{}: {}", error.code, error.message)
    }
}

#[test]
fn the_model_always_sees_the_origin() {
    let mut conversation = TestConversation::new(&[skill("pdf"), skill("other")], |_| (), NO_GRANTS);
    let mut all = String::new();
    for (tool, params) in [
        ("skills.search", json!({"query": "does pdf remotely"})),
        ("skills.activate", json!({"name": "docs/pdf"})),
        ("skills.readResource", json!({"name": "docs/pdf", "path": "references/a.md"})),
        ("skills.readResource", json!({"name": "docs/pdf", "path": "SKILL.md"})),
        ("skills.listResources", json!({"name": "docs/pdf"})),
    ] {
        let envelope = conversation.call(tool, params);
        assert!(envelope.error.is_none(), "{envelope:?}");
        all.push_str(&format!("{tool}:\n{}\n", envelope.text));
    }
    all.push_str(&render_prompt(&conversation.toolbox, &PromptRequest::default()).text);
    insta::assert_snapshot!(all);
    let data = conversation.call("skills.activate", json!({"name": "docs/pdf", "args": "x"})).data;
    assert_eq!((&data["origin"], &data["uri"]), (&json!("MCP server docs"), &json!("skill://pdf/SKILL.md")));
}

#[test]
fn unapproved_skills_are_neither_listed_nor_loaded() {
    let mut conversation = TestConversation::new(&[skill("pdf"), skill("other")], |_| (), NO_GRANTS);
    assert!(!render_prompt(&conversation.toolbox, &PromptRequest::default()).text.contains("docs/other"));
    assert_eq!(
        conversation.call_error("skills.activate", json!({"name": "docs/other"})),
        "UNTRUSTED: skill docs/other is not trusted: the user has not approved it"
    );
    assert_eq!(
        conversation.call_error("skills.activate", json!({"name": "pdf"})),
        "NOT_FOUND: skill pdf not found"
    );
}

#[test]
fn scripts_of_remote_skills_are_not_run() {
    let allow = |host: &mut TestHost| host.policy.run.scripts = ScriptPolicy::Allowed;
    let mut conversation = TestConversation::new(&[skill("pdf")], allow, NO_GRANTS);
    insta::assert_snapshot!(
        conversation.call_error("skills.run", json!({"name": "docs/pdf", "script": "scripts/run.sh"})),
        @"ACCESS_DENIED: cannot run files of docs/pdf: it comes from the MCP server docs. To run its scripts, get the skill from its author and install it: prowess install SOURCE"
    );
    assert!(
        conversation.script.requests().iter().all(|request| !request.contains("run.sh")),
        "the script is not fetched"
    );
}

/// Creates a local skill with a script and a tool.
fn add_local_skill(host: &mut TestHost) {
    host.policy.run.scripts = ScriptPolicy::Allowed;
    let dir = host.path("home/.agents/skills/local");
    for (path, text) in [
        ("SKILL.md", "---\nname: local\ndescription: Is here.\ntoolsets: [\"toolsets/index:Set\"]\n---\nB\n"),
        ("scripts/run.sh", "#!/bin/sh\necho ran\n"),
        (
            "toolsets/index.ts",
            "import { Tool } from '@agent/tools';\nexport const Set = [Tool.define('t', { description: 'T.', \
             execute: async () => ({ title: 'T', metadata: {}, output: 'ran' }) })];\n",
        ),
    ] {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn while_a_remote_skill_is_loaded_nothing_else_is_run() {
    let run = json!({"name": "local", "script": "scripts/run.sh"});
    let mut conversation = TestConversation::new(&[skill("pdf")], add_local_skill, NO_GRANTS);
    conversation.session.mark_invoked("local");
    assert!(conversation.call("t", json!({})).error.is_none(), "the tool of a local skill works");
    conversation.call("skills.activate", json!({"name": "docs/pdf"}));
    let denied = "ACCESS_DENIED: cannot run anything while docs/pdf is loaded in this conversation, because it comes from a \
        server. The user can allow it: prowess trust --mcp docs/pdf --allow-run";
    assert_eq!(conversation.call_error("skills.run", run.clone()), denied);
    assert_eq!(conversation.call_error("t", json!({})), denied);
    // Of a restored conversation, only the names of the skills are known.
    conversation.session.ledger = Ledger::from_names(["docs/pdf".to_owned()]);
    assert_eq!(conversation.call_error("t", json!({})), denied);
    // Releasing the instructions, or a new conversation, ends the restriction.
    conversation.session.ledger.remove("docs/pdf");
    assert!(conversation.call("t", json!({})).error.is_none());
    // A file has the same effect as instructions.
    conversation.call("skills.readResource", json!({"name": "docs/pdf", "path": "references/a.md"}));
    assert_eq!(conversation.call_error("t", json!({})), denied);
}

#[test]
fn the_user_can_allow_running() {
    let mut conversation = TestConversation::new(
        &[skill("pdf")],
        add_local_skill,
        ApprovalGrants { allow_tools: false, allow_run: true },
    );
    conversation.session.mark_invoked("local");
    conversation.call("skills.activate", json!({"name": "docs/pdf"}));
    assert!(conversation.call("t", json!({})).error.is_none());
    // If the server removes the skill, the permission is gone, but the instructions are still loaded.
    conversation.script.write(&json!({"skills": []}));
    conversation.sources.all()[0].refresh().unwrap();
    assert!(conversation.call_error("t", json!({})).contains("cannot run anything while docs/pdf is loaded"));
}

#[test]
fn a_conversation_reads_only_the_loaded_version() {
    let mut conversation = TestConversation::new(&[skill("pdf")], |_| (), NO_GRANTS);
    conversation.call("skills.activate", json!({"name": "docs/pdf"}));
    let mut changed = skill("pdf");
    changed["files"]["references/b.md"] = json!("B\n");
    conversation.script.write(&json!({"skills": [changed]}));
    conversation.sources.all()[0].refresh().unwrap();
    let read = |path: &str| json!({"name": "docs/pdf", "path": path});
    let untrusted =
        "UNTRUSTED: skill docs/pdf is not trusted: it changed on its server and must be approved again";
    assert_eq!(conversation.call_error("skills.activate", json!({"name": "docs/pdf"})), untrusted);
    // Even if the user approves the new files, they do not mix with the old instructions.
    conversation.host.approve(&conversation.sources, "docs/pdf", NO_GRANTS);
    let outdated = "CONFLICT: skill docs/pdf changed since it was loaded in this conversation; activate it again before \
        reading its files";
    for path in ["references/a.md", "references/b.md"] {
        assert_eq!(conversation.call_error("skills.readResource", read(path)), outdated);
    }
    assert_eq!(conversation.call_error("skills.listResources", json!({"name": "docs/pdf"})), outdated);
    // The version is stored with the conversation.
    let stored = serde_json::to_string(&conversation.session.ledger).unwrap();
    conversation.session.ledger = serde_json::from_str(&stored).unwrap();
    assert_eq!(conversation.call_error("skills.readResource", read("references/b.md")), outdated);
    let other = &mut Session::default();
    assert!(conversation.toolbox.call(other, "skills.readResource", read("references/b.md")).error.is_none());
    conversation.call("skills.activate", json!({"name": "docs/pdf"}));
    assert!(conversation.call("skills.readResource", read("references/b.md")).error.is_none());
}

#[test]
fn instructions_of_remote_skills_are_never_pushed() {
    let mut pushy = skill("pdf");
    let source = "---\nname: pdf\ndescription: Does it.\ntriggers:\n  keywords: [invoice]\n---\nPUSHED\n";
    pushy["files"]["SKILL.md"] = json!(source);
    pushy["frontmatter"] =
        json!({"name": "pdf", "description": "Does it.", "triggers": {"keywords": ["invoice"]}});
    let preset = |host: &mut TestHost| {
        host.policy.activation = ActivationMode::Pushed { max: 3 };
        host.policy.catalog.format = CatalogFormat::Tiers;
    };
    let conversation = TestConversation::new(&[pushy], preset, NO_GRANTS);
    let request = PromptRequest { query: Some("an invoice, please"), ..PromptRequest::default() };
    let text = render_prompt(&conversation.toolbox, &request).text;
    assert!(!text.contains("PUSHED") && text.contains("docs/pdf (from MCP server docs)"), "{text}");
}

#[test]
fn a_nested_skill_is_only_a_file_of_the_outer_one() {
    let mut outer = skill("pdf");
    let inner_source = skill("pdf/inner")["files"]["SKILL.md"].clone();
    outer["files"]["inner/SKILL.md"] = inner_source;
    let mut inner = skill("pdf/inner");
    inner["files"] = json!({"SKILL.md": inner["files"]["SKILL.md"]});
    let mut conversation = TestConversation::new(&[outer, inner], |_| (), NO_GRANTS);
    conversation.call("skills.activate", json!({"name": "docs/pdf"}));
    let read =
        conversation.call("skills.readResource", json!({"name": "docs/pdf", "path": "inner/SKILL.md"}));
    assert!(read.error.is_none(), "{read:?}");
    assert!(
        conversation
            .call_error("skills.activate", json!({"name": "docs/pdf/inner"}))
            .contains("the user has not approved it")
    );
    assert_eq!(conversation.session.ledger.names().collect::<Vec<_>>(), ["docs/pdf"]);
    conversation.host.approve(&conversation.sources, "docs/pdf/inner", NO_GRANTS);
    assert!(conversation.call("skills.activate", json!({"name": "docs/pdf/inner"})).error.is_none());
}

#[test]
fn reading_skill_md_as_a_file_activates_nothing() {
    let mut conversation = TestConversation::new(&[skill("pdf")], |_| (), NO_GRANTS);
    conversation.call("skills.readResource", json!({"name": "docs/pdf", "path": "SKILL.md"}));
    assert_eq!(conversation.session.ledger.names().count(), 0);
}
