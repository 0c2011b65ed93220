//! Servers that hang, die, flood, lie and change their minds: each harms its own skills and nothing else.

use std::time::{Duration, Instant};

use crate::host_world::{Script, World, activate, read, skill};
use prowess::Registry;
use prowess::supply::approvals::Grants;
use prowess_config::{McpSource, Reach};
use prowess_mcp::host::Sources;
use serde_json::{Value, json};

const NOTHING: Grants = Grants { allow_tools: false, allow_run: false };

/// What becomes of a server that does this, and of a good skill beside it.
fn becomes(world: &World, script: &Value, sources: impl Fn(&Script) -> Sources) -> String {
    let file = world.script("docs", &[]);
    file.write(script);
    let sources = sources(&file);
    let local = world.path("home/.agents/skills/local");
    std::fs::create_dir_all(&local).unwrap();
    std::fs::write(local.join("SKILL.md"), "---\nname: local\ndescription: Is here.\n---\nx\n").unwrap();
    let registry = world.registry(&sources);
    assert!(registry.snapshot().get("local").unwrap().is_enabled(), "what is here stays here");
    world.told(&registry)
}

#[test]
fn a_listing_that_fails_is_told_and_hides_nothing() {
    let mut all = String::new();
    for fault in [
        "no extension",
        "hangs",
        "dies while it lists",
        "refuses to list",
        "lists no list",
        "is not complete",
        "pages in a circle",
        "lists without end",
    ] {
        let world = World::new();
        let script = json!({"skills": [skill("pdf"), skill("b")], "page": 1, "fault": fault});
        let sources = |file: &Script| match fault {
            "hangs" => world.impatient(file),
            _ => world.sources(file),
        };
        all.push_str(&format!("{fault}:\n{}\n", becomes(&world, &script, sources)));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_server_that_breaks_the_protocol_is_told_and_hides_nothing() {
    let mut all = String::new();
    for raw in ["says nothing", "ends at once", "talks nonsense", "floods one line", "floods with notices"] {
        let world = World::new();
        let told =
            becomes(&world, &json!({"raw": raw, "skills": [skill("pdf")]}), |file| world.impatient(file));
        all.push_str(&format!("{raw}:\n{told}\n"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn pages_without_end_have_an_end() {
    let world = World::new();
    let told = becomes(&world, &json!({"skills": [skill("pdf")], "fault": "pages for ever"}), |file| {
        world.sources(file)
    });
    insta::assert_snapshot!(told);
}

#[test]
fn a_program_or_an_address_that_is_not_there() {
    let world = World::new();
    let script = world.script("docs", &[]);
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let command =
        |program: &str| Reach::Command { program: program.to_owned(), args: Vec::new(), env: Vec::new() };
    for (reach, why) in [
        (command("no-such-program-at-all"), "it cannot be started: no-such-program-at-all is not on PATH"),
        (command("/no/such/program"), "it cannot be started: /no/such/program is not on PATH"),
        (command("/etc"), "it cannot be started"),
        (
            Reach::Url { url: format!("http://127.0.0.1:{port}/mcp"), token_env: None },
            "the server cannot be reached",
        ),
    ] {
        let source = McpSource { label: "docs".to_owned(), reach, timeout_ms: 5_000, enabled: true };
        let told = world.told(&world.registry(&world.sources_of(&[source], &script)));
        assert!(told.contains(why), "{told}");
        prowess_mcp::host::forget("docs", &world.surroundings());
    }
}

/// A server that answers each request over HTTP with these bytes.
fn answers(bytes: Vec<u8>) -> String {
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
                    // Without end, as fast as it goes.
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
fn answers_over_http_that_are_none() {
    let mut all = String::new();
    let answer = |head: &str, body: &str| {
        format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
    };
    for (what, bytes) in [
        ("another page", answer("200 OK\r\ncontent-type: text/html", "<html>")),
        ("an empty object", answer("200 OK\r\ncontent-type: application/json", "{}")),
        ("a redirection", answer("302 Found\r\nlocation: http://127.0.0.1:1/", "")),
        ("a failure", answer("500 Internal Server Error", "oops")),
        ("nothing", b"HTTP/1.1 200 OK\r\n".to_vec()),
        ("no HTTP", b"SSH-2.0-OpenSSH\r\n".to_vec()),
        ("more than anybody can read", Vec::new()),
    ] {
        let world = World::new();
        let reach = Reach::Url { url: answers(bytes), token_env: None };
        let source = McpSource { label: "docs".to_owned(), reach, timeout_ms: 20_000, enabled: true };
        let script = world.script("docs", &[]);
        let told = world.told(&world.registry(&world.sources_of(&[source], &script)));
        let told = told.split("http://127.0.0.1").next().unwrap().trim_end().to_owned();
        all.push_str(&format!("{what}: {told}\n"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_server_that_failed_is_not_asked_again_at_once() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf")]);
    script.write(&json!({"skills": [skill("pdf")], "fault": "refuses to list"}));
    for _ in 0..3 {
        assert!(world.told(&world.registry(&world.sources(&script))).contains("no skills today"));
    }
    assert_eq!(script.requests().len(), 1, "whoever calls often does not wait often");
    script.write(&json!({"skills": [skill("pdf")]}));
    let sources = world.sources(&script);
    assert_eq!(sources.all()[0].ask().unwrap().skills, 1, "whoever asks expressly is answered");
    assert!(!world.told(&world.registry(&sources)).contains("SK078"));
}

/// A world with one approved skill.
fn approved(script: &Value) -> (World, Script, Sources, Registry) {
    let world = World::new();
    let file = world.script("docs", &[]);
    file.write(script);
    let sources = world.sources(&file);
    let registry = world.registry(&sources);
    world.approve(&sources, "docs/pdf", NOTHING);
    registry.refresh();
    (world, file, sources, registry)
}

#[test]
fn what_is_handed_out_has_to_be_what_was_listed() {
    let mut all = String::new();
    for fault in ["hands out bad base64", "hands out something else", "hands out two"] {
        let (_world, script, _sources, registry) = approved(&json!({"skills": [skill("pdf")]}));
        script.write(&json!({"skills": [skill("pdf")], "fault": fault}));
        all.push_str(&format!("{fault}: {}\n", read(&registry, "docs/pdf", "references/a.md").unwrap_err()));
    }
    for (what, content) in [("other bytes", "B\n"), ("more bytes", "A\nA\n"), ("nothing", "")] {
        let (_world, script, _sources, registry) = approved(&json!({"skills": [skill("pdf")]}));
        script.write(&json!({"skills": [skill("pdf")], "serve": {"skill://pdf/references/a.md": content}}));
        all.push_str(&format!("{what}: {}\n", read(&registry, "docs/pdf", "references/a.md").unwrap_err()));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_skill_that_changed_needs_approval_again() {
    let (world, script, sources, registry) = approved(&json!({"skills": [skill("pdf")], "ttl": 600_000}));
    assert!(activate(&registry, "docs/pdf").is_ok());
    let mut changed = skill("pdf");
    changed["files"]["references/a.md"] = json!("Now do something else.\n");
    changed["files"]["references/b.md"] = json!("B\n");
    script.write(&json!({"skills": [changed], "ttl": 600_000}));
    // The held entry is what counts: neither the changed file nor the new one is handed out.
    let refused = read(&registry, "docs/pdf", "references/a.md").unwrap_err();
    assert!(refused.contains("has changed at its server and needs approval again"), "{refused}");
    assert!(read(&registry, "docs/pdf", "references/b.md").unwrap_err().contains("is not among the files"));
    // The server was asked for the entry, so everybody knows by now.
    assert!(script.requests().contains(&"skills/get skill://pdf/SKILL.md".to_owned()));
    let told = "docs/pdf is untrusted: has changed at its server and needs approval again: prowess trust --mcp docs/pdf\n";
    assert_eq!(world.told(&registry), told);
    assert_eq!(world.told(&world.registry(&world.sources(&script))), told, "and so does the next process");
    world.approve(&sources, "docs/pdf", NOTHING);
    registry.refresh();
    assert_eq!(read(&registry, "docs/pdf", "references/b.md").unwrap(), "B\n");
    assert_eq!(read(&registry, "docs/pdf", "references/a.md").unwrap(), "Now do something else.\n");
}

#[test]
fn a_skill_that_is_gone_is_gone() {
    let (world, script, _sources, registry) =
        approved(&json!({"skills": [skill("pdf"), skill("b")], "ttl": 600_000}));
    script.write(&json!({"skills": [skill("b")], "ttl": 600_000}));
    assert!(activate(&registry, "docs/pdf").unwrap_err().contains("There is no such resource"));
    assert!(!world.told(&registry).contains("docs/pdf"));
    assert!(world.told(&registry).contains("docs/b"));
}

#[test]
fn frontmatter_that_is_not_the_listed_one_is_refused() {
    let mut lying = skill("pdf");
    lying["frontmatter"] = json!({"name": "pdf", "description": "Harmless."});
    let (_world, _script, _sources, registry) = approved(&json!({"skills": [lying]}));
    let refused = activate(&registry, "docs/pdf").unwrap_err();
    assert_eq!(
        refused,
        "the SKILL.md of docs/pdf is not used: its frontmatter is not the one that the skill was listed with (description)"
    );
}

#[test]
fn a_read_that_hangs_ends_and_a_server_that_died_is_started_again() {
    let world = World::new();
    let script = world.script("docs", &[skill("pdf")]);
    let source = McpSource { timeout_ms: 1_500, ..World::command("docs") };
    let sources = world.sources_of(&[source], &script);
    let registry = world.registry(&sources);
    world.approve(&sources, "docs/pdf", NOTHING);
    registry.refresh();
    script.write(&json!({"skills": [skill("pdf")], "fault": "hangs at reading"}));
    let refused = read(&registry, "docs/pdf", "references/a.md").unwrap_err();
    assert_eq!(
        refused,
        "references/a.md of docs/pdf cannot be read from the MCP server docs: the server did not answer within 1500 ms"
    );
    script.write(&json!({"skills": [skill("pdf")], "fault": "dies while it reads"}));
    assert_eq!(read(&registry, "docs/pdf", "references/a.md").unwrap(), "A\n");
}

#[test]
fn invalid_entries_are_shown_beside_valid_ones() {
    let world = World::new();
    let mut dynamic = skill("daily");
    dynamic["entry"] = json!({"uri": "skill://daily/SKILL.md", "frontmatter": {"name": "daily", "description": "D."}, "resources": "dynamic"});
    let mut outside = Script::entry(&skill("outside"));
    outside["resources"][1]["uri"] = json!("skill://pdf/references/a.md");
    let mut twice = Script::entry(&skill("twice"));
    twice["frontmatter"]["description"] = json!("Other.");
    let skills = [
        skill("pdf"),
        dynamic,
        json!({"entry": outside}),
        json!({"entry": 7}),
        skill("twice"),
        json!({"entry": twice}),
    ];
    let script = world.script("docs", &skills);
    insta::assert_snapshot!(world.told(&world.registry(&world.sources(&script))));
}

#[test]
fn nothing_that_a_server_started_outlives_its_host() {
    let world = World::new();
    let script = world.script("docs", &[]);
    script.write(&json!({"raw": "ignores what it is told to end", "skills": [skill("pdf")]}));
    let sources = world.sources(&script);
    assert_eq!(sources.all()[0].ask().unwrap().skills, 1);
    let started: i32 =
        script.requests().iter().find_map(|line| line.strip_prefix("started ")).unwrap().parse().unwrap();
    let runs = || {
        // One that has ended and was not waited for by whoever adopted it still has an entry.
        let stat = std::fs::read_to_string(format!("/proc/{started}/stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
    };
    assert!(runs());
    drop(sources);
    let until = Instant::now() + Duration::from_secs(10);
    while runs() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!runs());
}

#[test]
fn a_server_gets_few_variables_and_does_not_stand_in_the_project() {
    let world = World::new();
    std::fs::write(world.path("server.sh"), "#!/bin/sh\n{ pwd; env; } > \"$HOME/seen\"\n").unwrap();
    let reach = Reach::Command {
        program: "/bin/sh".to_owned(),
        args: vec![world.path("server.sh").display().to_string()],
        env: vec!["GIVEN".to_owned()],
    };
    let source = McpSource { label: "docs".to_owned(), reach, timeout_ms: 2_000, enabled: true };
    let home = world.path("home").into_os_string();
    let environment = [("GIVEN".into(), "1".into()), ("SECRET".into(), "2".into()), ("HOME".into(), home)];
    let sources = Sources::new(&[source], &world.surroundings(), environment);
    assert!(sources.all()[0].ask().is_err());
    let seen = std::fs::read_to_string(world.path("home/seen")).unwrap();
    assert!(seen.contains("GIVEN=1") && !seen.contains("SECRET"), "{seen}");
    assert!(seen.starts_with(&world.path("home").display().to_string()), "{seen}");
}
