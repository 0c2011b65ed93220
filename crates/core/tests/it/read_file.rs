//! The `ReadFile` tool of document 000.

use std::os::unix::fs::symlink;

use prowess::resources::{ReadFileTool, ReadResourceError};
use prowess::{ErrorCode, Preset};
use prowess_testing::registry_env::RegistryEnv;

fn tool(env: &RegistryEnv) -> ReadFileTool {
    ReadFileTool::with_policy(env.path(""), &env.policy)
}

fn code(read: Result<prowess::resources::Resource, ReadResourceError>) -> ErrorCode {
    read.unwrap_err().code()
}

#[test]
fn s000_06_a_path_is_relative_to_the_run_directory() {
    let env = RegistryEnv::new(Preset::App);
    env.skill(".agents/skills/a").file(".agents/skills/a/script.py", "print(1)");
    let tool = tool(&env);
    assert!(tool.read(".agents/skills/a/SKILL.md").unwrap().content.contains("name: a"));
    assert_eq!(tool.read("./.agents/skills/a/script.py").unwrap().content, "print(1)", "read, not executed");
    assert_eq!(
        code(tool.read(env.path(".agents/skills/a/SKILL.md").to_str().unwrap())),
        ErrorCode::AccessDenied
    );
}

#[test]
fn s000_07_a_path_stays_under_the_root() {
    let env = RegistryEnv::new(Preset::App);
    env.file("a.md", "A").file("sub/b.md", "B").file("~/secret.md", "S");
    let tool = tool(&env);
    assert_eq!(tool.read("sub/../a.md").unwrap().content, "A");
    for path in ["../home/secret.md", "sub/../../home/secret.md", "..", "../project/a.md"] {
        assert_eq!(tool.read(path), Err(ReadResourceError::Escape), "{path}");
    }
}

#[test]
fn s000_07_symlinks_that_leave_the_root_are_rejected() {
    let env = RegistryEnv::new(Preset::App);
    env.file("docs/in.md", "IN").file("docs/.env", "KEY=1").file("~/secret.md", "S");
    symlink(env.path("~/secret.md"), env.path("out.md")).unwrap();
    symlink(env.path("~/"), env.path("home")).unwrap();
    symlink("docs/in.md", env.path("in.md")).unwrap();
    symlink("docs/.env", env.path("env.md")).unwrap();
    symlink("loop.md", env.path("loop.md")).unwrap();
    let tool = tool(&env);
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
    let env = RegistryEnv::new(Preset::App);
    let mut tool = tool(&env);
    for ending in ["md", "cs", "py", "txt", "json", "yml", "yaml", "MD"] {
        env.file(&format!("f.{ending}"), "x");
        assert_eq!(tool.read(&format!("f.{ending}")).unwrap().content, "x");
    }
    for name in ["f.sh", ".env", "noending", "f.md.exe", "missing.exe"] {
        env.file(name, "x");
        assert_eq!(code(tool.read(name)), ErrorCode::AccessDenied, "{name}");
    }
    tool.extensions = vec![".sh".to_owned()];
    assert_eq!(tool.read("f.sh").unwrap().content, "x");
    assert_eq!(code(tool.read("f.md")), ErrorCode::AccessDenied);
}

#[test]
fn s000_09_errors_are_short_and_contain_no_local_path() {
    let env = RegistryEnv::new(Preset::App);
    env.file("sub/x.md", "x").file("binary.md", b"a\0b").file("latin.txt", b"caf\xe9");
    std::process::Command::new("mkfifo").arg(env.path("fifo.md")).status().unwrap();
    std::fs::create_dir(env.path("dir.md")).unwrap();
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
    let diagnostics = paths.map(|path| {
        let error = tool(&env).read(path).unwrap_err();
        assert!(!error.to_string().contains("/tmp"), "{error}");
        format!("{path:?}: {} {error}", error.code())
    });
    insta::assert_snapshot!(diagnostics.join("\n"));
    let gone = ReadFileTool::new(env.path("none"));
    assert_eq!(code(gone.read("a.md")), ErrorCode::NotFound);
}

#[test]
fn s000_10_files_of_invalid_skills_are_read_too() {
    let env = RegistryEnv::new(Preset::App);
    env.file("README.md", "R").file(".agents/skills/bad/SKILL.md", "no frontmatter");
    assert_eq!(tool(&env).read("README.md").unwrap().content, "R");
    assert_eq!(tool(&env).read(".agents/skills/bad/SKILL.md").unwrap().content, "no frontmatter");
}

#[test]
fn reading_is_bounded() {
    let env = RegistryEnv::new(Preset::App);
    env.file("long.txt", "é".repeat(50));
    let mut tool = tool(&env);
    tool.limit = 9;
    let read = tool.read("long.txt").unwrap();
    assert_eq!(read.content, "éééé\n\n[truncated: 8 of 100 bytes shown]");
    std::fs::File::create(env.path("huge.txt")).unwrap().set_len(16 * 1024 * 1024 + 1).unwrap();
    assert_eq!(code(tool.read("huge.txt")), ErrorCode::TooLarge);
}
