//! What the usual programs make is read. The archives in `archives/` were made by them from one folder.

use std::path::Path;

use prowess_package::archive::open;

#[test]
fn archives_of_the_usual_programs_hold_the_same_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives");
    let mut archives: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    archives.sort();
    assert!(archives.len() >= 12, "{archives:?}");
    for path in archives {
        let tree = open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let seen: Vec<_> = tree
            .files()
            .iter()
            .map(|file| {
                (file.path.as_str().to_owned(), file.executable, String::from_utf8_lossy(&file.bytes))
            })
            .collect();
        let long = format!("pdf/{}/{}.md", "references".repeat(8), "forms".repeat(12));
        let expected = [
            (
                "pdf/SKILL.md".to_owned(),
                false,
                "---\nname: pdf\ndescription: Fill forms.\n---\n# PDF\n".into(),
            ),
            ("pdf/assets/grüße.txt".to_owned(), false, "hello\n".into()),
            (long, false, "A file with a long name.\n".repeat(50).into()),
            ("pdf/scripts/run.sh".to_owned(), true, "#!/bin/sh\necho hi\n".into()),
        ];
        assert_eq!(seen, expected, "{}", path.display());
    }
}
