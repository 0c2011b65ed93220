//! The six presets, by flag and by variable, and skills on or off as a whole.

use crate::world::World;
use insta::assert_snapshot;

const PRESETS: [&str; 6] = ["standard", "app", "skill-tool", "harness", "triggers", "chat"];

/// A skill in every directory of every preset.
fn everywhere(world: World) -> World {
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
    for folder in project.into_iter().chain(home) {
        let name = folder.replace("~/", "home-").replace('.', "").replace('/', "-");
        world.skill(&format!("{folder}/{name}"));
    }
    world.run(&["trust"]);
    world
}

/// The names that are offered, without the bundled ones.
fn offered(world: &World, args: &[&str]) -> Vec<String> {
    let answer = world.run(args).json();
    let skills = answer["skills"].as_array().unwrap().iter();
    skills
        .filter(|skill| !skill["source"].as_str().unwrap().starts_with("bundled:"))
        .map(|skill| skill["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn each_scans_its_directories() {
    let world = everywhere(World::new().variable("PROWESS_SKILLS_ENABLED", "true"));
    let told = PRESETS.map(|preset| {
        let names = offered(&world, &["--preset", preset, "list", "--json"]);
        format!("{preset}: {}\n", names.join(", "))
    });
    assert_snapshot!(told.concat());
}

#[test]
fn flag_and_variable_do_the_same_and_the_flag_counts_more() {
    let flagged = everywhere(World::new());
    for preset in PRESETS {
        let by_flag = offered(&flagged, &["--preset", preset, "list", "--json"]);
        let world = everywhere(World::new().variable("PROWESS_PRESET", preset));
        assert_eq!(offered(&world, &["list", "--json"]), by_flag, "{preset}");
        let standard = offered(&flagged, &["list", "--json"]);
        assert_eq!(offered(&world, &["list", "--json", "--preset", "standard"]), standard, "{preset}");
    }
}

#[test]
fn there_is_no_such_preset() {
    let by_variable = World::new().variable("PROWESS_PRESET", "standart");
    assert_snapshot!(
        World::new().runs(&[&["--preset", "standart", "list"], &["--preset", "standart", "list", "--json"]])
            + "\n"
            + &by_variable.runs(&[&["list"], &["list", "--json"]])
    );
}

#[test]
fn chat_is_off_until_it_is_switched_on() {
    let world = World::new();
    world.skill(".skills/pdf");
    let on = World::new().variable("PROWESS_SKILLS_ENABLED", "true");
    on.skill(".skills/pdf");
    let calls: [&[&str]; 2] = [&["--preset", "chat", "list"], &["--preset", "chat", "list", "--json"]];
    assert_snapshot!(world.runs(&calls) + "\nPROWESS_SKILLS_ENABLED=true\n" + &on.runs(&calls[..1]));
}

#[test]
fn any_preset_can_be_switched_off() {
    let world = World::new().variable("PROWESS_SKILLS_ENABLED", "false");
    world.skill("~/.agents/skills/pdf");
    assert_snapshot!(world.runs(&[&["list"], &["list", "--all"], &["show"], &["info", "pdf"]]));
}

#[test]
fn on_or_off_and_nothing_else() {
    let world = World::new().variable("PROWESS_SKILLS_ENABLED", "maybe");
    assert_snapshot!(world.run(&["list"]).whole());
}
