//! Splits instructions into text and placeholders, and recognizes code.

/// A piece of the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'b> {
    /// Plain text.
    Text(&'b str),
    /// `$ARGUMENTS`.
    All,
    /// `$ARGUMENTS[n]`.
    Indexed(usize),
    /// `$n`, and its source text.
    Digit(usize, &'b str),
}

/// The longest run of backticks that opens inline code. It bounds how often the rest of a paragraph is
/// searched.
const RUN_MAX: usize = 32;

/// Returns `true` if there may be a placeholder for one of `words` arguments, or for all of them. A quick check
/// that avoids parsing most bodies.
pub(super) fn may_have_placeholders(body: &str, words: usize) -> bool {
    let begins_placeholder = |byte: &u8| match byte {
        b'A' => true,
        b'0'..=b'9' => usize::from(byte - b'0') < words,
        _ => false,
    };
    body.match_indices('$').any(|(offset, _)| body.as_bytes().get(offset + 1).is_some_and(begins_placeholder))
}

/// Splits a body into pieces; concatenated, they are the body.
pub(super) fn split_pieces(body: &str) -> impl Iterator<Item = Piece<'_>> {
    Pieces { body, offset: 0, code_until: 0, pending: None }
}

struct Pieces<'b> {
    body: &'b str,
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
                        let text = &self.body[start..self.offset];
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
        if self.is_escaped() {
            return None;
        }
        let in_code = self.offset < self.code_until;
        let rest = &self.body[self.offset + 1..];
        if let Some(after) = rest.strip_prefix("ARGUMENTS") {
            let all = "$ARGUMENTS".len();
            if let Some((index, length)) = index(after) {
                return (!in_code).then_some((Piece::Indexed(index), all + length));
            }
            return (!continues(after)).then_some((Piece::All, all));
        }
        let digit = rest.chars().next()?.to_digit(10)?;
        let after = &rest[1..];
        let decimals = after.strip_prefix(['.', ',']).is_some_and(|rest| rest.starts_with(is_digit));
        if in_code || continues(after) || decimals {
            return None;
        }
        Some((Piece::Digit(digit as usize, &self.body[self.offset..self.offset + 2]), 2))
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
    let is_index = !digits.is_empty() && digits.len() <= 4 && digits.chars().all(is_digit);
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
