//! The `ReadFile` tool of document 000.

use std::os::unix::fs::symlink;

use prowess::resources::{ReadFileTool, ReadResourceError};
use prowess::{ErrorCode, Preset};
use prowess_testing::library::World;

fn tool(world: &World) -> ReadFileTool {
    ReadFileTool::with_policy(world.path(""), &world.policy)
}

fn code(read: Result<prowess::resources::Resource, ReadResourceError>) -> ErrorCode {
    read.unwrap_err().code()
}

#[test]
fn s000_06_a_path_is_relative_to_the_run_directory() {
    let world = World::new(Preset::App);
    world.skill(".agents/skills/a").file(".agents/skills/a/script.py", "print(1)");
    let tool = tool(&world);
    assert!(tool.read(".agents/skills/a/SKILL.md").unwrap().content.contains("name: a"));
    assert_eq!(tool.read("./.agents/skills/a/script.py").unwrap().content, "print(1)", "read, not executed");
    assert_eq!(
        code(tool.read(world.path(".agents/skills/a/SKILL.md").to_str().unwrap())),
        ErrorCode::AccessDenied
    );
}

#[test]
fn s000_07_a_path_stays_under_the_root() {
    let world = World::new(Preset::App);
    world.file("a.md", "A").file("sub/b.md", "B").file("~/secret.md", "S");
    let tool = tool(&world);
    assert_eq!(tool.read("sub/../a.md").unwrap().content, "A");
    for path in ["../home/secret.md", "sub/../../home/secret.md", "..", "../project/a.md"] {
        assert_eq!(tool.read(path), Err(ReadResourceError::Escape), "{path}");
    }
}

#[test]
fn s000_07_symlinks_that_leave_the_root_are_rejected() {
    let world = World::new(Preset::App);
    world.file("docs/in.md", "IN").file("docs/.env", "KEY=1").file("~/secret.md", "S");
    symlink(world.path("~/secret.md"), world.path("out.md")).unwrap();
    symlink(world.path("~/"), world.path("home")).unwrap();
    symlink("docs/in.md", world.path("in.md")).unwrap();
    symlink("docs/.env", world.path("env.md")).unwrap();
    symlink("loop.md", world.path("loop.md")).unwrap();
    let tool = tool(&world);
    for path in ["out.md", "home/secret.md"] {
        assert!(matches!(tool.read(path), Err(ReadResourceError::LinkOutside { .. })), "{path}");
    }
    assert_eq!(tool.read("in.md").unwrap().content, "IN");
    assert!(
        matches!(tool.read("env.md"), Err(ReadResourceError::Extension { .. })),
        "the extension of the target counts"
    );
    assert_eq!(code(tool.read("loop.md")), ErrorCode::NotFound);
}

#[test]
fn s000_08_only_allowed_extensions_are_read() {
    let world = World::new(Preset::App);
    let mut tool = tool(&world);
    for ending in ["md", "cs", "py", "txt", "json", "yml", "yaml", "MD"] {
        world.file(&format!("f.{ending}"), "x");
        assert_eq!(tool.read(&format!("f.{ending}")).unwrap().content, "x");
    }
    for name in ["f.sh", ".env", "noending", "f.md.exe", "missing.exe"] {
        world.file(name, "x");
        assert_eq!(code(tool.read(name)), ErrorCode::AccessDenied, "{name}");
    }
    tool.extensions = vec![".sh".to_owned()];
    assert_eq!(tool.read("f.sh").unwrap().content, "x");
    assert_eq!(code(tool.read("f.md")), ErrorCode::AccessDenied);
}

#[test]
fn s000_09_errors_are_short_and_contain_no_local_path() {
    let world = World::new(Preset::App);
    world.file("sub/x.md", "x").file("binary.md", b"a\0b").file("latin.txt", b"caf\xe9");
    std::process::Command::new("mkfifo").arg(world.path("fifo.md")).status().unwrap();
    std::fs::create_dir(world.path("dir.md")).unwrap();
    let paths = [
        "",
        "missing.md",
        "/etc/passwd",
        "../x.md",
        "x.exe",
        "sub",
        "dir.md",
        ".",
        "binary.md",
        "latin.txt",
        "fifo.md",
        "a\0.md",
    ];
    let said = paths.map(|path| {
        let error = tool(&world).read(path).unwrap_err();
        assert!(!error.to_string().contains("/tmp"), "{error}");
        format!("{path:?}: {} {error}", error.code())
    });
    insta::assert_snapshot!(said.join("\n"));
    let gone = ReadFileTool::new(world.path("none"));
    assert_eq!(code(gone.read("a.md")), ErrorCode::NotFound);
}

#[test]
fn s000_10_files_of_invalid_skills_are_read_too() {
    let world = World::new(Preset::App);
    world.file("README.md", "R").file(".agents/skills/bad/SKILL.md", "no frontmatter");
    assert_eq!(tool(&world).read("README.md").unwrap().content, "R");
    assert_eq!(tool(&world).read(".agents/skills/bad/SKILL.md").unwrap().content, "no frontmatter");
}

#[test]
fn reading_is_bounded() {
    let world = World::new(Preset::App);
    world.file("long.txt", "é".repeat(50));
    let mut tool = tool(&world);
    tool.limit = 9;
    let read = tool.read("long.txt").unwrap();
    assert_eq!(read.content, "éééé\n\n[truncated: 8 of 100 bytes shown]");
    std::fs::File::create(world.path("huge.txt")).unwrap().set_len(16 * 1024 * 1024 + 1).unwrap();
    assert_eq!(code(tool.read("huge.txt")), ErrorCode::TooLarge);
}
