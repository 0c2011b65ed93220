//! Remote skills, independent of the kind of server.

use crate::fake_server::{FakeServer, open};
use prowess::activation::{ActivateError, activate};
use prowess::catalog::{CatalogRequest, render_catalog};
use prowess::policy::CatalogFormat;
use prowess::remote::approvals::{ApprovalGrants, ApprovalStatus, Approvals, withdraw};
use prowess::resources;
use prowess::{ErrorCode, FileListing, Preset, Registry, Skill, Snapshot};
use prowess_testing::registry_env::RegistryEnv;
use serde_json::json;

fn remote_skill_lines(env: &RegistryEnv, snapshot: &Snapshot) -> String {
    let of_servers = snapshot.all().iter().filter(|skill| skill.remote().is_some() || skill.root().is_dir());
    of_servers.map(|skill| env.skill_line(skill) + "\n").collect()
}

fn read(registry: &Registry, name: &str, path: &str) -> Result<String, (ErrorCode, String)> {
    let snapshot = registry.refresh();
    let skill = snapshot.all().iter().find(|skill| skill.name() == name).unwrap();
    let read = resources::read_text(skill, path, &registry.policy().limits);
    read.map(|read| read.content).map_err(|error| (error.code(), error.to_string()))
}

fn activated(registry: &Registry, name: &str) -> Result<String, (ErrorCode, String)> {
    let snapshot = registry.refresh();
    let skill = snapshot.all().iter().find(|skill| skill.name() == name).unwrap();
    let activated = activate(skill, None, registry.policy());
    activated.map(|activated| activated.content()).map_err(|error| (error.code(), error.to_string()))
}

const GRANTED_NOTHING: ApprovalGrants = ApprovalGrants { allow_tools: false, allow_run: false };

#[test]
fn names_have_the_label_of_their_server_and_shadow_nothing() {
    let env = RegistryEnv::new(Preset::Standard);
    env.skill("~/.agents/skills/pdf");
    let (docs, other) = (FakeServer::new("docs"), FakeServer::new("other"));
    docs.skill("pdf").skill("acme/billing/refunds").skill("acme/support/refunds");
    other.skill("pdf");
    for (server, path) in [(&docs, "pdf"), (&docs, "acme/billing/refunds"), (&other, "pdf")] {
        server.approve(&env, path, GRANTED_NOTHING);
    }
    let registry = open(&env, &[&docs, &other]);
    let snapshot = registry.snapshot();
    insta::assert_snapshot!(remote_skill_lines(&env, &snapshot), @r"
    docs/acme/billing/refunds in mcp:docs/acme/billing/refunds is enabled
    docs/acme/support/refunds in mcp:docs/acme/support/refunds is untrusted: not approved; to review and approve it: prowess trust --mcp docs/acme/support/refunds
    docs/pdf in mcp:docs/pdf is enabled
    other/pdf in mcp:other/pdf is enabled
    pdf in /home/.agents/skills/pdf is enabled
    ");
    assert_eq!(snapshot.get("pdf").unwrap().remote(), None, "the bare name is the user's skill");
    assert!(snapshot.get("refunds").is_none(), "a remote skill has no bare name");
    let diagnostics: Vec<_> =
        snapshot.general_diagnostics().map(|diagnostic| diagnostic.diagnostic.to_string()).collect();
    insta::assert_snapshot!(diagnostics.join("\n"), @r"
    info[SK084]: docs/pdf, other/pdf and pdf have the same name in their frontmatter, but are different skills
    info[SK084]: other/pdf, docs/pdf and pdf have the same name in their frontmatter, but are different skills
    ");
    assert!(docs.reads().is_empty() && other.reads().is_empty(), "nothing was fetched");
}

#[test]
fn nothing_is_shadowed_if_directories_are_the_identity() {
    let env = RegistryEnv::new(Preset::App);
    env.skill(".agents/skills/pdf");
    let docs = FakeServer::new("docs");
    docs.skill("pdf").approve(&env, "pdf", GRANTED_NOTHING);
    let snapshot = open(&env, &[&docs]).snapshot();
    assert_eq!(snapshot.get("pdf").unwrap().remote(), None);
    assert!(snapshot.get("docs/pdf").unwrap().is_enabled());
    assert_eq!(snapshot.get("docs/pdf").unwrap().id(), "docs/pdf");
}

#[test]
fn a_name_without_the_label_is_invalid() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf");
    let stolen = prowess::remote::RemoteEntry { name: "pdf".to_owned(), ..docs.entry("pdf") };
    docs.put(stolen);
    let snapshot = open(&env, &[&docs]).snapshot();
    let skill = snapshot.all().iter().find(|skill| skill.remote().is_some()).unwrap();
    assert_eq!(skill.status().as_str(), "invalid");
    assert_eq!(skill.reason().unwrap(), "its name does not begin with docs/");
}

#[test]
fn without_approval_nothing_is_returned_or_fetched() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf");
    let registry = open(&env, &[&docs]);
    let refused =
        Err((ErrorCode::Untrusted, "skill docs/pdf is not trusted: the user has not approved it".to_owned()));
    assert_eq!(activated(&registry, "docs/pdf"), refused);
    assert_eq!(read(&registry, "docs/pdf", "references/a.md"), refused);
    assert!(docs.reads().is_empty());
    // The metadata is visible.
    let snapshot = registry.snapshot();
    let skill = snapshot.all().iter().find(|skill| skill.name() == "docs/pdf").unwrap();
    let files: Vec<_> =
        FileListing::for_skill(skill).files.into_iter().map(|file| (file.path, file.bytes)).collect();
    assert_eq!(files, [("SKILL.md".to_owned(), 75), ("references/a.md".to_owned(), 2)]);
    assert!(docs.reads().is_empty());
}

#[test]
fn each_file_is_fetched_when_it_is_needed() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf").approve(&env, "pdf", GRANTED_NOTHING);
    let registry = open(&env, &[&docs]);
    insta::assert_snapshot!(activated(&registry, "docs/pdf").unwrap());
    assert_eq!(docs.reads(), ["skill://pdf/SKILL.md"]);
    assert_eq!(read(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
    assert_eq!(docs.reads(), ["skill://pdf/SKILL.md", "skill://pdf/references/a.md"]);
}

#[test]
fn every_activation_mode_begins_with_the_origin() {
    for preset in [Preset::Standard, Preset::SkillTool, Preset::Harness, Preset::Triggers, Preset::Chat] {
        let env = RegistryEnv::new(preset);
        let docs = FakeServer::new("docs");
        docs.skill("pdf").approve(&env, "pdf", GRANTED_NOTHING);
        let registry = open(&env, &[&docs]);
        let content = activated(&registry, "docs/pdf").unwrap();
        let origin = content.find("comes from the MCP server docs, skill://pdf/SKILL.md").unwrap();
        assert!(origin < content.find("Follow references").unwrap(), "{preset}: {content}");
    }
}

#[test]
fn every_catalog_shows_the_origin() {
    let mut env = RegistryEnv::new(Preset::Standard);
    env.policy.scan.roots.clear();
    let docs = FakeServer::new("docs");
    docs.skill("pdf").approve(&env, "pdf", GRANTED_NOTHING);
    let snapshot = open(&env, &[&docs]).snapshot();
    let mut all = String::new();
    for format in [
        CatalogFormat::Xml,
        CatalogFormat::Json,
        CatalogFormat::Bullets,
        CatalogFormat::Tool,
        CatalogFormat::Tiers,
    ] {
        let mut policy = env.policy.clone();
        for name_only in [false, true] {
            policy.selection.name_only = if name_only { vec!["docs/pdf".to_owned()] } else { Vec::new() };
            let text = render_catalog(
                &snapshot,
                &policy,
                &CatalogRequest { format, ..CatalogRequest::from_policy(&policy) },
            )
            .text;
            assert!(text.contains("MCP server docs"), "{text}");
            let from = text.find("docs/pdf").unwrap();
            let start = text[..from].rfind('\n').map_or(0, |at| at + 1);
            let end = text[from..].find("</skill>").unwrap_or_else(|| text[from..].find('\n').unwrap());
            all.push_str(&format!("{format:?}: {}\n", &text[start..from + end]));
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn digest_and_size_are_verified_at_each_read() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf").approve(&env, "pdf", GRANTED_NOTHING);
    let registry = open(&env, &[&docs]);
    assert!(read(&registry, "docs/pdf", "references/a.md").is_ok());
    docs.hand_out("skill://pdf/references/a.md", b"B\n");
    let (code, message) = read(&registry, "docs/pdf", "references/a.md").unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    insta::assert_snapshot!(message, @"references/a.md of docs/pdf is not used: its digest differs from the listed one. The skill changed on its server and must be approved again: prowess trust --mcp docs/pdf");
    assert_eq!(docs.doubts(), 1, "the entry is marked as stale");
    docs.hand_out("skill://pdf/references/a.md", b"A\nmore");
    let (_, message) = read(&registry, "docs/pdf", "references/a.md").unwrap_err();
    assert!(message.contains("it has 6 bytes instead of the listed 2"), "{message}");
    docs.hand_out("skill://pdf/SKILL.md", b"---\nname: pdf\ndescription: Evil.\n---\nx\n");
    assert_eq!(activated(&registry, "docs/pdf").unwrap_err().0, ErrorCode::Untrusted);
}

#[test]
fn a_wrong_size_is_rejected_even_with_the_right_digest() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf");
    let mut entry = docs.entry("pdf");
    entry.files[1].size = 3;
    docs.put(entry).approve(&env, "pdf", GRANTED_NOTHING);
    let registry = open(&env, &[&docs]);
    let (code, message) = read(&registry, "docs/pdf", "references/a.md").unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    assert!(message.contains("it has 2 bytes instead of the listed 3"), "{message}");
}

#[test]
fn an_unlisted_file_is_not_requested() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf").approve(&env, "pdf", GRANTED_NOTHING);
    docs.hand_out("skill://pdf/references/b.md", b"B");
    let registry = open(&env, &[&docs]);
    let (code, message) = read(&registry, "docs/pdf", "references/b.md").unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    insta::assert_snapshot!(message, @"references/b.md is not a listed file of docs/pdf. If the server has it now, the skill has changed and must be approved again: prowess trust --mcp docs/pdf");
    assert_eq!(read(&registry, "docs/pdf", "references").unwrap_err().0, ErrorCode::IsDirectory);
    for path in ["../other/SKILL.md", "/etc/passwd", "a\0b", "skill://other/SKILL.md"] {
        assert!(read(&registry, "docs/pdf", path).is_err(), "{path}");
    }
    assert!(docs.reads().is_empty(), "{:?}", docs.reads());
}

#[test]
fn the_frontmatter_must_match_the_listing() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    let source = "---\nname: pdf\ndescription: Does pdf.\nallowed-tools: Bash\n---\nx\n";
    docs.offer("pdf", json!({"name": "pdf", "description": "Does pdf."}), &[("SKILL.md", source)]);
    docs.approve(&env, "pdf", GRANTED_NOTHING);
    let registry = open(&env, &[&docs]);
    let (code, message) = activated(&registry, "docs/pdf").unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    insta::assert_snapshot!(message, @"the SKILL.md of docs/pdf is not used: its frontmatter differs from the listed one (allowed-tools)");
}

#[test]
fn allowed_tools_need_a_grant() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    let source = "---\nname: pdf\ndescription: Does pdf.\nallowed-tools: Bash Read\n---\nx\n";
    let frontmatter = json!({"name": "pdf", "description": "Does pdf.", "allowed-tools": "Bash Read"});
    docs.offer("pdf", frontmatter, &[("SKILL.md", source)]);
    let tools = |allow_tools| {
        docs.approve(&env, "pdf", ApprovalGrants { allow_tools, allow_run: false });
        let registry = open(&env, &[&docs]);
        let snapshot = registry.snapshot();
        let activated = activate(snapshot.get("docs/pdf").unwrap(), None, registry.policy()).unwrap();
        (activated.allowed_tools.clone(), activated.frontmatter().contains_key("allowed-tools"))
    };
    assert_eq!(tools(false), (None, false));
    assert_eq!(tools(true), (Some(vec!["Bash".to_owned(), "Read".to_owned()]), true));
}

#[test]
fn an_approval_covers_every_file_and_ends_with_any_change() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf").approve(&env, "pdf", GRANTED_NOTHING);
    let registry = open(&env, &[&docs]);
    let status = || remote_skill_lines(&env, &registry.refresh());
    assert!(status().contains("is enabled"));
    let approved = docs.entry("pdf");
    let mut changes = Vec::new();
    let mut rotated = approved.clone();
    rotated.files[1].digest = prowess::digest(b"other");
    changes.push(rotated);
    let mut added = approved.clone();
    added.files.push(prowess::remote::RemoteFile {
        path: "b.md".to_owned(),
        uri: "skill://pdf/b.md".to_owned(),
        digest: prowess::digest(b"b"),
        size: 1,
    });
    changes.push(added);
    let mut removed = approved.clone();
    removed.files.pop();
    changes.push(removed);
    for changed in changes {
        docs.put(changed);
        insta::allow_duplicates! {
            insta::assert_snapshot!(status(), @"docs/pdf in mcp:docs/pdf is untrusted: changed on its server; to review and approve it again: prowess trust --mcp docs/pdf");
        }
        let refused = activated(&registry, "docs/pdf").unwrap_err();
        assert_eq!(
            refused.1,
            "skill docs/pdf is not trusted: it changed on its server and must be approved again"
        );
        docs.put(approved.clone());
        assert!(status().contains("approve it again"), "a change that was undone still ends the approval");
        docs.approve(&env, "pdf", GRANTED_NOTHING);
        assert!(status().contains("is enabled"));
    }
}

#[test]
fn an_approval_is_for_one_server_and_one_uri() {
    let env = RegistryEnv::new(Preset::Standard);
    let (docs, other) = (FakeServer::new("docs"), FakeServer::new("other"));
    docs.skill("pdf").skill("pdf/inner").approve(&env, "pdf", GRANTED_NOTHING);
    other.skill("pdf");
    let snapshot = open(&env, &[&docs, &other]).snapshot();
    let enabled: Vec<_> = snapshot.enabled().map(Skill::name).filter(|name| name.contains('/')).collect();
    assert_eq!(enabled, ["docs/pdf"], "neither the same URI on another server nor a nested skill");
}

#[test]
fn an_approval_can_be_withdrawn() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf").skill("other");
    docs.approve(&env, "pdf", GRANTED_NOTHING).approve(&env, "other", GRANTED_NOTHING);
    let standing = |path: &str| Approvals::load(&env.host_env()).status("docs", &docs.entry(path));
    assert_eq!(standing("pdf"), ApprovalStatus::Approved(GRANTED_NOTHING));
    withdraw("docs", Some("skill://pdf/SKILL.md"), &env.host_env()).unwrap();
    assert_eq!(
        (standing("pdf"), standing("other")),
        (ApprovalStatus::New, ApprovalStatus::Approved(GRANTED_NOTHING))
    );
    assert_eq!(withdraw("docs", None, &env.host_env()).unwrap().len(), 1);
    assert_eq!(standing("other"), ApprovalStatus::New);
}

#[test]
fn files_are_not_used_after_an_approval_was_withdrawn() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf").approve(&env, "pdf", GRANTED_NOTHING);
    let snapshot = open(&env, &[&docs]).snapshot();
    let skill = snapshot.get("docs/pdf").unwrap();
    assert!(activate(skill, None, &env.policy).is_ok());
    withdraw("docs", None, &env.host_env()).unwrap();
    assert_eq!(activate(skill, None, &env.policy).unwrap_err().code(), ErrorCode::Untrusted);
    assert_eq!(resources::read_bytes(skill, "SKILL.md").unwrap_err().code(), ErrorCode::Untrusted);
}

#[test]
fn an_unreadable_state_approves_nothing_and_is_not_overwritten() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf").approve(&env, "pdf", GRANTED_NOTHING);
    for broken in ["{", "[]", "{\"schema\":2,\"skills\":[]}"] {
        env.file("~/.prowess/state/approvals.json", broken);
        let snapshot = open(&env, &[&docs]).snapshot();
        assert!(snapshot.get("docs/pdf").is_none());
        assert!(
            snapshot.general_diagnostics().any(|diagnostic| diagnostic.diagnostic.code.as_str() == "SK096")
        );
        assert!(
            prowess::remote::approvals::approve("docs", &docs.entry("pdf"), GRANTED_NOTHING, &env.host_env())
                .is_err()
        );
        assert_eq!(std::fs::read_to_string(env.path("~/.prowess/state/approvals.json")).unwrap(), broken);
    }
}

#[test]
fn remote_skills_are_not_executed() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf").approve(&env, "pdf", GRANTED_NOTHING);
    let snapshot = open(&env, &[&docs]).snapshot();
    let refused = resources::read_skill_files(snapshot.get("docs/pdf").unwrap()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::AccessDenied);
    insta::assert_snapshot!(refused, @"cannot run files of docs/pdf: it comes from the MCP server docs. To run its scripts, get the skill from its author and install it: prowess install SOURCE");
    assert!(docs.reads().is_empty());
}

#[test]
fn errors_of_a_server_are_reported() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf");
    let mut entry = docs.entry("pdf");
    entry.files[0].uri = "skill://pdf/GONE.md".to_owned();
    docs.put(entry).approve(&env, "pdf", GRANTED_NOTHING);
    let registry = open(&env, &[&docs]);
    let (code, message) = activated(&registry, "docs/pdf").unwrap_err();
    assert_eq!(code, ErrorCode::NotFound);
    insta::assert_snapshot!(message, @"cannot read SKILL.md of docs/pdf from the MCP server docs: the server rejected the request: no such resource");
    assert_eq!(docs.doubts(), 1);
}

#[test]
fn invalid_entries_are_listed_with_the_reason() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf").skill("bad");
    docs.put(prowess::remote::RemoteEntry {
        problem: Some("it has no files".to_owned()),
        ..docs.entry("bad")
    });
    docs.put(prowess::remote::RemoteEntry { frontmatter: crate::fake_server::empty(), ..docs.entry("pdf") });
    insta::assert_snapshot!(remote_skill_lines(&env, &open(&env, &[&docs]).snapshot()), @r"
    docs/bad in mcp:docs/bad is invalid: it has no files
    docs/pdf in mcp:docs/pdf is invalid: name is missing
    ");
}

#[test]
fn files_on_disk_cannot_replace_a_remote_skill() {
    let env = RegistryEnv::new(Preset::Standard);
    env.file("mcp:docs/pdf/SKILL.md", "---\nname: pdf\ndescription: Fake.\n---\nfake\n");
    env.file("mcp:docs/pdf/fake.md", "fake");
    let docs = FakeServer::new("docs");
    docs.skill("pdf").approve(&env, "pdf", GRANTED_NOTHING);
    let registry = open(&env, &[&docs]);
    assert!(!activated(&registry, "docs/pdf").unwrap().contains("fake"));
    assert!(read(&registry, "docs/pdf", "fake.md").is_err());
    assert!(registry.snapshot().get("docs/pdf").unwrap().lock_entry().is_none());
}

#[test]
fn a_snapshot_stays_the_same_until_something_changes() {
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf");
    let registry = open(&env, &[&docs]);
    let before = registry.snapshot();
    assert!(std::sync::Arc::ptr_eq(&before, &registry.refresh()));
    docs.approve(&env, "pdf", GRANTED_NOTHING);
    let approved = registry.refresh();
    assert_eq!(approved.diff_from(&before).added, ["docs/pdf"]);
    docs.skill("more");
    assert_eq!(registry.refresh().all().len(), approved.all().len() + 1);
}

#[test]
fn errors_have_their_codes() {
    let error =
        ActivateError::from(prowess::remote::RemoteFileError::Outdated { name: "docs/pdf".to_owned() });
    assert_eq!(error.code(), ErrorCode::Conflict);
    insta::assert_snapshot!(error, @"skill docs/pdf changed since it was loaded in this conversation; activate it again before reading its files");
}

#[cfg(feature = "watch")]
#[test]
fn a_watcher_detects_new_listings_and_approvals() {
    use std::time::Duration;
    let env = RegistryEnv::new(Preset::Standard);
    let docs = FakeServer::new("docs");
    docs.skill("pdf").skill("more");
    let registry = std::sync::Arc::new(open(&env, &[&docs]));
    // Creates the state directory, so that it can be watched.
    docs.approve(&env, "more", GRANTED_NOTHING);
    let mut watcher = prowess::registry::Watcher::new(registry).unwrap();
    let mut next = || {
        let until = std::time::Instant::now() + Duration::from_secs(20);
        std::iter::repeat_with(|| watcher.wait_for_change(Duration::from_millis(100)))
            .take_while(|_| std::time::Instant::now() < until)
            .flatten()
            .next()
            .unwrap()
    };
    assert_eq!(next().added, ["docs/more"]);
    docs.approve(&env, "pdf", GRANTED_NOTHING);
    assert_eq!(next().added, ["docs/pdf"]);
    let mut changed = docs.entry("pdf");
    changed.files.pop();
    docs.put(changed);
    assert_eq!(next().removed, ["docs/pdf"]);
}
