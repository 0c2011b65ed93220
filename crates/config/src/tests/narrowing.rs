//! A project narrows and never widens.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::World;
use super::table::{as_toml, samples};
use crate::narrow::Project;
use crate::values::Values;
use crate::{Configuration, KEYS};
use prowess::policy::{Policy, Preset, RootPlace, Scope};

#[test]
fn what_would_widen_is_warned_about_and_ignored() {
    let world = World::new().project(
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
    assert_eq!(world.load().policy, Policy::default());
    insta::assert_snapshot!(world.said());
}

#[test]
fn what_narrows_is_taken() {
    let world = World::new().user("skills.disabled = [\"pdf\"]\nmention.dollar = false").project(
        "enabled = false\n\
         trust.project = \"required\"\n\
         scan.depth = 2\n\
         scan.max-skills = 10\n\
         manifest.name-folder = \"reject\"\n\
         manifest.name = \"ascii\"\n\
         manifest.repair = \"off\"\n\
         skills.disabled = [\"gh\"]\n\
         skills.enabled-bundled = [\"hello-world\"]\n\
         limits.resource-bytes = 1000\n\
         catalog.format = \"json\"\n\
         catalog.budget-chars = 100\n\
         mention.slash = false\n\
         refresh = \"at-start\"\n\
         run.allowed-tools = \"required\"\n\
         run.script-timeout-ms = 1000\n",
    );
    assert_eq!(world.said(), "");
    let settings = world.load().settings;
    let changed = settings.iter().filter(|setting| setting.origin.to_string().starts_with("project file"));
    let changed: Vec<_> = changed.map(|setting| format!("{} = {}", setting.key, setting.value)).collect();
    insta::assert_snapshot!(changed.join("\n"));
}

/// What a script may take: each limit goes down for a project, and up only for the user.
#[test]
fn each_limit_of_scripts_is_lowered_by_a_project_and_raised_only_by_the_user() {
    let limits = [
        ("script-timeout-ms", 60_000),
        ("output-bytes", 1 << 20),
        ("memory-bytes", 2 << 30),
        ("processes", 64),
        ("file-bytes", 64 << 20),
        ("open-files", 256),
        ("scratch-bytes", 512 << 20),
        ("arguments", 100),
        ("argument-bytes", 4_096),
    ];
    let keys = KEYS.iter().filter_map(|key| key.name.strip_prefix("run."));
    let others = ["scripts", "allowed-tools", "allowed-skills", "network", "env"];
    assert_eq!(
        keys.filter(|key| !others.contains(key)).collect::<Vec<_>>(),
        limits.map(|(key, _)| key),
        "a limit that is not tested"
    );
    for (key, usual) in limits {
        let (less, more, most) = (usual / 2_u64, usual + 1, usual + 2);
        let value = |world: &World| world.value(&format!("run.{key}"));
        let line = |value: u64| format!("run.{key} = {value}");
        assert_eq!(value(&World::new()), format!("{usual} (preset standard)"));
        let world = World::new().project(&line(less));
        assert_eq!(
            (value(&world), world.said()),
            (format!("{less} (project file project/.prowess/config.toml:1)"), String::new())
        );
        let world = World::new().project(&line(more));
        assert_eq!(value(&world), format!("{usual} (preset standard)"));
        assert!(
            world.said().contains(&format!("warning[SK095]: a project may not set run.{key}")),
            "{}",
            world.said()
        );
        let world = World::new().user(&line(more));
        assert_eq!(
            (value(&world), world.said()),
            (format!("{more} (user file home/.prowess/config.toml:1)"), String::new())
        );
        // What the user raised is the bound for a project.
        let world = World::new().user(&line(more)).project(&line(most));
        assert_eq!(value(&world), format!("{more} (user file home/.prowess/config.toml:1)"));
        let world = World::new().user(&line(most)).project(&line(more));
        assert_eq!(value(&world), format!("{more} (project file project/.prowess/config.toml:1)"));
    }
}

#[test]
fn a_project_moves_its_own_roots_and_no_others() {
    let roots = |world: &World| {
        let roots = world.load().policy.scan.roots;
        roots.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let world = World::new().project("scan.roots = [\"skills\", \"./more/skills\"]");
    assert_eq!(world.said(), "");
    assert_eq!(
        roots(&world),
        ["skills", "more/skills", "~/.agents/skills", "~/.prowess/skills", "~/.claude/skills", "bundled"]
    );
    let world =
        World::new().user("scan.roots = [\"/opt\", \"a\", \"~/b\", \"c\"]").project("scan.roots = []");
    assert_eq!(roots(&world), ["/opt", "~/b"]);
    // Where the user scans no project, a project cannot ask for it; where nothing is asked, nothing is said.
    let world = World::new().user("scan.roots = [\"~/b\"]").project("scan.roots = [\"skills\"]");
    assert_eq!(roots(&world), ["~/b"]);
    insta::assert_snapshot!(world.said());
    assert_eq!(World::new().user("scan.roots = [\"~/b\"]").project("scan.roots = []").said(), "");
}

#[test]
fn roots_outside_the_project_are_refused_however_they_are_written() {
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
        let world = World::new().project(&format!("scan.roots = [\"ok\", \"{way}\"]"));
        assert_eq!(world.load().policy, Policy::default(), "{way}");
        assert!(world.said().contains("warning[SK095]"), "{way}: {}", world.said());
    }
}

#[test]
fn what_the_user_switched_off_stays_off() {
    let world = World::new()
        .user("[skills]\ndisabled = [\"pdf\"]\ndisabled-bundled = [\"gh\"]\nenabled-bundled = [\"a\", \"b\"]")
        .project(
            "[skills]\ndisabled = []\ndisabled-bundled = [\"x\", \"gh\"]\n\
             enabled = [\"deploy\", \"gh\"]\nenabled-bundled = [\"b\", \"c\"]",
        );
    let selection = world.load().policy.selection;
    assert_eq!(selection.disabled, ["pdf"]);
    assert_eq!(selection.disabled_bundled, ["gh", "x"]);
    assert_eq!(selection.enabled, [""; 0]);
    assert_eq!(selection.enabled_bundled, ["a", "b"]);
    insta::assert_snapshot!(world.said());
    let world = World::new().user("skills.enabled-bundled = [\"a\"]").project("skills.enabled-bundled = []");
    assert!(world.said().contains("an empty list enables all of them"));
    let world = World::new().user("enabled = false").project("enabled = true");
    assert!(!world.load().policy.enabled);
    assert!(world.said().contains("warning[SK095]"));
}

#[test]
fn the_users_own_files_may_do_all_that() {
    let world = World::new()
        .user("trust.project = \"not-needed\"\nscan.roots = [\"/opt\", \"../x\"]\nskills.disabled = [\"a\"]")
        .given("g.toml", "limits.resource-bytes = 9000000\nskills.disabled = []");
    assert_eq!(world.said(), "");
    assert_eq!(world.load().policy.selection.disabled, [""; 0]);
    assert_eq!(world.load().policy.limits.resource_bytes, 9_000_000);
}

#[test]
fn mistakes_of_a_project_are_warnings_that_change_nothing() {
    let world = World::new().project("scan.detph = 3\nscan.depth = \"deep\"\n[sources]\nx = 1\n");
    assert_eq!(world.load().policy, Policy::default());
    insta::assert_snapshot!(world.said());
    let world = World::new().project("scan.depth = \n");
    assert_eq!(world.load().policy, Policy::default());
    insta::assert_snapshot!("syntax", world.said());
}

#[test]
fn a_projects_link_is_not_followed() {
    for (link, target) in [("config.toml", "../../secret.toml"), ("", "../linked")] {
        let world =
            World::new().file("secret.toml", "password = 1").file("linked/config.toml", "scan.depth = 1");
        let folder = world.path("project/.prowess");
        let link = if link.is_empty() {
            folder
        } else {
            std::fs::create_dir(&folder).map(|()| folder.join(link)).unwrap()
        };
        std::os::unix::fs::symlink(target, link).unwrap();
        assert_eq!(
            world.said(),
            "project/.prowess/config.toml warning[SK091]: the configuration file is reached through a link, \
             which is not followed"
        );
    }
}

/// Any line that a project could write.
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
    let values = |configuration: &Configuration| Values {
        mcp_sources: configuration.mcp_sources.clone(),
        chat: configuration.chat.clone(),
        ..Values::of(configuration.policy.clone(), None)
    };
    let (old, new) = (values(before), values(after));
    let wider = KEYS.iter().filter(|key| match key.project {
        Project::May => false,
        Project::MayNot => key.field.write(&old) != key.field.write(&new),
        Project::Narrow => key.field.width(&new) > key.field.width(&old),
        Project::Within(_) => false,
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
    let foreign = |policy: &Policy| {
        let roots = policy.scan.roots.iter();
        roots.filter(|root| root.scope != Scope::Project).cloned().collect::<Vec<_>>()
    };
    let outside = |place: &RootPlace| match place {
        RootPlace::Project(path) => {
            !std::path::Path::new("/p").join(path).starts_with("/p") || path.starts_with("..")
        }
        _ => true,
    };
    let mut new_roots = new.scan.roots.iter().filter(|root| !old.scan.roots.contains(root));
    if foreign(old) != foreign(new) || new_roots.any(|root| outside(&root.place)) {
        wider.push("scan.roots");
    }
    wider
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_project_widens(
        user in proptest::collection::vec(line(), 0..6),
        project in proptest::collection::vec(line(), 0..10),
        preset in proptest::sample::select(Preset::ALL.to_vec()),
    ) {
        // Keys that stand twice make the whole file malformed; keep the first of each.
        let text = |lines: &[String]| {
            let mut seen = std::collections::HashSet::new();
            let key = |line: &String| line.split(" = ").next().map(ToOwned::to_owned);
            let lines = lines.iter().filter(|line| seen.insert(key(line)));
            lines.cloned().collect::<Vec<_>>().join("\n")
        };
        let world = World::new().preset(preset).user(&text(&user));
        let before = world.load();
        let world = world.project(&text(&project));
        let after = world.load();
        prop_assert_eq!(widened(&before, &after), Vec::<&str>::new(), "{}", text(&project));
        prop_assert!(after.diagnostics.iter().all(|located| !located.diagnostic.is_error()));
    }
}
