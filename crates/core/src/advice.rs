//! What the specification recommends and does not require. Only a check says it.

use prowess_format::{Code, Diagnostic, Document, Place, Severity, Span};

/// The most lines that the specification recommends for a body.
const LINES_MAX: usize = 500;

/// The most tokens that the specification recommends for a body.
const TOKENS_MAX: usize = 5_000;

/// Words that say when to use a skill, in lower case, the most frequent ones first.
const CUES: [&str; 36] = [
    "when", "use ", "used ", "using ", "if ", "trigger", "invoke", "activate", "before ", "after ",
    "during ", "while ", "asks", "asked", "mention", "request", "needs ", "wants ", "wenn ", "falls ",
    "sobald ", "verwende", "nutze", "bei ", "cuando", "si ", "usar", "utiliz", "quand", "lorsque", "lors ",
    "quando", "se ", "wanneer", "als ", "gdy ",
];

/// What could be better about a skill that loads.
pub(crate) fn advise(document: &Document, source: &[u8]) -> Vec<Diagnostic> {
    let mut said = Vec::new();
    if !says_when(document.manifest.description()) {
        let message = "the description does not say when to use the skill";
        let place = Place::of(source, description_key(document, source));
        let diagnostic = Diagnostic::new(Code::DescriptionWhen, Severity::Info, message).at(place);
        said.push(diagnostic.help("add a sentence such as: Use when the user asks to fill in PDF forms."));
    }
    let body = document.body(source);
    let lines = memchr::memchr_iter(b'\n', body.trim_ascii()).count() + 1;
    let tokens = estimated_tokens(body);
    let long = match (lines > LINES_MAX, tokens > TOKENS_MAX) {
        (true, _) => Some(format!("the body has {lines} lines; at most {LINES_MAX} are recommended")),
        (false, true) => {
            Some(format!("the body has about {tokens} tokens; at most {TOKENS_MAX} are recommended"))
        }
        (false, false) => None,
    };
    if let Some(message) = long {
        let start = document.body as usize;
        let place = Place::of(source, Span::new(start, start));
        let diagnostic = Diagnostic::warning(Code::LongBody, message).at(place);
        said.push(diagnostic.help("move details into files in references/ and say when to read them"));
    }
    said
}

/// Where the frontmatter says `description`; all of it where that cannot be told.
fn description_key(document: &Document, source: &[u8]) -> Span {
    const KEY: &[u8] = b"description";
    let start = document.frontmatter.start as usize;
    let yaml = source.get(start..document.frontmatter.end as usize).unwrap_or_default();
    let begins_line = |at: &usize| *at == 0 || yaml.get(at - 1) == Some(&b'\n');
    match memchr::memmem::find_iter(yaml, KEY).find(begins_line) {
        Some(at) => Span::new(start + at, start + at + KEY.len()),
        None => document.frontmatter,
    }
}

/// About how many tokens a text has: one for four characters of ASCII, and one for each other character.
fn estimated_tokens(text: &[u8]) -> usize {
    // Every character beyond ASCII has at least two bytes.
    if text.len() / 2 <= TOKENS_MAX {
        return 0;
    }
    let beyond = count(text, |byte| byte >= 0xC0);
    // For the same reason, there are no more than this, which is known after the first count.
    if (text.len() + 2 * beyond) / 4 <= TOKENS_MAX {
        return 0;
    }
    count(text, |byte| byte < 0x80) / 4 + beyond
}

/// How many bytes are so. Counting up to 255 in a byte lets the compiler compare many at once.
fn count(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    text.chunks(255).map(|chunk| usize::from(chunk.iter().map(|byte| u8::from(is(*byte))).sum::<u8>())).sum()
}

/// Whether a description says when to use the skill. Languages that are not written in Latin letters are not judged.
fn says_when(description: &str) -> bool {
    let lower = description.to_ascii_lowercase();
    let latin = || count(description.as_bytes(), |byte| byte < 0x80) * 4 >= description.len() * 3;
    CUES.iter().any(|cue| contains_word(&lower, cue)) || !latin()
}

/// Whether a word of the text begins with `cue`.
fn contains_word(text: &str, cue: &str) -> bool {
    let boundary = |at: usize| !text.as_bytes()[..at].last().is_some_and(u8::is_ascii_alphanumeric);
    memchr::memmem::find_iter(text.as_bytes(), cue).any(boundary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prowess_format::{Rules, parse};

    fn told(description: &str, body: &str) -> Vec<String> {
        let source = format!("---\nname: pdf\ndescription: {description}\n---\n{body}");
        let document = parse(source.as_bytes(), None, &Rules::standard()).document.unwrap();
        advise(&document, source.as_bytes())
            .iter()
            .map(|said| format!("{} {said}", said.at.map_or(0, |at| at.line)))
            .collect()
    }

    #[test]
    fn descriptions_say_when() {
        for good in [
            "Reads PDF files. Use when the user mentions forms.",
            "Use for PDF files.",
            "Liest PDF-Dateien, wenn jemand Formulare ausfüllen will.",
            "处理 PDF 文件并提取其中的表格和文字内容。",
        ] {
            assert_eq!(told(good, "Do it."), Vec::<String>::new(), "{good}");
        }
        for bad in ["Reads PDF files.", "Cause and effect of reuse.", "Tools for PDF."] {
            assert_eq!(
                told(bad, "Do it."),
                ["3 info[SK044]: the description does not say when to use the skill"]
            );
        }
    }

    #[test]
    fn long_bodies_are_named() {
        let good = "Use when asked.";
        assert_eq!(told(good, &"x\n".repeat(500)), Vec::<String>::new());
        assert_eq!(
            told(good, &"x\n".repeat(501)),
            ["5 warning[SK065]: the body has 501 lines; at most 500 are recommended"]
        );
        assert_eq!(told(good, &"word ".repeat(3_000)), Vec::<String>::new());
        assert_eq!(
            told(good, &"word ".repeat(5_000)),
            ["5 warning[SK065]: the body has about 6250 tokens; at most 5000 are recommended"]
        );
        assert_eq!(
            told(good, &"字".repeat(6_000)),
            ["5 warning[SK065]: the body has about 6000 tokens; at most 5000 are recommended"]
        );
    }
}
