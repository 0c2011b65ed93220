//! The forms of a catalog: its frame, its entries, and the two together.

use std::borrow::Cow;
use std::fmt::Write;

use super::entries::Entry;
use super::escape::{markdown, shorten, xml};
use super::instructions;
use super::plan::{Level, Plan};
use crate::policy::{CatalogFormat, Location, Policy};

/// How long a shortened description is, in characters.
const SHORT: usize = 96;

/// A form, and the policy whose instructions go with it.
pub(super) struct Form<'p> {
    pub(super) format: CatalogFormat,
    pub(super) location: Location,
    pub(super) policy: &'p Policy,
}

impl Form<'_> {
    /// The catalog without any entry, for its price.
    pub(super) fn frame(&self, note: Option<&str>) -> String {
        let mut out = self.opening();
        out.push_str(&self.closing(note));
        out
    }

    /// The whole catalog. Where no entry is left, neither is a catalog.
    pub(super) fn render(&self, entries: &[Entry<'_>], plan: &Plan) -> String {
        let told = entries.iter().zip(&plan.levels).filter(|(_, level)| **level != Level::Omitted);
        let mut out = self.opening();
        let (start, room) = (out.len(), told.clone().map(|(entry, level)| size(entry, *level)).sum());
        out.reserve(room);
        told.for_each(|(entry, level)| self.write(entry, *level, &mut out));
        if out.len() == start {
            return String::new();
        }
        if self.format == CatalogFormat::Json {
            // A comma stands between entries and is priced with each; the last one has none.
            out.pop();
        }
        out.push_str(&self.closing(plan.note().as_deref()));
        out
    }

    fn opening(&self) -> String {
        let before = instructions::before(self.format, self.policy);
        match self.format {
            CatalogFormat::Xml => format!("{before}<available_skills>\n"),
            CatalogFormat::Json => format!("{before}{{\"available_skills\":["),
            CatalogFormat::Bullets | CatalogFormat::Tool | CatalogFormat::Tiers => before,
        }
    }

    fn closing(&self, note: Option<&str>) -> String {
        let mut out = match self.format {
            CatalogFormat::Xml => "</available_skills>\n".to_owned(),
            CatalogFormat::Json => "]}\n".to_owned(),
            CatalogFormat::Bullets | CatalogFormat::Tool | CatalogFormat::Tiers => String::new(),
        };
        if let Some(note) = note {
            // What the model can do about it depends on the tools it has; the note only says what is so.
            let _ = writeln!(out, "{note}");
        }
        out
    }

    /// One entry at one level.
    pub(super) fn entry(&self, entry: &Entry<'_>, level: Level) -> String {
        let mut out = String::with_capacity(size(entry, level));
        self.write(entry, level, &mut out);
        out
    }

    fn write(&self, entry: &Entry<'_>, level: Level, out: &mut String) {
        let whole = match self.format {
            CatalogFormat::Tiers => entry.brief.as_ref(),
            _ => entry.description.as_ref(),
        };
        let description: Cow<'_, str> = match level {
            Level::Full => Cow::from(whole),
            Level::Short => shorten(Cow::from(whole), SHORT),
            Level::Name | Level::Omitted => Cow::from(""),
        };
        match self.format {
            CatalogFormat::Xml => self.xml(entry, &description, out),
            CatalogFormat::Json => out.push_str(&json(entry, &description)),
            CatalogFormat::Bullets => out.push_str(&bullet(entry, &description)),
            CatalogFormat::Tool | CatalogFormat::Tiers => out.push_str(&item(entry, &description)),
        }
    }

    fn xml(&self, entry: &Entry<'_>, description: &str, out: &mut String) {
        let mut element = |open: &str, text: &str, close: &str| {
            out.push_str(open);
            out.push_str(&xml(text));
            out.push_str(close);
        };
        element("<skill>\n<name>", &entry.name, "</name>\n");
        if !description.is_empty() {
            element("<description>", description, "</description>\n");
        }
        if let Some(origin) = &entry.origin {
            element("<origin>", origin, "</origin>\n");
        }
        if let (Location::Shown, Some(location)) = (self.location, &entry.location) {
            element("<location>", location, "</location>\n");
        }
        out.push_str("</skill>\n");
    }
}

/// About how many bytes an entry takes.
fn size(entry: &Entry<'_>, level: Level) -> usize {
    let description = match level {
        Level::Full => entry.description.len(),
        Level::Short => SHORT,
        Level::Name | Level::Omitted => 0,
    };
    let more =
        [&entry.origin, &entry.location].into_iter().flatten().map(|text| 24 + text.len()).sum::<usize>();
    96 + entry.name.len() + description + more
}

fn json(entry: &Entry<'_>, description: &str) -> String {
    let name = serde_json::Value::from(entry.name.as_ref());
    let origin = entry.origin.as_deref().map(serde_json::Value::from);
    let origin = origin.map_or_else(String::new, |origin| format!(",\"origin\":{origin}"));
    match description {
        "" => format!("{{\"name\":{name}{origin}}},"),
        text => format!("{{\"name\":{name}{origin},\"description\":{}}},", serde_json::Value::from(text)),
    }
}

fn bullet(entry: &Entry<'_>, description: &str) -> String {
    let (id, name) = (markdown(&entry.id), markdown(&entry.name));
    match description {
        "" => format!("- id: {id}, name: {name}{}\n", from(entry)),
        text => format!("- id: {id}, name: {name}{}, description: {}\n", from(entry), markdown(text)),
    }
}

fn item(entry: &Entry<'_>, description: &str) -> String {
    let name = markdown(&entry.name);
    match description {
        "" => format!("- {name}{}\n", from(entry)),
        text => format!("- {name}{}: {}\n", from(entry), markdown(text)),
    }
}

/// Where it comes from, behind its name.
fn from(entry: &Entry<'_>) -> String {
    entry.origin.as_deref().map_or_else(String::new, |origin| format!(" (from {})", markdown(origin)))
}
