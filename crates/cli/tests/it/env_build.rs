//! Environments that are built before a script runs, and how they are shown.

use insta::{assert_snapshot, with_settings};
use prowess_testing::package_index::{LocalIndex, wheel};

use crate::support::TestEnv;
use crate::support::terminal::TerminalSession;

/// Values that depend on the machine.
pub const MACHINE: [(&str, &str); 11] = [
    (r#""bytes": \d+"#, r#""bytes": [N]"#),
    (r"Python \d\.\d+ on [a-z0-9_-]+", "Python [VERSION]"),
    (r"sandbox tier\d: (.*), \d+ ms", "sandbox [TIER]: $1, [N] ms"),
    (r"tier1 cannot be enforced: .*\n", ""),
    (r"\r(\x1b\[K)?", ""),
    (r"(resolving|installing|verifying) …", ""),
    (r"environment [0-9a-f]{12}", "environment [ID]"),
    (r#""id": "[0-9a-f]{32}""#, r#""id": "[ID]""#),
    (r"cpython-[0-9a-z_-]+", "[TAG]"),
    (r#"sha256:[0-9a-f]{64}"#, "[DIGEST]"),
    (r"\d+(\.\d+)? (KiB|MiB|bytes)", "[SIZE]"),
];

/// Packages that no index has, so that nothing else can be installed.
pub fn index(helper: &str) -> LocalIndex {
    LocalIndex::start(vec![
        wheel(
            "openpyxl",
            "1.0",
            &["helper>=2"],
            &[("openpyxl/__init__.py", "import helper\nVALUE = helper.VALUE\n")],
        ),
        wheel("helper", helper, &[], &[("helper.py", &format!("VALUE = '{helper}'\n"))]),
    ])
}

/// Returns an environment whose environments are in its home directory.
pub fn test_env(index: &LocalIndex) -> TestEnv {
    let env = TestEnv::bare().variable("PATH", "/usr/bin:/bin").variable("NO_COLOR", "1");
    env.let_other_users_read();
    use_index(&env, index);
    env
}

/// Configures the package index.
pub fn use_index(env: &TestEnv, index: &LocalIndex) {
    let config = format!(
        "environments.directory = \"~/environments\"\nenvironments.python-index = \"{}\"\n",
        index.url
    );
    env.file("~/.prowess/config.toml", config);
}

fn skill(env: &TestEnv) {
    env.skill("~/.agents/skills/s")
        .file("~/.agents/skills/s/x.py", "import openpyxl\nprint('value', openpyxl.VALUE)\n");
}

#[test]
fn the_first_run_builds_the_environment_after_a_question() {
    let index = index("2.0");
    let env = test_env(&index);
    skill(&env);
    let call = &["run", "s", "x.py"];
    with_settings!({ filters => MACHINE }, {
        let declined = TerminalSession::start(&env, call)
            .until("not now: ").answer("y").until("[y/N] ").answer("n").transcript();
        assert_snapshot!("build_declined", declined);
        assert_eq!(env.run(&["env", "list", "--json"]).json()["environments"], serde_json::json!([]));
        let built = TerminalSession::start(&env, call)
            .until("not now: ").answer("y").until("[y/N] ").answer("y").transcript();
        assert_snapshot!("built_and_run", built);
        // The second run has nothing to build, and the question names the packages.
        let again = TerminalSession::start(&env, call).until("not now: ").answer("y").transcript();
        assert_snapshot!("already_built", again);
    });
    // A script that may not run is not offered an environment.
    env.run(&["env", "remove", "s"]);
    let refused = TerminalSession::start(&env, call).until("not now: ").answer("n").end();
    assert!(refused.1 == 1 && !refused.0.contains("Build it"), "{}", refused.0);
    // Without a terminal, the error is as before.
    let env = env.variable("PROWESS_ALLOW_SCRIPTS", "1");
    let result = env.run(&["run", "s", "x.py", "--json"]);
    assert_eq!((result.code, result.error().0.as_str()), (1, "UNAVAILABLE"));
    assert_snapshot!("not_built", env.run(&["run", "s", "x.py"]).transcript());
}

#[test]
fn info_shows_what_scripts_need() {
    let index = index("2.0");
    let env = test_env(&index);
    skill(&env);
    env.file("~/.agents/skills/s/y.py", "# /// script\n# dependencies = [\"openpyxl>=1\"]\n# ///\n")
        .file("~/.agents/skills/s/z.py", "import in_house_module\n");
    let rows = || {
        let out = env.run(&["info", "s"]).out;
        let is_row = |line: &&str| line.contains("packages  ") || line.contains("unknown imports");
        out.lines().filter(is_row).map(|line| format!("{line}\n")).collect::<String>()
    };
    with_settings!({ filters => MACHINE }, {
        let before = rows();
        assert_eq!(env.run(&["env", "build", "s", "--yes"]).code, 0);
        assert_snapshot!("info", format!("{before}\n{}", rows()));
        let json = env.run(&["info", "s", "--json"]).json();
        assert_snapshot!("info_json", serde_json::to_string_pretty(&json["environments"]).unwrap());
    });
    // A skill whose requirements cannot be read.
    env.file("~/.agents/skills/s/requirements.txt", "-e .\n");
    let json = env.run(&["info", "s", "--json"]).json();
    assert!(json["environments_error"].as_str().unwrap().contains("requirements.txt:1"), "{json}");
}

#[test]
fn doctor_shows_tools_and_environments() {
    let index = index("2.0");
    let env = test_env(&index);
    skill(&env);
    let findings = || {
        let json = env.run(&["doctor", "--json"]).json();
        let all = json["findings"].as_array().unwrap().clone();
        let of = |name: &str| all.iter().filter(|it| it["what"] == name).cloned().collect::<Vec<_>>();
        (of("python3"), of("pip"), of("environments"), of("environment"))
    };
    let (python, pip, environments, broken) = findings();
    assert!(python[0]["message"].as_str().unwrap().starts_with("/usr/bin/python3 3."), "{python:?}");
    assert_eq!(pip.len(), 1, "{pip:?}");
    assert_eq!(environments[0]["message"], "none in ~/environments");
    assert!(broken.is_empty());
    assert_eq!(env.run(&["env", "build", "s", "--yes"]).code, 0);
    let id = env.run(&["env", "list", "--json"]).json()["environments"][0]["id"].as_str().unwrap().to_owned();
    let (.., environments, broken) = findings();
    assert!(environments[0]["message"].as_str().unwrap().starts_with("1 environment in ~/environments, "));
    assert!(broken.is_empty());
    env.file(&format!("~/environments/{id}/site-packages/helper.py"), "VALUE = 'changed'\n");
    let (.., broken) = findings();
    with_settings!({ filters => [(r"[0-9a-f]{12,32}", "[ID]")] }, {
        assert_snapshot!("doctor_broken", serde_json::to_string_pretty(&broken).unwrap());
    });
    // The command in the message works.
    assert_eq!(env.run(&["env", "remove", &id[..12]]).code, 0);
    assert!(findings().3.is_empty());
}
