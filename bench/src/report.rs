//! Writes the results as Markdown tables and as JSON.
//!
//! Neither contains a path of this machine: calls are displayed with `TREE`, and reasons contain no error output.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use crate::measure::Stats;
use crate::origin::Origin;
use crate::suite::{Figure, Participant, Task};
use crate::table::{Table, thousands};
use crate::targets::TargetResult;

/// The results of one run.
pub struct Report {
    /// The measured commit, if git is available.
    pub origin: Option<Origin>,
    /// The number of processors.
    pub processors: usize,
    /// Each peer with its registry and version; `None` if it is missing.
    pub peers: Vec<(&'static str, &'static str, Option<String>)>,
    /// All figures.
    pub figures: Vec<Figure>,
    /// All targets.
    pub results: Vec<TargetResult>,
}

impl Report {
    /// Returns the results as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("Processors: {}. Minimum of several runs, page cache warm.", self.processors);
        if let Some(Origin { commit, date, uncommitted }) = &self.origin {
            let changes = if *uncommitted { " with uncommitted changes" } else { "" };
            let _ = write!(out, " Measured at commit {commit:.10} of {date}{changes}.");
        }
        out.push_str("\n\n");
        let _ = writeln!(out, "{}", self.targets());
        let _ = writeln!(out, "{}", self.times());
        let mut peers: Vec<String> = Vec::new();
        for (name, registry, version) in &self.peers {
            peers.push(format!("{name} {} ({registry})", version.as_deref().unwrap_or("missing")));
        }
        if !peers.is_empty() {
            let _ = writeln!(out, "Peers: {}.", peers.join(", "));
        }
        for (call, reason, sizes) in self.skipped() {
            let _ = writeln!(out, "\nNot measured: `{call}` on {}: {reason}.", sizes.join(", "));
        }
        out
    }

    /// Returns the results as JSON.
    pub fn json(&self) -> String {
        let peers = self.peers.iter().map(|(name, registry, version)| {
            let version = version.as_deref().map_or("null".to_owned(), quoted);
            format!("{{\"name\":{},\"registry\":{},\"version\":{version}}}", quoted(name), quoted(registry))
        });
        let results = self.results.iter().map(|result| {
            let value = match &result.value {
                Ok(value) => format!("\"value\":{value:.3},\"met\":{}", result.met() == Some(true)),
                Err(reason) => format!("\"value\":null,\"reason\":{}", quoted(reason)),
            };
            let (description, unit) = (quoted(&result.description), quoted(result.unit));
            format!("{{\"what\":{description},\"target\":{},\"unit\":{unit},{value}}}", result.target)
        });
        let figures = self.figures.iter().map(|figure| {
            let outcome = match &figure.outcome {
                Ok(stats) => stats_json(stats),
                Err(reason) => format!("\"skipped\":{}", quoted(reason)),
            };
            let (task, participant) =
                (quoted(&figure.task.to_string()), quoted(&figure.participant.to_string()));
            let call = quoted(&figure.call);
            format!(
                "{{\"task\":{task},\"skills\":{},\"who\":{participant},\"call\":{call},{outcome}}}",
                figure.size
            )
        });
        let origin = self.origin.as_ref().map_or(String::new(), |Origin { commit, date, uncommitted }| {
            let (commit, date) = (quoted(commit), quoted(date));
            format!("\n\"measured\":{{\"commit\":{commit},\"date\":{date},\"uncommitted\":{uncommitted}}},")
        });
        format!(
            "{{\"schema\":1,{origin}\n\"processors\":{},\n\"peers\":[\n{}\n],\n\"targets\":[\n{}\n],\n\"figures\":[\n{}\n]}}\n",
            self.processors,
            peers.collect::<Vec<_>>().join(",\n"),
            results.collect::<Vec<_>>().join(",\n"),
            figures.collect::<Vec<_>>().join(",\n"),
        )
    }

    /// Returns the calls without figures, with the reason and the sizes.
    fn skipped(&self) -> Vec<(&str, &str, Vec<String>)> {
        let mut skipped: Vec<(&str, &str, Vec<String>)> = Vec::new();
        for figure in &self.figures {
            let Err(reason) = &figure.outcome else { continue };
            let entry = skipped
                .iter_mut()
                .find(|(call, listed_reason, _)| (*call, *listed_reason) == (&*figure.call, &**reason));
            match entry {
                Some((_, _, sizes)) => sizes.push(thousands(figure.size)),
                None => skipped.push((&figure.call, reason, vec![thousands(figure.size)])),
            }
        }
        skipped
    }

    fn targets(&self) -> Table {
        let mut table = Table::new(1, ["what", "at most", "measured", "met"].map(str::to_owned));
        for result in &self.results {
            let (measured, met) = match (&result.value, result.met()) {
                (Ok(value), Some(true)) => (format!("{value:.2} {}", result.unit), "yes"),
                (Ok(value), _) => (format!("{value:.2} {}", result.unit), "no"),
                (Err(reason), _) => (reason.clone(), "–"),
            };
            table.push(vec![
                result.description.clone(),
                format!("{} {}", result.target, result.unit),
                measured,
                met.to_owned(),
            ]);
        }
        table
    }

    /// Returns a row per call and a column per size: milliseconds, and the ratio to the floor.
    fn times(&self) -> Table {
        let mut sizes: Vec<usize> = self.figures.iter().map(|figure| figure.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let columns = sizes.iter().map(|size| match size {
            0 => "no tree".to_owned(),
            size => thousands(*size),
        });
        let head = ["task", "who", "call"].map(str::to_owned).into_iter().chain(columns);
        let mut table = Table::new(3, head.chain(["peak memory".to_owned()]));
        let mut seen: Vec<(Task, &Participant, &str)> = Vec::new();
        for figure in &self.figures {
            let key = (figure.task, &figure.participant, figure.call.as_str());
            if !seen.contains(&key) {
                seen.push(key);
            }
        }
        for (task, participant, call) in seen {
            let figure_at = |size: usize| {
                self.figures.iter().find(|f| {
                    (f.task, &f.participant, f.call.as_str(), f.size) == (task, participant, call, size)
                })
            };
            let mut row = vec![task.to_string(), participant.to_string(), format!("`{call}`")];
            row.extend(
                sizes.iter().map(|size| figure_at(*size).map_or(String::new(), |figure| self.cell(figure))),
            );
            let largest = sizes.iter().rev().find_map(|size| figure_at(*size)?.outcome.as_ref().ok());
            row.push(
                largest.map_or(String::new(), |stats| format!("{:.1} MiB", stats.peak as f64 / 1048576.0)),
            );
            table.push(row);
        }
        table
    }

    fn cell(&self, figure: &Figure) -> String {
        let Ok(stats) = &figure.outcome else { return "–".to_owned() };
        let mut floors = self.figures.iter().filter(|floor| {
            (floor.task, floor.size) == (figure.task, figure.size) && floor.participant == Participant::Floor
        });
        let times = match floors.next() {
            Some(Figure { outcome: Ok(floor), .. }) if figure.participant != Participant::Floor => {
                format!(" ({:.2} ×)", stats.min.as_secs_f64() / floor.min.as_secs_f64())
            }
            _ => String::new(),
        };
        format!("{}{times}", milliseconds(stats))
    }
}

/// Replaces the tables between the markers of this name in the README. Fails if the markers are missing.
pub fn rewrite(readme: &Path, name: &str, figures: &str) -> io::Result<()> {
    let text = fs::read_to_string(readme)?;
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let between =
        text.split_once(&open).and_then(|(before, rest)| Some((before, rest.split_once(&close)?.1)));
    let (before, after) =
        between.ok_or_else(|| io::Error::other("the README has no markers for the figures"))?;
    fs::write(readme, format!("{before}{open}\n{figures}\n{close}{after}"))
}

fn stats_json(stats: &Stats) -> String {
    let ms = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
    format!(
        "\"runs\":{},\"min_ms\":{:.3},\"median_ms\":{:.3},\"cpu_ms\":{:.3},\"peak_kib\":{}",
        stats.runs,
        ms(stats.min),
        ms(stats.median),
        ms(stats.cpu),
        stats.peak / 1024
    )
}

fn milliseconds(stats: &Stats) -> String {
    let ms = stats.min.as_secs_f64() * 1000.0;
    if ms < 100.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        assert_eq!(quoted("a\"b\\c\n"), r#""a\"b\\c\u000a""#);
    }
}
