//! Files that are no configuration.

use proptest::prelude::*;

use super::World;
use prowess::policy::{Policy, Preset};

#[test]
fn wrong_keys_and_values_name_line_valid_values_and_the_nearest() {
    let world = World::new().user(
        "prest = \"chat\"\n\
         depth = 3\n\
         colour = \"red\"\n\
         scan = 3\n\
         refresh = \"fingerprnt\"\n\
         [manifest]\n\
         name_folder = \"warn\"\n\
         name-folder = \"Warn\"\n\
         name-max = 0\n\
         description-max = \"nun\"\n\
         unknown-keys = true\n\
         \"name\\u001bform\" = 1\n\
         [catalog]\n\
         format = { xml = true }\n\
         budget-chars = 1.5\n\
         budget-tokens = \"800\"\n\
         location = 2024-01-01\n\
         [skills]\n\
         enabled = false\n\
         disabled = \"pdf\"\n\
         enabled-bundled = [\"a\", 2]\n\
         [mention]\n\
         slash = \"true\"\n\
         [limits]\n\
         resource-bytes = 99999999999999999999\n\
         skill-md-bytes = 0x20\n\
         [[sources.mcp]]\n\
         url = \"x\"\n",
    );
    insta::assert_snapshot!(world.said());
    assert_eq!(world.load().policy.limits.skill_md_bytes, 32);
    let world = World::new().user("scan.links = [\"x\"]\nscan.roots = [\"\", \"~root/x\"]");
    insta::assert_snapshot!("paths", world.said());
}

#[test]
fn syntax_errors_have_a_place() {
    let cases = [
        ("g.toml", "scan.depth = \nx"),
        ("g.toml", "scan.depth = 1\nscan.depth = 2\n"),
        ("g.toml", "[scan]\ndepth = 1\n[scan]\n"),
        ("g.toml", "é = 1\n\n   [scan\n"),
        ("g.toml", "a = \"\"\"never closed\n"),
        ("g.yaml", "scan:\n  depth: 1\n  depth: 2\n"),
        ("g.yaml", "scan:\n\tdepth: 1\n"),
        ("g.yaml", "scan: {depth: 1\n"),
        ("g.yaml", "? [a]\n: 1\n"),
        ("g.yaml", "scan: {depth: 1}\nscan.depth: 2\n"),
        ("g.yaml", "- scan\n"),
        ("g.yaml", "just text\n"),
        ("g.yaml", "a: &a [*a]\n"),
        ("g.yaml", "---\nscan: {}\n---\nscan:\n  depth: 2\n"),
        ("g.yaml", "scan: {}\n...\n--- # more\nscan: {}\n"),
        ("g.conf", "scan.depth = 1"),
    ];
    let all: Vec<_> = cases
        .iter()
        .map(|(name, text)| {
            let world = World::new().given(name, text);
            if !text.contains("scan.depth: 2") {
                assert_eq!(world.load().policy, Policy::default());
            }
            format!("{text:?}\n{}", world.said())
        })
        .collect();
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn a_byte_order_mark_is_no_mistake() {
    for (name, text) in [("g.toml", "\u{feff}scan.depth = 3\n"), ("g.yaml", "\u{feff}scan: {depth: 3}\n")] {
        let world = World::new().given(name, text);
        assert_eq!((world.said().as_str(), world.load().policy.scan.depth), ("", 3));
    }
}

#[test]
fn a_missing_file_is_nothing_unless_it_was_given() {
    let mut world = World::new();
    assert_eq!(world.said(), "");
    assert!(world.load().files.iter().all(|(_, read)| !read));
    world.inputs.surroundings.home = None;
    world.inputs.surroundings.project = "/nowhere/at/all".into();
    assert_eq!(world.said(), "");
    world.inputs.file = Some("/nowhere/config.toml".into());
    assert_eq!(world.said(), "/nowhere/config.toml error[SK091]: the configuration file is not there");
    assert_eq!(world.load().files.last(), Some(&("/nowhere/config.toml".into(), false)));
}

#[test]
fn what_is_no_regular_file_is_not_waited_for() {
    let world = World::new();
    let at = |path: &str| world.path(path);
    std::fs::create_dir_all(at("home/.prowess/config.toml")).unwrap();
    std::fs::create_dir_all(at("project/.prowess")).unwrap();
    let fifo = at("project/.prowess/config.toml");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let mut world = world;
    world.inputs.file = Some("/dev/zero".into());
    insta::assert_snapshot!(world.said());
}

#[test]
fn files_are_bounded_and_utf8() {
    let world = World::new()
        .user(&format!("#{}\n", "x".repeat(1_000_000)))
        .file("project/.prowess/config.toml", b"# fine\nscan.depth = \"\xff\"\n")
        .given("g.yaml", &format!("#{}\n", "x".repeat(262_142)));
    insta::assert_snapshot!(world.said());
    assert!(world.load().files[2].1, "exactly 256 KiB are read");
}

#[test]
fn an_unreadable_file_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new().user("scan.depth = 1");
    let path = world.path("home/.prowess/config.toml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        return; // Root reads everything.
    }
    assert!(world.said().ends_with("error[SK091]: the configuration file cannot be read: permission denied"));
}

/// On a stack of 1 MiB, half of what Rust gives a thread.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn deep_nesting_is_refused_without_falling_over() {
    let dotted = ["a"; 79].join(".");
    let many = |open: &str, times: usize| open.repeat(times);
    let bombs = [
        ("g.toml", format!("{dotted} = {}1{}", many(&format!("{{{dotted} = "), 78), many("}", 78))),
        ("g.toml", format!("{dotted} = {}1{}", many(&format!("{{{dotted}.\",\" = "), 78), many("}", 78))),
        ("g.toml", format!("{dotted} =\n{}1{}", many(&format!("{{\n{dotted} =\n"), 78), many("}", 78))),
        ("g.toml", format!("[{dotted}]\n{dotted} = 1")),
        ("g.toml", format!("[{dotted}]\n{dotted} = {{{dotted} = {{{dotted} = {{{dotted} = 1}}}}}}")),
        // Just below the bound.
        (
            "g.toml",
            format!("[{dotted}]\n{dotted} = {}1{}", many(&format!("{{{dotted} = "), 11), many("}", 11)),
        ),
        ("g.toml", format!("a = {}", many("[", 100_000))),
        ("g.toml", many("a=1\n", 60_000)),
        ("g.toml", many("[a]\n", 60_000)),
        ("g.toml", format!("a = {}", many("{a=", 50_000))),
        ("g.toml", ["a"; 100_000].join(".")),
        ("g.yaml", many("[", 100_000)),
        ("g.yaml", many("{a: ", 50_000)),
        ("g.yaml", many("- ", 50_000)),
    ];
    on_a_small_stack(move || {
        let all: Vec<_> = bombs
            .iter()
            .map(|(name, text)| {
                let world = World::new().given(name, text);
                assert_eq!(world.load().policy, Policy::default());
                let head: String = text.chars().take(24).collect();
                format!("{head:?}\n{}", world.said().lines().next().unwrap_or_default())
            })
            .collect();
        insta::assert_snapshot!("nesting", all.join("\n\n"));
    });
}

#[test]
fn what_is_said_is_bounded() {
    let text: String = (0..20_000).map(|n| format!("k{n}=1\n")).collect();
    let world = World::new().user(&text);
    let said = world.load().diagnostics;
    assert_eq!(said.len(), 51);
    assert_eq!(said[50].diagnostic.message, "19950 more mistakes are not listed");
    let long = "x".repeat(100_000);
    let world = World::new().user(&format!("{long} = 1\nrefresh = \"{long}\"\nscan.roots = [\"~{long}\"]"));
    assert!(
        world.load().diagnostics.iter().all(|located| located.diagnostic.message.len() < 400),
        "{}",
        world.said()
    );
}

/// Text that looks like a configuration until it does not.
fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "scan",
        ".",
        "depth",
        " = ",
        ": ",
        "\n",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        "1",
        "-",
        "true",
        "skills",
        "plugins",
        "url",
        "enabled",
        "  ",
        "#",
        ",",
        "app",
        "roots",
        "~/",
        "..",
        "preset",
        "chat",
        "harness",
        "\t",
        "\0",
        "é",
        "\u{feff}",
        "&a ",
        "*a ",
        "|",
        ">",
        "? ",
        "---\n",
        "<<",
        "!!str ",
        "\"\"\"",
        "\\u0000",
        "1e9",
        "2024-01-01",
    ];
    let piece = proptest::sample::select(pieces.to_vec());
    prop_oneof![proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat()), any::<String>(),]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_makes_it_panic(
        user in text(),
        project in text(),
        given in text(),
        yaml in any::<bool>(),
        preset in proptest::sample::select(Preset::ALL.to_vec()),
    ) {
        let world = World::new()
            .preset(preset)
            .user(&user)
            .project(&project)
            .file("home/.agent/config.yaml", &user)
            .file("project/config.toml", &project)
            .given(if yaml { "g.yaml" } else { "g.toml" }, &given);
        for located in world.load().diagnostics {
            let Some(at) = located.diagnostic.at else { continue };
            let length = std::fs::metadata(&located.path).unwrap().len();
            prop_assert!(u64::from(at.span.end) <= length + 1, "{located:?}");
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        World::new().file("home/.prowess/config.toml", &bytes).load();
    }
}
