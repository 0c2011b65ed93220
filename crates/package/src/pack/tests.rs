use super::*;
use crate::fetch::well_known::{Fetch, FetchFailure, Index};
use proptest::prelude::*;
use prowess::{ErrorCode, tree_hash};
use prowess_archive::{MemoryTree, PathError};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use url::Url;

const SKILL: &str = "---\nname: pdf\ndescription: Fill forms.\n---\n# PDF\n";

fn write(folder: &Path, inner: &str, bytes: impl AsRef<[u8]>, mode: u32) {
    let path = folder.join(inner);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A skill with a script, in a folder of any name.
fn skill(folder: &Path) {
    write(folder, "SKILL.md", SKILL, 0o600);
    write(folder, "scripts/run.sh", "echo\n", 0o700);
    write(folder, "assets/grüße.txt", "hello ".repeat(100), 0o644);
}

fn unpack(tree: &MemoryTree, to: &Path) {
    for file in tree.files() {
        write(to, file.path.as_str(), &file.bytes, if file.executable { 0o755 } else { 0o644 });
    }
}

#[test]
fn the_same_files_give_the_same_bytes() {
    let world = tempfile::tempdir().unwrap();
    let folders = ["a", "b"].map(|name| world.path().join(name));
    skill(&folders[0]);
    // In another order, with other times and rights.
    write(&folders[1], "assets/grüße.txt", "hello ".repeat(100), 0o440);
    write(&folders[1], "scripts/run.sh", "echo\n", 0o711);
    write(&folders[1], "SKILL.md", SKILL, 0o666);
    write(&folders[1], ".git/config", "x", 0o644);
    write(&folders[1], ".DS_Store", "x", 0o644);
    let [first, second] = folders.map(|folder| skill_bytes(&folder).unwrap());
    assert_eq!(first, second);
    // If this changes, everybody's packed skills do.
    let digest = "sha256:0ff9f390f89c3f45f484f2d21461a4e8c33280574fd0a79a5f593b1242e7d534";
    assert_eq!(prowess::digest(&first), digest);
}

#[test]
fn a_packed_skill_is_written_whole_and_read_back() {
    let world = tempfile::tempdir().unwrap();
    let at = |inner: &str| world.path().join(inner);
    skill(&at("in"));
    let packed = pack(&at("in"), world.path()).unwrap();
    assert_eq!((packed.name.as_str(), packed.path.as_path(), packed.files), ("pdf", &*at("pdf.skill"), 3));
    unpack(&archive::open(&packed.path).unwrap(), &at("out"));
    assert_eq!(tree_hash(&at("out/pdf")), tree_hash(&at("in")));
    assert_eq!(pack(&at("in"), &at("other.zip")).unwrap().digest, packed.digest);
    let mut left: Vec<_> =
        fs::read_dir(world.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["in", "other.zip", "out", "pdf.skill"]);
    assert!(matches!(pack(&at("in"), &at("in")), Err(PackError::Inside(_))));
    assert!(matches!(pack(&at("in"), &at("none/x.skill")), Err(PackError::Write { .. })));
}

#[test]
fn what_others_would_refuse_is_not_packed() {
    let world = tempfile::tempdir().unwrap();
    let with = |name: &str, spoil: &dyn Fn(&Path)| {
        let folder = world.path().join(name);
        skill(&folder);
        spoil(&folder);
        skill_bytes(&folder).unwrap_err()
    };
    let error = with("link", &|folder| symlink("SKILL.md", folder.join("link")).unwrap());
    assert!(matches!(error, PackError::NotRegular { entry, .. } if entry == "link"));
    let error = with("name", &|folder| write(folder, "a\\b", "", 0o644));
    assert!(matches!(error, PackError::Name { why: PathError::Foreign, .. }));
    let error = with("case", &|folder| write(folder, "skill.md", "", 0o644));
    assert!(matches!(error, PackError::Refused(archive::ArchiveError::Twice { .. })));
    let error = with("large", &|folder| {
        fs::File::create(folder.join("large"))
            .unwrap()
            .set_len(prowess_archive::limits::FILE_MAX + 1)
            .unwrap();
    });
    assert_eq!(error.code(), ErrorCode::TooLarge);
    let error = with("none", &|folder| fs::remove_file(folder.join("SKILL.md")).unwrap());
    assert!(matches!(error, PackError::NotASkill { .. }));
    for text in ["# PDF", "---\nname: ../x\ndescription: d\n---\n", "---\nname: PDF\ndescription: d\n---\n"] {
        let error = with("bad", &|folder| write(folder, "SKILL.md", text, 0o644));
        assert!(matches!(error, PackError::NotASkill { .. }), "{text}: {error:?}");
    }
}

/// A web server that serves a folder.
struct Served<'a>(&'a Path);

impl Fetch for Served<'_> {
    fn get(&self, url: &Url, _: u64) -> Result<Vec<u8>, FetchFailure> {
        fs::read(self.0.join(&url.path()[1..])).map_err(|error| FetchFailure {
            code: ErrorCode::NotFound,
            message: error.to_string(),
            hint: None,
        })
    }
}

#[test]
fn what_is_published_can_be_installed() {
    let world = tempfile::tempdir().unwrap();
    let at = |inner: &str| world.path().join(inner);
    skill(&at("in/pdf"));
    let plain = "---\nname: csv\ndescription: Read tables.\n---\n";
    write(&at("in/csv"), "SKILL.md", plain, 0o644);
    write(&at("in"), "README.md", "", 0o644);
    write(&at("in/docs"), "x.md", "", 0o644);
    let published = publish(&at("in"), &at("site")).unwrap();
    let urls: Vec<_> = published.skills.iter().map(|skill| (skill.kind, skill.url.as_str())).collect();
    assert_eq!(urls, [("skill-md", "csv/SKILL.md"), ("archive", "pdf.zip")]);
    let first = fs::read(&published.index).unwrap();

    let site = at("site");
    let served = Served(&site);
    let index = Index::fetch(&Url::parse("https://example.com").unwrap(), &served).unwrap();
    assert_eq!((index.entries.len(), index.skipped.len()), (2, 0));
    for name in ["pdf", "csv"] {
        let entry = index.get(name).unwrap();
        unpack(&index.tree(entry, &served).unwrap(), &at("out").join(name));
        assert_eq!(tree_hash(&at("out").join(name)), tree_hash(&at("in").join(name)));
    }
    // Again, over what is there.
    publish(&at("in"), &at("site")).unwrap();
    assert_eq!(fs::read(&published.index).unwrap(), first);
}

#[test]
fn one_bad_skill_stops_publishing_before_anything_is_written() {
    let world = tempfile::tempdir().unwrap();
    let at = |inner: &str| world.path().join(inner);
    fs::create_dir(at("in")).unwrap();
    assert!(matches!(publish(&at("in"), &at("site")), Err(PackError::Nothing(_))));
    skill(&at("in/pdf"));
    skill(&at("in/pdf-2"));
    assert!(matches!(publish(&at("in"), &at("site")), Err(PackError::Twice(name)) if name == "pdf"));
    write(&at("in/pdf-2"), "SKILL.md", "", 0o644);
    assert!(matches!(publish(&at("in"), &at("site")), Err(PackError::NotASkill { .. })));
    assert!(!at("site").exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Packed and unpacked, a skill has the same hash.
    #[test]
    fn packing_loses_nothing(
        files in proptest::collection::btree_map(
            "[a-d]{1,2}(/[a-d]{1,3}){0,3}\\.(md|sh)",
            (any::<bool>(), proptest::collection::vec(any::<u8>(), 0..300)),
            0..12,
        )
    ) {
        let world = tempfile::tempdir().unwrap();
        let at = |inner: &str| world.path().join(inner);
        write(&at("in"), "SKILL.md", SKILL, 0o644);
        for (path, (executable, bytes)) in files {
            write(&at("in"), &path, bytes, if executable { 0o755 } else { 0o644 });
        }
        unpack(&archive::read(&skill_bytes(&at("in")).unwrap()).unwrap(), &at("out"));
        prop_assert_eq!(tree_hash(&at("out/pdf")), tree_hash(&at("in")));
    }
}
