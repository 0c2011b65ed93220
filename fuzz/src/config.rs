//! Configuration files of the user and of a project.

use std::fs;
use std::path::Path;

use prowess::policy::{Policy, ProjectTrust, RootLocation};
use prowess::{HostEnv, Preset, Scope};
use prowess_config::{ConfigInputs, Configuration, KEYS, load};

/// Checks that nothing panics, that every location is inside the file, that every key has a value, and that the file of a
/// project never allows more than the policy without it. The bytes are read as TOML and as YAML.
pub fn config(bytes: &[u8]) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (home, project) = (dir.path().join("home"), dir.path().join("project"));
    for dir in [home.join(".prowess"), home.join(".agent"), project.join(".prowess")] {
        fs::create_dir_all(dir).expect("an empty directory");
    }
    let host_env = HostEnv { project: project.clone(), home: Some(home.clone()), path: "".into() };
    let inputs = ConfigInputs::new(host_env);

    let with = |path: &Path, inputs: &ConfigInputs| {
        fs::write(path, bytes).expect("a file in an empty directory");
        let configuration = load(inputs);
        check_configuration(bytes, &configuration);
        fs::remove_file(path).expect("the file that was written");
        configuration
    };
    with(&home.join(".prowess/config.toml"), &inputs);
    let given = project.join("given.yaml");
    with(&given, &ConfigInputs { file: Some(given.clone()), ..inputs.clone() });
    with(&home.join(".agent/config.yaml"), &ConfigInputs { preset: Some(Preset::Harness), ..inputs.clone() });
    with(&project.join("config.toml"), &ConfigInputs { preset: Some(Preset::Chat), ..inputs.clone() });

    let without = load(&inputs);
    let narrowed = with(&project.join(".prowess/config.toml"), &inputs);
    check_not_wider(&without.policy, &narrowed.policy);
}

fn check_configuration(bytes: &[u8], configuration: &Configuration) {
    assert_eq!(configuration.settings.len(), KEYS.len());
    for located in &configuration.diagnostics {
        let Some(location) = located.diagnostic.location else { continue };
        assert!(location.line >= 1 && location.column >= 1, "{located:?}");
        assert!(location.span.end as usize <= bytes.len() + 1, "{located:?} in {} bytes", bytes.len());
    }
}

fn check_not_wider(before: &Policy, after: &Policy) {
    assert_eq!(before.preset, after.preset);
    assert!(before.enabled || !after.enabled);
    assert!(before.trust == ProjectTrust::NotNeeded || after.trust == before.trust);
    assert_eq!(before.scan.links, after.scan.links);
    assert!(after.scan.depth <= before.scan.depth);
    assert!(after.scan.max_directories <= before.scan.max_directories);
    assert!(after.scan.max_entries <= before.scan.max_entries);
    assert!(after.limits.skill_md_bytes <= before.limits.skill_md_bytes);
    assert!(after.limits.resource_bytes <= before.limits.resource_bytes);
    assert!(before.selection.disabled.iter().all(|name| after.selection.disabled.contains(name)));
    let other_roots = |policy: &Policy| -> Vec<_> {
        let in_project = |location: &RootLocation| matches!(location, RootLocation::Project(_));
        let roots = policy.scan.roots.iter();
        roots.filter(|root| root.scope != Scope::Project || !in_project(&root.location)).cloned().collect()
    };
    assert_eq!(other_roots(before), other_roots(after), "directories outside the project");
}
