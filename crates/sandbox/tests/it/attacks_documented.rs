//! Checks that the table of attacks in the documentation is complete and names existing tests.

use std::collections::BTreeSet;

/// Returns the names of the tests in a file.
fn tests(source: &str) -> impl Iterator<Item = &str> {
    source.split("#[test]\nfn ").skip(1).filter_map(|rest| rest.split_once('(')).map(|(name, _)| name)
}

#[test]
fn every_attack_in_the_table_has_a_test() {
    let document = include_str!("../../../../docs/scripts.md");
    let table = document.split_once("## Attacks that are tried").unwrap().1;
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    let named: BTreeSet<&str> =
        rows.flat_map(|row| row.split('|').nth(2).unwrap().split('`').skip(1).step_by(2)).collect();
    let attacks = [
        include_str!("attacks_environment.rs"),
        include_str!("attacks_files.rs"),
        include_str!("attacks_limits.rs"),
        include_str!("attacks_network.rs"),
        include_str!("attacks_processes.rs"),
        include_str!("attacks_shared.rs"),
        include_str!("attacks_workspace.rs"),
    ];
    let gates = [
        include_str!("gates.rs"),
        include_str!("named_programs.rs"),
        include_str!("workspaces.rs"),
        include_str!("../../../cli/tests/it/run_limits.rs"),
    ];
    let existing: BTreeSet<&str> = attacks.iter().chain(&gates).flat_map(|source| tests(source)).collect();
    let missing: Vec<_> = named.difference(&existing).collect();
    assert!(missing.is_empty() && named.len() > 20, "no such tests: {missing:?}");
    // Tests that are not attacks: what scripts can do, and that the attacks work without a sandbox.
    let others = [
        "cancelling_ends_all_processes_and_output_is_streamed",
        "each_limit_has_its_exact_value",
        "files_can_be_copied_in_the_scratch_directory",
        "rerun_as_unprivileged_user",
        "the_attacks_succeed_without_a_sandbox",
        "the_home_directory_is_a_scratch_directory_that_is_removed_afterwards",
        "granted_skills_can_use_the_network",
        "several_processes_share_memory_and_semaphores",
    ];
    let undocumented: Vec<_> = attacks
        .iter()
        .flat_map(|source| tests(source))
        .filter(|name| !named.contains(name) && !others.contains(name))
        .collect();
    assert!(undocumented.is_empty(), "not in the table: {undocumented:?}");
}
