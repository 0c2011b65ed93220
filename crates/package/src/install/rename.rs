//! Giving a skill another name: one line of its frontmatter changes, and nothing else.

use prowess_format::fence::{self, Extent, Split};
use prowess_format::{Parsed, Rules, parse};

/// The file under another name; `None` where that cannot be done without changing more than the name.
pub(crate) fn rename(source: &[u8], name: &str) -> Option<Vec<u8>> {
    let Split::Found(fences) = fence::split(source, Extent::Whole) else { return None };
    let yaml = source.get(fences.yaml.clone())?;
    let mut at = fences.yaml.start;
    let line = yaml.split_inclusive(|byte| *byte == b'\n').find_map(|line| {
        let start = at;
        at += line.len();
        (line.starts_with(b"name:")).then_some((start, line))
    });
    let (start, line) = line?;
    let ending = match line {
        [.., b'\r', b'\n'] => &b"\r\n"[..],
        [.., b'\n'] => b"\n",
        _ => b"",
    };
    let renamed =
        [&source[..start], b"name: ", name.as_bytes(), ending, &source[start + line.len()..]].concat();
    is_same_but_for_the_name(source, &renamed, name).then_some(renamed)
}

fn is_same_but_for_the_name(before: &[u8], after: &[u8], name: &str) -> bool {
    let read = |source: &[u8]| match parse(source, None, &Rules::standard()) {
        Parsed { document: Some(document), .. } => {
            let body = document.body(source).to_vec();
            Some((document.manifest, body))
        }
        Parsed { document: None, .. } => None,
    };
    let (Some((before, old_body)), Some((after, new_body))) = (read(before), read(after)) else {
        return false;
    };
    after.name().as_str() == name && old_body == new_body && before.renamed(after.name().clone()) == after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_changes() {
        let source =
            b"\xEF\xBB\xBF---\r\n# mine\r\nname: \"old\" # why\r\ndescription: D.\r\n---\r\nname: old\r\n";
        let renamed = rename(source, "new").unwrap();
        let expected = b"\xEF\xBB\xBF---\r\n# mine\r\nname: new\r\ndescription: D.\r\n---\r\nname: old\r\n";
        assert_eq!(renamed, expected);
        // A name over two lines, or none of its own, is left alone.
        assert_eq!(rename(b"---\nname: >\n  old\ndescription: D.\n---\n", "new"), None);
        assert_eq!(rename(b"---\n{name: old, description: D.}\n---\n", "new"), None);
        assert_eq!(rename(b"no frontmatter", "new"), None);
    }
}
