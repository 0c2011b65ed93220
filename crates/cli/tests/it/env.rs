//! `prowess env`.

use crate::support::TestEnv;

fn env() -> TestEnv {
    let env = TestEnv::bare().variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    env.skill("~/.agents/skills/s")
        .file("~/.prowess/config.toml", "environments.directory = \"~/environments\"\n");
    env
}

#[test]
fn an_empty_store_is_explained() {
    let env = env();
    let listed = env.run(&["env", "list"]);
    assert_eq!((listed.code, listed.out.as_str()), (0, ""));
    assert!(listed.err.contains("run `prowess env build NAME` to build one"), "{}", listed.err);
    let json = env.run(&["env", "list", "--json"]).json();
    assert_eq!((&json["schema"], &json["environments"]), (&1.into(), &serde_json::json!([])));
    assert_eq!(env.run(&["env", "prune"]).err, "no environments to remove\n");
    assert_eq!(env.run(&["env", "prune", "--json"]).json()["removed"], serde_json::json!([]));
    let removed = env.run(&["env", "remove", "s"]);
    assert_eq!(removed.code, 1);
    insta::assert_snapshot!(removed.err, @"
    error: no environment s
    hint: run `prowess env list` to see all environments
    ");
}

#[test]
fn scripts_without_packages_need_no_environment() {
    let env = env();
    env.file("~/.agents/skills/s/x.py", "import os, json\n");
    let built = env.run(&["env", "build", "s"]);
    assert_eq!((built.code, built.err.as_str()), (0, "the scripts of s need no packages\n"));
    assert_eq!(env.run(&["env", "build", "s", "--json"]).json()["environments"], serde_json::json!([]));
    assert_eq!(env.run(&["env", "build", "nothing"]).code, 1);
}

#[test]
fn what_cannot_be_built_is_explained() {
    let env = env();
    env.file("~/.agents/skills/s/x.py", "import in_house_module\n");
    let unknown = env.run(&["env", "build", "s"]).err;
    env.file("~/.agents/skills/s/requirements.txt", "a\n--index-url https://index.example/\n");
    let refused = env.run(&["env", "build", "s"]).err;
    env.file("~/.agents/skills/s/requirements.txt", "\n").file("~/.agents/skills/s/x.py", "");
    env.file("~/.agents/skills/s/y.js", "")
        .file("~/.agents/skills/s/package.json", r#"{"dependencies": {"a": "1"}}"#);
    let unlocked = env.run(&["env", "build", "s"]).err;
    insta::assert_snapshot!([unknown, refused, unlocked].concat(), @r#"
    error: no known package provides in_house_module
    hint: list the packages in requirements.txt of the skill, or in a `# /// script` block of the script
    error: requirements.txt:2: cannot use "--index-url https://index.example/": a skill cannot choose the package index
    hint: list packages by name, such as openpyxl>=3.1
    error: package.json has dependencies, but no package-lock.json
    hint: run `npm install --package-lock-only` and add package-lock.json to the skill
    "#);
}
