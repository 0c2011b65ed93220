//! How much of what it should find the audit finds. The table stands in `docs/audit.md`, and is held to it here.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use prowess_package::audit::{AuditFile, Severity, audit};

struct Sample {
    name: String,
    family: String,
    path: String,
    text: String,
}

fn samples(file: &str) -> Vec<Sample> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(file);
    let all = std::fs::read_to_string(path).unwrap().replace('·', "");
    let mut samples: Vec<Sample> = Vec::new();
    for line in all.lines() {
        match (line.strip_prefix("=== "), samples.last_mut()) {
            (Some(head), _) => {
                let mut parts = head.split(" | ").map(str::to_owned);
                let mut next = || parts.next().unwrap();
                samples.push(Sample { name: next(), family: next(), path: next(), text: String::new() });
            }
            (None, Some(sample)) => sample.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    samples
}

fn worst(sample: &Sample) -> Option<Severity> {
    audit([AuditFile::new(&sample.path, false, sample.text.as_bytes())].into_iter()).worst()
}

/// Wilson's interval for a share, at 95 %, in percent.
fn wilson(found: usize, of: usize) -> (f64, f64) {
    let (n, z) = (of as f64, 1.96_f64);
    let share = found as f64 / n;
    let middle = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 100.0 / (1.0 + z * z / n);
    ((middle - half) * scale, (middle + half) * scale)
}

fn table() -> String {
    let mut rows: BTreeMap<(usize, String, &str), [usize; 3]> = BTreeMap::new();
    let order = ["dropper", "code", "obfuscation", "prose", "secret"];
    for (half, file) in [("tuning", "tuning.txt"), ("held out", "held_out.txt")] {
        for sample in samples(file) {
            let at = order.iter().position(|family| *family == sample.family).unwrap();
            let worst = worst(&sample);
            for key in [(at, sample.family.clone()), (order.len(), "all".to_owned())] {
                let row = rows.entry((key.0, key.1, half)).or_default();
                row[0] += 1;
                row[1] += usize::from(worst >= Some(Severity::Medium));
                row[2] += usize::from(worst >= Some(Severity::Critical));
            }
        }
    }
    let mut table = String::from(
        "| family | half | samples | found | 95 % | refused | 95 % |\n|---|---|---|---|---|---|---|\n",
    );
    for ((_, family, half), [all, found, refused]) in rows {
        let interval = |count| {
            let (low, high) = wilson(count, all);
            format!("{low:.0}–{high:.0} %")
        };
        writeln!(
            table,
            "| {family} | {half} | {all} | {found} | {} | {refused} | {} |",
            interval(found),
            interval(refused)
        )
        .unwrap();
    }
    table
}

#[test]
fn what_honest_skills_do_is_medium_at_most() {
    let worse: Vec<_> = samples("benign.txt")
        .iter()
        .filter(|sample| worst(sample) >= Some(Severity::High))
        .map(|sample| (sample.name.clone(), worst(sample)))
        .collect();
    assert_eq!(worse, []);
}

#[test]
fn the_documented_figures_are_the_real_ones() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit.md");
    let page = std::fs::read_to_string(page).unwrap_or_default();
    let table = table();
    let missed: Vec<_> = samples("tuning.txt")
        .iter()
        .filter(|sample| worst(sample) < Some(Severity::Medium))
        .map(|sample| sample.name.clone())
        .collect();
    assert!(page.contains(&table), "{table}\nmissed of the tuning half: {missed:?}");
}

/// The families of the second set, in eight families and three languages.
const FAMILIES: [&str; 8] =
    ["dns", "netrc", "image", "remote", "injection-zh", "injection-es", "persistence", "wallet"];

/// How many samples of a file are medium or worse, of how many, and the names of the others.
fn counted(file: &str) -> (usize, usize, Vec<String>) {
    let samples = samples(file);
    assert!(samples.iter().all(|sample| FAMILIES.contains(&sample.family.as_str())), "{file}");
    let quiet: Vec<_> = samples
        .iter()
        .filter(|sample| worst(sample) < Some(Severity::Medium))
        .map(|sample| sample.name.clone())
        .collect();
    (samples.len() - quiet.len(), samples.len(), quiet)
}

#[test]
fn attacks_are_found_and_look_alikes_are_not() {
    let mut table =
        String::from("| samples | half | number | found | share | 95 % |\n|---|---|---|---|---|---|\n");
    for (what, half, file) in [
        ("attacks", "tuning", "attacks_tuning.txt"),
        ("attacks", "held out", "attacks_held_out.txt"),
        ("attacks", "fresh", "attacks_fresh.txt"),
        ("look-alikes", "tuning", "lookalikes_tuning.txt"),
        ("look-alikes", "held out", "lookalikes_held_out.txt"),
        ("look-alikes", "fresh", "lookalikes_fresh.txt"),
    ] {
        let (found, all, quiet) = counted(file);
        let (low, high) = wilson(found, all);
        let share = 100.0 * found as f64 / all as f64;
        writeln!(table, "| {what} | {half} | {all} | {found} | {share:.0} % | {low:.0}–{high:.0} % |")
            .unwrap();
        println!("{what}, {half}: {found} of {all}; not found: {quiet:?}");
        // Floors below the figures, and lower for what nothing was tuned to.
        let is_good = match (what, half) {
            ("attacks", "fresh") => found * 2 >= all,
            ("attacks", _) => found * 10 >= all * 8,
            _ => found * 8 <= all,
        };
        assert!(is_good, "{what}, {half}: {found} of {all}, without {quiet:?}");
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit.md");
    let page = std::fs::read_to_string(page).unwrap_or_default();
    assert!(page.contains(&table), "docs/audit.md must have this table:\n{table}");
}
