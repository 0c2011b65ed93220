//! Text to nodes.

use prowess_format::Value;

use super::{Broken, Kind, Member, Node};

/// The deepest nesting.
const DEPTH_MAX: usize = 128;

/// The value of a text; `None` where there is nothing but blanks and comments.
pub(super) fn parse(text: &str) -> Result<Option<Node>, Broken> {
    let mut reader = Reader { text, at: 0 };
    reader.skip()?;
    if reader.at == text.len() {
        return Ok(None);
    }
    let root = reader.value(0)?;
    reader.skip()?;
    match reader.peek() {
        None => Ok(Some(root)),
        Some(c) => Err(reader.broken(format!("{} after the end of the value", shown(c)))),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn broken(&self, message: impl Into<String>) -> Broken {
        Broken { at: self.at, message: message.into() }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Blanks and comments.
    fn skip(&mut self) -> Result<(), Broken> {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            self.at += blanks;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let end = rest.get(2..).and_then(|inner| inner.find("*/"));
                self.at += end.ok_or_else(|| self.broken("this comment has no end"))? + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Broken> {
        if depth > DEPTH_MAX {
            return Err(self.broken(format!("the nesting goes beyond the limit of {DEPTH_MAX}")));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some('{') => self.map(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Kind::Plain(Value::Text(self.string()?.into())),
            Some(c) if c == '-' || c.is_ascii_digit() => Kind::Plain(Value::Number(self.number()?.into())),
            Some(c) if c.is_ascii_alphabetic() => Kind::Plain(self.word()?),
            Some(c) => return Err(self.broken(format!("{} where a value should be", shown(c)))),
            None => return Err(self.broken("the text ends where a value should be")),
        };
        Ok(Node { start, end: self.at, kind })
    }

    fn map(&mut self, depth: usize) -> Result<Kind, Broken> {
        let open = self.at;
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.skip()?;
            let start = self.at;
            match self.peek() {
                Some('}') => {
                    self.at += 1;
                    return Ok(Kind::Map(members));
                }
                Some('"') => {}
                None => return Err(Broken { at: open, message: "this { has no }".to_owned() }),
                Some(c) => return Err(self.broken(format!("{} where a key or }} should be", shown(c)))),
            }
            if members.last().is_some_and(|last| last.comma.is_none()) {
                return Err(self.broken("a comma is missing before this"));
            }
            let key = self.string()?;
            self.skip()?;
            self.expect(':', "a : should follow the key")?;
            self.skip()?;
            let value = self.value(depth + 1)?;
            let comma = self.comma()?;
            members.push(Member { key, start, value, comma });
        }
    }

    fn list(&mut self, depth: usize) -> Result<Kind, Broken> {
        let open = self.at;
        self.at += 1;
        let mut items = Vec::new();
        let mut goes_on = true;
        loop {
            self.skip()?;
            match self.peek() {
                Some(']') => {
                    self.at += 1;
                    return Ok(Kind::List(items));
                }
                None => return Err(Broken { at: open, message: "this [ has no ]".to_owned() }),
                Some(_) if !goes_on => return Err(self.broken("a comma is missing before this")),
                Some(_) => {}
            }
            items.push(self.value(depth + 1)?);
            goes_on = self.comma()?.is_some();
        }
    }

    fn comma(&mut self) -> Result<Option<usize>, Broken> {
        self.skip()?;
        let here = self.at;
        if self.peek() != Some(',') {
            return Ok(None);
        }
        self.at += 1;
        Ok(Some(here))
    }

    fn expect(&mut self, wanted: char, message: &str) -> Result<(), Broken> {
        if self.peek() != Some(wanted) {
            return Err(self.broken(message));
        }
        self.at += wanted.len_utf8();
        Ok(())
    }

    fn word(&mut self) -> Result<Value, Broken> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let value = match rest.get(..end).unwrap_or_default() {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => {
                return Err(self.broken("a word that is neither true, false nor null; texts stand in quotes"));
            }
        };
        self.at += end;
        Ok(value)
    }

    fn number(&mut self) -> Result<String, Broken> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let number = rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len())).unwrap_or_default();
        let unsigned = number.strip_prefix('-').unwrap_or(number);
        let (mantissa, exponent) =
            unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(m, e)| (m, Some(e)));
        let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = digits(whole)
            && (whole == "0" || !whole.starts_with('0'))
            && fraction.is_none_or(digits)
            && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)));
        if !is_number {
            return Err(self.broken("this is no number"));
        }
        let number = number.to_owned();
        self.at += number.len();
        Ok(number)
    }

    fn string(&mut self) -> Result<String, Broken> {
        let open = self.at;
        self.at += 1;
        let mut found = String::new();
        loop {
            let Some(c) = self.peek() else {
                return Err(Broken { at: open, message: "this text has no closing quote".to_owned() });
            };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(found);
                }
                '\\' => found.push(self.escape()?),
                '\n' | '\r' => {
                    return Err(Broken {
                        at: open,
                        message: "this text has no closing quote on its line".to_owned(),
                    });
                }
                c if u32::from(c) < 0x20 => {
                    return Err(self.broken("a control character in a text; write it as \\u and four digits"));
                }
                c => {
                    found.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Broken> {
        let simple = match self.text.as_bytes().get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code(),
            _ => return Err(self.broken("an escape that JSON does not know")),
        };
        self.at += 2;
        Ok(simple)
    }

    /// `\uXXXX`, or two of them for one character. Half of a pair stands for no character.
    fn code(&mut self) -> Result<char, Broken> {
        let digits = |from: usize| {
            let digits = self
                .text
                .get(from..from + 4)
                .filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
            digits.and_then(|digits| u32::from_str_radix(digits, 16).ok())
        };
        let first =
            digits(self.at + 2).ok_or_else(|| self.broken("four hexadecimal digits should follow \\u"))?;
        let second = match self.text.get(self.at + 6..self.at + 8) {
            Some("\\u") => digits(self.at + 8).filter(|code| (0xdc00..0xe000).contains(code)),
            _ => None,
        };
        let (code, length) = match (first, second) {
            (0xd800..=0xdbff, Some(low)) => (0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00), 12),
            _ => (first, 6),
        };
        self.at += length;
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

/// A character as a message may repeat it.
fn shown(c: char) -> String {
    format!("“{}”", prowess_format::hidden::shown(c.encode_utf8(&mut [0; 4])))
}
