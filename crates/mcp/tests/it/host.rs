//! Prowess as the host of valid servers, over both transports.

use std::sync::Arc;
use std::time::Duration;

use crate::host_support::{
    NO_GRANTS, TestHost, activate_skill, approved, list_files, official, read_file, serve_if_child, skill,
};
use prowess::remote::RemoteSource;
use prowess::resources;
use prowess_config::{McpSource, McpTransport};
use prowess_mcp::host::{McpRemoteSources, prune_caches, remove_cache};
use serde_json::json;

/// The entry point of a server process; not a test.
#[test]
fn serve_as_child() {
    serve_if_child();
}

fn url(label: &str, url: &str) -> McpSource {
    let transport = McpTransport::Url { url: url.to_owned(), token_env: None };
    McpSource { label: label.to_owned(), transport, timeout_ms: 20_000, enabled: true }
}

/// Lists, approves, loads and reads, and checks that nothing is fetched before it is needed.
fn check_source(host: &TestHost, sources: &McpRemoteSources, script: &crate::host_support::ServerScript) {
    let registry = host.registry(sources);
    assert_eq!(
        host.report(&registry),
        "docs/acme/refunds is untrusted: not approved; to review and approve it: prowess trust --mcp docs/acme/refunds\n\
         docs/pdf is untrusted: not approved; to review and approve it: prowess trust --mcp docs/pdf\n"
    );
    host.approve(sources, "docs/pdf", NO_GRANTS);
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
        let children = resources::list_dir(snapshot.get("docs/pdf").unwrap(), path).ok()?;
        Some(children.into_iter().map(|child| (child.name, child.bytes)).collect::<Vec<_>>())
    };
    let references = ("references".to_owned(), None);
    assert!(children("").unwrap().contains(&references));
    assert_eq!(children("references"), Some(vec![("a.md".to_owned(), Some(2))]));
    assert_eq!(children("references/a.md"), None);
    assert_eq!(read_so_far(), [] as [&str; 0], "connecting, listing and approving fetch no files");
    assert!(activate_skill(&registry, "docs/pdf").unwrap().contains("Follow references/a.md."));
    assert_eq!(read_file(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
    assert_eq!(
        read_so_far(),
        ["resources/read skill://pdf/SKILL.md", "resources/read skill://pdf/references/a.md"]
    );
    assert!(
        activate_skill(&registry, "docs/acme/refunds").unwrap_err().contains("the user has not approved it")
    );
}

#[test]
fn skills_are_used_over_stdio() {
    let host = TestHost::new();
    let script = host.script("docs", &[skill("pdf"), skill("acme/refunds")]);
    let sources = host.sources(&script);
    check_source(&host, &sources, &script);
    assert_eq!(sources.all()[0].refresh().unwrap().protocol, "2026-07-28");
}

#[test]
fn skills_are_used_over_http_with_events_and_with_json() {
    for json_response in [false, true] {
        let host = TestHost::new();
        let script = host.script("docs", &[skill("pdf"), skill("acme/refunds")]);
        let server = official::serve_http(&script, None, json_response);
        let sources = host.sources_of(&[url("docs", &server.url)], &script);
        check_source(&host, &sources, &script);
        assert_eq!(sources.all()[0].refresh().unwrap().protocol, "2026-07-28");
    }
}

#[test]
fn all_known_versions_of_the_protocol_are_supported() {
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        for over_http in [false, true] {
            let host = TestHost::new();
            let script = host.script("docs", &[skill("pdf")]);
            script.write(&json!({"skills": [skill("pdf")], "version": version}));
            let server = over_http.then(|| official::serve_http(&script, None, false));
            let source =
                server.as_ref().map_or_else(|| TestHost::command("docs"), |server| url("docs", &server.url));
            let sources = host.sources_of(&[source], &script);
            let report = sources.all()[0].refresh().unwrap();
            assert_eq!((report.protocol.as_str(), report.skills), (version, 1), "over http: {over_http}");
            host.approve(&sources, "docs/pdf", NO_GRANTS);
            assert_eq!(read_file(&host.registry(&sources), "docs/pdf", "references/a.md").unwrap(), "A\n");
        }
    }
}

#[test]
fn the_host_falls_back_to_the_older_handshake() {
    let host = TestHost::new();
    for raw in ["ignores discover", "older handshake only"] {
        let script = host.script("docs", &[skill("pdf")]);
        script.write(&json!({"raw": raw, "skills": [skill("pdf")]}));
        let source = McpSource { timeout_ms: 2_000, ..TestHost::command("docs") };
        let sources = host.sources_of(&[source], &script);
        assert_eq!(sources.all()[0].refresh().unwrap().protocol, "2025-06-18");
        host.approve(&sources, "docs/pdf", NO_GRANTS);
        assert_eq!(read_file(&host.registry(&sources), "docs/pdf", "references/a.md").unwrap(), "A\n");
        remove_cache("docs", &host.host_env());
    }
}

#[test]
fn a_token_is_read_from_a_variable() {
    let host = TestHost::new();
    let script = host.script("docs", &[skill("pdf")]);
    let server = official::serve_http(&script, Some("secret"), false);
    let with_token = |variable: Option<&str>| McpSource {
        transport: McpTransport::Url { url: server.url.clone(), token_env: variable.map(str::to_owned) },
        ..url("docs", &server.url)
    };
    let ask = |source: McpSource| {
        let environment = [("TOKEN".into(), "secret".into()), ("OTHER".into(), "wrong".into())];
        McpRemoteSources::new(&[source], &host.host_env(), environment).all()[0]
            .refresh()
            .map_err(|error| error.to_string())
    };
    assert_eq!(ask(with_token(Some("TOKEN"))).unwrap().skills, 1);
    for (variable, reason) in [
        (None, "HTTP 401 Unauthorized: the token is missing or invalid"),
        (Some("OTHER"), "HTTP 401 Unauthorized: the token is missing or invalid"),
        (Some("MISSING"), "the environment variable MISSING with its token is not set"),
    ] {
        let error = ask(with_token(variable)).unwrap_err();
        assert!(error.contains(reason), "{error}");
        assert!(!error.contains("secret") && !error.contains("wrong"), "{error}");
    }
}

#[test]
fn all_pages_are_fetched() {
    let host = TestHost::new();
    let skills: Vec<_> = (0..25).map(|n| skill(&format!("s{n:02}"))).collect();
    let script = host.script("docs", &skills);
    script.write(&json!({"skills": skills, "page": 10}));
    let sources = host.sources(&script);
    assert_eq!(host.registry(&sources).snapshot().all().len(), 25);
    assert_eq!(script.requests(), ["skills/list", "skills/list 10", "skills/list 20"]);
}

#[test]
fn the_same_uri_on_two_servers_is_two_skills() {
    let host = TestHost::new();
    let first = host.script("one", &[skill("pdf")]);
    let mut other_skill = skill("pdf");
    other_skill["files"]["references/a.md"] = json!("B\n");
    let second = host.script("two", &[other_skill]);
    let (one_server, two_server) =
        (official::serve_http(&first, None, false), official::serve_http(&second, None, false));
    let sources = host.sources_of(&[url("one", &one_server.url), url("two", &two_server.url)], &first);
    let registry = host.registry(&sources);
    host.approve(&sources, "one/pdf", NO_GRANTS);
    registry.refresh();
    assert_eq!(read_file(&registry, "one/pdf", "references/a.md").unwrap(), "A\n");
    assert!(read_file(&registry, "two/pdf", "references/a.md").is_err(), "an approval is for one server");
    host.approve(&sources, "two/pdf", NO_GRANTS);
    registry.refresh();
    assert_eq!(read_file(&registry, "two/pdf", "references/a.md").unwrap(), "B\n");
    let read_count = |script: &crate::host_support::ServerScript| {
        script.requests().iter().filter(|line| line.contains("resources/read")).count()
    };
    assert_eq!((read_count(&first), read_count(&second)), (1, 1), "each file is read from its own server");
}

#[test]
fn an_unlisted_skill_can_be_loaded_by_its_uri() {
    let host = TestHost::new();
    let mut hidden = skill("hidden");
    hidden["unlisted"] = json!(true);
    let script = host.script("docs", &[skill("pdf"), hidden]);
    let sources = host.sources(&script);
    let registry = host.registry(&sources);
    assert!(!host.report(&registry).contains("hidden"));
    let source = sources.get("docs").unwrap();
    assert_eq!(source.add_by_uri("skill://hidden/SKILL.md").unwrap().name, "docs/hidden");
    let error = source.add_by_uri("skill://none/SKILL.md").unwrap_err().to_string();
    assert_eq!(error, "the server rejected the request: No skill is served there");
    host.approve(&sources, "docs/hidden", NO_GRANTS);
    registry.refresh();
    assert_eq!(read_file(&registry, "docs/hidden", "references/a.md").unwrap(), "A\n");
    // Another process finds it through its approval.
    drop((registry, sources));
    remove_cache("docs", &host.host_env());
    let sources = host.sources(&script);
    assert!(host.report(&host.registry(&sources)).contains("docs/hidden is enabled"));
}

#[test]
fn a_listing_is_cached_as_long_as_the_server_allows() {
    let host = TestHost::new();
    let script = host.script("docs", &[skill("pdf")]);
    let lists = || script.requests().iter().filter(|line| *line == "skills/list").count();
    for _ in 0..3 {
        host.registry(&host.sources(&script));
    }
    assert_eq!(lists(), 3, "a TTL of zero disables caching");
    script.write(&json!({"skills": [skill("pdf")], "ttl": 600_000}));
    host.registry(&host.sources(&script));
    assert_eq!(lists(), 4);
    for _ in 0..3 {
        let sources = host.sources(&script);
        assert_eq!(host.registry(&sources).snapshot().all().len(), 1);
    }
    assert_eq!(lists(), 4, "no server was started");
    let moved = McpSource { timeout_ms: 19_000, ..TestHost::command("docs") };
    host.registry(&host.sources_of(&[moved], &script));
    assert_eq!(lists(), 4, "another timeout is the same server");
    let mut other = TestHost::command("docs");
    if let McpTransport::Command { args, .. } = &mut other.transport {
        args.push("--quiet".to_owned());
    }
    host.registry(&host.sources_of(&[other], &script));
    assert_eq!(lists(), 5, "another command is another server");
}

#[test]
fn files_are_cached_and_verified_at_each_read() {
    let (host, script, sources, registry) = approved(&json!({"skills": [skill("pdf")], "ttl": 600_000}));
    let reads = || script.requests().iter().filter(|line| line.starts_with("resources/read")).count();
    for _ in 0..3 {
        assert_eq!(read_file(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
    }
    assert_eq!(reads(), 1);
    let cached = list_files(&host.cache_dir().join("docs/files"));
    assert_eq!(cached.len(), 1);
    assert!(!cached[0].to_string_lossy().contains("SKILL"), "no cached file has the name of a skill's file");
    // A modified cache file is fetched again.
    std::fs::write(&cached[0], "E\n").unwrap();
    assert_eq!(read_file(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
    assert_eq!(reads(), 2);
    assert_eq!(std::fs::read(&cached[0]).unwrap(), b"A\n");
    // The server may be unavailable.
    drop((registry, sources));
    script.write(&json!({"raw": "exits at once"}));
    let sources = host.sources(&script);
    let registry = host.registry(&sources);
    assert_eq!(read_file(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
    assert!(read_file(&registry, "docs/pdf", "scripts/run.sh").is_err());
}

#[test]
fn the_cache_contains_no_discoverable_skills() {
    let (host, _script, _sources, registry) = approved(&json!({"skills": [skill("pdf")]}));
    activate_skill(&registry, "docs/pdf").unwrap();
    assert!(!list_files(&host.cache_dir()).is_empty());
    let mut policy = host.policy.clone().with_roots([
        host.cache_dir(),
        host.cache_dir().join("docs"),
        host.path("home/.prowess"),
    ]);
    policy.scan.depth = 100;
    let scanned =
        prowess::Registry::open_in(policy, host.host_env(), &prowess::ScanProgress::default()).snapshot();
    assert_eq!(scanned.enabled().count(), 0, "{:?}", scanned.all());
}

#[test]
fn the_cache_of_a_removed_server_is_deleted() {
    let host = TestHost::new();
    let script = host.script("docs", &[skill("pdf")]);
    host.registry(&host.sources(&script));
    let (docs, host_env) = (TestHost::command("docs"), host.host_env());
    assert_eq!(prune_caches(std::slice::from_ref(&docs), &host_env), [] as [&str; 0]);
    assert!(host.cache_dir().join("docs").exists());
    assert_eq!(prune_caches(&[McpSource { label: "other".to_owned(), ..docs }], &host_env), ["docs"]);
    assert!(!host.cache_dir().join("docs").exists());
    for label in ["..", "docs/../..", "", "/"] {
        assert!(!remove_cache(label, &host_env), "{label}");
    }
    assert!(host.path("home/.prowess").exists());
}

#[test]
fn a_disabled_server_is_not_started() {
    let host = TestHost::new();
    let script = host.script("docs", &[skill("pdf")]);
    let sources = host.sources_of(&[McpSource { enabled: false, ..TestHost::command("docs") }], &script);
    assert!(sources.remote_sources().is_empty());
    assert!(script.requests().is_empty());
}

#[test]
fn notifications_cause_a_new_listing() {
    let host = TestHost::new();
    let script = host.script("docs", &[skill("pdf")]);
    script.write(&json!({"skills": [skill("pdf")], "ttl": 600_000, "fault": "notifies of changes"}));
    let sources = host.sources(&script);
    let registry = host.registry(&sources);
    assert_eq!(registry.snapshot().all().len(), 1);
    script.write(&json!({"skills": [skill("pdf"), skill("more")], "ttl": 600_000}));
    // A notification came with the first listing; whether it is handled before or after is undefined.
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while registry.refresh().all().len() < 2 && std::time::Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(registry.refresh().all().len(), 2);
    let same = registry.snapshot();
    assert!(Arc::ptr_eq(&same, &registry.refresh()));
}

#[test]
fn binary_files_are_read() {
    let script = json!({"skills": [skill("pdf")], "fault": "returns blobs"});
    let (_host, _script, _sources, registry) = approved(&script);
    assert_eq!(read_file(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
}

#[test]
fn a_file_of_the_maximum_size_is_read() {
    for over_http in [false, true] {
        let host = TestHost::new();
        let source = "---\nname: big\ndescription: Is large.\n---\nx\n";
        let big = "\u{1}é\n".repeat((16 * 1024 * 1024 - source.len()) / 4);
        let skill = json!({"path": "big", "files": {"SKILL.md": source, "big.txt": big},
            "frontmatter": {"name": "big", "description": "Is large."}});
        let script = host.script("docs", &[skill]);
        let server = over_http.then(|| official::serve_http(&script, None, true));
        let source =
            server.as_ref().map_or_else(|| TestHost::command("docs"), |server| url("docs", &server.url));
        let source = McpSource { timeout_ms: 120_000, ..source };
        let sources = host.sources_of(&[source], &script);
        let registry = host.registry(&sources);
        host.approve(&sources, "docs/big", NO_GRANTS);
        let snapshot = registry.refresh();
        let read = prowess::resources::read_bytes(snapshot.get("docs/big").unwrap(), "big.txt").unwrap();
        assert_eq!(read.bytes.len(), big.len());
    }
}

#[test]
fn sources_describe_themselves() {
    let host = TestHost::new();
    let script = host.script("docs", &[skill("pdf")]);
    let sources = host.sources(&script);
    let source = sources.get("docs").unwrap();
    assert_eq!((source.label(), source.title().as_str()), ("docs", "MCP server docs"));
    assert_eq!(source.configuration().label, "docs");
    assert!(sources.get("other").is_none());
}
