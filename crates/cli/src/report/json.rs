//! Diagnostics as JSON: the shapes that the contract with scripts promises.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;

use prowess_format::hidden::{self, is_control, is_hidden};
use prowess_tools::shapes::DiagnosticJson;
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

use super::{FileReport, Summary};

#[derive(Serialize)]
struct Check<'a> {
    schema: u32,
    #[serde(serialize_with = "skills")]
    skills: &'a [FileReport<'a>],
    /// Left out where every folder was searched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passed_over: Vec<Cow<'a, str>>,
    summary: &'a Summary,
}

#[derive(Serialize)]
struct Skill<'a> {
    path: Cow<'a, str>,
    name: Option<&'a str>,
    valid: bool,
    #[serde(serialize_with = "diagnostics")]
    diagnostics: &'a FileReport<'a>,
}

// Both go through iterators, so that each object is written as it is made and none is kept.

fn skills<S: Serializer>(reports: &[FileReport<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(reports.iter().map(|report| Skill {
        path: report.path.to_string_lossy(),
        name: report.name,
        valid: report.valid,
        diagnostics: report,
    }))
}

fn diagnostics<S: Serializer>(report: &FileReport<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let own = report.diagnostics.iter().map(|said| DiagnosticJson::new(report.path, said));
    let others = report.beside.iter().map(|other| DiagnosticJson::new(&other.path, &other.diagnostic));
    serializer.collect_seq(own.chain(others))
}

/// Prints the whole of `check --format json`.
pub(crate) fn write(
    out: &mut dyn Write,
    reports: &[FileReport<'_>],
    summary: &Summary,
    passed_over: &[PathBuf],
) -> io::Result<()> {
    let passed_over = passed_over.iter().map(|path| path.to_string_lossy()).collect();
    write_value(out, &Check { schema: 1, skills: reports, passed_over, summary })
}

/// Prints any value as one line of JSON in which nothing is hidden from whoever looks at it in a terminal.
pub(crate) fn write_value(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    // JSON comes in many small pieces, which are collected before the call that cannot be inlined.
    let mut out = io::BufWriter::with_capacity(64 * 1024, out);
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Visible))?;
    writeln!(out)?;
    out.flush()
}

/// Passes JSON on in which nothing is hidden: for what others write. Such characters stand in texts only.
pub(crate) struct Passing<W> {
    to: W,
    /// The beginning of a character whose rest is to come.
    rest: Vec<u8>,
}

impl<W: Write> Passing<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, rest: Vec::new() }
    }
}

impl<W: Write> Write for Passing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        };
        let rest = self.rest.split_off(whole);
        let text = std::mem::replace(&mut self.rest, rest);
        Visible.write_string_fragment(&mut self.to, &String::from_utf8_lossy(&text))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Writes hidden and control characters as `\u…`, which means the same to every reader of JSON.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        if hidden::first(fragment).is_none() {
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
        fn json_of_others_means_the_same_and_hides_nothing(text in any::<String>(), size in 1..9_usize) {
            let mut out = Vec::new();
            let mut passing = Passing::new(&mut out);
            for piece in serde_json::to_vec(&text).unwrap().chunks(size) {
                passing.write_all(piece).unwrap();
            }
            let passed = String::from_utf8(out).unwrap();
            prop_assert_eq!(hidden::first(&passed), None);
            prop_assert_eq!(serde_json::from_str::<String>(&passed).unwrap(), text);
        }
    }
}
