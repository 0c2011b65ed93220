//! The six presets, and enabling or disabling all skills.

use crate::support::TestEnv;
use insta::assert_snapshot;

const PRESETS: [&str; 6] = ["standard", "app", "skill-tool", "harness", "triggers", "chat"];

/// Creates a skill in every directory of every preset.
fn everywhere(env: TestEnv) -> TestEnv {
    let project = [
        ".agents/skills",
        ".prowess/skills",
        ".claude/skills",
        ".agents/sys.skills",
        "skills",
        ".agent/skills",
        ".skills",
    ];
    let home = [
        "~/.agents/skills",
        "~/.prowess/skills",
        "~/.claude/skills",
        "~/.agent/skills",
        "~/.agent/plugins",
        "~/.remcochat/skills",
    ];
    for dir in project.into_iter().chain(home) {
        let name = dir.replace("~/", "home-").replace('.', "").replace('/', "-");
        env.skill(&format!("{dir}/{name}"));
    }
    env.run(&["trust"]);
    env
}

/// Returns the names of the available skills, without bundled ones.
fn available_names(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let json = env.run(args).json();
    let skills = json["skills"].as_array().unwrap().iter();
    skills
        .filter(|skill| !skill["source"].as_str().unwrap().starts_with("bundled:"))
        .map(|skill| skill["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn each_preset_searches_its_directories() {
    let env = everywhere(TestEnv::new().variable("PROWESS_SKILLS_ENABLED", "true"));
    let result = PRESETS.map(|preset| {
        let names = available_names(&env, &["--preset", preset, "list", "--json"]);
        format!("{preset}: {}\n", names.join(", "))
    });
    assert_snapshot!(result.concat());
}

#[test]
fn the_option_overrides_the_variable() {
    let flagged = everywhere(TestEnv::new());
    for preset in PRESETS {
        let by_flag = available_names(&flagged, &["--preset", preset, "list", "--json"]);
        let env = everywhere(TestEnv::new().variable("PROWESS_PRESET", preset));
        assert_eq!(available_names(&env, &["list", "--json"]), by_flag, "{preset}");
        let standard = available_names(&flagged, &["list", "--json"]);
        assert_eq!(available_names(&env, &["list", "--json", "--preset", "standard"]), standard, "{preset}");
    }
}

#[test]
fn an_unknown_preset_is_an_error() {
    let by_variable = TestEnv::new().variable("PROWESS_PRESET", "standart");
    assert_snapshot!(
        TestEnv::new()
            .runs(&[&["--preset", "standart", "list"], &["--preset", "standart", "list", "--json"]])
            + "\n"
            + &by_variable.runs(&[&["list"], &["list", "--json"]])
    );
}

#[test]
fn preset_chat_is_disabled_by_default() {
    let env = TestEnv::new();
    env.skill(".skills/pdf");
    let on = TestEnv::new().variable("PROWESS_SKILLS_ENABLED", "true");
    on.skill(".skills/pdf");
    let calls: [&[&str]; 2] = [&["--preset", "chat", "list"], &["--preset", "chat", "list", "--json"]];
    assert_snapshot!(env.runs(&calls) + "\nPROWESS_SKILLS_ENABLED=true\n" + &on.runs(&calls[..1]));
}

#[test]
fn any_preset_can_be_disabled() {
    let env = TestEnv::new().variable("PROWESS_SKILLS_ENABLED", "false");
    env.skill("~/.agents/skills/pdf");
    assert_snapshot!(env.runs(&[&["list"], &["list", "--all"], &["show"], &["info", "pdf"]]));
}

#[test]
fn skills_enabled_accepts_only_true_and_false() {
    let env = TestEnv::new().variable("PROWESS_SKILLS_ENABLED", "maybe");
    assert_snapshot!(env.run(&["list"]).transcript());
}
