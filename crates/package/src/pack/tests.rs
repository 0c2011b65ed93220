use super::*;
use crate::fetch::well_known::{FetchUrlError, Fetcher, SkillIndex};
use proptest::prelude::*;
use prowess::{ErrorCode, tree_hash};
use prowess_archive::{InnerPathError, MemoryTree};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use url::Url;

const SKILL: &str = "---\nname: pdf\ndescription: Fill forms.\n---\n# PDF\n";

fn write_file(dir: &Path, inner: &str, bytes: impl AsRef<[u8]>, mode: u32) {
    let path = dir.join(inner);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Creates a skill with a script in a directory.
fn create_skill(dir: &Path) {
    write_file(dir, "SKILL.md", SKILL, 0o600);
    write_file(dir, "scripts/run.sh", "echo\n", 0o700);
    write_file(dir, "assets/grüße.txt", "hello ".repeat(100), 0o644);
}

fn write_tree(tree: &MemoryTree, to: &Path) {
    for file in tree.files() {
        write_file(to, file.path.as_str(), &file.bytes, if file.executable { 0o755 } else { 0o644 });
    }
}

#[test]
fn the_same_files_result_in_the_same_bytes() {
    let temp = tempfile::tempdir().unwrap();
    let dirs = ["a", "b"].map(|name| temp.path().join(name));
    create_skill(&dirs[0]);
    // In another order, with other times and permissions.
    write_file(&dirs[1], "assets/grüße.txt", "hello ".repeat(100), 0o440);
    write_file(&dirs[1], "scripts/run.sh", "echo\n", 0o711);
    write_file(&dirs[1], "SKILL.md", SKILL, 0o666);
    write_file(&dirs[1], ".git/config", "x", 0o644);
    write_file(&dirs[1], ".DS_Store", "x", 0o644);
    let [first, second] = dirs.map(|dir| skill_bytes(&dir).unwrap());
    assert_eq!(first, second);
    // If this changes, all packed skills change.
    let digest = "sha256:0ff9f390f89c3f45f484f2d21461a4e8c33280574fd0a79a5f593b1242e7d534";
    assert_eq!(prowess::digest(&first), digest);
}

#[test]
fn a_packed_skill_is_written_atomically_and_read_back() {
    let temp = tempfile::tempdir().unwrap();
    let at = |inner: &str| temp.path().join(inner);
    create_skill(&at("in"));
    let packed = pack_skill(&at("in"), temp.path()).unwrap();
    assert_eq!((packed.name.as_str(), packed.path.as_path(), packed.files), ("pdf", &*at("pdf.skill"), 3));
    write_tree(&archive::open_archive(&packed.path).unwrap(), &at("out"));
    assert_eq!(tree_hash(&at("out/pdf")), tree_hash(&at("in")));
    assert_eq!(pack_skill(&at("in"), &at("other.zip")).unwrap().digest, packed.digest);
    let mut files: Vec<_> =
        fs::read_dir(temp.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["in", "other.zip", "out", "pdf.skill"]);
    assert!(matches!(pack_skill(&at("in"), &at("in")), Err(PackError::OutputInsideSkill(_))));
    assert!(matches!(pack_skill(&at("in"), &at("none/x.skill")), Err(PackError::Write { .. })));
}

#[test]
fn invalid_skills_are_not_packed() {
    let temp = tempfile::tempdir().unwrap();
    let pack_error = |name: &str, spoil: &dyn Fn(&Path)| {
        let dir = temp.path().join(name);
        create_skill(&dir);
        spoil(&dir);
        skill_bytes(&dir).unwrap_err()
    };
    let error = pack_error("link", &|dir| symlink("SKILL.md", dir.join("link")).unwrap());
    assert!(matches!(error, PackError::NotRegularFile { entry, .. } if entry == "link"));
    let error = pack_error("name", &|dir| write_file(dir, "a\\b", "", 0o644));
    assert!(matches!(error, PackError::InvalidPath { reason: InnerPathError::SpecialChar, .. }));
    let error = pack_error("case", &|dir| write_file(dir, "skill.md", "", 0o644));
    assert!(matches!(error, PackError::InvalidArchive(archive::ArchiveError::CaseCollision { .. })));
    let error = pack_error("large", &|dir| {
        fs::File::create(dir.join("large")).unwrap().set_len(prowess_archive::limits::FILE_MAX + 1).unwrap();
    });
    assert_eq!(error.code(), ErrorCode::TooLarge);
    let error = pack_error("none", &|dir| fs::remove_file(dir.join("SKILL.md")).unwrap());
    assert!(matches!(error, PackError::NotASkill { .. }));
    for text in ["# PDF", "---\nname: ../x\ndescription: d\n---\n", "---\nname: PDF\ndescription: d\n---\n"] {
        let error = pack_error("bad", &|dir| write_file(dir, "SKILL.md", text, 0o644));
        assert!(matches!(error, PackError::NotASkill { .. }), "{text}: {error:?}");
    }
}

/// A web server that serves a directory.
struct FileServer<'a>(&'a Path);

impl Fetcher for FileServer<'_> {
    fn get(&self, url: &Url, _: u64) -> Result<Vec<u8>, FetchUrlError> {
        fs::read(self.0.join(&url.path()[1..])).map_err(|error| FetchUrlError {
            code: ErrorCode::NotFound,
            message: error.to_string(),
            hint: None,
        })
    }
}

#[test]
fn published_skills_can_be_installed() {
    let temp = tempfile::tempdir().unwrap();
    let at = |inner: &str| temp.path().join(inner);
    create_skill(&at("in/pdf"));
    let skill_md = "---\nname: csv\ndescription: Read tables.\n---\n";
    write_file(&at("in/csv"), "SKILL.md", skill_md, 0o644);
    write_file(&at("in"), "README.md", "", 0o644);
    write_file(&at("in/docs"), "x.md", "", 0o644);
    let published = publish_site(&at("in"), &at("site")).unwrap();
    let urls: Vec<_> = published.skills.iter().map(|skill| (skill.kind, skill.url.as_str())).collect();
    assert_eq!(urls, [("skill-md", "csv/SKILL.md"), ("archive", "pdf.zip")]);
    let first = fs::read(&published.index).unwrap();

    let site = at("site");
    let server = FileServer(&site);
    let index = SkillIndex::fetch(&Url::parse("https://example.com").unwrap(), &server).unwrap();
    assert_eq!((index.entries.len(), index.skipped.len()), (2, 0));
    for name in ["pdf", "csv"] {
        let entry = index.get(name).unwrap();
        write_tree(&index.fetch_skill(entry, &server).unwrap(), &at("out").join(name));
        assert_eq!(tree_hash(&at("out").join(name)), tree_hash(&at("in").join(name)));
    }
    // Publishing again replaces the files.
    publish_site(&at("in"), &at("site")).unwrap();
    assert_eq!(fs::read(&published.index).unwrap(), first);
}

#[test]
fn an_invalid_skill_prevents_publishing() {
    let temp = tempfile::tempdir().unwrap();
    let at = |inner: &str| temp.path().join(inner);
    fs::create_dir(at("in")).unwrap();
    assert!(matches!(publish_site(&at("in"), &at("site")), Err(PackError::NoSkills(_))));
    create_skill(&at("in/pdf"));
    create_skill(&at("in/pdf-2"));
    assert!(
        matches!(publish_site(&at("in"), &at("site")), Err(PackError::DuplicateName(name)) if name == "pdf")
    );
    write_file(&at("in/pdf-2"), "SKILL.md", "", 0o644);
    assert!(matches!(publish_site(&at("in"), &at("site")), Err(PackError::NotASkill { .. })));
    assert!(!at("site").exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A skill has the same hash after packing and unpacking.
    #[test]
    fn packing_is_lossless(
        files in proptest::collection::btree_map(
            "[a-d]{1,2}(/[a-d]{1,3}){0,3}\\.(md|sh)",
            (any::<bool>(), proptest::collection::vec(any::<u8>(), 0..300)),
            0..12,
        )
    ) {
        let temp = tempfile::tempdir().unwrap();
        let at = |inner: &str| temp.path().join(inner);
        write_file(&at("in"), "SKILL.md", SKILL, 0o644);
        for (path, (executable, bytes)) in files {
            write_file(&at("in"), &path, bytes, if executable { 0o755 } else { 0o644 });
        }
        write_tree(&archive::read_archive(&skill_bytes(&at("in")).unwrap()).unwrap(), &at("out"));
        prop_assert_eq!(tree_hash(&at("out/pdf")), tree_hash(&at("in")));
    }
}
