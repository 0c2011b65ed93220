//! Splits Python source into logical lines of tokens.
//!
//! This is the tokenizer level of the language: strings of all kinds, comments, brackets, line continuations and `;`.
//! Expressions are not parsed. Any text is accepted, because an invalid script fails by itself when it runs.

/// A token. Operators of several characters are several symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'s> {
    /// An identifier or a keyword.
    Name(&'s str),
    /// A number.
    Number(&'s str),
    /// The contents of a string without replacement fields, as written.
    Text(&'s str),
    /// Any other character.
    Symbol(u8),
}

/// A logical line: one or more statements that start on the same line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LogicalLine<'s> {
    /// The column of its first token.
    pub(super) indent: usize,
    /// The statements, separated by `;`.
    pub(super) statements: Vec<Vec<Token<'s>>>,
}

/// The maximum number of tokens of a statement that are kept. The following ones only matter for very long imports.
const TOKENS_MAX: usize = 4_096;

/// The words that start a statement whose tokens are needed. Others are read, but not kept.
const STARTS: &[&str] = &[
    "import", "from", "try", "except", "finally", "else", "elif", "if", "with", "for", "while", "def",
    "class", "async", "match", "case",
];

/// Splits a source text.
pub(super) fn logical_lines(source: &str) -> Vec<LogicalLine<'_>> {
    let mut lexer = Lexer {
        source,
        bytes: source.as_bytes(),
        at: 0,
        brackets: 0,
        strings: Vec::new(),
        indent: 0,
        at_line_start: true,
        statement: Vec::new(),
        is_kept: true,
        statements: Vec::new(),
        lines: Vec::new(),
    };
    lexer.run();
    lexer.lines
}

/// A string with replacement fields that is being read.
#[derive(Debug, Clone, Copy)]
enum StringFrame {
    /// The text of the string.
    Text(Quote),
    /// A replacement field, with the number of open brackets in it.
    Field(u32),
    /// The format of a replacement field.
    Format,
}

#[derive(Debug, Clone, Copy)]
struct Quote {
    byte: u8,
    is_triple: bool,
    is_raw: bool,
}

struct Lexer<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    /// The number of open brackets outside of strings.
    brackets: u32,
    /// The open strings with replacement fields, innermost last.
    strings: Vec<StringFrame>,
    indent: usize,
    at_line_start: bool,
    statement: Vec<Token<'s>>,
    is_kept: bool,
    statements: Vec<Vec<Token<'s>>>,
    lines: Vec<LogicalLine<'s>>,
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_name_part(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit()
}

impl<'s> Lexer<'s> {
    fn run(&mut self) {
        // A byte-order mark is not part of the text.
        if self.source.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        while let Some(byte) = self.peek(0) {
            match self.strings.last().copied() {
                Some(StringFrame::Text(quote)) => self.string_text(byte, quote),
                Some(StringFrame::Format) => self.format(byte),
                Some(StringFrame::Field(brackets)) => self.field(byte, brackets),
                None => self.code(byte),
            }
        }
        self.end_line();
    }

    fn peek(&self, offset: usize) -> Option<u8> {
        self.bytes.get(self.at + offset).copied()
    }

    fn text(&self, start: usize, end: usize) -> &'s str {
        self.source.get(start..end).unwrap_or_default()
    }

    fn code(&mut self, byte: u8) {
        if self.at_line_start && self.skip_indentation(byte) {
            return;
        }
        match byte {
            b'\n' | b'\r' => {
                self.at += 1;
                if self.brackets == 0 {
                    self.end_line();
                }
            }
            b';' if self.brackets == 0 => {
                self.at += 1;
                self.end_statement();
            }
            b'(' | b'[' | b'{' => {
                self.brackets += 1;
                self.symbol(byte);
            }
            b')' | b']' | b'}' => {
                self.brackets = self.brackets.saturating_sub(1);
                self.symbol(byte);
            }
            _ => self.common(byte),
        }
    }

    /// Measures the indentation of a line. Returns `true` if it moved on.
    fn skip_indentation(&mut self, byte: u8) -> bool {
        match byte {
            b' ' => self.indent += 1,
            b'\t' => self.indent = (self.indent / 8 + 1) * 8,
            b'\x0c' => self.indent = 0,
            b'\n' | b'\r' => self.indent = 0,
            b'#' => {
                self.skip_comment();
                return true;
            }
            _ => {
                self.at_line_start = false;
                return false;
            }
        }
        self.at += 1;
        true
    }

    /// Reads what is the same in code and in replacement fields.
    fn common(&mut self, byte: u8) {
        match byte {
            b'#' => self.skip_comment(),
            b'\\' => {
                // A line continuation.
                self.at += if self.bytes[self.at + 1..].starts_with(b"\r\n") { 3 } else { 2 };
                self.at = self.at.min(self.bytes.len());
                // The next read starts at a character.
                while !self.source.is_char_boundary(self.at) {
                    self.at += 1;
                }
            }
            b'"' | b'\'' => self.start_string(""),
            _ if is_name_start(byte) => {
                let start = self.at;
                while self.peek(0).is_some_and(is_name_part) {
                    self.at += 1;
                }
                let name = self.text(start, self.at);
                let is_prefix = name.len() <= 2 && name.bytes().all(|b| b"rRbBuUfFtT".contains(&b));
                match self.peek(0) {
                    Some(b'"' | b'\'') if is_prefix => self.start_string(name),
                    _ => self.push(Token::Name(name)),
                }
            }
            b'0'..=b'9' => {
                let start = self.at;
                while self.peek(0).is_some_and(|byte| is_name_part(byte) || byte == b'.') {
                    self.at += 1;
                }
                self.push(Token::Number(self.text(start, self.at)));
            }
            b' ' | b'\t' | b'\x0c' | b'\n' | b'\r' => self.at += 1,
            _ => self.symbol(byte),
        }
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n' && byte != b'\r') {
            self.at += 1;
        }
    }

    fn start_string(&mut self, prefix: &str) {
        let byte = self.bytes[self.at];
        let is_triple = self.peek(1) == Some(byte) && self.peek(2) == Some(byte);
        let quote = Quote { byte, is_triple, is_raw: prefix.contains(['r', 'R']) };
        self.at += if is_triple { 3 } else { 1 };
        if prefix.contains(['f', 'F', 't', 'T']) {
            self.strings.push(StringFrame::Text(quote));
            return;
        }
        let start = self.at;
        loop {
            match self.peek(0) {
                None => break,
                Some(b'\\') => self.at = (self.at + 2).min(self.bytes.len()),
                // Only a string in three quotes contains line breaks; an unclosed one ends with its line.
                Some(b'\n' | b'\r') if !is_triple => break,
                Some(_) if self.is_end_of(quote) => {
                    self.push(Token::Text(self.text(start, self.at)));
                    self.at += if is_triple { 3 } else { 1 };
                    break;
                }
                Some(_) => self.at += 1,
            }
        }
        // A backslash before a character of several bytes.
        while !self.source.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    fn is_end_of(&self, quote: Quote) -> bool {
        let count = if quote.is_triple { 3 } else { 1 };
        (0..count).all(|offset| self.peek(offset) == Some(quote.byte))
    }

    /// Reads the text of a string with replacement fields.
    fn string_text(&mut self, byte: u8, quote: Quote) {
        match byte {
            _ if self.is_end_of(quote) => {
                self.at += if quote.is_triple { 3 } else { 1 };
                self.strings.pop();
            }
            b'\n' | b'\r' if !quote.is_triple => drop(self.strings.pop()),
            b'\\' if !quote.is_raw && self.peek(1) == Some(b'N') && self.peek(2) == Some(b'{') => {
                self.at += 3;
            }
            // Braces after a backslash still start a field.
            b'\\' => self.at += if matches!(self.peek(1), Some(b'{' | b'}')) { 1 } else { 2 },
            b'{' if self.peek(1) == Some(b'{') => self.at += 2,
            b'{' => {
                self.at += 1;
                self.strings.push(StringFrame::Field(0));
            }
            _ => self.at += 1,
        }
        self.at = self.at.min(self.bytes.len());
    }

    /// Reads the code of a replacement field.
    fn field(&mut self, byte: u8, brackets: u32) {
        let mut replace = |frame| {
            if let Some(last) = self.strings.last_mut() {
                *last = frame;
            }
            self.at += 1;
        };
        match byte {
            b'(' | b'[' | b'{' => replace(StringFrame::Field(brackets + 1)),
            b'}' if brackets == 0 => {
                self.at += 1;
                self.strings.pop();
            }
            b')' | b']' | b'}' => replace(StringFrame::Field(brackets.saturating_sub(1))),
            b':' if brackets == 0 => replace(StringFrame::Format),
            _ => self.common(byte),
        }
    }

    /// Reads the format of a replacement field, in which quotes are fill characters.
    fn format(&mut self, byte: u8) {
        self.at += 1;
        match byte {
            b'{' => self.strings.push(StringFrame::Field(0)),
            b'}' => drop(self.strings.pop()),
            _ => {}
        }
    }

    fn symbol(&mut self, byte: u8) {
        self.at += 1;
        self.push(Token::Symbol(byte));
    }

    fn push(&mut self, token: Token<'s>) {
        if !self.strings.is_empty() {
            return;
        }
        if self.statement.is_empty() && self.is_kept {
            self.is_kept = matches!(token, Token::Name(name) if STARTS.contains(&name));
        }
        if self.is_kept && self.statement.len() < TOKENS_MAX {
            self.statement.push(token);
        }
    }

    fn end_statement(&mut self) {
        if !self.statement.is_empty() {
            self.statements.push(std::mem::take(&mut self.statement));
        } else if !self.is_kept && self.statements.is_empty() {
            // A line whose first statement is not needed still ends the blocks before it.
            self.statements.push(Vec::new());
        }
        self.is_kept = true;
    }

    fn end_line(&mut self) {
        self.end_statement();
        let indent = std::mem::take(&mut self.indent);
        self.at_line_start = true;
        if !self.statements.is_empty() {
            self.lines.push(LogicalLine { indent, statements: std::mem::take(&mut self.statements) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(source: &str) -> Vec<String> {
        let lines = logical_lines(source);
        let statements = lines.iter().flat_map(|line| line.statements.iter());
        statements
            .filter(|statement| !statement.is_empty())
            .map(|statement| {
                let words: Vec<String> = statement
                    .iter()
                    .map(|token| match token {
                        Token::Name(name) | Token::Number(name) => (*name).to_owned(),
                        Token::Text(text) => format!("{text:?}"),
                        Token::Symbol(byte) => (*byte as char).to_string(),
                    })
                    .collect();
                words.join(" ")
            })
            .collect()
    }

    #[test]
    fn strings_and_comments_hide_their_contents() {
        for hidden in [
            "x = 'import a'",
            "x = '''\nimport a\n'''",
            "x = r'\\'; y = '\nimport b'",
            "# import a",
            "x = f'{y[\"k\"]}\\\nimport a'",
            "x = f'''\nimport a {\nb}\nimport c'''",
            "x = (1,\nimport_a)",
            "x = f\"{d[\"import a\"]:'>{w}}\"",
            "x = rf'\\{a}'",
            "x = f'{{import a'",
            "x = f'\\N{EM DASH}'",
        ] {
            let visible = format!("{hidden}\nimport seen\n");
            let found = names(&visible);
            assert_eq!(found.last().map(String::as_str), Some("import seen"), "{hidden}");
            assert!(!found.iter().any(|line| line == "import a"), "{hidden}: {found:?}");
        }
    }

    #[test]
    fn statements_are_joined_and_split() {
        assert_eq!(names("import a, \\\n  b; import c"), ["import a , b", "import c"]);
        assert_eq!(names("from a import (\n  b,  # one\n  c,\n)\n"), ["from a import ( b , c , )"]);
        assert_eq!(names("x = 1; import a"), ["import a"]);
        assert_eq!(names("\u{feff}import a\r\nimport b\rimport c"), ["import a", "import b", "import c"]);
        assert_eq!(names("if x == 'y': import a"), ["if x = = \"y\" : import a"]);
        let lines = logical_lines("if a:\n\timport b\n        import c\nimport d");
        assert_eq!(lines.iter().map(|line| line.indent).collect::<Vec<_>>(), [0, 8, 8, 0]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(source in "(import|from|[ \\t\n\\\\'\"{}():;#frbN.,é]|[a-z]){0,60}") {
            logical_lines(&source);
        }

        #[test]
        fn a_comment_or_string_before_an_import_changes_nothing(text in "[a-z \"{}:;#]{0,30}") {
            let source = format!("# {text}\nx = '''{text}'''\ny = '{text}'\nimport seen\n");
            prop_assert_eq!(names(&source), ["import seen"]);
        }
    }
}
