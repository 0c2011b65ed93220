//! Prowess as the host of servers that others wrote: good ones, over both transports.

use std::sync::Arc;
use std::time::Duration;

use crate::host_world::{World, activate, files, official, read, serve_if_asked, skill};
use prowess::resource;
use prowess::supply::Supply;
use prowess::supply::approvals::Grants;
use prowess_config::{McpSource, Reach};
use prowess_mcp::host::{Sources, forget, prune};
use serde_json::json;

const NOTHING: Grants = Grants { allow_tools: false, allow_run: false };

/// Not a test, but what a server that is started does.
#[test]
fn serves() {
    serve_if_asked();
}

fn url(label: &str, url: &str) -> McpSource {
    let reach = Reach::Url { url: url.to_owned(), token_env: None };
    McpSource { label: label.to_owned(), reach, timeout_ms: 20_000, enabled: true }
}

/// Lists, approves, loads and reads, and nothing before it is needed.
fn works(world: &World, sources: &Sources, script: &crate::host_world::Script) {
    let registry = world.registry(sources);
    assert_eq!(
        world.told(&registry),
        "docs/acme/refunds is untrusted: not approved; to see and approve it: prowess trust --mcp docs/acme/refunds\n\
         docs/pdf is untrusted: not approved; to see and approve it: prowess trust --mcp docs/pdf\n"
    );
    world.approve(sources, "docs/pdf", NOTHING);
    registry.refresh();
    let read_so_far = || {
        script
            .requests()
            .into_iter()
            .filter(|request| request.starts_with("resources/read"))
            .collect::<Vec<_>>()
    };
    let snapshot = registry.snapshot();
    let children = |path: &str| {
        let children = resource::children(snapshot.get("docs/pdf").unwrap(), path).ok()?;
        Some(children.into_iter().map(|child| (child.name, child.bytes)).collect::<Vec<_>>())
    };
    let references = ("references".to_owned(), None);
    assert!(children("").unwrap().contains(&references));
    assert_eq!(children("references"), Some(vec![("a.md".to_owned(), Some(2))]));
    assert_eq!(children("references/a.md"), None);
    assert_eq!(read_so_far(), [] as [&str; 0], "neither connecting nor listing nor approving fetches files");
    assert!(activate(&registry, "docs/pdf").unwrap().contains("Follow references/a.md."));
    assert_eq!(read(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
    assert_eq!(
        read_so_far(),
        ["resources/read skill://pdf/SKILL.md", "resources/read skill://pdf/references/a.md"]
    );
    assert!(activate(&registry, "docs/acme/refunds").unwrap_err().contains("the user has not approved it"));
}

#[test]
fn over_standard_streams() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf"), skill("acme/refunds")]);
    let sources = world.sources(&script);
    works(&world, &sources, &script);
    assert_eq!(sources.all()[0].ask().unwrap().protocol, "2026-07-28");
}

#[test]
fn over_http_with_events_and_with_json() {
    for json_response in [false, true] {
        let world = World::new();
        let script = world.script("docs", &[skill("pdf"), skill("acme/refunds")]);
        let server = official::serve_http(&script, None, json_response);
        let sources = world.sources_of(&[url("docs", &server.url)], &script);
        works(&world, &sources, &script);
        assert_eq!(sources.all()[0].ask().unwrap().protocol, "2026-07-28");
    }
}

#[test]
fn every_version_of_the_protocol_that_is_known_will_do() {
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        for over_http in [false, true] {
            let world = World::new();
            let script = world.script("docs", &[skill("pdf")]);
            script.write(&json!({"skills": [skill("pdf")], "version": version}));
            let server = over_http.then(|| official::serve_http(&script, None, false));
            let source =
                server.as_ref().map_or_else(|| World::command("docs"), |server| url("docs", &server.url));
            let sources = world.sources_of(&[source], &script);
            let report = sources.all()[0].ask().unwrap();
            assert_eq!((report.protocol.as_str(), report.skills), (version, 1), "over http: {over_http}");
            world.approve(&sources, "docs/pdf", NOTHING);
            assert_eq!(read(&world.registry(&sources), "docs/pdf", "references/a.md").unwrap(), "A\n");
        }
    }
}

#[test]
fn a_server_that_ignores_what_is_new_is_asked_in_the_older_way() {
    let world = World::new();
    for raw in ["ignores what is new", "knows the older way"] {
        let script = world.script("docs", &[skill("pdf")]);
        script.write(&json!({"raw": raw, "skills": [skill("pdf")]}));
        let source = McpSource { timeout_ms: 2_000, ..World::command("docs") };
        let sources = world.sources_of(&[source], &script);
        assert_eq!(sources.all()[0].ask().unwrap().protocol, "2025-06-18");
        world.approve(&sources, "docs/pdf", NOTHING);
        assert_eq!(read(&world.registry(&sources), "docs/pdf", "references/a.md").unwrap(), "A\n");
        forget("docs", &world.surroundings());
    }
}

#[test]
fn a_token_is_sent_from_the_variable_that_holds_it() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf")]);
    let server = official::serve_http(&script, Some("secret"), false);
    let with = |variable: Option<&str>| McpSource {
        reach: Reach::Url { url: server.url.clone(), token_env: variable.map(str::to_owned) },
        ..url("docs", &server.url)
    };
    let ask = |source: McpSource| {
        let environment = [("TOKEN".into(), "secret".into()), ("OTHER".into(), "wrong".into())];
        Sources::new(&[source], &world.surroundings(), environment).all()[0]
            .ask()
            .map_err(|error| error.to_string())
    };
    assert_eq!(ask(with(Some("TOKEN"))).unwrap().skills, 1);
    for (variable, why) in [
        (None, "HTTP 401 Unauthorized: a token is needed, or another one"),
        (Some("OTHER"), "HTTP 401 Unauthorized: a token is needed, or another one"),
        (Some("MISSING"), "the variable MISSING with its token is not set"),
    ] {
        let error = ask(with(variable)).unwrap_err();
        assert!(error.contains(why), "{error}");
        assert!(!error.contains("secret") && !error.contains("wrong"), "{error}");
    }
}

#[test]
fn pages_are_put_together() {
    let world = World::new();
    let skills: Vec<_> = (0..25).map(|n| skill(&format!("s{n:02}"))).collect();
    let script = world.script("docs", &skills);
    script.write(&json!({"skills": skills, "page": 10}));
    let sources = world.sources(&script);
    assert_eq!(world.registry(&sources).snapshot().all().len(), 25);
    assert_eq!(script.requests(), ["skills/list", "skills/list 10", "skills/list 20"]);
}

#[test]
fn the_same_uri_at_two_servers_is_two_skills() {
    let world = World::new();
    let one = world.script("one", &[skill("pdf")]);
    let mut other_skill = skill("pdf");
    other_skill["files"]["references/a.md"] = json!("B\n");
    let two = world.script("two", &[other_skill]);
    let (one_server, two_server) =
        (official::serve_http(&one, None, false), official::serve_http(&two, None, false));
    let sources = world.sources_of(&[url("one", &one_server.url), url("two", &two_server.url)], &one);
    let registry = world.registry(&sources);
    world.approve(&sources, "one/pdf", NOTHING);
    registry.refresh();
    assert_eq!(read(&registry, "one/pdf", "references/a.md").unwrap(), "A\n");
    assert!(read(&registry, "two/pdf", "references/a.md").is_err(), "approval is of one server");
    world.approve(&sources, "two/pdf", NOTHING);
    registry.refresh();
    assert_eq!(read(&registry, "two/pdf", "references/a.md").unwrap(), "B\n");
    let asked = |script: &crate::host_world::Script| {
        script.requests().iter().filter(|line| line.contains("resources/read")).count()
    };
    assert_eq!((asked(&one), asked(&two)), (1, 1), "each server is asked for its own");
}

#[test]
fn a_skill_that_is_not_listed_can_be_loaded_by_its_uri() {
    let world = World::new();
    let mut hidden = skill("hidden");
    hidden["unlisted"] = json!(true);
    let script = world.script("docs", &[skill("pdf"), hidden]);
    let sources = world.sources(&script);
    let registry = world.registry(&sources);
    assert!(!world.told(&registry).contains("hidden"));
    let source = sources.get("docs").unwrap();
    assert_eq!(source.refer("skill://hidden/SKILL.md").unwrap().name, "docs/hidden");
    let refused = source.refer("skill://none/SKILL.md").unwrap_err().to_string();
    assert_eq!(refused, "the server refuses: No skill is served there");
    world.approve(&sources, "docs/hidden", NOTHING);
    registry.refresh();
    assert_eq!(read(&registry, "docs/hidden", "references/a.md").unwrap(), "A\n");
    // Another process knows it by the approval.
    drop((registry, sources));
    forget("docs", &world.surroundings());
    let sources = world.sources(&script);
    assert!(world.told(&world.registry(&sources)).contains("docs/hidden is enabled"));
}

#[test]
fn a_listing_is_kept_for_as_long_as_the_server_says() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf")]);
    let lists = || script.requests().iter().filter(|line| *line == "skills/list").count();
    for _ in 0..3 {
        world.registry(&world.sources(&script));
    }
    assert_eq!(lists(), 3, "not at all where it says nought");
    script.write(&json!({"skills": [skill("pdf")], "ttl": 600_000}));
    world.registry(&world.sources(&script));
    assert_eq!(lists(), 4);
    for _ in 0..3 {
        let sources = world.sources(&script);
        assert_eq!(world.registry(&sources).snapshot().all().len(), 1);
    }
    assert_eq!(lists(), 4, "no server was started for that");
    let moved = McpSource { timeout_ms: 19_000, ..World::command("docs") };
    world.registry(&world.sources_of(&[moved], &script));
    assert_eq!(lists(), 4, "another patience is the same server");
    let mut other = World::command("docs");
    if let Reach::Command { args, .. } = &mut other.reach {
        args.push("--quiet".to_owned());
    }
    world.registry(&world.sources_of(&[other], &script));
    assert_eq!(lists(), 5, "another command is another server");
}

#[test]
fn files_are_kept_and_hashed_each_time() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf")]);
    script.write(&json!({"skills": [skill("pdf")], "ttl": 600_000}));
    let sources = world.sources(&script);
    let registry = world.registry(&sources);
    world.approve(&sources, "docs/pdf", NOTHING);
    registry.refresh();
    let reads = || script.requests().iter().filter(|line| line.starts_with("resources/read")).count();
    for _ in 0..3 {
        assert_eq!(read(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
    }
    assert_eq!(reads(), 1);
    let kept = files(&world.state().join("docs/files"));
    assert_eq!(kept.len(), 1);
    assert!(!kept[0].to_string_lossy().contains("SKILL"), "no name in there is a skill's");
    // Somebody changes what is kept: it is fetched again.
    std::fs::write(&kept[0], "E\n").unwrap();
    assert_eq!(read(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
    assert_eq!(reads(), 2);
    assert_eq!(std::fs::read(&kept[0]).unwrap(), b"A\n");
    // The server may be gone by now.
    drop((registry, sources));
    script.write(&json!({"raw": "ends at once"}));
    let sources = world.sources(&script);
    let registry = world.registry(&sources);
    assert_eq!(read(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
    assert!(read(&registry, "docs/pdf", "scripts/run.sh").is_err());
}

#[test]
fn what_is_kept_is_no_skill_of_the_machine() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf")]);
    let sources = world.sources(&script);
    let registry = world.registry(&sources);
    world.approve(&sources, "docs/pdf", NOTHING);
    registry.refresh();
    activate(&registry, "docs/pdf").unwrap();
    assert!(!files(&world.state()).is_empty());
    let mut policy = world.policy.clone().with_roots([
        world.state(),
        world.state().join("docs"),
        world.path("home/.prowess"),
    ]);
    policy.scan.depth = 100;
    let scanned =
        prowess::Registry::open_in(policy, world.surroundings(), &prowess::Progress::default()).snapshot();
    assert_eq!(scanned.enabled().count(), 0, "{:?}", scanned.all());
}

#[test]
fn what_is_kept_of_a_server_goes_with_it() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf")]);
    world.registry(&world.sources(&script));
    let (docs, world_) = (World::command("docs"), world.surroundings());
    assert_eq!(prune(std::slice::from_ref(&docs), &world_), [] as [&str; 0]);
    assert!(world.state().join("docs").exists());
    assert_eq!(prune(&[McpSource { label: "other".to_owned(), ..docs }], &world_), ["docs"]);
    assert!(!world.state().join("docs").exists());
    for label in ["..", "docs/../..", "", "/"] {
        assert!(!forget(label, &world_), "{label}");
    }
    assert!(world.path("home/.prowess").exists());
}

#[test]
fn a_server_that_is_switched_off_is_not_started() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf")]);
    let sources = world.sources_of(&[McpSource { enabled: false, ..World::command("docs") }], &script);
    assert!(sources.supplies().is_empty());
    assert!(script.requests().is_empty());
}

#[test]
fn notices_of_change_and_time_lead_to_a_new_listing() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf")]);
    script.write(&json!({"skills": [skill("pdf")], "ttl": 600_000, "fault": "tells of changes"}));
    let sources = world.sources(&script);
    let registry = world.registry(&sources);
    assert_eq!(registry.snapshot().all().len(), 1);
    script.write(&json!({"skills": [skill("pdf"), skill("more")], "ttl": 600_000}));
    // A notice came with the first listing; whether it is handled before or after is open.
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while registry.refresh().all().len() < 2 && std::time::Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(registry.refresh().all().len(), 2);
    let same = registry.snapshot();
    assert!(Arc::ptr_eq(&same, &registry.refresh()));
}

#[test]
fn bytes_that_are_no_text_come_as_they_are() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf")]);
    script.write(&json!({"skills": [skill("pdf")], "fault": "hands out blobs"}));
    let sources = world.sources(&script);
    let registry = world.registry(&sources);
    world.approve(&sources, "docs/pdf", NOTHING);
    registry.refresh();
    assert_eq!(read(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
}

#[test]
fn the_largest_file_that_a_skill_may_have_is_read() {
    for over_http in [false, true] {
        let world = World::new();
        let source = "---\nname: big\ndescription: Is large.\n---\nx\n";
        let big = "\u{1}é\n".repeat((16 * 1024 * 1024 - source.len()) / 4);
        let skill = json!({"path": "big", "files": {"SKILL.md": source, "big.txt": big},
            "frontmatter": {"name": "big", "description": "Is large."}});
        let script = world.script("docs", &[skill]);
        let server = over_http.then(|| official::serve_http(&script, None, true));
        let source =
            server.as_ref().map_or_else(|| World::command("docs"), |server| url("docs", &server.url));
        let source = McpSource { timeout_ms: 120_000, ..source };
        let sources = world.sources_of(&[source], &script);
        let registry = world.registry(&sources);
        world.approve(&sources, "docs/big", NOTHING);
        let snapshot = registry.refresh();
        let read = prowess::resource::read_bytes(snapshot.get("docs/big").unwrap(), "big.txt").unwrap();
        assert_eq!(read.bytes.len(), big.len());
    }
}

#[test]
fn sources_say_what_they_are() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf")]);
    let sources = world.sources(&script);
    let source = sources.get("docs").unwrap();
    assert_eq!((source.label(), source.title().as_str()), ("docs", "MCP server docs"));
    assert_eq!(source.configuration().label, "docs");
    assert!(sources.get("other").is_none());
}
