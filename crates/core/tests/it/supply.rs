//! Skills from servers, whatever the server is.

use crate::supply_world::{Server, open};
use prowess::activate::{ActivateError, activate};
use prowess::disclose::{Request, catalog};
use prowess::policy::CatalogFormat;
use prowess::resource;
use prowess::supply::approvals::{Approvals, Grants, Standing, withdraw};
use prowess::{Contents, ErrorCode, Preset, Registry, Skill, Snapshot};
use prowess_testing::library::World;
use serde_json::json;

fn told(world: &World, snapshot: &Snapshot) -> String {
    let of_servers =
        snapshot.all().iter().filter(|skill| skill.supplied().is_some() || skill.root().is_folder());
    of_servers.map(|skill| world.tell(skill) + "\n").collect()
}

fn read(registry: &Registry, name: &str, path: &str) -> Result<String, (ErrorCode, String)> {
    let snapshot = registry.refresh();
    let skill = snapshot.all().iter().find(|skill| skill.name() == name).unwrap();
    let read = resource::read(skill, path, &registry.policy().limits);
    read.map(|read| read.content).map_err(|error| (error.code(), error.to_string()))
}

fn activated(registry: &Registry, name: &str) -> Result<String, (ErrorCode, String)> {
    let snapshot = registry.refresh();
    let skill = snapshot.all().iter().find(|skill| skill.name() == name).unwrap();
    let activated = activate(skill, None, registry.policy());
    activated.map(|activated| activated.content()).map_err(|error| (error.code(), error.to_string()))
}

const GRANTED_NOTHING: Grants = Grants { allow_tools: false, allow_run: false };

#[test]
fn names_are_in_the_space_of_their_server_and_shadow_nothing() {
    let world = World::new(Preset::Standard);
    world.skill("~/.agents/skills/pdf");
    let (docs, other) = (Server::new("docs"), Server::new("other"));
    docs.skill("pdf").skill("acme/billing/refunds").skill("acme/support/refunds");
    other.skill("pdf");
    for (server, path) in [(&docs, "pdf"), (&docs, "acme/billing/refunds"), (&other, "pdf")] {
        server.approve(&world, path, GRANTED_NOTHING);
    }
    let registry = open(&world, &[&docs, &other]);
    let snapshot = registry.snapshot();
    insta::assert_snapshot!(told(&world, &snapshot), @r"
    docs/acme/billing/refunds in mcp:docs/acme/billing/refunds is enabled
    docs/acme/support/refunds in mcp:docs/acme/support/refunds is untrusted: not approved; to see and approve it: prowess trust --mcp docs/acme/support/refunds
    docs/pdf in mcp:docs/pdf is enabled
    other/pdf in mcp:other/pdf is enabled
    pdf in /home/.agents/skills/pdf is enabled
    ");
    assert_eq!(snapshot.get("pdf").unwrap().supplied(), None, "the name alone is the user's own skill");
    assert!(snapshot.get("refunds").is_none(), "there is no name without its server");
    let said: Vec<_> = snapshot.general_diagnostics().map(|said| said.diagnostic.to_string()).collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    info[SK084]: docs/pdf has the name of other/pdf, pdf; they are different skills
    info[SK084]: other/pdf has the name of docs/pdf, pdf; they are different skills
    ");
    assert!(docs.reads().is_empty() && other.reads().is_empty(), "nothing was fetched for that");
}

#[test]
fn where_folders_are_what_counts_nothing_is_shadowed_either() {
    let world = World::new(Preset::App);
    world.skill(".agents/skills/pdf");
    let docs = Server::new("docs");
    docs.skill("pdf").approve(&world, "pdf", GRANTED_NOTHING);
    let snapshot = open(&world, &[&docs]).snapshot();
    assert_eq!(snapshot.get("pdf").unwrap().supplied(), None);
    assert!(snapshot.get("docs/pdf").unwrap().is_enabled());
    assert_eq!(snapshot.get("docs/pdf").unwrap().id(), "docs/pdf");
}

#[test]
fn a_name_outside_its_servers_space_is_invalid() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf");
    let stolen = prowess::supply::Offered { name: "pdf".to_owned(), ..docs.entry("pdf") };
    docs.put(stolen);
    let snapshot = open(&world, &[&docs]).snapshot();
    let skill = snapshot.all().iter().find(|skill| skill.supplied().is_some()).unwrap();
    assert_eq!(skill.status().as_str(), "invalid");
    assert_eq!(skill.reason().unwrap(), "it is not called docs/…");
}

#[test]
fn without_approval_nothing_is_handed_out_and_nothing_fetched() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf");
    let registry = open(&world, &[&docs]);
    let refused = Err((
        ErrorCode::Untrusted,
        "the skill docs/pdf is not trusted: the user has not approved it".to_owned(),
    ));
    assert_eq!(activated(&registry, "docs/pdf"), refused);
    assert_eq!(read(&registry, "docs/pdf", "references/a.md"), refused);
    assert!(docs.reads().is_empty());
    // What there is to see is in the entry.
    let snapshot = registry.snapshot();
    let skill = snapshot.all().iter().find(|skill| skill.name() == "docs/pdf").unwrap();
    let files: Vec<_> = Contents::of(skill).files.into_iter().map(|file| (file.path, file.bytes)).collect();
    assert_eq!(files, [("SKILL.md".to_owned(), 75), ("references/a.md".to_owned(), 2)]);
    assert!(docs.reads().is_empty());
}

#[test]
fn each_file_is_fetched_when_it_is_needed() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf").approve(&world, "pdf", GRANTED_NOTHING);
    let registry = open(&world, &[&docs]);
    insta::assert_snapshot!(activated(&registry, "docs/pdf").unwrap());
    assert_eq!(docs.reads(), ["skill://pdf/SKILL.md"]);
    assert_eq!(read(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
    assert_eq!(docs.reads(), ["skill://pdf/SKILL.md", "skill://pdf/references/a.md"]);
}

#[test]
fn every_form_of_activation_says_where_it_comes_from_first() {
    for preset in [Preset::Standard, Preset::SkillTool, Preset::Harness, Preset::Triggers, Preset::Chat] {
        let world = World::new(preset);
        let docs = Server::new("docs");
        docs.skill("pdf").approve(&world, "pdf", GRANTED_NOTHING);
        let registry = open(&world, &[&docs]);
        let content = activated(&registry, "docs/pdf").unwrap();
        let origin = content.find("comes from the MCP server docs, skill://pdf/SKILL.md").unwrap();
        assert!(origin < content.find("Follow references").unwrap(), "{preset}: {content}");
    }
}

#[test]
fn every_catalog_says_where_it_comes_from() {
    let mut world = World::new(Preset::Standard);
    world.policy.scan.roots.clear();
    let docs = Server::new("docs");
    docs.skill("pdf").approve(&world, "pdf", GRANTED_NOTHING);
    let snapshot = open(&world, &[&docs]).snapshot();
    let mut all = String::new();
    for format in [
        CatalogFormat::Xml,
        CatalogFormat::Json,
        CatalogFormat::Bullets,
        CatalogFormat::Tool,
        CatalogFormat::Tiers,
    ] {
        let mut policy = world.policy.clone();
        for name_only in [false, true] {
            policy.selection.name_only = if name_only { vec!["docs/pdf".to_owned()] } else { Vec::new() };
            let text = catalog(&snapshot, &policy, &Request { format, ..Request::of(&policy) }).text;
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
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf").approve(&world, "pdf", GRANTED_NOTHING);
    let registry = open(&world, &[&docs]);
    assert!(read(&registry, "docs/pdf", "references/a.md").is_ok());
    docs.hand_out("skill://pdf/references/a.md", b"B\n");
    let (code, message) = read(&registry, "docs/pdf", "references/a.md").unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    insta::assert_snapshot!(message, @"references/a.md of docs/pdf is not used: its digest is not the one it was listed with. The skill has changed at its server and needs approval again: prowess trust --mcp docs/pdf");
    assert_eq!(docs.doubts(), 1, "the server is asked again");
    docs.hand_out("skill://pdf/references/a.md", b"A\nmore");
    let (_, message) = read(&registry, "docs/pdf", "references/a.md").unwrap_err();
    assert!(message.contains("it has 6 bytes and was listed with 2"), "{message}");
    docs.hand_out("skill://pdf/SKILL.md", b"---\nname: pdf\ndescription: Evil.\n---\nx\n");
    assert_eq!(activated(&registry, "docs/pdf").unwrap_err().0, ErrorCode::Untrusted);
}

#[test]
fn a_size_that_is_wrong_is_refused_even_where_the_digest_is_right() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf");
    let mut entry = docs.entry("pdf");
    entry.files[1].size = 3;
    docs.put(entry).approve(&world, "pdf", GRANTED_NOTHING);
    let registry = open(&world, &[&docs]);
    let (code, message) = read(&registry, "docs/pdf", "references/a.md").unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    assert!(message.contains("it has 2 bytes and was listed with 3"), "{message}");
}

#[test]
fn a_file_that_was_not_listed_is_not_even_asked_for() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf").approve(&world, "pdf", GRANTED_NOTHING);
    docs.hand_out("skill://pdf/references/b.md", b"B");
    let registry = open(&world, &[&docs]);
    let (code, message) = read(&registry, "docs/pdf", "references/b.md").unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    insta::assert_snapshot!(message, @"references/b.md is not among the files that docs/pdf was listed with. If the server has it now, the skill has changed and needs approval again: prowess trust --mcp docs/pdf");
    assert_eq!(read(&registry, "docs/pdf", "references").unwrap_err().0, ErrorCode::IsDirectory);
    for path in ["../other/SKILL.md", "/etc/passwd", "a\0b", "skill://other/SKILL.md"] {
        assert!(read(&registry, "docs/pdf", path).is_err(), "{path}");
    }
    assert!(docs.reads().is_empty(), "{:?}", docs.reads());
}

#[test]
fn the_frontmatter_has_to_be_the_one_that_was_listed() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    let source = "---\nname: pdf\ndescription: Does pdf.\nallowed-tools: Bash\n---\nx\n";
    docs.offer("pdf", json!({"name": "pdf", "description": "Does pdf."}), &[("SKILL.md", source)]);
    docs.approve(&world, "pdf", GRANTED_NOTHING);
    let registry = open(&world, &[&docs]);
    let (code, message) = activated(&registry, "docs/pdf").unwrap_err();
    assert_eq!(code, ErrorCode::Untrusted);
    insta::assert_snapshot!(message, @"the SKILL.md of docs/pdf is not used: its frontmatter is not the one that the skill was listed with (allowed-tools)");
}

#[test]
fn allowed_tools_count_only_where_the_user_grants_them() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    let source = "---\nname: pdf\ndescription: Does pdf.\nallowed-tools: Bash Read\n---\nx\n";
    let frontmatter = json!({"name": "pdf", "description": "Does pdf.", "allowed-tools": "Bash Read"});
    docs.offer("pdf", frontmatter, &[("SKILL.md", source)]);
    let tools = |allow_tools| {
        docs.approve(&world, "pdf", Grants { allow_tools, allow_run: false });
        let registry = open(&world, &[&docs]);
        let snapshot = registry.snapshot();
        let activated = activate(snapshot.get("docs/pdf").unwrap(), None, registry.policy()).unwrap();
        (activated.allowed_tools.clone(), activated.frontmatter().contains_key("allowed-tools"))
    };
    assert_eq!(tools(false), (None, false));
    assert_eq!(tools(true), (Some(vec!["Bash".to_owned(), "Read".to_owned()]), true));
}

#[test]
fn approval_is_bound_to_every_file_and_over_once_one_changes() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf").approve(&world, "pdf", GRANTED_NOTHING);
    let registry = open(&world, &[&docs]);
    let status = || told(&world, &registry.refresh());
    assert!(status().contains("is enabled"));
    let approved = docs.entry("pdf");
    let mut changes = Vec::new();
    let mut rotated = approved.clone();
    rotated.files[1].digest = prowess::digest(b"other");
    changes.push(rotated);
    let mut added = approved.clone();
    added.files.push(prowess::supply::OfferedFile {
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
            insta::assert_snapshot!(status(), @"docs/pdf in mcp:docs/pdf is untrusted: has changed at its server and needs approval again: prowess trust --mcp docs/pdf");
        }
        let refused = activated(&registry, "docs/pdf").unwrap_err();
        assert_eq!(
            refused.1,
            "the skill docs/pdf is not trusted: it has changed at its server and needs approval again"
        );
        docs.put(approved.clone());
        assert!(status().contains("needs approval again"), "what changes back was still changed");
        docs.approve(&world, "pdf", GRANTED_NOTHING);
        assert!(status().contains("is enabled"));
    }
}

#[test]
fn approval_is_of_one_server_and_one_uri() {
    let world = World::new(Preset::Standard);
    let (docs, other) = (Server::new("docs"), Server::new("other"));
    docs.skill("pdf").skill("pdf/inner").approve(&world, "pdf", GRANTED_NOTHING);
    other.skill("pdf");
    let snapshot = open(&world, &[&docs, &other]).snapshot();
    let enabled: Vec<_> = snapshot.enabled().map(Skill::name).filter(|name| name.contains('/')).collect();
    assert_eq!(enabled, ["docs/pdf"], "neither the same URI elsewhere nor a skill inside it");
}

#[test]
fn approval_can_be_taken_back() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf").skill("other");
    docs.approve(&world, "pdf", GRANTED_NOTHING).approve(&world, "other", GRANTED_NOTHING);
    let standing = |path: &str| Approvals::load(&world.surroundings()).standing("docs", &docs.entry(path));
    assert_eq!(standing("pdf"), Standing::Approved(GRANTED_NOTHING));
    withdraw("docs", Some("skill://pdf/SKILL.md"), &world.surroundings()).unwrap();
    assert_eq!((standing("pdf"), standing("other")), (Standing::New, Standing::Approved(GRANTED_NOTHING)));
    assert_eq!(withdraw("docs", None, &world.surroundings()).unwrap().len(), 1);
    assert_eq!(standing("other"), Standing::New);
}

#[test]
fn a_state_that_cannot_be_read_approves_nothing_and_is_kept() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf").approve(&world, "pdf", GRANTED_NOTHING);
    for broken in ["{", "[]", "{\"schema\":2,\"skills\":[]}"] {
        world.file("~/.prowess/state/approvals.json", broken);
        let snapshot = open(&world, &[&docs]).snapshot();
        assert!(snapshot.get("docs/pdf").is_none());
        assert!(snapshot.general_diagnostics().any(|said| said.diagnostic.code.as_str() == "SK096"));
        assert!(
            prowess::supply::approvals::approve(
                "docs",
                &docs.entry("pdf"),
                GRANTED_NOTHING,
                &world.surroundings()
            )
            .is_err()
        );
        assert_eq!(std::fs::read_to_string(world.path("~/.prowess/state/approvals.json")).unwrap(), broken);
    }
}

#[test]
fn nothing_of_it_is_run() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf").approve(&world, "pdf", GRANTED_NOTHING);
    let snapshot = open(&world, &[&docs]).snapshot();
    let refused = resource::material(snapshot.get("docs/pdf").unwrap()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::AccessDenied);
    insta::assert_snapshot!(refused, @"nothing of docs/pdf is run here: it comes from the MCP server docs. To run what it brings, get the skill from its author and install it: prowess install SOURCE");
    assert!(docs.reads().is_empty());
}

#[test]
fn a_server_that_fails_is_told_and_not_believed() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf");
    let mut entry = docs.entry("pdf");
    entry.files[0].uri = "skill://pdf/GONE.md".to_owned();
    docs.put(entry).approve(&world, "pdf", GRANTED_NOTHING);
    let registry = open(&world, &[&docs]);
    let (code, message) = activated(&registry, "docs/pdf").unwrap_err();
    assert_eq!(code, ErrorCode::NotFound);
    insta::assert_snapshot!(message, @"SKILL.md of docs/pdf cannot be read from the MCP server docs: the server refuses: no such resource");
    assert_eq!(docs.doubts(), 1);
}

#[test]
fn invalid_entries_are_shown_with_the_reason() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf").skill("bad");
    docs.put(prowess::supply::Offered { problem: Some("it has no files".to_owned()), ..docs.entry("bad") });
    docs.put(prowess::supply::Offered { frontmatter: crate::supply_world::empty(), ..docs.entry("pdf") });
    insta::assert_snapshot!(told(&world, &open(&world, &[&docs]).snapshot()), @r"
    docs/bad in mcp:docs/bad is invalid: it has no files
    docs/pdf in mcp:docs/pdf is invalid: name is missing
    ");
}

#[test]
fn nothing_on_disk_is_taken_for_a_servers_skill() {
    let world = World::new(Preset::Standard);
    world.file("mcp:docs/pdf/SKILL.md", "---\nname: pdf\ndescription: Fake.\n---\nfake\n");
    world.file("mcp:docs/pdf/fake.md", "fake");
    let docs = Server::new("docs");
    docs.skill("pdf").approve(&world, "pdf", GRANTED_NOTHING);
    let registry = open(&world, &[&docs]);
    assert!(!activated(&registry, "docs/pdf").unwrap().contains("fake"));
    assert!(read(&registry, "docs/pdf", "fake.md").is_err());
    assert!(registry.snapshot().get("docs/pdf").unwrap().locked().is_none());
}

#[test]
fn a_snapshot_stays_the_same_until_something_changes() {
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf");
    let registry = open(&world, &[&docs]);
    let before = registry.snapshot();
    assert!(std::sync::Arc::ptr_eq(&before, &registry.refresh()));
    docs.approve(&world, "pdf", GRANTED_NOTHING);
    let approved = registry.refresh();
    assert_eq!(approved.since(&before).added, ["docs/pdf"]);
    docs.skill("more");
    assert_eq!(registry.refresh().all().len(), approved.all().len() + 1);
}

#[test]
fn errors_have_their_codes() {
    let error = ActivateError::from(prowess::supply::Unverified::Held { name: "docs/pdf".to_owned() });
    assert_eq!(error.code(), ErrorCode::Conflict);
    insta::assert_snapshot!(error, @"the skill docs/pdf has changed since it was loaded in this conversation; activate it again before you read its files");
}

#[cfg(feature = "watch")]
#[test]
fn a_watcher_notices_what_servers_offer_and_what_the_user_approves() {
    use std::time::Duration;
    let world = World::new(Preset::Standard);
    let docs = Server::new("docs");
    docs.skill("pdf").skill("more");
    let registry = std::sync::Arc::new(open(&world, &[&docs]));
    // So that there is a state to watch.
    docs.approve(&world, "more", GRANTED_NOTHING);
    let mut watcher = prowess::registry::Watcher::new(registry).unwrap();
    let mut next = || {
        let until = std::time::Instant::now() + Duration::from_secs(20);
        std::iter::repeat_with(|| watcher.next(Duration::from_millis(100)))
            .take_while(|_| std::time::Instant::now() < until)
            .flatten()
            .next()
            .unwrap()
    };
    assert_eq!(next().added, ["docs/more"]);
    docs.approve(&world, "pdf", GRANTED_NOTHING);
    assert_eq!(next().added, ["docs/pdf"]);
    let mut changed = docs.entry("pdf");
    changed.files.pop();
    docs.put(changed);
    assert_eq!(next().removed, ["docs/pdf"]);
}
