//! Detects names that look alike, one of which may impersonate the other.

use std::borrow::Cow;

/// Returns the name with each character replaced by a representative of its look-alikes. Names with equal
/// skeletons look alike.
pub(crate) fn skeleton(name: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| (byte.is_ascii_lowercase() && byte != b'i') || byte == b'-';
    let mut skeleton = if name.bytes().all(is_plain) {
        Cow::from(name)
    } else if name.is_ascii() {
        name.bytes().map(|byte| representative(byte.to_ascii_lowercase().into())).collect()
    } else {
        name.chars().flat_map(char::to_lowercase).map(representative).collect()
    };
    for (pair, letter) in [("rn", "m"), ("vv", "w")] {
        if skeleton.contains(pair) {
            skeleton = skeleton.replace(pair, letter).into();
        }
    }
    skeleton
}

/// Returns the character that stands for all that look like `c`.
fn representative(c: char) -> char {
    match c {
        '0' | 'о' | 'ο' | 'օ' => 'o',
        '1' | 'i' | 'і' | 'ı' | 'ι' | 'ӏ' => 'l',
        '5' | 'ѕ' => 's',
        'а' | 'α' | 'ɑ' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ё' | 'ε' => 'e',
        'һ' => 'h',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'м' => 'm',
        'п' | 'η' => 'n',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        'ᴢ' => 'z',
        '_' | '‐' | '‑' | '–' => '-',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::skeleton;

    #[test]
    fn look_alikes_share_a_skeleton() {
        for (first, second) in [("paypal", "раураl"), ("tool", "t00l"), ("modern", "modem"), ("code", "соde")]
        {
            assert_eq!(skeleton(first), skeleton(second), "{first} {second}");
        }
    }

    #[test]
    fn different_names_have_different_skeletons() {
        for (first, second) in [("gh", "ԍh"), ("pdf", "pdg")] {
            assert_ne!(skeleton(first), skeleton(second), "{first} {second}");
        }
    }
}
