//! Changes the name of a skill: only one line of its frontmatter changes.

use prowess_format::fence::{self, Extent, FenceSearch};
use prowess_format::{ParseOutcome, Rules, parse};

/// Returns the file with another name; `None` if more than the name would change.
pub(crate) fn rename_skill(source: &[u8], name: &str) -> Option<Vec<u8>> {
    let FenceSearch::Found(fences) = fence::find_fences(source, Extent::Whole) else { return None };
    let yaml = source.get(fences.yaml.clone())?;
    let mut offset = fences.yaml.start;
    let line = yaml.split_inclusive(|byte| *byte == b'\n').find_map(|line| {
        let start = offset;
        offset += line.len();
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
    differs_only_in_name(source, &renamed, name).then_some(renamed)
}

fn differs_only_in_name(before: &[u8], after: &[u8], name: &str) -> bool {
    let parse_skill = |source: &[u8]| match parse(source, None, &Rules::standard()) {
        ParseOutcome { document: Some(document), .. } => {
            let body = document.body(source).to_vec();
            Some((document.manifest, body))
        }
        ParseOutcome { document: None, .. } => None,
    };
    let (Some((before, old_body)), Some((after, new_body))) = (parse_skill(before), parse_skill(after))
    else {
        return false;
    };
    after.name().as_str() == name && old_body == new_body && before.with_name(after.name().clone()) == after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_changes() {
        let source =
            b"\xEF\xBB\xBF---\r\n# mine\r\nname: \"old\" # why\r\ndescription: D.\r\n---\r\nname: old\r\n";
        let renamed = rename_skill(source, "new").unwrap();
        let expected = b"\xEF\xBB\xBF---\r\n# mine\r\nname: new\r\ndescription: D.\r\n---\r\nname: old\r\n";
        assert_eq!(renamed, expected);
        // Names that span two lines or share a line are not supported.
        assert_eq!(rename_skill(b"---\nname: >\n  old\ndescription: D.\n---\n", "new"), None);
        assert_eq!(rename_skill(b"---\n{name: old, description: D.}\n---\n", "new"), None);
        assert_eq!(rename_skill(b"no frontmatter", "new"), None);
    }
}
