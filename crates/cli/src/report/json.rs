//! Diagnostics as JSON.

use std::borrow::Cow;
use std::io::{self, Write};

use prowess_format::hidden::{self, is_control, is_hidden};
use prowess_tools::json::DiagnosticJson;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::ser::Formatter;

use super::{CheckSummary, FileReport};

/// The output of `check --format json`.
#[derive(Serialize)]
pub(crate) struct CheckJson<'a> {
    pub(crate) schema: u32,
    #[serde(serialize_with = "serialize_skills")]
    pub(crate) skills: &'a [FileReport<'a>],
    /// The files of plugins; omitted if there are none.
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "serialize_skills")]
    pub(crate) plugin_files: &'a [FileReport<'a>],
    /// The directories that were not searched; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) passed_over: Vec<Value>,
    /// Every `SKILL.md` that was not read; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) passed_over_skills: Vec<Value>,
    /// The fixed files; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fixes: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) baseline: Option<Value>,
    pub(crate) summary: &'a CheckSummary,
}

impl<'a> CheckJson<'a> {
    pub(crate) fn new(
        skills: &'a [FileReport<'a>],
        plugin_files: &'a [FileReport<'a>],
        summary: &'a CheckSummary,
    ) -> Self {
        let (passed_over, passed_over_skills, fixes) = <(Vec<Value>, Vec<Value>, Vec<Value>)>::default();
        Self {
            schema: 1,
            skills,
            plugin_files,
            passed_over,
            passed_over_skills,
            fixes,
            baseline: None,
            summary,
        }
    }
}

#[derive(Serialize)]
struct CheckedSkillJson<'a> {
    path: Cow<'a, str>,
    name: Option<&'a str>,
    valid: bool,
    #[serde(serialize_with = "serialize_diagnostics")]
    diagnostics: &'a FileReport<'a>,
}

// Both functions serialize iterators, so that no intermediate list is allocated.

fn serialize_skills<S: Serializer>(reports: &[FileReport<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(reports.iter().map(|report| CheckedSkillJson {
        path: report.path.to_string_lossy(),
        name: report.name,
        valid: report.valid,
        diagnostics: report,
    }))
}

fn serialize_diagnostics<S: Serializer>(report: &FileReport<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let own = report.diagnostics.iter().map(|diagnostic| DiagnosticJson::new(report.path, diagnostic));
    let others = report.other_files.iter().map(|file| DiagnosticJson::new(&file.path, &file.diagnostic));
    serializer.collect_seq(own.chain(others))
}

/// Writes a value as one line of JSON, with hidden and control characters escaped.
pub(crate) fn write_value(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    // The serializer writes many small pieces, which are buffered before the dynamic call.
    let mut out = io::BufWriter::with_capacity(64 * 1024, out);
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, EscapingFormatter))?;
    writeln!(out)?;
    out.flush()
}

/// A writer for serialized JSON that escapes hidden and control characters. In valid JSON they occur only in strings.
pub(crate) struct EscapingWriter<W> {
    inner: W,
    /// The start of an incomplete character.
    rest: Vec<u8>,
}

impl<W: Write> EscapingWriter<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, rest: Vec::new() }
    }
}

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        let complete = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        };
        let rest = self.rest.split_off(complete);
        let text = std::mem::replace(&mut self.rest, rest);
        EscapingFormatter.write_string_fragment(&mut self.inner, &String::from_utf8_lossy(&text))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Writes hidden and control characters as `\u…`, which is equivalent JSON.
struct EscapingFormatter;

impl Formatter for EscapingFormatter {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        if hidden::find_hidden(fragment).is_none() {
            return out.write_all(fragment.as_bytes());
        }
        for c in fragment.chars() {
            if is_hidden(c) || is_control(c) {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            } else {
                out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn escaped_json_is_equivalent_and_hides_nothing(text in any::<String>(), size in 1..9_usize) {
            let mut out = Vec::new();
            let mut writer = EscapingWriter::new(&mut out);
            for piece in serde_json::to_vec(&text).unwrap().chunks(size) {
                writer.write_all(piece).unwrap();
            }
            let escaped = String::from_utf8(out).unwrap();
            prop_assert_eq!(hidden::find_hidden(&escaped), None);
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }
}
