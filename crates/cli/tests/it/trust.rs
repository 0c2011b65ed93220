//! `prowess trust` and `prowess untrust`.

use crate::support::TestEnv;
use insta::assert_snapshot;

#[test]
fn trusting_and_revoking() {
    let env = TestEnv::bare();
    env.skill(".agents/skills/pdf").skill(".claude/skills/docx");
    assert_snapshot!(env.runs(&[
        &["list"],
        &["trust"],
        &["list"],
        &["untrust"],
        &["untrust"],
        &["untrust", "--json"],
        &["list"],
    ]));
}

#[test]
fn trusting_again_after_changes() {
    let env = TestEnv::bare();
    env.skill(".agents/skills/pdf").skill(".agents/skills/docx");
    env.run(&["trust", "--pinned"]);
    env.skill_with_description(".agents/skills/pdf", "Something else.").skill(".agents/skills/added");
    std::fs::remove_dir_all(env.path(".agents/skills/docx")).unwrap();
    assert_snapshot!(env.runs(&[&["list", "--all"], &["doctor"], &["trust", "--pinned"], &["list"]]));
}

#[test]
fn as_json() {
    let env = TestEnv::bare();
    env.skill(".agents/skills/pdf");
    assert_snapshot!(env.runs(&[&["trust", "--json"], &["untrust", "--json"]]));
}

#[test]
fn a_project_without_skills() {
    assert_snapshot!(TestEnv::bare().run(&["trust"]).transcript());
}

#[test]
fn directories_that_cannot_be_trusted() {
    let env = TestEnv::bare();
    env.file("~/.prowess/state/trust.json", "{");
    assert_snapshot!(env.runs(&[
        &["trust", "missing"],
        &["trust", "missing", "--json"],
        &["trust"],
        &["untrust"],
        &["list"],
    ]));
}

#[test]
fn untrusted_skills_are_listed_separately() {
    let env = TestEnv::bare();
    env.skill(".agents/skills/pdf")
        .skill(".agents/skills/cloned")
        .file(".agents/skills/cloned/.git/HEAD", "")
        .file(".agents/skills/broken/SKILL.md", crate::support::BROKEN);
    assert_snapshot!(env.runs(&[&["trust"], &["trust", "--json"]]));
    assert_snapshot!(
        "a_skill_of_its_own_is_called_by_its_name",
        env.runs(&[&["trust", ".agents/skills/pdf", "--pinned"]])
    );
}
