//! Environments that lock files pin.

use std::fs;

use insta::{assert_snapshot, with_settings};
use serde_json::{Value, json};

use crate::env_build::{MACHINE, index, test_env, use_index};
use crate::support::TestEnv;

const SCRIPT: &str = "import openpyxl\nprint(openpyxl.VALUE)\n";

/// Writes the source of a skill and installs it into the project.
fn install(env: &TestEnv) {
    env.skill("../source/s").file("../source/s/x.py", SCRIPT);
    let result = env.run(&["install", "../source/s", "--project", "--yes"]);
    assert_eq!(result.code, 0, "{}", result.transcript());
}

fn pinned(env: &TestEnv) -> Value {
    let lock: Value = serde_json::from_str(&env.text("skills.lock")).unwrap();
    lock["skills"][0]["environments"].clone()
}

fn versions(environments: &Value) -> Vec<String> {
    let packages = environments[0]["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            format!("{} {}", package["name"].as_str().unwrap(), package["version"].as_str().unwrap())
        })
        .collect()
}

#[test]
fn the_lock_file_pins_environments() {
    let (old, new) = (index("2.0"), index("3.0"));
    let env = test_env(&old);
    install(&env);
    assert_eq!(pinned(&env), Value::Null, "nothing is built when a skill is installed");
    assert_eq!(env.run(&["env", "build", "s", "--yes"]).code, 0);
    with_settings!({ filters => MACHINE }, {
        assert_snapshot!("pinned", serde_json::to_string_pretty(&pinned(&env)).unwrap());
    });
    assert_eq!(env.run(&["verify"]).code, 0);
    // Another machine: another index, no environment, no skill.
    use_index(&env, &new);
    let reset = || {
        env.run(&["env", "remove", "s"]);
        fs::remove_dir_all(env.path(".agents/skills/s")).unwrap();
    };
    reset();
    let restored = env.run(&["install", "--locked", "--project"]);
    // The new index does not have the pinned version.
    assert_eq!(restored.code, 1);
    with_settings!({ filters => MACHINE }, { assert_snapshot!("not_in_the_index", restored.err) });
    assert_eq!(env.run(&["verify"]).code, 0, "the skill is installed");
    use_index(&env, &old);
    reset();
    let restored = env.run(&["install", "--locked", "--project"]);
    assert_eq!(restored.code, 0, "{}", restored.transcript());
    with_settings!({ filters => MACHINE }, { assert_snapshot!("restored", restored.err) });
    let allowed = env.variable("PROWESS_ALLOW_SCRIPTS", "1");
    assert_eq!(allowed.run(&["run", "s", "x.py"]).out, "2.0\n");
    // An upgrade changes the pin; a build without it does not.
    use_index(&allowed, &new);
    assert_eq!(allowed.run(&["env", "build", "s"]).code, 0);
    assert_eq!(versions(&pinned(&allowed)), ["helper 2.0", "openpyxl 1.0"]);
    assert_eq!(allowed.run(&["env", "build", "s", "--upgrade", "--yes"]).code, 0);
    assert_eq!(versions(&pinned(&allowed)), ["helper 3.0", "openpyxl 1.0"]);
    assert_eq!(allowed.run(&["run", "s", "x.py"]).out, "3.0\n");
    assert_eq!(allowed.run(&["env", "build", "s", "--upgrade"]).code, 0, "it is already built");
}

#[test]
fn an_update_keeps_pins_for_the_same_requirements() {
    let index = index("2.0");
    let env = test_env(&index);
    install(&env);
    assert_eq!(env.run(&["env", "build", "s", "--yes"]).code, 0);
    let before = pinned(&env);
    env.file("../source/s/x.py", format!("{SCRIPT}print('more')\n"));
    let updated = env.run(&["update", "--project", "--yes"]);
    assert_eq!(updated.code, 0, "{}", updated.transcript());
    assert_eq!(pinned(&env), before);
    env.file("../source/s/x.py", "import openpyxl, docx\n");
    assert_eq!(env.run(&["update", "--project", "--yes"]).code, 0);
    assert_eq!(pinned(&env), Value::Null);
    assert_eq!(env.run(&["remove", "s", "--yes"]).code, 0);
    assert_eq!(env.text("skills.lock"), "[entity not found]");
}

#[test]
fn pins_for_another_interpreter_are_kept() {
    let index = index("2.0");
    let env = test_env(&index);
    install(&env);
    assert_eq!(env.run(&["env", "build", "s", "--yes"]).code, 0);
    let mut lock: Value = serde_json::from_str(&env.text("skills.lock")).unwrap();
    // The same requirements on another platform.
    let tag = lock["skills"][0]["environments"][0]["tag"].as_str().unwrap().replace("linux", "plan9");
    lock["skills"][0]["environments"][0]["tag"] = json!(tag);
    env.file("skills.lock", lock.to_string());
    env.run(&["env", "remove", "s"]);
    fs::remove_dir_all(env.path(".agents/skills/s")).unwrap();
    let restored = env.run(&["install", "--locked", "--project"]);
    assert_eq!(restored.code, 0, "{}", restored.transcript());
    assert!(restored.err.contains("run `prowess env build s` to install them"), "{}", restored.err);
    let built = env.run(&["env", "build", "s", "--yes"]);
    assert!(built.code == 0 && built.err.contains("the lock file pins packages for "), "{}", built.err);
    let tags: Vec<Value> = pinned(&env).as_array().unwrap().iter().map(|pin| pin["tag"].clone()).collect();
    assert!(tags.len() == 2 && tags.contains(&json!(tag)), "{tags:?}");
}

/// A lock file of a project cannot select an index, an option or a file.
#[test]
fn an_invalid_pin_is_refused() {
    let index = index("2.0");
    let env = test_env(&index);
    install(&env);
    assert_eq!(env.run(&["env", "build", "s", "--yes"]).code, 0);
    let text = env.text("skills.lock");
    for (part, poison) in [
        ("\"helper\"", "\"--index-url=http://x.example/\""),
        ("\"2.0\"", "\"2.0 @ file:///etc/passwd\""),
        ("sha256:", "md5:"),
    ] {
        let start = text.find("\"environments\"").unwrap();
        let changed = format!("{}{}", &text[..start], text[start..].replace(part, poison));
        env.file("skills.lock", changed);
        let result = env.run(&["env", "build", "s", "--yes"]);
        assert_eq!(result.code, 1, "{}", result.transcript());
        assert!(result.err.contains("valid name, version and digest"), "{}", result.err);
    }
}
