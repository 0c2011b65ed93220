//! Environments with real packages. These tests read the public package indexes.

#![cfg(target_os = "linux")]

use prowess_sandbox::environments::EnvironmentKind;
use prowess_testing::script_env::TIERS;

use super::environment_support::EnvironmentTest;

#[test]
fn registry_imported_packages_are_installed_and_work() {
    for tier in TIERS {
        let script = "import sys\nimport openpyxl\nfrom pypdf import PdfWriter\nfrom PIL import Image\n";
        let test = EnvironmentTest::new(&[("scripts/x.py", script)]).on(tier);
        let error = test.ready("scripts/x.py").unwrap_err();
        assert_eq!(
            error.to_string(),
            "scripts/x.py needs Pillow, openpyxl and pypdf, which are not installed"
        );
        let records = test.build().unwrap();
        let names: Vec<_> = records[0].set.packages.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["et-xmlfile", "openpyxl", "pillow", "pypdf"], "{tier}");
        let code = "
import io, openpyxl, pypdf
from PIL import Image
book = openpyxl.Workbook()
book.active['A1'] = 42
out = io.BytesIO()
book.save(out)
print(openpyxl.load_workbook(out).active['A1'].value)
writer = pypdf.PdfWriter()
writer.add_blank_page(100, 100)
out = io.BytesIO()
writer.write(out)
print(len(pypdf.PdfReader(out).pages))
print(Image.new('RGB', (3, 2)).resize((6, 4)).size)
print(openpyxl.__file__.endswith('site-packages/openpyxl/__init__.py'), openpyxl.__spec__.cached is not None)
";
        let (out, err) = test.python("scripts/x.py", code);
        assert_eq!(out, "42\n1\n(6, 4)\nTrue True\n", "{tier}: {err}");
        test.store().verify(&records[0].id).unwrap();
        // A second build finds it.
        assert_eq!(test.build().unwrap(), records);
    }
}

#[test]
fn registry_declared_versions_are_kept() {
    let script = "# /// script\n# requires-python = \">=3.8\"\n# dependencies = [\"six==1.16.0\"]\n# ///\nimport six\n";
    let test = EnvironmentTest::new(&[("scripts/x.py", script), ("scripts/y.py", "import os\n")]);
    let records = test.build().unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].set.packages[0].version, "1.16.0");
    assert_eq!(test.python("scripts/x.py", "import six; print(six.__version__)").0, "1.16.0\n");
    assert_eq!(test.ready("scripts/y.py").unwrap(), None);
}

#[test]
fn registry_uv_is_used_if_it_is_installed() {
    let tool = EnvironmentTest::new(&[("requirements.txt", "uv\n"), ("x.py", "")]);
    tool.build().unwrap();
    let uv = tool.ready("x.py").unwrap().unwrap().programs.unwrap();
    for tier in TIERS {
        let mut test = EnvironmentTest::new(&[("x.py", "import openpyxl\n")]).on(tier);
        test.programs = Some(uv.clone());
        let records = test.build().unwrap();
        let packages = &records[0].set.packages;
        // uv records the digests of all files of a version.
        assert!(
            packages.iter().any(|package| package.name == "openpyxl" && package.hashes.len() > 1),
            "{packages:?}"
        );
        assert_eq!(
            test.python("x.py", "import openpyxl; print(openpyxl.Workbook().active.title)").0,
            "Sheet\n"
        );
        let mut test = EnvironmentTest::new(&[("requirements.txt", "docopt\n"), ("x.py", "")]).on(tier);
        test.programs = Some(uv.clone());
        let error = test.build().unwrap_err();
        assert!(
            error.to_string().starts_with("the package index has no wheel of docopt for Python 3."),
            "{error}"
        );
    }
}

#[test]
fn registry_npm_packages_are_installed_from_the_lock() {
    let manifest = r#"{"name": "x", "version": "1.0.0", "dependencies": {"left-pad": "1.3.0"}}"#;
    let lock = r#"{"name": "x", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
        "": {"name": "x", "version": "1.0.0", "dependencies": {"left-pad": "1.3.0"}},
        "node_modules/left-pad": {"version": "1.3.0", "resolved": "https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz",
            "integrity": "sha512-XI5MPzVNApjAyhQzphX8BkmKsKUxD4LdyK24iZeQGinBN9yTQT3bFlCBy/aVx2HrNcqQGsdot8ghrjyrvMCoEA=="}}}"#;
    for tier in TIERS {
        let files = [
            ("scripts/x.js", "require('left-pad')"),
            ("package.json", manifest),
            ("package-lock.json", lock),
        ];
        let test = EnvironmentTest::new(&files).on(tier);
        assert_eq!(
            test.ready("scripts/x.js").unwrap_err().to_string(),
            "scripts/x.js needs left-pad, which is not installed"
        );
        let records = test.build().unwrap();
        assert_eq!(records[0].set.kind, EnvironmentKind::Node);
        let modules = test.ready("scripts/x.js").unwrap().unwrap().node_modules.unwrap();
        assert!(modules.join("left-pad/index.js").is_file());
    }
}
