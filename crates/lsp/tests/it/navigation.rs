//! Definition, links and renaming.

use serde_json::{Value, json};

use crate::support::{Session, capabilities, exists, range, skill};

#[test]
fn references_lead_to_files_of_the_skill() {
    let mut session = Session::start();
    session.write("pdf/guide.md", "x").write("pdf/scripts/x.py", "x").write("secret.md", "x");
    prowess_fs::create_symlink("../secret.md".as_ref(), &session.path("pdf/link.md")).unwrap();
    let mut target = |marked: &str| {
        let found = session.ask("textDocument/definition", "pdf/SKILL.md", marked).unwrap();
        found["uri"].as_str().map(|uri| session.clean(uri))
    };
    assert_eq!(target(&skill("pdf", "[a](gui|de.md#top)")).as_deref(), Some("WORKSPACE/pdf/guide.md"));
    assert_eq!(target(&skill("pdf", "Run `./scripts/x.p|y`")).as_deref(), Some("WORKSPACE/pdf/scripts/x.py"));
    assert_eq!(
        target("---\nname: pdf\ntoolsets: [scri|pts/x.py:X]\n---\nx").as_deref(),
        Some("WORKSPACE/pdf/scripts/x.py")
    );
    for other in ["[a](no|ne.md)", "[a](../sec|ret.md)", "[a](li|nk.md)", "pla|in", "[a](/etc/pas|swd)"] {
        assert_eq!(target(&skill("pdf", other)), None, "{other}");
    }
}

#[test]
fn existing_files_are_links() {
    let mut session = Session::start();
    session.write("pdf/guide.md", "x");
    session.open("pdf/SKILL.md", &skill("pdf", "[a](guide.md) `guide.md` [b](none.md) [c](../x.md)"));
    let links = session
        .request("textDocument/documentLink", json!({"textDocument": {"uri": session.uri("pdf/SKILL.md")}}));
    let links: Vec<_> = links.unwrap().as_array().unwrap().iter().map(|link| range(&link["range"])).collect();
    assert_eq!(links, ["4:4-4:12", "4:15-4:23"]);
}

const TEXT: &str = "See [a](references/a.md), `./references/a.md`, references/a.md.\n```\ncat references/a.md references/a.mdx\n```\n";

fn rename(session: &mut Session, marked: &str, new_name: &str) -> Result<Value, (i32, String)> {
    let mut params = session.at("pdf/SKILL.md", marked);
    params["newName"] = json!(new_name);
    session.request("textDocument/rename", params)
}

#[test]
fn a_file_is_renamed_with_all_references() {
    let mut session = Session::start();
    session.write("pdf/references/a.md", "x").write("pdf/references/b.md", "[a](a.md) and references/a.md\n");
    let text = skill("pdf", TEXT);
    session.write("pdf/SKILL.md", &text);
    let marked = text.replace("[a](ref", "[a](r|ef");
    let prepared = session.ask("textDocument/prepareRename", "pdf/SKILL.md", &marked).unwrap();
    assert_eq!(
        (range(&prepared["range"]), &prepared["placeholder"]),
        ("4:8-4:23".to_owned(), &json!("references/a.md"))
    );
    let edit = rename(&mut session, &marked, "references/guide.md").unwrap();
    let renamed = session.apply(&edit, "pdf/SKILL.md", &text);
    assert_eq!(renamed, text.replace("references/a.md", "references/guide.md").replace("guide.mdx", "a.mdx"));
    assert_eq!(
        session.apply(&edit, "pdf/references/b.md", "[a](a.md) and references/a.md\n"),
        "[a](guide.md) and references/guide.md\n"
    );
    let changes = edit["documentChanges"].as_array().unwrap();
    let operation = changes.last().unwrap();
    assert_eq!((&operation["kind"], &operation["options"]["overwrite"]), (&json!("rename"), &json!(false)));
    assert_eq!(operation["newUri"], json!(session.uri("pdf/references/guide.md")));
    assert!(exists(&session.path("pdf/references/a.md")), "the server renames nothing itself");
}

#[test]
fn files_are_not_renamed_to_outside_or_over_others() {
    let mut session = Session::start();
    for file in ["pdf/a.md", "pdf/b.md", "secret.md", "elsewhere/x"] {
        session.write(file, "x");
    }
    prowess_fs::create_symlink("../secret.md".as_ref(), &session.path("pdf/link.md")).unwrap();
    prowess_fs::create_symlink("../elsewhere".as_ref(), &session.path("pdf/dir")).unwrap();
    let marked = skill("pdf", "[a](|a.md) [b](link.md)");
    let mut errors = Vec::new();
    for name in ["../a.md", "/tmp/a.md", "b.md", "dir/a.md", "a b.md", "", "link.md"] {
        errors.push(format!("{name}: {:?}", rename(&mut session, &marked, name).unwrap_err()));
    }
    errors.push(format!("{:?}", rename(&mut session, &skill("pdf", "[b](l|ink.md)"), "c.md").unwrap_err()));
    errors.push(format!("{:?}", rename(&mut session, &skill("pdf", "[b](n|one.md)"), "c.md").unwrap_err()));
    errors.push(format!("{:?}", rename(&mut session, &skill("pdf", "[b](SK|ILL.md)"), "c.md").unwrap_err()));
    errors.push(format!("{:?}", rename(&mut session, &skill("pdf", "no | file"), "c.md").unwrap_err()));
    insta::assert_snapshot!(errors.join("\n"), @r#"
    ../a.md: (-32803, "../a.md is not a path inside the skill that links can contain")
    /tmp/a.md: (-32803, "/tmp/a.md is not a path inside the skill that links can contain")
    b.md: (-32803, "b.md already exists")
    dir/a.md: (-32803, "dir/a.md is not a path inside the skill that links can contain")
    a b.md: (-32803, "a b.md is not a path inside the skill that links can contain")
    : (-32803, " is not a path inside the skill that links can contain")
    link.md: (-32803, "link.md is not a path inside the skill that links can contain")
    (-32803, "link.md is not a regular file of the skill")
    (-32803, "none.md does not exist in the skill")
    (-32803, "SKILL.md must keep its name")
    (-32803, "no file of the skill is named at this position")
    "#);
    let nothing = session.ask("textDocument/prepareRename", "pdf/SKILL.md", &skill("pdf", "no | file"));
    assert_eq!(nothing.unwrap(), Value::Null);
}

#[test]
fn a_client_that_cannot_rename_files_is_told_so() {
    let mut capabilities = capabilities();
    capabilities["workspace"]["workspaceEdit"] = json!({});
    let mut session = Session::with(capabilities, json!({}));
    session.write("pdf/a.md", "x");
    let error = rename(&mut session, &skill("pdf", "[a](|a.md)"), "b.md").unwrap_err();
    assert_eq!(error, (-32803, "the editor cannot rename files".to_owned()));
}

#[test]
fn references_follow_a_file_that_the_editor_renames() {
    let mut session = Session::start();
    session
        .write("pdf/SKILL.md", &skill("pdf", TEXT))
        .write("pdf/references/a.md", "x")
        .write("other.md", "x");
    let file = |session: &Session, old: &str, new: &str| json!({"oldUri": session.uri(old), "newUri": session.uri(new)});
    let files = json!({"files": [file(&session, "pdf/references/a.md", "pdf/docs/z.md"), file(&session, "other.md", "x.md")]});
    let edit = session.request("workspace/willRenameFiles", files).unwrap();
    let renamed = session.apply(&edit, "pdf/SKILL.md", &skill("pdf", TEXT));
    assert!(renamed.contains("[a](docs/z.md), `./docs/z.md`, docs/z.md."), "{renamed}");
    assert_eq!(edit["documentChanges"].as_array().unwrap().len(), 1);
    let outside = json!({"files": [file(&session, "pdf/references/a.md", "z.md")]});
    assert_eq!(session.request("workspace/willRenameFiles", outside).unwrap(), Value::Null);
}
