//! Files that are not valid configurations.

use proptest::prelude::*;

use super::TestProject;
use prowess::policy::{Policy, Preset};

#[test]
fn invalid_keys_and_values_are_reported_with_line_and_suggestion() {
    let setup = TestProject::new().user(
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
    insta::assert_snapshot!(setup.report());
    assert_eq!(setup.load().policy.limits.skill_md_bytes, 32);
    let setup = TestProject::new().user("scan.links = [\"x\"]\nscan.roots = [\"\", \"~root/x\"]");
    insta::assert_snapshot!("paths", setup.report());
}

#[test]
fn syntax_errors_have_a_location() {
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
            let setup = TestProject::new().config_file(name, text);
            if !text.contains("scan.depth: 2") {
                assert_eq!(setup.load().policy, Policy::default());
            }
            format!("{text:?}\n{}", setup.report())
        })
        .collect();
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn a_byte_order_mark_is_accepted() {
    for (name, text) in [("g.toml", "\u{feff}scan.depth = 3\n"), ("g.yaml", "\u{feff}scan: {depth: 3}\n")] {
        let setup = TestProject::new().config_file(name, text);
        assert_eq!((setup.report().as_str(), setup.load().policy.scan.depth), ("", 3));
    }
}

#[test]
fn a_missing_file_is_an_error_only_if_it_was_passed() {
    let mut setup = TestProject::new();
    assert_eq!(setup.report(), "");
    assert!(setup.load().files.iter().all(|(_, read)| !read));
    setup.inputs.host.home = None;
    setup.inputs.host.project = "/nowhere/at/all".into();
    assert_eq!(setup.report(), "");
    setup.inputs.file = Some("/nowhere/config.toml".into());
    assert_eq!(setup.report(), "/nowhere/config.toml error[SK091]: the configuration file does not exist");
    assert_eq!(setup.load().files.last(), Some(&("/nowhere/config.toml".into(), false)));
}

#[test]
fn special_files_do_not_block() {
    let setup = TestProject::new();
    let at = |path: &str| setup.path(path);
    std::fs::create_dir_all(at("home/.prowess/config.toml")).unwrap();
    std::fs::create_dir_all(at("project/.prowess")).unwrap();
    let fifo = at("project/.prowess/config.toml");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let mut setup = setup;
    setup.inputs.file = Some("/dev/zero".into());
    insta::assert_snapshot!(setup.report());
}

#[test]
fn files_are_bounded_and_utf8() {
    let setup = TestProject::new()
        .user(&format!("#{}\n", "x".repeat(1_000_000)))
        .file("project/.prowess/config.toml", b"# fine\nscan.depth = \"\xff\"\n")
        .config_file("g.yaml", &format!("#{}\n", "x".repeat(262_142)));
    insta::assert_snapshot!(setup.report());
    assert!(setup.load().files[2].1, "exactly 256 KiB are read");
}

#[test]
fn an_unreadable_file_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let setup = TestProject::new().user("scan.depth = 1");
    let path = setup.path("home/.prowess/config.toml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        return; // Root reads everything.
    }
    assert!(
        setup.report().ends_with("error[SK091]: the configuration file cannot be read: permission denied")
    );
}

/// Runs on a stack of 1 MiB, half of the default for a thread.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn deep_nesting_is_rejected_without_a_stack_overflow() {
    let dotted = ["a"; 79].join(".");
    let many = |open: &str, times: usize| open.repeat(times);
    let bombs = [
        ("g.toml", format!("{dotted} = {}1{}", many(&format!("{{{dotted} = "), 78), many("}", 78))),
        ("g.toml", format!("{dotted} = {}1{}", many(&format!("{{{dotted}.\",\" = "), 78), many("}", 78))),
        ("g.toml", format!("{dotted} =\n{}1{}", many(&format!("{{\n{dotted} =\n"), 78), many("}", 78))),
        ("g.toml", format!("[{dotted}]\n{dotted} = 1")),
        ("g.toml", format!("[{dotted}]\n{dotted} = {{{dotted} = {{{dotted} = {{{dotted} = 1}}}}}}")),
        // Just below the limit.
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
                let setup = TestProject::new().config_file(name, text);
                assert_eq!(setup.load().policy, Policy::default());
                let head: String = text.chars().take(24).collect();
                format!("{head:?}\n{}", setup.report().lines().next().unwrap_or_default())
            })
            .collect();
        insta::assert_snapshot!("nesting", all.join("\n\n"));
    });
}

#[test]
fn the_number_of_diagnostics_is_bounded() {
    let text: String = (0..20_000).map(|n| format!("k{n}=1\n")).collect();
    let setup = TestProject::new().user(&text);
    let diagnostics = setup.load().diagnostics;
    assert_eq!(diagnostics.len(), 51);
    assert_eq!(diagnostics[50].diagnostic.message, "19950 more problems are not listed");
    let long = "x".repeat(100_000);
    let setup =
        TestProject::new().user(&format!("{long} = 1\nrefresh = \"{long}\"\nscan.roots = [\"~{long}\"]"));
    assert!(
        setup.load().diagnostics.iter().all(|located| located.diagnostic.message.len() < 400),
        "{}",
        setup.report()
    );
}

/// Text that resembles a configuration.
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
    fn no_text_causes_a_panic(
        user in text(),
        project in text(),
        config_text in text(),
        yaml in any::<bool>(),
        preset in proptest::sample::select(Preset::ALL.to_vec()),
    ) {
        let setup = TestProject::new()
            .preset(preset)
            .user(&user)
            .project(&project)
            .file("home/.agent/config.yaml", &user)
            .file("project/config.toml", &project)
            .config_file(if yaml { "g.yaml" } else { "g.toml" }, &config_text);
        for located in setup.load().diagnostics {
            let Some(at) = located.diagnostic.location else { continue };
            let length = std::fs::metadata(&located.path).unwrap().len();
            prop_assert!(u64::from(at.span.end) <= length + 1, "{located:?}");
        }
    }

    #[test]
    fn no_bytes_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        TestProject::new().file("home/.prowess/config.toml", &bytes).load();
    }
}
