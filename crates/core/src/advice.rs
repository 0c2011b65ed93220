//! Recommendations of the specification that are not requirements. Only `prowess check` reports them.

use prowess_format::{Code, Diagnostic, Document, Location, Severity, Span};

/// The recommended maximum number of lines of a body.
const LINES_MAX: usize = 500;

/// The recommended maximum number of tokens of a body.
const TOKENS_MAX: usize = 5_000;

/// Words that introduce when to use a skill, in lower case, the most frequent ones first.
const CUES: [&str; 36] = [
    "when", "use ", "used ", "using ", "if ", "trigger", "invoke", "activate", "before ", "after ",
    "during ", "while ", "asks", "asked", "mention", "request", "needs ", "wants ", "wenn ", "falls ",
    "sobald ", "verwende", "nutze", "bei ", "cuando", "si ", "usar", "utiliz", "quand", "lorsque", "lors ",
    "quando", "se ", "wanneer", "als ", "gdy ",
];

/// Returns recommendations for a skill that loads.
pub(crate) fn advise(document: &Document, source: &[u8]) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    if document.manifest.when_to_use().is_none() && !states_when_to_use(document.manifest.description()) {
        let message = "the description does not say when to use the skill";
        let location = Location::from_span(source, description_key(document, source));
        let diagnostic = Diagnostic::new(Code::DescriptionWhen, Severity::Info, message).at(location);
        diagnostics
            .push(diagnostic.help("add a sentence such as: Use when the user asks to fill in PDF forms."));
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
        let location = Location::from_span(source, Span::new(start, start));
        let diagnostic = Diagnostic::warning(Code::LongBody, message).at(location);
        diagnostics.push(diagnostic.help("move details into files in references/ and say when to read them"));
    }
    diagnostics
}

/// Returns the span of the key `description` in the frontmatter, or of the whole frontmatter if the key is not
/// found.
fn description_key(document: &Document, source: &[u8]) -> Span {
    const KEY: &[u8] = b"description";
    let start = document.frontmatter.start as usize;
    let yaml = source.get(start..document.frontmatter.end as usize).unwrap_or_default();
    let begins_line = |offset: &usize| *offset == 0 || yaml.get(offset - 1) == Some(&b'\n');
    match memchr::memmem::find_iter(yaml, KEY).find(begins_line) {
        Some(offset) => Span::new(start + offset, start + offset + KEY.len()),
        None => document.frontmatter,
    }
}

/// Estimates the number of tokens: one per four ASCII characters and one per other character.
fn estimated_tokens(text: &[u8]) -> usize {
    // Non-ASCII characters have at least two bytes, so this bounds the number of tokens.
    if text.len() / 2 <= TOKENS_MAX {
        return 0;
    }
    let non_ascii = count(text, |byte| byte >= 0xC0);
    // A cheap upper bound, before the second count.
    if (text.len() + 2 * non_ascii) / 4 <= TOKENS_MAX {
        return 0;
    }
    count(text, |byte| byte < 0x80) / 4 + non_ascii
}

/// Counts the bytes that match. Sums of chunks of 255 fit into a byte, which lets the compiler vectorize the
/// loop.
fn count(text: &[u8], matches: impl Fn(u8) -> bool) -> usize {
    text.chunks(255)
        .map(|chunk| usize::from(chunk.iter().map(|byte| u8::from(matches(*byte))).sum::<u8>()))
        .sum()
}

/// Returns `true` if a description states when to use the skill, or is not written in Latin script.
fn states_when_to_use(description: &str) -> bool {
    let lower = description.to_ascii_lowercase();
    let latin = || count(description.as_bytes(), |byte| byte < 0x80) * 4 >= description.len() * 3;
    CUES.iter().any(|cue| contains_word(&lower, cue)) || !latin()
}

/// Returns `true` if a word of the text begins with `cue`.
fn contains_word(text: &str, cue: &str) -> bool {
    let boundary = |offset: usize| !text.as_bytes()[..offset].last().is_some_and(u8::is_ascii_alphanumeric);
    memchr::memmem::find_iter(text.as_bytes(), cue).any(boundary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prowess_format::{Rules, parse};

    fn advise_on(description: &str, body: &str) -> Vec<String> {
        let source = format!("---\nname: pdf\ndescription: {description}\n---\n{body}");
        let document = parse(source.as_bytes(), None, &Rules::standard()).document.unwrap();
        advise(&document, source.as_bytes())
            .iter()
            .map(|diagnostic| format!("{} {diagnostic}", diagnostic.location.map_or(0, |at| at.line)))
            .collect()
    }

    #[test]
    fn descriptions_must_state_when_to_use_the_skill() {
        for good in [
            "Reads PDF files. Use when the user mentions forms.",
            "Use for PDF files.",
            "Liest PDF-Dateien, wenn jemand Formulare ausfüllen will.",
            "处理 PDF 文件并提取其中的表格和文字内容。",
        ] {
            assert_eq!(advise_on(good, "Do it."), Vec::<String>::new(), "{good}");
        }
        for bad in ["Reads PDF files.", "Cause and effect of reuse.", "Tools for PDF."] {
            assert_eq!(
                advise_on(bad, "Do it."),
                ["3 info[SK044]: the description does not say when to use the skill"]
            );
        }
    }

    #[test]
    fn long_bodies_are_reported() {
        let good = "Use when asked.";
        assert_eq!(advise_on(good, &"x\n".repeat(500)), Vec::<String>::new());
        assert_eq!(
            advise_on(good, &"x\n".repeat(501)),
            ["5 warning[SK065]: the body has 501 lines; at most 500 are recommended"]
        );
        assert_eq!(advise_on(good, &"word ".repeat(3_000)), Vec::<String>::new());
        assert_eq!(
            advise_on(good, &"word ".repeat(5_000)),
            ["5 warning[SK065]: the body has about 6250 tokens; at most 5000 are recommended"]
        );
        assert_eq!(
            advise_on(good, &"字".repeat(6_000)),
            ["5 warning[SK065]: the body has about 6000 tokens; at most 5000 are recommended"]
        );
    }
}
