//! A project can restrict settings but never widen them.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::TestProject;
use super::table::{as_toml, samples};
use crate::narrow::ProjectRule;
use crate::values::ConfigValues;
use crate::{Configuration, KEYS};
use prowess::policy::{Policy, Preset, RootLocation, Scope};

#[test]
fn widening_values_are_ignored_with_a_warning() {
    let setup = TestProject::new().project(
        "preset = \"chat\"\n\
         trust.project = \"not-needed\"\n\
         scan.links = [\"/\"]\n\
         scan.roots = [\"skills\", \"../other\"]\n\
         scan.depth = 7\n\
         scan.max-skills = \"none\"\n\
         scan.max-entries = 99000000\n\
         scan.requires = \"ignored\"\n\
         manifest.name-form = \"ignore\"\n\
         manifest.name = \"title\"\n\
         manifest.description-max = \"none\"\n\
         limits.skill-md-bytes = 200001\n\
         limits.resource-bytes = 16000000\n\
         catalog.location = \"shown\"\n\
         catalog.budget-tokens = \"unbounded\"\n\
         activation.form = \"read-file\"\n\
         activation.max-pushed = 9\n\
         run.script-timeout-ms = 60001\n",
    );
    assert_eq!(setup.load().policy, Policy::default());
    insta::assert_snapshot!(setup.report());
}

#[test]
fn restricting_values_are_applied() {
    let setup = TestProject::new().user("skills.disabled = [\"pdf\"]\nmention.dollar = false").project(
        "enabled = false\n\
         trust.project = \"required\"\n\
         scan.depth = 2\n\
         scan.max-skills = 10\n\
         manifest.name-folder = \"reject\"\n\
         manifest.name = \"ascii\"\n\
         manifest.repair = \"off\"\n\
         skills.disabled = [\"gh\"]\n\
         skills.enabled-bundled = [\"hello-setup\"]\n\
         limits.resource-bytes = 1000\n\
         catalog.format = \"json\"\n\
         catalog.budget-chars = 100\n\
         mention.slash = false\n\
         refresh = \"at-start\"\n\
         run.allowed-tools = \"required\"\n\
         run.script-timeout-ms = 1000\n",
    );
    assert_eq!(setup.report(), "");
    let settings = setup.load().settings;
    let changed = settings.iter().filter(|setting| setting.origin.to_string().starts_with("project file"));
    let changed: Vec<_> = changed.map(|setting| format!("{} = {}", setting.key, setting.value)).collect();
    insta::assert_snapshot!(changed.join("\n"));
}

#[test]
fn script_limits_can_be_lowered_by_a_project_and_raised_only_by_the_user() {
    let limits = [
        ("script-timeout-ms", 60_000),
        ("output-bytes", 1 << 20),
        ("memory-bytes", 2 << 30),
        ("processes", 64),
        ("file-bytes", 64 << 20),
        ("open-files", 256),
        ("scratch-bytes", 512 << 20),
        ("workspace-bytes", 512 << 20),
        ("workspace-files", 10_000),
        ("arguments", 100),
        ("argument-bytes", 4_096),
    ];
    let keys = KEYS.iter().filter_map(|key| key.name.strip_prefix("run."));
    let others = [
        "scripts",
        "allowed-tools",
        "directory",
        "allowed-skills",
        "denied-skills",
        "network",
        "env",
        "client-roots",
    ];
    assert_eq!(
        keys.filter(|key| !others.contains(key)).collect::<Vec<_>>(),
        limits.map(|(key, _)| key),
        "a limit that is not tested"
    );
    for (key, usual) in limits {
        let (less, more, most) = (usual / 2_u64, usual + 1, usual + 2);
        let value = |setup: &TestProject| setup.value(&format!("run.{key}"));
        let line = |value: u64| format!("run.{key} = {value}");
        assert_eq!(value(&TestProject::new()), format!("{usual} (preset standard)"));
        let setup = TestProject::new().project(&line(less));
        assert_eq!(
            (value(&setup), setup.report()),
            (format!("{less} (project file project/.prowess/config.toml:1)"), String::new())
        );
        let setup = TestProject::new().project(&line(more));
        assert_eq!(value(&setup), format!("{usual} (preset standard)"));
        assert!(
            setup.report().contains(&format!("warning[SK095]: a project cannot set run.{key}")),
            "{}",
            setup.report()
        );
        let setup = TestProject::new().user(&line(more));
        assert_eq!(
            (value(&setup), setup.report()),
            (format!("{more} (user file home/.prowess/config.toml:1)"), String::new())
        );
        // The user's value is the limit for a project.
        let setup = TestProject::new().user(&line(more)).project(&line(most));
        assert_eq!(value(&setup), format!("{more} (user file home/.prowess/config.toml:1)"));
        let setup = TestProject::new().user(&line(most)).project(&line(more));
        assert_eq!(value(&setup), format!("{more} (project file project/.prowess/config.toml:1)"));
    }
}

#[test]
fn a_project_can_only_move_its_own_roots() {
    let roots = |setup: &TestProject| {
        let roots = setup.load().policy.scan.roots;
        roots.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let setup = TestProject::new().project("scan.roots = [\"skills\", \"./more/skills\"]");
    assert_eq!(setup.report(), "");
    assert_eq!(
        roots(&setup),
        ["skills", "more/skills", "~/.agents/skills", "~/.prowess/skills", "~/.claude/skills", "bundled"]
    );
    let setup =
        TestProject::new().user("scan.roots = [\"/opt\", \"a\", \"~/b\", \"c\"]").project("scan.roots = []");
    assert_eq!(roots(&setup), ["/opt", "~/b"]);
    // If the user searches no project roots, a project cannot add them. An empty list is not reported.
    let setup = TestProject::new().user("scan.roots = [\"~/b\"]").project("scan.roots = [\"skills\"]");
    assert_eq!(roots(&setup), ["~/b"]);
    insta::assert_snapshot!(setup.report());
    assert_eq!(TestProject::new().user("scan.roots = [\"~/b\"]").project("scan.roots = []").report(), "");
}

#[test]
fn roots_outside_the_project_are_rejected() {
    let ways = [
        "/etc",
        "~/x",
        "~",
        "../x",
        "a/../../x",
        "a/..",
        "bundled",
        "bundled:x",
        "user:x",
        "plugin:x",
        "project:/etc",
        "project:~/x",
        "project:bundled",
        "././/etc/..",
        "./../x",
    ];
    for way in ways {
        let setup = TestProject::new().project(&format!("scan.roots = [\"ok\", \"{way}\"]"));
        assert_eq!(setup.load().policy, Policy::default(), "{way}");
        assert!(setup.report().contains("warning[SK095]"), "{way}: {}", setup.report());
    }
}

#[test]
fn a_project_cannot_enable_what_the_user_disabled() {
    let setup = TestProject::new()
        .user("[skills]\ndisabled = [\"pdf\"]\ndisabled-bundled = [\"gh\"]\nenabled-bundled = [\"a\", \"b\"]")
        .project(
            "[skills]\ndisabled = []\ndisabled-bundled = [\"x\", \"gh\"]\n\
             enabled = [\"deploy\", \"gh\"]\nenabled-bundled = [\"b\", \"c\"]",
        );
    let selection = setup.load().policy.selection;
    assert_eq!(selection.disabled, ["pdf"]);
    assert_eq!(selection.disabled_bundled, ["gh", "x"]);
    assert_eq!(selection.enabled, [""; 0]);
    assert_eq!(selection.enabled_bundled, ["a", "b"]);
    insta::assert_snapshot!(setup.report());
    let setup =
        TestProject::new().user("skills.enabled-bundled = [\"a\"]").project("skills.enabled-bundled = []");
    assert!(setup.report().contains("an empty list enables all of them"));
    let setup = TestProject::new().user("enabled = false").project("enabled = true");
    assert!(!setup.load().policy.enabled);
    assert!(setup.report().contains("warning[SK095]"));
}

#[test]
fn user_files_may_set_everything() {
    let setup = TestProject::new()
        .user("trust.project = \"not-needed\"\nscan.roots = [\"/opt\", \"../x\"]\nskills.disabled = [\"a\"]")
        .config_file("g.toml", "limits.resource-bytes = 9000000\nskills.disabled = []");
    assert_eq!(setup.report(), "");
    assert_eq!(setup.load().policy.selection.disabled, [""; 0]);
    assert_eq!(setup.load().policy.limits.resource_bytes, 9_000_000);
}

#[test]
fn problems_of_a_project_are_warnings_without_effect() {
    let setup = TestProject::new().project("scan.detph = 3\nscan.depth = \"deep\"\n[sources]\nx = 1\n");
    assert_eq!(setup.load().policy, Policy::default());
    insta::assert_snapshot!(setup.report());
    let setup = TestProject::new().project("scan.depth = \n");
    assert_eq!(setup.load().policy, Policy::default());
    insta::assert_snapshot!("syntax", setup.report());
}

#[test]
fn symlinks_in_a_project_are_not_followed() {
    for (link, target) in [("config.toml", "../../secret.toml"), ("", "../linked")] {
        let setup = TestProject::new()
            .file("secret.toml", "password = 1")
            .file("linked/config.toml", "scan.depth = 1");
        let dir = setup.path("project/.prowess");
        let link =
            if link.is_empty() { dir } else { std::fs::create_dir(&dir).map(|()| dir.join(link)).unwrap() };
        std::os::unix::fs::symlink(target, link).unwrap();
        assert_eq!(
            setup.report(),
            "project/.prowess/config.toml warning[SK091]: the configuration file is behind a symlink, \
             which is not followed"
        );
    }
}

/// Any line that a project could contain.
fn line() -> impl Strategy<Value = String> {
    let lines: Vec<String> = KEYS
        .iter()
        .flat_map(|key| {
            samples(key).into_iter().map(move |sample| format!("{} = {}", key.name, as_toml(&sample)))
        })
        .chain(
            ["/etc", "~/x", "../x", "ok", "a/../../b", ".//etc", "user:x", "bundled"]
                .map(|root| format!("scan.roots = [\"x\", {}]", Json::from(root))),
        )
        .collect();
    proptest::sample::select(lines)
}

fn widened(before: &Configuration, after: &Configuration) -> Vec<&'static str> {
    let values = |configuration: &Configuration| ConfigValues {
        mcp_sources: configuration.mcp_sources.clone(),
        chat: configuration.chat.clone(),
        ..ConfigValues::from_policy(configuration.policy.clone(), None)
    };
    let (old, new) = (values(before), values(after));
    let wider = KEYS.iter().filter(|key| match key.project {
        ProjectRule::May => false,
        ProjectRule::MayNot => key.field.to_json(&old) != key.field.to_json(&new),
        ProjectRule::Narrow => key.field.permissiveness(&new) > key.field.permissiveness(&old),
        ProjectRule::Within(_) => false,
    });
    let mut wider: Vec<_> = wider.map(|key| key.name).collect();
    let (old, new) = (&before.policy, &after.policy);
    if !old.selection.disabled.iter().all(|name| new.selection.disabled.contains(name)) {
        wider.push("skills.disabled");
    }
    let mut enabled = new.selection.enabled.iter().filter(|name| !old.selection.enabled.contains(name));
    if enabled.any(|name| old.selection.disabled.contains(name)) {
        wider.push("skills.enabled");
    }
    let other_roots = |policy: &Policy| {
        let roots = policy.scan.roots.iter();
        roots.filter(|root| root.scope != Scope::Project).cloned().collect::<Vec<_>>()
    };
    let outside = |location: &RootLocation| match location {
        RootLocation::Project(path) => {
            !std::path::Path::new("/p").join(path).starts_with("/p") || path.starts_with("..")
        }
        _ => true,
    };
    let mut new_roots = new.scan.roots.iter().filter(|root| !old.scan.roots.contains(root));
    if other_roots(old) != other_roots(new) || new_roots.any(|root| outside(&root.location)) {
        wider.push("scan.roots");
    }
    wider
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_project_file_widens_a_setting(
        user in proptest::collection::vec(line(), 0..6),
        project in proptest::collection::vec(line(), 0..10),
        preset in proptest::sample::select(Preset::ALL.to_vec()),
    ) {
        // Duplicate keys make the whole file invalid; keep the first of each.
        let text = |lines: &[String]| {
            let mut seen = std::collections::HashSet::new();
            let key = |line: &String| line.split(" = ").next().map(ToOwned::to_owned);
            let lines = lines.iter().filter(|line| seen.insert(key(line)));
            lines.cloned().collect::<Vec<_>>().join("\n")
        };
        let setup = TestProject::new().preset(preset).user(&text(&user));
        let before = setup.load();
        let setup = setup.project(&text(&project));
        let after = setup.load();
        prop_assert_eq!(widened(&before, &after), Vec::<&str>::new(), "{}", text(&project));
        prop_assert!(after.diagnostics.iter().all(|located| !located.diagnostic.is_error()));
    }
}
