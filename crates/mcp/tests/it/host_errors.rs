//! Servers that hang, crash, flood or lie only affect their own skills.

use std::time::{Duration, Instant};

use crate::host_support::{NO_GRANTS, ServerScript, TestHost, activate_skill, approved, read_file, skill};
use prowess_config::{McpSource, McpTransport};
use prowess_mcp::host::McpRemoteSources;
use serde_json::{Value, json};

/// Returns the report of a misbehaving server, and checks that a local skill is not affected.
fn report_for(
    host: &TestHost,
    script: &Value,
    sources: impl Fn(&ServerScript) -> McpRemoteSources,
) -> String {
    let file = host.script("docs", &[]);
    file.write(script);
    let sources = sources(&file);
    let local = host.path("home/.agents/skills/local");
    std::fs::create_dir_all(&local).unwrap();
    std::fs::write(local.join("SKILL.md"), "---\nname: local\ndescription: Is here.\n---\nx\n").unwrap();
    let registry = host.registry(&sources);
    assert!(registry.snapshot().get("local").unwrap().is_enabled(), "local skills are not affected");
    host.report(&registry)
}

#[test]
fn a_failed_listing_is_reported_and_hides_nothing() {
    let mut all = String::new();
    for fault in [
        "no extension",
        "hangs",
        "crashes while listing",
        "rejects listing",
        "lists no array",
        "incomplete result",
        "circular pages",
        "endless list",
    ] {
        let host = TestHost::new();
        let script = json!({"skills": [skill("pdf"), skill("b")], "page": 1, "fault": fault});
        let sources = |file: &ServerScript| match fault {
            "hangs" => host.sources_with_short_timeout(file),
            _ => host.sources(file),
        };
        all.push_str(&format!("{fault}:\n{}\n", report_for(&host, &script, sources)));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_protocol_violation_is_reported_and_hides_nothing() {
    let mut all = String::new();
    for raw in ["is silent", "exits at once", "sends nonsense", "endless line", "floods with notifications"] {
        let host = TestHost::new();
        let report = report_for(&host, &json!({"raw": raw, "skills": [skill("pdf")]}), |file| {
            host.sources_with_short_timeout(file)
        });
        all.push_str(&format!("{raw}:\n{report}\n"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn endless_pages_are_limited() {
    let host = TestHost::new();
    let report = report_for(&host, &json!({"skills": [skill("pdf")], "fault": "endless pages"}), |file| {
        host.sources(file)
    });
    insta::assert_snapshot!(report);
}

#[test]
fn a_missing_program_or_address_is_reported() {
    let host = TestHost::new();
    let script = host.script("docs", &[]);
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let command = |program: &str| McpTransport::Command {
        program: program.to_owned(),
        args: Vec::new(),
        env: Vec::new(),
    };
    for (transport, reason) in [
        (command("no-such-program-at-all"), "cannot start it: no-such-program-at-all is not on PATH"),
        (command("/no/such/program"), "cannot start it: /no/such/program is not on PATH"),
        (command("/etc"), "cannot start it"),
        (
            McpTransport::Url { url: format!("http://127.0.0.1:{port}/mcp"), token_env: None },
            "cannot reach the server",
        ),
    ] {
        let source = McpSource { label: "docs".to_owned(), transport, timeout_ms: 5_000, enabled: true };
        let report = host.report(&host.registry(&host.sources_of(&[source], &script)));
        assert!(report.contains(reason), "{report}");
        prowess_mcp::host::remove_cache("docs", &host.host_env());
    }
}

/// Starts a server that responds to each HTTP request with these bytes.
fn respond_with(bytes: Vec<u8>) -> String {
    use std::io::{BufRead, BufReader, Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let bytes = bytes.clone();
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut line, mut length) = (String::new(), 0);
                while reader.read_line(&mut line).unwrap_or(0) > 2 {
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    line.clear();
                }
                let _ = reader.read_exact(&mut vec![0; length]);
                let mut stream = stream;
                if bytes.is_empty() {
                    // An endless response, as fast as possible.
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n\"");
                    while stream.write_all(&[b'x'; 1 << 20]).is_ok() {}
                }
                let _ = stream.write_all(&bytes);
            });
        }
    });
    url
}

#[test]
fn invalid_http_responses_are_reported() {
    let mut all = String::new();
    let response = |head: &str, body: &str| {
        format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
    };
    for (case, bytes) in [
        ("HTML page", response("200 OK\r\ncontent-type: text/html", "<html>")),
        ("empty object", response("200 OK\r\ncontent-type: application/json", "{}")),
        ("redirect", response("302 Found\r\nlocation: http://127.0.0.1:1/", "")),
        ("error status", response("500 Internal Server Error", "oops")),
        ("incomplete response", b"HTTP/1.1 200 OK\r\n".to_vec()),
        ("not HTTP", b"SSH-2.0-OpenSSH\r\n".to_vec()),
        ("endless response", Vec::new()),
    ] {
        let host = TestHost::new();
        let transport = McpTransport::Url { url: respond_with(bytes), token_env: None };
        let source = McpSource { label: "docs".to_owned(), transport, timeout_ms: 20_000, enabled: true };
        let script = host.script("docs", &[]);
        let report = host.report(&host.registry(&host.sources_of(&[source], &script)));
        let report = report.split("http://127.0.0.1").next().unwrap().trim_end().to_owned();
        all.push_str(&format!("{case}: {report}\n"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_failed_server_is_not_contacted_again_at_once() {
    let host = TestHost::new();
    let script = host.script("docs", &[skill("pdf")]);
    script.write(&json!({"skills": [skill("pdf")], "fault": "rejects listing"}));
    for _ in 0..3 {
        assert!(host.report(&host.registry(&host.sources(&script))).contains("no skills today"));
    }
    assert_eq!(script.requests().len(), 1, "the failure is cached");
    script.write(&json!({"skills": [skill("pdf")]}));
    let sources = host.sources(&script);
    assert_eq!(sources.all()[0].refresh().unwrap().skills, 1, "an explicit refresh ignores the failure");
    assert!(!host.report(&host.registry(&sources)).contains("SK078"));
}

#[test]
fn contents_must_match_the_listing() {
    let mut all = String::new();
    for fault in ["returns invalid base64", "returns another file", "returns two contents"] {
        let (_env, script, _sources, registry) = approved(&json!({"skills": [skill("pdf")]}));
        script.write(&json!({"skills": [skill("pdf")], "fault": fault}));
        all.push_str(&format!(
            "{fault}: {}\n",
            read_file(&registry, "docs/pdf", "references/a.md").unwrap_err()
        ));
    }
    for (case, content) in [("other bytes", "B\n"), ("more bytes", "A\nA\n"), ("nothing", "")] {
        let (_env, script, _sources, registry) = approved(&json!({"skills": [skill("pdf")]}));
        script.write(&json!({"skills": [skill("pdf")], "serve": {"skill://pdf/references/a.md": content}}));
        all.push_str(&format!(
            "{case}: {}\n",
            read_file(&registry, "docs/pdf", "references/a.md").unwrap_err()
        ));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_changed_skill_needs_approval_again() {
    let (host, script, sources, registry) = approved(&json!({"skills": [skill("pdf")], "ttl": 600_000}));
    assert!(activate_skill(&registry, "docs/pdf").is_ok());
    let mut changed = skill("pdf");
    changed["files"]["references/a.md"] = json!("Now do something else.\n");
    changed["files"]["references/b.md"] = json!("B\n");
    script.write(&json!({"skills": [changed], "ttl": 600_000}));
    // The approved entry stays in effect: neither the changed file nor the new one is returned.
    let error = read_file(&registry, "docs/pdf", "references/a.md").unwrap_err();
    assert!(error.contains("changed on its server and must be approved again"), "{error}");
    assert!(
        read_file(&registry, "docs/pdf", "references/b.md").unwrap_err().contains("is not a listed file")
    );
    // The host fetched the entry, so the change is known.
    assert!(script.requests().contains(&"skills/get skill://pdf/SKILL.md".to_owned()));
    let expected = "docs/pdf is untrusted: changed on its server; to review and approve it again: prowess trust --mcp docs/pdf\n";
    assert_eq!(host.report(&registry), expected);
    assert_eq!(
        host.report(&host.registry(&host.sources(&script))),
        expected,
        "the next process knows it, too"
    );
    host.approve(&sources, "docs/pdf", NO_GRANTS);
    registry.refresh();
    assert_eq!(read_file(&registry, "docs/pdf", "references/b.md").unwrap(), "B\n");
    assert_eq!(read_file(&registry, "docs/pdf", "references/a.md").unwrap(), "Now do something else.\n");
}

#[test]
fn a_removed_skill_disappears() {
    let (host, script, _sources, registry) =
        approved(&json!({"skills": [skill("pdf"), skill("b")], "ttl": 600_000}));
    script.write(&json!({"skills": [skill("b")], "ttl": 600_000}));
    assert!(activate_skill(&registry, "docs/pdf").unwrap_err().contains("There is no such resource"));
    assert!(!host.report(&registry).contains("docs/pdf"));
    assert!(host.report(&registry).contains("docs/b"));
}

#[test]
fn frontmatter_that_differs_from_the_listing_is_rejected() {
    let mut lying = skill("pdf");
    lying["frontmatter"] = json!({"name": "pdf", "description": "Harmless."});
    let (_env, _script, _sources, registry) = approved(&json!({"skills": [lying]}));
    let error = activate_skill(&registry, "docs/pdf").unwrap_err();
    assert_eq!(
        error,
        "the SKILL.md of docs/pdf is not used: its frontmatter differs from the listed one (description)"
    );
}

#[test]
fn a_hanging_read_times_out_and_a_crashed_server_is_restarted() {
    let host = TestHost::new();
    let script = host.script("docs", &[skill("pdf")]);
    let source = McpSource { timeout_ms: 1_500, ..TestHost::command("docs") };
    let sources = host.sources_of(&[source], &script);
    let registry = host.registry(&sources);
    host.approve(&sources, "docs/pdf", NO_GRANTS);
    registry.refresh();
    script.write(&json!({"skills": [skill("pdf")], "fault": "hangs while reading"}));
    let error = read_file(&registry, "docs/pdf", "references/a.md").unwrap_err();
    assert_eq!(
        error,
        "cannot read references/a.md of docs/pdf from the MCP server docs: the server did not answer within 1500 ms"
    );
    script.write(&json!({"skills": [skill("pdf")], "fault": "crashes while reading"}));
    assert_eq!(read_file(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
}

#[test]
fn invalid_entries_are_listed_next_to_valid_ones() {
    let host = TestHost::new();
    let mut dynamic = skill("daily");
    dynamic["entry"] = json!({"uri": "skill://daily/SKILL.md", "frontmatter": {"name": "daily", "description": "D."}, "resources": "dynamic"});
    let mut outside = ServerScript::entry(&skill("outside"));
    outside["resources"][1]["uri"] = json!("skill://pdf/references/a.md");
    let mut duplicate = ServerScript::entry(&skill("twice"));
    duplicate["frontmatter"]["description"] = json!("Other.");
    let skills = [
        skill("pdf"),
        dynamic,
        json!({"entry": outside}),
        json!({"entry": 7}),
        skill("twice"),
        json!({"entry": duplicate}),
    ];
    let script = host.script("docs", &skills);
    insta::assert_snapshot!(host.report(&host.registry(&host.sources(&script))));
}

#[test]
fn processes_of_a_server_end_with_the_host() {
    let host = TestHost::new();
    let script = host.script("docs", &[]);
    script.write(&json!({"raw": "ignores shutdown", "skills": [skill("pdf")]}));
    let sources = host.sources(&script);
    assert_eq!(sources.all()[0].refresh().unwrap().skills, 1);
    let started: i32 =
        script.requests().iter().find_map(|line| line.strip_prefix("started ")).unwrap().parse().unwrap();
    let is_running = || {
        // A process that has exited but was not reaped still has an entry.
        let stat = std::fs::read_to_string(format!("/proc/{started}/stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
    };
    assert!(is_running());
    drop(sources);
    let deadline = Instant::now() + Duration::from_secs(10);
    while is_running() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!is_running());
}

#[test]
fn a_server_gets_few_variables_and_runs_outside_of_the_project() {
    let host = TestHost::new();
    std::fs::write(host.path("server.sh"), "#!/bin/sh\n{ pwd; env; } > \"$HOME/seen\"\n").unwrap();
    let transport = McpTransport::Command {
        program: "/bin/sh".to_owned(),
        args: vec![host.path("server.sh").display().to_string()],
        env: vec!["GIVEN".to_owned()],
    };
    let source = McpSource { label: "docs".to_owned(), transport, timeout_ms: 2_000, enabled: true };
    let home = host.path("home").into_os_string();
    let environment = [("GIVEN".into(), "1".into()), ("SECRET".into(), "2".into()), ("HOME".into(), home)];
    let sources = McpRemoteSources::new(&[source], &host.host_env(), environment);
    assert!(sources.all()[0].refresh().is_err());
    let seen = std::fs::read_to_string(host.path("home/seen")).unwrap();
    assert!(seen.contains("GIVEN=1") && !seen.contains("SECRET"), "{seen}");
    assert!(seen.starts_with(&host.path("home").display().to_string()), "{seen}");
}
