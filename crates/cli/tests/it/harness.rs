//! Installing and managing in preset `harness`, as document 002 has it.

use crate::world::terminal::Dialogue;
use crate::world::{BROKEN, CHANGING, World, keys, skill_md};
use insta::{assert_snapshot, with_settings};
use prowess_testing::servers::repository::{Repository, skills};

fn world() -> World {
    World::new()
        .variable("PROWESS_PRESET", "harness")
        .variable("PROWESS_ALLOW_FILE_URLS", "1")
        .variable("NO_COLOR", "1")
}

/// A repository that is one skill, in a folder of another name.
fn repository(world: &World) -> (Repository, String) {
    let repository = Repository::new(world.path("~/served/repository"));
    repository.write("SKILL.md", skill_md("pdf", "Fills forms.")).commit("first");
    let url = format!("file://{}", repository.path.display());
    (repository, url)
}

#[test]
fn s002_12_install_manage_list_update_and_remove() {
    let world = world();
    let (repository, url) = repository(&world);
    let mut told = world.runs(&[
        &["skill", "install", &url],
        &["skill", "manage", "list"],
        &["skill", "manage", "disable", "pdf"],
        &["skill", "manage", "list"],
        &["skill", "manage", "enable", "pdf"],
    ]);
    repository.write("SKILL.md", skill_md("pdf", "Fills more forms.")).commit("second");
    told += "\n";
    told += &world.runs(&[
        &["skill", "manage", "update", "pdf"],
        &["skill", "show"],
        &["skill", "manage", "remove", "pdf"],
        &["skill", "manage", "list"],
    ]);
    let bundled = told.find("[Bundled Skills]").unwrap();
    let told = match told[bundled..].find("\n\n") {
        Some(end) => format!("{}[Bundled Skills] …{}", &told[..bundled], &told[bundled + end..]),
        None => told,
    };
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(told);
    });
}

#[test]
fn s002_13_the_folder_takes_the_manifest_s_name_and_the_configuration_tracks_it() {
    let world = world();
    let (_, url) = repository(&world);
    world.file("~/.agent/config.yaml", "# mine\nmodel: x # theirs\nskills:\n  scriptTimeout: 30000\n");
    assert_eq!(world.run(&["skill", "install", &url, "--ref", "main"]).code, 0);
    assert_eq!(world.tree("~/.agent/plugins"), ["pdf/SKILL.md"]);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.filtered(&world.text("~/.agent/config.yaml")));
    });
    assert_eq!(world.run(&["skill", "manage", "remove", "pdf"]).code, 0);
    let left = "# mine\nmodel: x # theirs\nskills:\n  scriptTimeout: 30000\n";
    assert!(world.text("~/.agent/config.yaml").starts_with(left), "{}", world.text("~/.agent/config.yaml"));
    assert!(!world.text("~/.agent/config.yaml").contains("pdf"));
}

/// `InstallOptions` and `InstallResult` of the document, as the options and the answer of the command.
#[test]
fn s002_14_url_ref_and_name_go_in_and_name_and_path_come_out() {
    let world = world();
    let (_, url) = repository(&world);
    let told = world.run(&["skill", "install", &url, "--ref", "main", "--name", "forms", "--json"]);
    let answer = told.json();
    let skill = &answer["skills"][0];
    assert_eq!((&skill["name"], &skill["action"]), (&"forms".into(), &"installed".into()));
    assert_eq!(skill["folder"], "[HOME]/.agent/plugins/forms");
    assert_eq!(told.code, 0);
    let told = world.run(&["skill", "install", "file:///nowhere/at-all", "--json"]);
    assert_eq!(keys(&told.json()["error"]), ["code", "help", "message"]);
    assert_eq!(told.code, 1);
}

#[test]
fn s002_15_an_invalid_url_has_a_clear_message() {
    let told = world().runs(&[
        &["skill", "install", "not a url"],
        &["skill", "install", "ftp://host.example/x"],
        &["skill", "install", "https://user:secret@host.example/x/y"],
        &["skill", "install", "nonsense"],
    ]);
    assert_snapshot!(told);
}

#[test]
fn s002_15_a_missing_or_invalid_manifest_is_rolled_back() {
    let world = world();
    world.file("~/.agent/config.yaml", "model: x\n");
    let empty = Repository::new(world.path("~/served/empty"));
    empty.write("README.md", "Nothing.\n").commit("first");
    let broken = Repository::new(world.path("~/served/broken"));
    broken.write("SKILL.md", BROKEN).commit("first");
    // Keys of other systems are refused in this preset.
    let strange = Repository::new(world.path("~/served/strange"));
    strange.write("SKILL.md", "---\nname: strange\ndescription: D.\ntriggers: {}\n---\n").commit("first");
    for repository in [empty, broken, strange] {
        let url = format!("file://{}", repository.path.display());
        let told = world.run(&["skill", "install", &url]);
        assert_eq!(told.code, 1, "{}", told.whole());
    }
    assert!(
        !world.path("~/.agent/plugins").exists() && !world.path("~/.prowess/state/installed.json").exists()
    );
    assert_eq!(world.text("~/.agent/config.yaml"), "model: x\n");
}

#[test]
fn s002_15_a_name_that_is_taken_prompts_to_rename_or_skip() {
    let world = world();
    let (_, url) = repository(&world);
    world.skill("~/.agent/plugins/pdf");
    let told = world.run(&["skill", "install", &url, "--json"]);
    assert_eq!((told.error().0.as_str(), told.code), ("CONFLICT", 1));
    let ask = |answer: &str| {
        let mut dialogue = Dialogue::start(&world, &["skill", "install", &url]);
        dialogue.until("[r]ename to pdf-2, [o]verwrite, [s]kip pdf? ").answer(answer).end()
    };
    assert_eq!(ask("s").1, 1);
    assert_eq!(world.tree("~/.agent/plugins"), ["pdf/SKILL.md"]);
    assert_eq!(ask("r").1, 0);
    assert_eq!(world.tree("~/.agent/plugins"), ["pdf-2/SKILL.md", "pdf/SKILL.md"]);
    assert_eq!(world.text("~/.agent/plugins/pdf-2/SKILL.md"), skill_md("pdf-2", "Fills forms."));
}

#[test]
fn s002_16_plugins_have_url_ref_name_enabled_and_time_and_the_rest_of_the_file_stays() {
    let world = world();
    let repository = skills(world.path("~/served/skills"));
    let url = format!("file://{}", repository.path.display());
    world.file("~/.agent/config.yaml", "# mine\nskills:\n  userDir: ~/own # here\n  plugins:\n    # kept\n    - url: https://h.example/u/other\n      enabled: false\n");
    assert_eq!(world.run(&["skill", "install", &url, "--ref", "v1.0", "--all"]).code, 0);
    with_settings!({ filters => CHANGING }, {
        assert_snapshot!(world.filtered(&world.text("~/.agent/config.yaml")));
    });
}

#[test]
fn s002_16_plugins_go_to_the_configured_directory() {
    let world = world();
    let (_, url) = repository(&world);
    world.file("~/.agent/config.yaml", "skills:\n  pluginsDir: ~/plugged\n");
    assert_eq!(world.run(&["skill", "install", &url]).code, 0);
    assert_eq!(world.tree("~/plugged"), ["pdf/SKILL.md"]);
    assert_eq!(world.run(&["activate", "pdf"]).code, 0);
    assert_eq!(world.run(&["verify"]).code, 0);
    assert_eq!(world.run(&["skill", "manage", "remove", "pdf"]).code, 0);
    assert_eq!(world.tree("~/plugged"), Vec::<String>::new());
}

/// Whoever switched a plugin off did not mean only this version of it.
#[test]
fn s002_16_a_plugin_that_is_off_stays_off_when_it_is_updated() {
    let world = world();
    let (repository, url) = repository(&world);
    assert_eq!(world.run(&["skill", "install", &url]).code, 0);
    assert_eq!(world.run(&["skill", "manage", "disable", "pdf"]).code, 0);
    repository.write("SKILL.md", skill_md("pdf", "Fills more forms.")).commit("second");
    assert_eq!(world.run(&["skill", "manage", "update"]).code, 0);
    assert!(world.text("~/.agent/config.yaml").contains("enabled: false"));
    assert_eq!(world.text("~/.agent/plugins/pdf/SKILL.md"), skill_md("pdf", "Fills more forms."));
}

#[test]
fn a_bundled_skill_cannot_be_removed() {
    assert_snapshot!(world().runs(&[&["skill", "manage", "remove", "hello-world"]]));
}
