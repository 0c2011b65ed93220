//! The bundled examples: models are not offered them, and users load them by name.

use crate::support::TestEnv;
use prowess::Preset;
use prowess::bundled::BundledSkill;
use serde_json::json;

const EXAMPLES: [&str; 2] = ["hello-world", "skills-system-validation"];

/// Messages that the descriptions of the examples fit.
const MESSAGES: [&str; 3] = [
    "Please greet me with a hello world example",
    "Validate that the skills runtime discloses progressively and keeps file access inside a skill",
    "What can you do?",
];

fn env(preset: Preset) -> TestEnv {
    TestEnv::new().variable("PROWESS_PRESET", preset.as_str()).variable("PROWESS_SKILLS_ENABLED", "true")
}

/// Returns what models are offered, with the name of the command.
fn offers(env: &TestEnv) -> Vec<(String, String)> {
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        },
    });
    let mcp = env.run_with(&["mcp"], &format!("{initialize}\n"));
    assert!(mcp.out.contains("serverInfo"), "{}", mcp.transcript());
    let mut offers = vec![("mcp".to_owned(), mcp.out)];
    let mut run = |args: &[&str]| offers.push((args.join(" "), env.run(args).out));
    run(&["list"]);
    run(&["list", "--json"]);
    run(&["tools", "--json"]);
    for message in MESSAGES {
        run(&["match", message]);
        run(&["prompt", "--query", message]);
        for format in ["xml", "json", "bullets", "tool", "tiers"] {
            run(&["prompt", "--format", format, "--query", message]);
        }
    }
    for message in MESSAGES {
        let event = json!({"cwd": env.path(""), "hook_event_name": "UserPromptSubmit", "prompt": message});
        let hint = env.run_with(&["hook", "prompt", "--client", "codex"], &event.to_string());
        offers.push((format!("hook prompt: {message}"), hint.out));
    }
    offers
}

#[test]
fn no_preset_offers_an_example_to_a_model() {
    for preset in Preset::ALL {
        for (command, text) in offers(&env(preset)) {
            for name in EXAMPLES {
                assert!(!text.contains(name), "{preset}: {command}\n{text}");
            }
        }
    }
}

#[test]
fn a_copy_of_an_example_is_an_ordinary_skill() {
    let env = env(Preset::Standard);
    for name in EXAMPLES {
        for (path, bytes) in BundledSkill::find(name).unwrap().files {
            env.file(&format!("~/.agents/skills/{name}/{path}"), bytes);
        }
    }
    let offers = offers(&env);
    let text = |command: &str| &offers.iter().find(|(run, _)| run == command).unwrap().1;
    for (name, message) in EXAMPLES.iter().zip(MESSAGES) {
        let (matching, prompt) = (format!("match {message}"), format!("prompt --query {message}"));
        for command in ["mcp", "list", &matching, &prompt, &format!("hook prompt: {message}")] {
            assert!(text(command).contains(name), "{command}\n{}", text(command));
        }
    }
}

#[test]
fn examples_are_loaded_by_name() {
    // The other presets do not search the binary.
    for preset in [Preset::Standard, Preset::Harness, Preset::Triggers] {
        let env = env(preset).variable("PROWESS_ALLOW_SCRIPTS", "1").variable("PATH", "/usr/bin:/bin");
        for name in EXAMPLES {
            let activated = env.run(&["activate", name]);
            assert!(activated.code == 0 && activated.out.contains("\n# "), "{}", activated.transcript());
            for command in ["info", "files", "why"] {
                assert_eq!(env.run(&[command, name]).code, 0, "{preset}: {command} {name}");
            }
        }
        let fixture = EXAMPLES[1];
        let read = env.run(&["read", fixture, "assets/fixture.json"]);
        assert!(read.out.contains("PROWESS_ASSET_MARKER_4B6D17E9"), "{}", read.transcript());
        let script = env.run(&["run", fixture, "scripts/echo.sh"]);
        assert!(script.out.contains("PROWESS_SCRIPT_MARKER_E9810C5F"), "{}", script.transcript());
    }
}

/// A model may load an example only after the user named it.
#[test]
fn the_tools_load_an_example_that_the_user_named() {
    let env = env(Preset::Standard);
    let call = ["call", "skills.activate", r#"{"name": "hello-world"}"#, "--skill", "hello-world"];
    assert_eq!(env.run(&call[..3]).json()["error"]["code"], "NOT_FOUND");
    assert_eq!(env.run(&call).json()["status"], "success");
}

#[test]
fn commands_say_why_an_example_is_not_offered() {
    let env = env(Preset::Standard);
    let why = env.run(&["why", "hello-world"]);
    assert_eq!(
        (why.out.as_str(), why.code),
        (
            "✓ hello-world is available from bundled:/hello-world/SKILL.md\n    \
             not offered to models: it is an example\n",
            0
        )
    );
    let copy = &env.run(&["why", "hello-world", "--json"]).json()["copies"][0];
    assert_eq!(copy["not_offered_to_models"], "it is an example");
    let line = |args: &[&str], start: &str| {
        let out = env.run(args).out;
        out.lines()
            .find(|line| line.starts_with(start))
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(line(&["list", "--all"], "hello-world"), "hello-world example: not offered to models");
    assert_eq!(
        line(&["info", "hello-world"], "  status"),
        "status enabled, but not offered to models: it is an example"
    );
    let shown = env.run(&["show"]).out;
    let shown = shown.split_once("  ✓ hello-world\n").unwrap().1;
    assert_eq!(shown.lines().nth(1), Some("      not offered to models: it is an example"));
    let skills = env.run(&["list", "--all", "--json"]).json()["skills"].as_array().unwrap().clone();
    let examples: Vec<_> = skills.iter().filter(|skill| skill["example"] == true).collect();
    assert_eq!(examples.iter().map(|skill| &skill["name"]).collect::<Vec<_>>(), EXAMPLES);
}
