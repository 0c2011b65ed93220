//! Splits instructions into text and placeholders, and recognizes code.

/// A piece of the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'b> {
    /// Plain text.
    Text(&'b str),
    /// `$ARGUMENTS`.
    All,
    /// `$n` or `$ARGUMENTS[n]`, and its source text.
    Position(usize, &'b str),
    /// `$name`: the argument with this index.
    Named(usize),
    /// A variable, and its source text.
    Variable(Variable, &'b str),
    /// A placeholder behind a backslash, without the backslash.
    Escaped(&'b str),
}

/// A variable that stands for a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variable {
    /// The directory of the skill.
    SkillDir,
    /// The directory of the project.
    ProjectDir,
}

/// The variables and how they are written. They have no escape, as in Claude Code.
const VARIABLES: [(&str, Variable); 3] = [
    ("${CLAUDE_SKILL_DIR}", Variable::SkillDir),
    ("${HERMES_SKILL_DIR}", Variable::SkillDir),
    ("${CLAUDE_PROJECT_DIR}", Variable::ProjectDir),
];

/// The maximum number of digits of a position.
const INDEX_DIGITS: usize = 4;

/// The longest run of backticks that opens inline code. It bounds how often the rest of a paragraph is
/// searched.
const RUN_MAX: usize = 32;

/// Returns `true` if there may be a placeholder for one of `words` arguments, for all of them, or for a named one.
/// A quick check that avoids parsing most bodies.
pub(super) fn may_have_placeholders(body: &str, words: usize, names: &[Box<str>]) -> bool {
    let bytes = body.as_bytes();
    let begins_placeholder = |offset: usize| match bytes.get(offset + 1) {
        Some(b'A' | b'{') => true,
        Some(b'0'..=b'9') if offset > 0 && bytes.get(offset - 1) == Some(&b'\\') => true,
        Some(byte @ b'0'..=b'9') => usize::from(byte - b'0') < words,
        Some(_) => !names.is_empty(),
        None => false,
    };
    memchr::memchr_iter(b'$', bytes).any(begins_placeholder)
}

/// Splits a body into pieces; concatenated, they are the body.
pub(super) fn split_pieces<'b>(body: &'b str, names: &'b [Box<str>]) -> impl Iterator<Item = Piece<'b>> {
    Pieces { body, names, offset: 0, code_until: 0, pending: None }
}

struct Pieces<'b> {
    body: &'b str,
    /// The names of the arguments.
    names: &'b [Box<str>],
    offset: usize,
    /// The end of the current code; everything before it is inside code.
    code_until: usize,
    pending: Option<Piece<'b>>,
}

impl<'b> Iterator for Pieces<'b> {
    type Item = Piece<'b>;

    fn next(&mut self) -> Option<Piece<'b>> {
        if let Some(piece) = self.pending.take() {
            return Some(piece);
        }
        let start = self.offset;
        let bytes = self.body.as_bytes();
        while let Some(byte) = bytes.get(self.offset) {
            let begins_line = self.offset == 0 || bytes.get(self.offset - 1) == Some(&b'\n');
            if begins_line && self.offset >= self.code_until {
                self.code_until = fence_end(self.body, self.offset).unwrap_or(self.code_until);
            }
            match byte {
                b'$' => {
                    if let Some((piece, length)) = self.placeholder() {
                        // A backslash that escapes a placeholder is not part of the text.
                        let is_escaped = matches!(piece, Piece::Escaped(_));
                        let text = &self.body[start..self.offset - usize::from(is_escaped)];
                        self.offset += length;
                        if text.is_empty() {
                            return Some(piece);
                        }
                        self.pending = Some(piece);
                        return Some(Piece::Text(text));
                    }
                    self.offset += run_length(bytes, self.offset, b'$');
                }
                b'`' => {
                    let length = run_length(bytes, self.offset, b'`');
                    if self.offset >= self.code_until && !self.is_escaped() {
                        self.code_until =
                            inline_end(bytes, self.offset + length, length).unwrap_or(self.code_until);
                    }
                    self.offset += length;
                }
                b'\n' => self.offset += 1,
                _ => {
                    let plain = |byte: &&u8| !matches!(byte, b'$' | b'`' | b'\n');
                    self.offset += bytes[self.offset..].iter().take_while(plain).count();
                }
            }
        }
        (start < self.offset).then(|| Piece::Text(&self.body[start..]))
    }
}

impl<'b> Pieces<'b> {
    /// Returns the placeholder that begins here, and its length.
    fn placeholder(&self) -> Option<(Piece<'b>, usize)> {
        let rest = &self.body[self.offset..];
        let variable = VARIABLES.iter().find(|(source, _)| rest.starts_with(source));
        if let Some((source, variable)) = variable {
            return Some((Piece::Variable(*variable, &rest[..source.len()]), source.len()));
        }
        let (piece, length) = self.argument(&rest[1..])?;
        match self.is_escaped() {
            true => Some((Piece::Escaped(&rest[..length]), length)),
            false => Some((piece, length)),
        }
    }

    /// Returns the placeholder for arguments that begins with a dollar sign before `rest`, and its length. In code,
    /// positions are left alone: `awk '{print $1}'` is not about arguments.
    fn argument(&self, rest: &'b str) -> Option<(Piece<'b>, usize)> {
        let in_code = self.offset < self.code_until;
        let source = |length: usize| &self.body[self.offset..self.offset + length];
        if let Some(after) = rest.strip_prefix("ARGUMENTS") {
            let all = "$ARGUMENTS".len();
            if let Some((index, length)) = index(after) {
                let length = all + length;
                return (!in_code).then(|| (Piece::Position(index, source(length)), length));
            }
            return (!continues(after)).then_some((Piece::All, all));
        }
        if let Some(named) = self.named(rest) {
            return Some(named);
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after = &rest[digits..];
        let decimals = after.strip_prefix(['.', ',']).is_some_and(|rest| rest.starts_with(is_digit));
        if digits == 0 || digits > INDEX_DIGITS || in_code || continues(after) || decimals {
            return None;
        }
        let index = rest[..digits].parse().ok()?;
        Some((Piece::Position(index, source(1 + digits)), 1 + digits))
    }

    /// Returns the named argument at the beginning of `rest`, also in code: the author declared the name.
    fn named(&self, rest: &str) -> Option<(Piece<'b>, usize)> {
        let is_here = |name: &str| {
            let after = rest.strip_prefix(name);
            after.is_some_and(|after| !continues(after) && !after.starts_with('['))
        };
        // The longest name counts, because a name may contain a hyphen. Of equal names, the first one counts.
        let here = self.names.iter().enumerate().rev().filter(|(_, name)| is_here(name));
        let (index, name) = here.max_by_key(|(_, name)| name.len())?;
        Some((Piece::Named(index), 1 + name.len()))
    }

    /// Returns `true` if an odd number of backslashes precedes the current position.
    fn is_escaped(&self) -> bool {
        let before = &self.body.as_bytes()[..self.offset];
        before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn continues(after: &str) -> bool {
    after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Parses `[n]`. Returns the index and the length.
fn index(after: &str) -> Option<(usize, usize)> {
    let digits = after.strip_prefix('[')?.split(']').next()?;
    let is_index = !digits.is_empty() && digits.len() <= INDEX_DIGITS && digits.chars().all(is_digit);
    let closed = after.get(1 + digits.len()..)?.starts_with(']');
    (is_index && closed).then(|| Some((digits.parse().ok()?, digits.len() + 2)))?
}

fn run_length(bytes: &[u8], start: usize, byte: u8) -> usize {
    bytes[start..].iter().take_while(|next| **next == byte).count()
}

/// Returns the end of inline code that was opened by `length` backticks: a run of the same length in the same
/// paragraph.
fn inline_end(bytes: &[u8], from: usize, length: usize) -> Option<usize> {
    if length > RUN_MAX {
        return None;
    }
    let mut offset = from;
    let mut blank = false;
    while let Some(byte) = bytes.get(offset) {
        match byte {
            b'`' => {
                let closing = run_length(bytes, offset, b'`');
                if closing == length {
                    return Some(offset + closing);
                }
                offset += closing;
                blank = false;
                continue;
            }
            b'\n' if blank => return None,
            b'\n' => blank = true,
            b' ' | b'\t' | b'\r' => {}
            _ => blank = false,
        }
        offset += 1;
    }
    None
}

/// Returns the end of the code block whose fence is on the line at `start`. An unclosed block extends to the end
/// of the text.
fn fence_end(body: &str, start: usize) -> Option<usize> {
    let mut lines = body[start..].split_inclusive('\n');
    let opening = lines.next()?;
    let text = opening.trim_start_matches([' ', '\t']);
    let mark = text.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = run_length(text.as_bytes(), 0, mark);
    if length < 3 || (mark == b'`' && text[length..].contains('`')) {
        return None;
    }
    let mut end = start + opening.len();
    for line in lines {
        end += line.len();
        let text = line.trim();
        if text.len() >= length && text.bytes().all(|byte| byte == mark) {
            break;
        }
    }
    Some(end)
}
