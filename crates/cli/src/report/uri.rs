//! Paths as other programs want them: relative where possible, with forward slashes.

use std::path::{Component, Path};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// The path below `base` where it lies there, with forward slashes.
pub(super) fn slashed(path: &Path, base: &Path) -> String {
    let (parts, absolute) = parts(path, base, |name| String::from_utf8_lossy(name).into_owned());
    if absolute { format!("/{parts}") } else { parts }
}

/// The same as a reference of a URI: percent-encoded, and with `file:` where it lies elsewhere.
pub(crate) fn reference(path: &Path, base: &Path) -> String {
    let (parts, absolute) = parts(path, base, percent_encoded);
    if absolute { format!("file:///{parts}") } else { parts }
}

fn parts(path: &Path, base: &Path, written: impl Fn(&[u8]) -> String) -> (String, bool) {
    let path = match path.strip_prefix(base) {
        Ok(rest) if rest.as_os_str().is_empty() => Path::new("."),
        Ok(rest) => rest,
        Err(_) => path,
    };
    let mut absolute = false;
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(prefix) => parts.push(prefix.as_os_str().to_string_lossy().into_owned()),
            Component::RootDir => absolute = true,
            Component::CurDir => {}
            Component::ParentDir => parts.push("..".to_owned()),
            Component::Normal(name) => parts.push(written(name.as_encoded_bytes())),
        }
    }
    if parts.is_empty() && !absolute {
        parts.push(".".to_owned());
    }
    (parts.join("/"), absolute)
}

fn percent_encoded(name: &[u8]) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    percent_encode(name, KEPT).to_string()
}
