//! Environments, with a package index on loopback.

#![cfg(target_os = "linux")]

use std::fs;
use std::time::Duration;

use prowess_sandbox::Protection;
use prowess_sandbox::environments::EnvironmentError;
use prowess_testing::script_env::{TIERS, rerun_as_unprivileged_user};

use super::environment_support::{EnvironmentTest, LocalIndex, describe, tree, wheel};

/// A skill that declares one package.
fn declaring(requirement: &str) -> EnvironmentTest {
    EnvironmentTest::new(&[("requirements.txt", &format!("{requirement}\n")), ("x.py", "import good\n")])
}

fn good_index() -> LocalIndex {
    LocalIndex::start(vec![
        wheel(
            "good",
            "1.0",
            &["helper>=2"],
            &[("good/__init__.py", "import helper\nVALUE = helper.VALUE\n")],
        ),
        wheel("helper", "1.0", &[], &[("helper.py", "VALUE = 1\n")]),
        wheel("helper", "2.0", &[], &[("helper.py", "VALUE = 2\n")]),
    ])
}

#[test]
fn an_environment_is_built_once_and_shared() {
    let index = good_index();
    for tier in TIERS {
        let test = declaring("good").with_index(&index).on(tier);
        let records = test.build().unwrap();
        let packages: Vec<_> = records[0]
            .set
            .packages
            .iter()
            .map(|package| format!("{} {}", package.name, package.version))
            .collect();
        assert_eq!(packages, ["good 1.0", "helper 2.0"]);
        assert_eq!(test.python("x.py", "import good; print(good.VALUE)").0, "2\n");
        assert_eq!(test.build().unwrap(), records, "the same one");
        let listed = test.store().list();
        assert_eq!((listed.len(), listed[0].usage.skills.as_slice()), (1, &["s".to_owned()][..]));
        let id = &records[0].id;
        assert_eq!(test.store().remove(&id[..8]).unwrap().join(" "), *id);
        assert_eq!(tree(test.store().dir().to_owned()), ["build.lock", "interpreters.json"]);
        assert!(matches!(test.ready("x.py"), Err(EnvironmentError::NotBuilt { .. })));
    }
}

#[test]
fn nothing_of_a_package_runs_while_it_is_built_or_found() {
    let marker = "import os; open('/tmp/prowess-pth-marker', 'w').write('ran')\n";
    let index = LocalIndex::start(vec![wheel(
        "good",
        "1.0",
        &[],
        &[("good/__init__.py", marker), ("evil.pth", marker), ("sitecustomize.py", "")],
    )]);
    for tier in TIERS {
        let test = declaring("good").with_index(&index).on(tier);
        test.build().unwrap();
        let (out, err) = test.python("x.py", "import os; print(os.path.exists('/tmp/prowess-pth-marker'))");
        assert_eq!(out, "False\n", "{err}");
    }
}

#[test]
fn a_wheel_cannot_write_outside() {
    for name in ["../../escape.py", "/tmp/prowess-escape.py", "good/../../escape.py"] {
        let index = LocalIndex::start(vec![wheel(
            "good",
            "1.0",
            &[],
            &[("good/__init__.py", ""), (name, "print(1)\n")],
        )]);
        for tier in TIERS {
            let test = declaring("good").with_index(&index).on(tier);
            let result = test.build();
            assert!(!std::path::Path::new("/tmp/prowess-escape.py").exists());
            let files = tree(test.env.path(""));
            let outside: Vec<_> = files.iter().filter(|file| file.ends_with("escape.py")).collect();
            match result {
                Err(_) => assert!(outside.is_empty(), "{name}: {outside:?}"),
                Ok(records) => {
                    let inside = format!("environments/{}/site-packages/", records[0].id);
                    assert!(outside.iter().all(|file| file.starts_with(&inside)), "{name}: {outside:?}");
                }
            }
        }
    }
}

#[test]
fn bad_requirements_are_explained() {
    let index = LocalIndex::start(vec![
        wheel("good", "1.0", &["helper<2"], &[("good.py", "")]),
        wheel("other", "1.0", &["helper>=2"], &[("other.py", "")]),
        wheel("helper", "1.0", &[], &[("helper.py", "")]),
        wheel("helper", "2.0", &[], &[("helper.py", "")]),
        ("sourceonly-1.0.tar.gz".to_owned(), b"not a wheel".to_vec()),
    ]);
    let error = |requirements: &str| describe(declaring(requirements).with_index(&index).build());
    let errors =
        [error("sourceonly"), error("missing>=2"), error("good\nother"), error("good==9"), error("-e .")];
    let version = without_versions(&errors.join("\n"));
    insta::assert_snapshot!(version, @r#"
    the package index has no wheel of sourceonly for Python VERSION on PLATFORM
    hint: check the name and the version; packages that are only available as source are never built
    the package index has no wheel of missing>=2 for Python VERSION on PLATFORM
    hint: check the name and the version; packages that are only available as source are never built
    the required packages conflict: good 1.0 depends on helper<2; other 1.0 depends on helper>=2
    hint: change the required versions in the skill
    the package index has no wheel of good==9 for Python VERSION on PLATFORM
    hint: check the name and the version; packages that are only available as source are never built
    requirements.txt:1: cannot use "-e .": only packages of the index are installed, no URLs and no paths
    hint: list packages by name, such as openpyxl>=3.1
    "#);
}

/// Replaces the version and platform of the interpreter.
fn without_versions(text: &str) -> String {
    let words: Vec<String> = text
        .split(' ')
        .map(|word| match word.strip_prefix("linux-") {
            Some(rest) => format!("PLATFORM{}", rest.find('\n').map(|at| &rest[at..]).unwrap_or_default()),
            None if word.starts_with("3.") => "VERSION".to_owned(),
            None => word.to_owned(),
        })
        .collect();
    words.join(" ")
}

#[test]
fn python_versions_are_checked_before_anything_is_fetched() {
    let script = "# /// script\n# requires-python = \">=3.99\"\n# dependencies = [\"good\"]\n# ///\n";
    let test = EnvironmentTest::new(&[("x.py", script)]);
    let error = test.build().unwrap_err();
    assert!(
        error.to_string().starts_with("x.py requires Python >=3.99, but /usr/bin/python3 is 3."),
        "{error}"
    );
    assert!(matches!(test.ready("x.py"), Err(EnvironmentError::PythonVersion { .. })));
}

#[test]
fn a_missing_interpreter_is_explained() {
    let test = declaring("good");
    let mut host = test.env.host_env();
    host.path = "/nonexistent".into();
    let builder = prowess_sandbox::environments::EnvironmentBuilder::new(&test.env.policy, &host).unwrap();
    insta::assert_snapshot!(describe(builder.plan(&test.files())), @"
    python3 is not in PATH
    hint: install it; on Debian, run: apt-get install python3
    ");
}

#[test]
fn an_unreachable_index_is_explained() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut test = declaring("good");
    test.env.policy.run.environments.python_index = Some(format!("http://127.0.0.1:{port}/simple"));
    // It never answers.
    let result = test.with_builder(|mut builder| {
        builder.network_timeout = Duration::from_secs(1);
        let plans = builder.plan(&test.files()).unwrap();
        builder.resolve(&plans[0])
    });
    insta::assert_snapshot!(describe(result), @"
    cannot reach the package index at 127.0.0.1: no answer in time
    hint: check the network, HTTPS_PROXY and environments.python-index
    ");
    // Nothing listens.
    drop(listener);
    let error = test.build().unwrap_err();
    assert!(error.to_string().contains("cannot reach the package index at 127.0.0.1"), "{error}");
    assert_eq!(test.store().list(), []);
}

#[test]
fn only_the_index_is_reachable() {
    // The index leads to another server.
    let other = LocalIndex::start(vec![wheel("good", "1.0", &[], &[("good.py", "")])]);
    let port = other.url.trim_start_matches("http://127.0.0.1:").trim_end_matches("/simple").to_owned();
    let page = format!(
        "<a href=\"http://127.0.0.1:{port}/files/good-1.0-py3-none-any.whl\">good-1.0-py3-none-any.whl</a>"
    );
    let index = LocalIndex::start_with_page("good", &page);
    let test = declaring("good").with_index(&index);
    let error = test.build().unwrap_err();
    assert!(
        matches!(&error, EnvironmentError::HostNotAllowed { host } if *host == format!("127.0.0.1:{port}")),
        "{error}"
    );
    let mut test = declaring("good").with_index(&index);
    test.env.policy.run.environments.hosts = vec![format!("127.0.0.1:{port}")];
    // The page has no digest, and an allowed host alone does not replace one: pip computes it from the file.
    assert_eq!(test.build().unwrap()[0].set.packages[0].name, "good");
}

#[test]
fn changed_environments_are_refused_and_rebuilt() {
    let index = good_index();
    let test = declaring("good").with_index(&index);
    let id = test.build().unwrap()[0].id.clone();
    let dir = test.store().dir().join(&id);
    let file = dir.join("site-packages/helper.py");
    let changes: [&dyn Fn(); 4] = [
        &|| fs::write(&file, "VALUE = 666\n").unwrap(),
        &|| fs::write(dir.join("site-packages/extra.py"), "").unwrap(),
        &|| fs::remove_file(&file).unwrap(),
        &|| fs::write(dir.join("environment.json"), "garbage").unwrap(),
    ];
    for change in changes {
        change();
        let error = test.ready("x.py").unwrap_err();
        assert!(
            matches!(error, EnvironmentError::Tampered { .. } | EnvironmentError::Corrupt { .. }),
            "{error}"
        );
        assert_eq!(error.hint().unwrap(), "run `prowess env build s`");
        test.build().unwrap();
        assert_eq!(test.python("x.py", "import good; print(good.VALUE)").0, "2\n");
    }
    // A change that keeps size and time of modification changes another time.
    let times = fs::metadata(&file).unwrap().modified().unwrap();
    let set_back = || fs::File::options().write(true).open(&file).unwrap().set_modified(times).unwrap();
    fs::write(&file, "VALUE = 3\n").unwrap();
    set_back();
    assert!(matches!(test.ready("x.py"), Err(EnvironmentError::Tampered { .. })));
    assert!(matches!(test.store().verify(&id), Err(EnvironmentError::Tampered { .. })));
    // The same contents with other times, as after a backup was restored, are accepted.
    fs::write(&file, "VALUE = 2\n").unwrap();
    let stamp = || test.store().check(&id).unwrap().stamp;
    test.ready("x.py").unwrap().unwrap();
    let renewed = stamp();
    assert_eq!(stamp(), renewed);
    set_back();
    test.ready("x.py").unwrap().unwrap();
    assert_ne!(stamp(), renewed);
}

/// A pinned set is installed exactly; without one, the index decides.
#[test]
fn pinned_packages_are_installed() {
    let index = good_index();
    let mut test = declaring("good").with_index(&index);
    let old = test.with_builder(|builder| {
        let plan = builder.plan(&test.files()).unwrap().remove(0);
        let older = declaring("helper==1.0").with_index(&index);
        let helper = older.with_builder(|builder| {
            builder.resolve(&builder.plan(&older.files()).unwrap()[0]).unwrap().packages.remove(0)
        });
        let mut set = builder.resolve(&plan).unwrap();
        set.packages[1] = helper;
        plan.pin(&set)
    });
    test.pins = vec![old.clone()];
    let records = test.build().unwrap();
    assert_eq!(records[0].set, old.set);
    assert_eq!(test.python("x.py", "import good; print(good.VALUE)").0, "1\n");
    // An upgrade asks the index again.
    let upgraded = test.with_builder(|mut builder| {
        builder.upgrade = true;
        builder.resolve(&builder.plan(&test.files()).unwrap()[0]).unwrap()
    });
    assert_eq!(upgraded.packages[1].version, "2.0");
    // Another digest than that of the index.
    let mut forged = old.clone();
    forged.set.packages[0].hashes = vec![format!("sha256:{}", "0".repeat(64))];
    test.pins = vec![forged];
    assert!(matches!(test.ready("x.py"), Err(EnvironmentError::NotBuilt { .. })));
    let error = test.build().unwrap_err();
    assert!(matches!(error, EnvironmentError::HashMismatch { .. }), "{error}");
    // Another interpreter: the index decides, and the pin is kept.
    let mut other = old;
    other.set.tag = "cpython-30-linux-x86_64".to_owned();
    test.pins = vec![other];
    assert_eq!(test.build().unwrap()[0].set.packages[1].version, "2.0");
}

#[test]
fn a_poisoned_cache_leads_nowhere() {
    let index = good_index();
    let test = declaring("good").with_index(&index);
    let id = test.build().unwrap()[0].id.clone();
    let dir = test.store().dir().to_owned();
    let resolution = fs::read_dir(dir.join("resolutions")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&resolution).unwrap();
    // Another package, under the name of a resolution.
    fs::write(&resolution, text.replace("\"2.0\"", "\"1.0\"")).unwrap();
    assert!(matches!(test.ready("x.py"), Err(EnvironmentError::NotBuilt { .. })));
    let error = test.build().unwrap_err();
    assert!(matches!(error, EnvironmentError::HashMismatch { .. }), "{error}");
    // Names that mean something else to an installer.
    for poison in ["-e .", "../x", "a --index-url http://x.example"] {
        fs::write(&resolution, text.replace("\"helper\"", &format!("{poison:?}"))).unwrap();
        assert_eq!(test.build().unwrap()[0].id, id, "the index is asked again");
    }
    // An environment under the id of another.
    fs::write(&resolution, text).unwrap();
    let record = fs::read_to_string(dir.join(&id).join("environment.json")).unwrap();
    fs::write(dir.join(&id).join("environment.json"), record.replace("\"2.0\"", "\"3.0\"")).unwrap();
    assert!(matches!(test.ready("x.py"), Err(EnvironmentError::Corrupt { .. })));
}

#[test]
fn a_stopped_build_leaves_nothing() {
    let index = good_index();
    let test = declaring("good").with_index(&index);
    test.cancel.cancel();
    assert!(matches!(test.build(), Err(EnvironmentError::Stopped)));
    // What a killed process leaves behind.
    fs::create_dir_all(test.store().dir().join(".building/site-packages")).unwrap();
    fs::write(test.store().dir().join(".building/environment.json"), "{}").unwrap();
    assert_eq!(test.store().list(), []);
    assert!(!test.store().dir().join(".building").exists());
}

#[test]
fn unknown_modules_need_no_environment() {
    let test = EnvironmentTest::new(&[("x.py", "import in_house_module\n")]);
    assert_eq!(test.ready("x.py").unwrap(), None);
    let unknown =
        test.with_builder(|builder| builder.plan(&test.files()).unwrap()[0].requirements.unknown.clone());
    assert_eq!(unknown, ["in_house_module"]);
}

#[test]
fn packages_of_the_interpreter_are_used() {
    // Every interpreter with pip has it in its own directory.
    let test = EnvironmentTest::new(&[("x.py", "import pip\n")]);
    assert_eq!(test.ready("x.py").unwrap(), None);
}

#[test]
fn an_unsafe_directory_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let test = EnvironmentTest::new(&[]);
    let dir = test.env.path("environments");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
    let opened = prowess_sandbox::environments::EnvironmentStore::open(
        &test.env.policy.run.environments,
        &test.env.host_env(),
    );
    let text = describe(opened).replace(&dir.display().to_string(), "DIR");
    insta::assert_snapshot!(text, @"
    cannot use DIR for environments: other users can write to it
    hint: fix its permissions, or set environments.directory in ~/.prowess/config.toml
    ");
}

#[test]
fn unused_environments_are_pruned() {
    let index = good_index();
    let test = declaring("good").with_index(&index);
    let id = test.build().unwrap()[0].id.clone();
    assert_eq!(test.store().prune(0, |skill| skill == "s").unwrap(), Vec::<String>::new());
    assert_eq!(test.store().prune(0, |_| false).unwrap(), [id]);
}

#[test]
fn a_build_is_never_unconfined() {
    let index = good_index();
    let mut test = declaring("good").with_index(&index);
    test.protection = Protection::Unsafe;
    // Unsafe runs of scripts do not make builds unsafe: it works, in the sandbox.
    test.build().unwrap();
}

#[test]
fn an_unprivileged_user_builds_an_environment() {
    rerun_as_unprivileged_user("environments::an_environment_is_built_once");
}
