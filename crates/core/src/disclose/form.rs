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
        let parts: Vec<String> = told.map(|(entry, level)| self.entry(entry, *level)).collect();
        if parts.is_empty() {
            return String::new();
        }
        let mut out = self.opening();
        match self.format {
            // A comma stands between entries and is priced with each; the last one has none.
            CatalogFormat::Json => out.push_str(parts.concat().trim_end_matches(',')),
            _ => parts.iter().for_each(|part| out.push_str(part)),
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
        let description: Cow<'_, str> = match level {
            Level::Full if self.format == CatalogFormat::Tiers => Cow::from(entry.brief.as_ref()),
            Level::Full => Cow::from(entry.description.as_ref()),
            Level::Short => shorten(Cow::from(entry.description.as_ref()), SHORT),
            Level::Name | Level::Omitted => Cow::from(""),
        };
        match self.format {
            CatalogFormat::Xml => self.xml(entry, &description),
            CatalogFormat::Json => json(entry, &description),
            CatalogFormat::Bullets => bullet(entry, &description),
            CatalogFormat::Tool | CatalogFormat::Tiers => item(entry, &description),
        }
    }

    fn xml(&self, entry: &Entry<'_>, description: &str) -> String {
        let mut out = format!("<skill>\n<name>{}</name>\n", xml(&entry.name));
        if !description.is_empty() {
            let _ = writeln!(out, "<description>{}</description>", xml(description));
        }
        if let (Location::Shown, Some(location)) = (self.location, &entry.location) {
            let _ = writeln!(out, "<location>{}</location>", xml(location));
        }
        out.push_str("</skill>\n");
        out
    }
}

fn json(entry: &Entry<'_>, description: &str) -> String {
    let name = serde_json::Value::from(entry.name.as_ref());
    match description {
        "" => format!("{{\"name\":{name}}},"),
        text => format!("{{\"name\":{name},\"description\":{}}},", serde_json::Value::from(text)),
    }
}

fn bullet(entry: &Entry<'_>, description: &str) -> String {
    let (id, name) = (markdown(&entry.id), markdown(&entry.name));
    match description {
        "" => format!("- id: {id}, name: {name}\n"),
        text => format!("- id: {id}, name: {name}, description: {}\n", markdown(text)),
    }
}

fn item(entry: &Entry<'_>, description: &str) -> String {
    let name = markdown(&entry.name);
    match description {
        "" => format!("- {name}\n"),
        text => format!("- {name}: {}\n", markdown(text)),
    }
}
