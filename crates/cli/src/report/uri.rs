//! Relative paths with forward slashes, and URI references.

use std::path::{Component, Path};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// Returns the path with forward slashes, relative to `base` if it is below it.
pub(crate) fn relative_path(path: &Path, base: &Path) -> String {
    let (parts, absolute) = parts(path, base, |name| String::from_utf8_lossy(name).into_owned());
    if absolute { format!("/{parts}") } else { parts }
}

/// Returns the path as a percent-encoded URI reference, relative to `base` if it is below it, otherwise a `file:` URI.
pub(crate) fn uri_reference(path: &Path, base: &Path) -> String {
    let (parts, absolute) = parts(path, base, encode_percent);
    if absolute { format!("file:///{parts}") } else { parts }
}

fn parts(path: &Path, base: &Path, encode: impl Fn(&[u8]) -> String) -> (String, bool) {
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
            Component::Normal(name) => parts.push(encode(name.as_encoded_bytes())),
        }
    }
    if parts.is_empty() && !absolute {
        parts.push(".".to_owned());
    }
    (parts.join("/"), absolute)
}

fn encode_percent(name: &[u8]) -> String {
    const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    percent_encode(name, UNRESERVED).to_string()
}
