use proptest::prelude::*;

use super::*;

const LIMITS: ChatFileLimits = ChatFileLimits { file_bytes: 10, workspace_bytes: 20, workspace_files: 3 };

fn file(path: &str, content: &str) -> NewFile {
    NewFile::new(path, content.as_bytes().to_vec(), FileOrigin::Uploaded).unwrap()
}

fn entries(files: &[(&str, &str)]) -> Vec<ChatFile> {
    files.iter().map(|(path, content)| file(path, content).to_entry(1)).collect()
}

fn plan(current: &[(&str, &str)], changes: FileChanges) -> Result<PlannedChanges, StoreError> {
    plan_changes(entries(current), &changes, LIMITS, 2)
}

#[test]
fn refused_changes() {
    let write = |path, content| FileChanges::write(file(path, content));
    let many: Vec<NewFile> = ["b", "c", "d"].map(|path| file(path, "")).to_vec();
    let refused = [
        plan(&[], write("a", "12345678901")).unwrap_err(),
        plan(&[("a", "1234567890"), ("b", "1234567890")], write("c", "1")).unwrap_err(),
        plan(&[("a", "")], FileChanges { written: many, ..FileChanges::default() }).unwrap_err(),
        plan(&[("a", "1")], FileChanges::add(file("a", "2"))).unwrap_err(),
        plan(&[("a", "1")], FileChanges::remove("b")).unwrap_err(),
        plan(&[("a/b", "1")], write("a", "2")).unwrap_err(),
        plan(&[("a", "1")], write("a/b/c", "2")).unwrap_err(),
    ];
    let lines: Vec<_> = refused.iter().map(|error| format!("{}: {error}", error.code())).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    TOO_LARGE: the file has 11 bytes; the maximum is 10
    TOO_LARGE: the workspace of this chat has 21 bytes; the maximum is 20
    TOO_LARGE: the workspace of this chat would have 4 files; the maximum is 3
    CONFLICT: this chat already has a file a
    NOT_FOUND: this chat has no file b
    CONFLICT: a cannot be both a file and a directory of this chat
    CONFLICT: a cannot be both a file and a directory of this chat
    ");
}

#[test]
fn refused_names() {
    let names = [
        "",
        "../a",
        "/etc/passwd",
        "a/../b",
        "a\\b",
        "C:a",
        "a\nb",
        "\u{1b}[31m",
        "a\u{202e}fdp.exe",
        "CON",
        ".git/config",
        &"x".repeat(300),
    ];
    let lines: Vec<_> = names
        .iter()
        .map(|name| NewFile::new(name, vec![], FileOrigin::Script).unwrap_err().to_string())
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    the file name  is not allowed: it is empty
    the file name ../a is not allowed: it has a component “.” or “..”, or an empty one
    the file name /etc/passwd is not allowed: it is absolute
    the file name a/../b is not allowed: it has a component “.” or “..”, or an empty one
    the file name a\b is not allowed: it contains a backslash or a colon, which are special on other systems
    the file name C:a is not allowed: it contains a backslash or a colon, which are special on other systems
    the file name a b is not allowed: it contains a control or hidden character
    the file name \u{1b}[31m is not allowed: it contains a control or hidden character
    the file name a\u{202e}fdp.exe is not allowed: it contains a control or hidden character
    the file name CON is not allowed: it contains a name that is a device, a home directory or another file on other systems
    the file name .git/config is not allowed: it is in a .git directory
    the file name xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… is not allowed: it is longer than 1024 bytes, or a name in it is longer than 255
    ");
    for name in ["a b.txt", "Übersicht.csv", "“quoted”.txt", "it's \"x\".txt", "a/b/c.json", "表.xlsx"]
    {
        assert_eq!(file(name, "").path(), name);
    }
}

#[test]
fn a_changed_file_keeps_when_it_was_created() {
    let plan = plan(
        &[("a", "1"), ("b", "1")],
        FileChanges { written: vec![file("a", "2"), file("b", "1")], ..FileChanges::default() },
    );
    let times: Vec<_> =
        plan.unwrap().stored.into_iter().map(|(_, file)| (file.path, file.created, file.changed)).collect();
    assert_eq!(times, [("a".to_owned(), 1, 2), ("b".to_owned(), 1, 1)]);
}

#[test]
fn a_workspace_above_its_limits_can_become_smaller() {
    let full = [("a", "1234567890"), ("b", "1234567890"), ("c", "1234567890"), ("d", "1")];
    plan(&full, FileChanges::remove("a")).unwrap();
    let smaller = FileChanges {
        written: vec![file("c", "1")],
        removed: vec!["d".to_owned()],
        ..FileChanges::default()
    };
    plan(&full, smaller).unwrap();
}

proptest! {
    /// Accepted changes never leave a file below another file or exceed a limit.
    #[test]
    fn planned_files_fit(
        paths in proptest::collection::vec("[ab](/[ab]){0,2}", 0..6),
        removed in proptest::collection::vec("[ab](/[ab]){0,2}", 0..3),
    ) {
        let mut files: Vec<ChatFile> = vec![];
        for path in paths {
            let changes = FileChanges { removed: removed.clone(), ..FileChanges::write(file(&path, "12345")) };
            let Ok(plan) = plan_changes(files.clone(), &changes, LIMITS, 1) else { continue };
            files.retain(|file| !plan.deleted.contains(&file.path));
            for (_, entry) in plan.stored {
                files.retain(|file| file.path != entry.path);
                files.push(entry);
            }
            files.sort_by(|a, b| a.path.cmp(&b.path));
            prop_assert!(check_tree(files.iter().map(|file| file.path.as_str())).is_ok());
            prop_assert!(files.len() <= 3);
            prop_assert!(files.iter().map(|file| file.size).sum::<u64>() <= LIMITS.workspace_bytes);
        }
    }
}
