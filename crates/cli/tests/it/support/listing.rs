//! Listings of directories, to find changes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Paths with a description of their contents. Symlinks are not followed.
pub type Listing = BTreeMap<String, String>;

pub fn listing(dir: &Path) -> Listing {
    let mut listing = Listing::new();
    add(dir, dir, &mut listing);
    listing
}

fn add(base: &Path, dir: &Path, listing: &mut Listing) {
    for entry in fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let description = match kind {
            kind if kind.is_dir() => {
                add(base, &path, listing);
                "directory".to_owned()
            }
            kind if kind.is_symlink() => format!("symlink to {}", fs::read_link(&path).unwrap().display()),
            kind if kind.is_file() => beginning(&path),
            _ => "special".to_owned(),
        };
        listing.insert(path.strip_prefix(base).unwrap().to_string_lossy().into_owned(), description);
    }
}

/// Returns the length and the first bytes of a file.
fn beginning(path: &Path) -> String {
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(65_536).read_to_end(&mut bytes)).unwrap();
    format!("{} bytes {:?}", fs::metadata(path).unwrap().len(), String::from_utf8_lossy(&bytes))
}

/// Returns added, removed and changed paths, one per line.
pub fn changed(before: &Listing, after: &Listing) -> Vec<String> {
    let new = after.keys().filter(|path| !before.contains_key(*path)).map(|path| format!("new: {path}"));
    let gone = before.keys().filter(|path| !after.contains_key(*path)).map(|path| format!("gone: {path}"));
    let other = before.iter().filter(|(path, contents)| after.get(*path).is_some_and(|now| now != *contents));
    new.chain(gone).chain(other.map(|(path, _)| format!("other: {path}"))).collect()
}
