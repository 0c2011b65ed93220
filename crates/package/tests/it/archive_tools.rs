//! Reads archives from common programs. They all created the archives in `archives/` from the same directory.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use prowess_package::archive::{open_archive, read_archive};

fn archives() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives");
    let mut archives: Vec<_> = dir.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    archives.sort();
    archives
}

#[test]
fn archives_of_common_programs_contain_the_same_files() {
    let archives = archives();
    assert!(archives.len() >= 12, "{archives:?}");
    for path in archives {
        let tree = open_archive(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let files: Vec<_> = tree
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
        assert_eq!(files, expected, "{}", path.display());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A damaged archive is rejected, or read with the original contents, because checksums cover every byte of a
    /// file.
    #[test]
    fn damage_is_rejected_or_harmless(
        chosen in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let archives = archives();
        let mut bytes = std::fs::read(chosen.get(&archives)).unwrap();
        let before = read_archive(&bytes).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(after) = read_archive(&bytes) {
            let bytes = |tree: &prowess_package::MemoryTree| -> Vec<Vec<u8>> {
                tree.files().iter().map(|file| file.bytes.clone()).collect()
            };
            let (mut before, mut after) = (bytes(&before), bytes(&after));
            before.sort();
            after.sort();
            prop_assert_eq!(before, after);
        }
    }
}
