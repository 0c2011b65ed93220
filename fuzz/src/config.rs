//! Configuration files of the user and of a project.

use std::fs;
use std::path::Path;

use prowess::policy::{Policy, ProjectTrust, RootLocation};
use prowess::{HostEnv, Preset, Scope};
use prowess_config::{ConfigInputs, Configuration, KEYS, load};

/// Nothing panics, every place lies inside the file, every key has a value, and a project's file never allows more
/// than was in force without it. The same bytes are tried as TOML and as YAML.
pub fn config(bytes: &[u8]) {
    let world = tempfile::tempdir().expect("a temporary folder");
    let (home, project) = (world.path().join("home"), world.path().join("project"));
    for folder in [home.join(".prowess"), home.join(".agent"), project.join(".prowess")] {
        fs::create_dir_all(folder).expect("an empty folder");
    }
    let surroundings = HostEnv { project: project.clone(), home: Some(home.clone()), path: "".into() };
    let inputs = ConfigInputs::new(surroundings);

    let with = |path: &Path, inputs: &ConfigInputs| {
        fs::write(path, bytes).expect("a file in an empty folder");
        let configuration = load(inputs);
        sound(bytes, &configuration);
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
    no_wider(&without.policy, &narrowed.policy);
}

fn sound(bytes: &[u8], configuration: &Configuration) {
    assert_eq!(configuration.settings.len(), KEYS.len());
    for located in &configuration.diagnostics {
        let Some(place) = located.diagnostic.location else { continue };
        assert!(place.line >= 1 && place.column >= 1, "{located:?}");
        assert!(place.span.end as usize <= bytes.len() + 1, "{located:?} in {} bytes", bytes.len());
    }
}

fn no_wider(before: &Policy, after: &Policy) {
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
    let foreign = |policy: &Policy| -> Vec<_> {
        let own = |place: &RootLocation| matches!(place, RootLocation::Project(_));
        let roots = policy.scan.roots.iter();
        roots.filter(|root| root.scope != Scope::Project || !own(&root.location)).cloned().collect()
    };
    assert_eq!(foreign(before), foreign(after), "directories that are not the project's own");
}
