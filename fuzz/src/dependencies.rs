//! Dependencies of scripts: imports, inline metadata and requirements files.

use prowess_sandbox::environments::{
    PythonVersion, Requirement, Requirements, ScriptSources, requirements_of_script, requirements_of_skill,
};

/// Checks that nothing panics, that every package is one plain line with the same meaning when it is read again, and that
/// messages contain no control characters. The bytes are read as each file that names dependencies.
pub fn dependencies(bytes: &[u8]) {
    let version = PythonVersion::parse("3.11.2").expect("a version");
    let manifest: &[u8] = br#"{"dependencies": {"a": "1"}}"#;
    let skills: [&[(&str, &[u8])]; 4] = [
        &[("x.py", bytes), ("y.py", b"import x")],
        &[("x.py", b"import numpy"), ("requirements.txt", bytes)],
        &[("x.py", b"import numpy"), ("pyproject.toml", bytes)],
        &[("x.js", b""), ("package.json", manifest), ("package-lock.json", bytes)],
    ];
    for skill in skills {
        let files: ScriptSources<'_> = skill.iter().copied().collect();
        for (script, _) in skill {
            match requirements_of_script(&files, script, &version) {
                Ok(found) => found.iter().for_each(check_requirements),
                Err(error) => {
                    let text = format!("{error} {}", error.hint().unwrap_or_default());
                    assert!(!text.chars().any(char::is_control), "{text:?}");
                }
            }
        }
        for group in requirements_of_skill(&files, &version).into_iter().flatten() {
            check_requirements(&group.requirements);
        }
    }
}

fn check_requirements(requirements: &Requirements) {
    if requirements.node.is_some() {
        return;
    }
    for package in &requirements.packages {
        let line = package.to_string();
        assert!(!line.contains(['\n', '\r', '#', '@', '/']), "{line:?}");
        let again = Requirement::parse(&line).expect("a requirement");
        assert_eq!((again.to_string(), again.normalized_name()), (line, package.normalized_name()));
    }
}
