//! Measures the recall of the audit. The figures must match the table in `docs/audit.md`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use prowess_package::audit::{AuditFile, FindingSeverity, audit};

struct Sample {
    name: String,
    family: String,
    path: String,
    text: String,
}

fn read_samples(file: &str) -> Vec<Sample> {
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

fn worst_severity(sample: &Sample) -> Option<FindingSeverity> {
    audit([AuditFile::new(&sample.path, false, sample.text.as_bytes())].into_iter()).worst()
}

/// Returns the 95 % Wilson interval of a proportion, in percent.
fn wilson_interval(found: usize, of: usize) -> (f64, f64) {
    let (n, z) = (of as f64, 1.96_f64);
    let share = found as f64 / n;
    let middle = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 100.0 / (1.0 + z * z / n);
    ((middle - half) * scale, (middle + half) * scale)
}

fn recall_table() -> String {
    let mut rows: BTreeMap<(usize, String, &str), [usize; 3]> = BTreeMap::new();
    let order = ["dropper", "code", "obfuscation", "prose", "secret"];
    for (half, file) in [("tuning", "tuning.txt"), ("held out", "held_out.txt")] {
        for sample in read_samples(file) {
            let at = order.iter().position(|family| *family == sample.family).unwrap();
            let worst = worst_severity(&sample);
            for key in [(at, sample.family.clone()), (order.len(), "all".to_owned())] {
                let row = rows.entry((key.0, key.1, half)).or_default();
                row[0] += 1;
                row[1] += usize::from(worst >= Some(FindingSeverity::Medium));
                row[2] += usize::from(worst >= Some(FindingSeverity::Critical));
            }
        }
    }
    let mut table = String::from(
        "| family | half | samples | found | 95 % | refused | 95 % |\n|---|---|---|---|---|---|---|\n",
    );
    for ((_, family, half), [all, found, refused]) in rows {
        let interval = |count| {
            let (low, high) = wilson_interval(count, all);
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
fn benign_skills_have_at_most_medium_findings() {
    let worse: Vec<_> = read_samples("benign.txt")
        .iter()
        .filter(|sample| worst_severity(sample) >= Some(FindingSeverity::High))
        .map(|sample| (sample.name.clone(), worst_severity(sample)))
        .collect();
    assert_eq!(worse, []);
}

#[test]
fn the_documented_figures_match() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit.md");
    let page = std::fs::read_to_string(page).unwrap_or_default();
    let table = recall_table();
    let missed: Vec<_> = read_samples("tuning.txt")
        .iter()
        .filter(|sample| worst_severity(sample) < Some(FindingSeverity::Medium))
        .map(|sample| sample.name.clone())
        .collect();
    assert!(page.contains(&table), "{table}\nmissed in the tuning half: {missed:?}");
}

/// The families of the second set, in three languages.
const FAMILIES: [&str; 8] =
    ["dns", "netrc", "image", "remote", "injection-zh", "injection-es", "persistence", "wallet"];

/// Returns how many samples of a file are medium or worse, the number of samples, and the names of the others.
fn count_found(file: &str) -> (usize, usize, Vec<String>) {
    let samples = read_samples(file);
    assert!(samples.iter().all(|sample| FAMILIES.contains(&sample.family.as_str())), "{file}");
    let missed: Vec<_> = samples
        .iter()
        .filter(|sample| worst_severity(sample) < Some(FindingSeverity::Medium))
        .map(|sample| sample.name.clone())
        .collect();
    (samples.len() - missed.len(), samples.len(), missed)
}

#[test]
fn attacks_are_found_and_lookalikes_are_not() {
    let mut table =
        String::from("| samples | half | number | found | share | 95 % |\n|---|---|---|---|---|---|\n");
    for (kind, half, file) in [
        ("attacks", "tuning", "attacks_tuning.txt"),
        ("attacks", "held out", "attacks_held_out.txt"),
        ("attacks", "fresh", "attacks_fresh.txt"),
        ("look-alikes", "tuning", "lookalikes_tuning.txt"),
        ("look-alikes", "held out", "lookalikes_held_out.txt"),
        ("look-alikes", "fresh", "lookalikes_fresh.txt"),
    ] {
        let (found, all, missed) = count_found(file);
        let (low, high) = wilson_interval(found, all);
        let share = 100.0 * found as f64 / all as f64;
        writeln!(table, "| {kind} | {half} | {all} | {found} | {share:.0} % | {low:.0}–{high:.0} % |")
            .unwrap();
        println!("{kind}, {half}: {found} of {all}; not found: {missed:?}");
        // The thresholds are below the measured figures, and lower for samples that were not used for tuning.
        let is_good = match (kind, half) {
            ("attacks", "fresh") => found * 2 >= all,
            ("attacks", _) => found * 10 >= all * 8,
            _ => found * 8 <= all,
        };
        assert!(is_good, "{kind}, {half}: {found} of {all}, without {missed:?}");
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit.md");
    let page = std::fs::read_to_string(page).unwrap_or_default();
    assert!(page.contains(&table), "docs/audit.md must have this table:\n{table}");
}
