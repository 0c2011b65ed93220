//! Renders the catalog in its formats.

use std::borrow::Cow;
use std::fmt::Write;

use super::entries::CatalogEntry;
use super::escape::{escape_markdown, escape_xml, shorten};
use super::instructions;
use super::plan::{CatalogPlan, DetailLevel};
use crate::policy::{CatalogFormat, LocationVisibility, Policy};

/// The length of a shortened description, in characters.
const SHORT: usize = 96;

/// A catalog format, and the policy whose instructions precede it.
pub(super) struct CatalogRenderer<'p> {
    pub(super) format: CatalogFormat,
    pub(super) location: LocationVisibility,
    pub(super) policy: &'p Policy,
    /// The tool that finds skills which are left out.
    pub(super) search_tool: Option<&'p str>,
}

impl CatalogRenderer<'_> {
    /// Renders the catalog without entries, to measure its size.
    pub(super) fn render_frame(&self, note: Option<&str>) -> String {
        let mut out = self.opening(note);
        out.push_str(&self.closing(note));
        out
    }

    /// Renders the whole catalog; empty if no entry is left.
    pub(super) fn render(&self, entries: &[CatalogEntry<'_>], plan: &CatalogPlan) -> String {
        let shown = entries.iter().zip(&plan.levels).filter(|(_, level)| **level != DetailLevel::Omitted);
        let note = plan.note(self.search_tool);
        let mut out = self.opening(note.as_deref());
        let (start, room) =
            (out.len(), shown.clone().map(|(entry, level)| estimated_size(entry, *level)).sum());
        out.reserve(room);
        shown.for_each(|(entry, level)| self.write(entry, *level, &mut out));
        if out.len() == start {
            return String::new();
        }
        if self.format == CatalogFormat::Json {
            // Each entry ends with a comma, which counts towards its size; the last one has none.
            out.pop();
        }
        out.push_str(&self.closing(note.as_deref()));
        out
    }

    fn opening(&self, note: Option<&str>) -> String {
        let mut preamble = instructions::preamble(self.format, self.policy);
        if let Some(note) = note.filter(|_| self.search_tool.is_some()) {
            // A client that shows only the beginning shows what is missing.
            let _ = write!(preamble, "{note}\n\n");
        }
        match self.format {
            CatalogFormat::Xml => format!("{preamble}<available_skills>\n"),
            CatalogFormat::Json => format!("{preamble}{{\"available_skills\":["),
            CatalogFormat::Bullets | CatalogFormat::Tool | CatalogFormat::Tiers => preamble,
        }
    }

    fn closing(&self, note: Option<&str>) -> String {
        let mut out = match self.format {
            CatalogFormat::Xml => "</available_skills>\n".to_owned(),
            CatalogFormat::Json => "]}\n".to_owned(),
            CatalogFormat::Bullets | CatalogFormat::Tool | CatalogFormat::Tiers => String::new(),
        };
        if let Some(note) = note.filter(|_| self.search_tool.is_none()) {
            // The note only states the cuts. How to see more depends on the tools that the model has.
            let _ = writeln!(out, "{note}");
        }
        out
    }

    pub(super) fn render_entry(&self, entry: &CatalogEntry<'_>, level: DetailLevel) -> String {
        let mut out = String::with_capacity(estimated_size(entry, level));
        self.write(entry, level, &mut out);
        out
    }

    fn write(&self, entry: &CatalogEntry<'_>, level: DetailLevel, out: &mut String) {
        let full = match self.format {
            CatalogFormat::Tiers => entry.brief.as_ref(),
            _ => entry.description.as_ref(),
        };
        let description: Cow<'_, str> = match level {
            DetailLevel::Full => Cow::from(full),
            DetailLevel::Short => shorten(Cow::from(full), SHORT),
            DetailLevel::NameOnly | DetailLevel::Omitted => Cow::from(""),
        };
        match self.format {
            CatalogFormat::Xml => self.xml(entry, &description, out),
            CatalogFormat::Json => out.push_str(&json(entry, &description)),
            CatalogFormat::Bullets => out.push_str(&bullet(entry, &description)),
            CatalogFormat::Tool | CatalogFormat::Tiers => out.push_str(&item(entry, &description)),
        }
    }

    fn xml(&self, entry: &CatalogEntry<'_>, description: &str, out: &mut String) {
        let mut element = |open: &str, text: &str, close: &str| {
            out.push_str(open);
            out.push_str(&escape_xml(text));
            out.push_str(close);
        };
        element("<skill>\n<name>", &entry.name, "</name>\n");
        if !description.is_empty() {
            element("<description>", description, "</description>\n");
        }
        if let Some(origin) = &entry.origin {
            element("<origin>", origin, "</origin>\n");
        }
        if let (LocationVisibility::Shown, Some(location)) = (self.location, &entry.location) {
            element("<location>", location, "</location>\n");
        }
        out.push_str("</skill>\n");
    }
}

/// Estimates the size of an entry in bytes.
fn estimated_size(entry: &CatalogEntry<'_>, level: DetailLevel) -> usize {
    let description = match level {
        DetailLevel::Full => entry.description.len(),
        DetailLevel::Short => SHORT,
        DetailLevel::NameOnly | DetailLevel::Omitted => 0,
    };
    let optional =
        [&entry.origin, &entry.location].into_iter().flatten().map(|text| 24 + text.len()).sum::<usize>();
    96 + entry.name.len() + description + optional
}

fn json(entry: &CatalogEntry<'_>, description: &str) -> String {
    let name = serde_json::Value::from(entry.name.as_ref());
    let origin = entry.origin.as_deref().map(serde_json::Value::from);
    let origin = origin.map_or_else(String::new, |origin| format!(",\"origin\":{origin}"));
    match description {
        "" => format!("{{\"name\":{name}{origin}}},"),
        text => format!("{{\"name\":{name}{origin},\"description\":{}}},", serde_json::Value::from(text)),
    }
}

fn bullet(entry: &CatalogEntry<'_>, description: &str) -> String {
    let (id, name) = (escape_markdown(&entry.id), escape_markdown(&entry.name));
    match description {
        "" => format!("- id: {id}, name: {name}{}\n", origin_suffix(entry)),
        text => format!(
            "- id: {id}, name: {name}{}, description: {}\n",
            origin_suffix(entry),
            escape_markdown(text)
        ),
    }
}

fn item(entry: &CatalogEntry<'_>, description: &str) -> String {
    let name = escape_markdown(&entry.name);
    match description {
        "" => format!("- {name}{}\n", origin_suffix(entry)),
        text => format!("- {name}{}: {}\n", origin_suffix(entry), escape_markdown(text)),
    }
}

/// Returns the origin of a remote skill, to append to its name.
fn origin_suffix(entry: &CatalogEntry<'_>) -> String {
    entry.origin.as_deref().map_or_else(String::new, |origin| format!(" (from {})", escape_markdown(origin)))
}
