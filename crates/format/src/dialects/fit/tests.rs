use super::*;

/// The clients that were run, in the order of the columns.
const RUN: [Client; 7] = [
    Client::ClaudeCode,
    Client::Codex,
    Client::GeminiCli,
    Client::Opencode,
    Client::QwenCode,
    Client::GithubCopilot,
    Client::Droid,
];

fn file(source: &[u8]) -> SkillFile<'_> {
    SkillFile {
        source,
        file_name: Some("SKILL.md"),
        dir_name: Some("pdf"),
        depth: Some(1),
        hidden_by_openai_yaml: false,
    }
}

fn skill(fields: &str) -> String {
    format!("---\n{fields}\n---\nOpen the file.\n")
}

/// Returns a mark for each client that was run: whether it loads the skill.
fn loaded(file: &SkillFile<'_>) -> String {
    let loads = |client: Client| !check_fit(client, file).iter().any(Diagnostic::is_error);
    RUN.map(|client| if loads(client) { "+" } else { "-" }).join(" ")
}

/// Each row was seen in runs of the clients. `+` means that the skill is loaded.
#[test]
fn the_clients_load_what_they_loaded_in_runs() {
    let long_name = format!("name: {}\ndescription: Reads.", "p".repeat(80));
    let long_description = format!("name: pdf\ndescription: {}", "x".repeat(6_000));
    for (fields, expected) in [
        ("description: Reads.", "+ + - - - + -"),
        ("name: pdf", "+ - - - - + -"),
        ("name: other\ndescription: Reads.", "+ + + + + + +"),
        ("name: Upper_Case Name\ndescription: Reads.", "+ + + + - + -"),
        (&long_name, "+ - + + + - +"),
        ("name: 123\ndescription: Reads.", "+ + + - + - -"),
        ("name: pdf\ndescription: Reads: files", "+ + + + + - +"),
        ("name: pdf\ndescription: [Reads, writes]", "+ - + - + - -"),
        (&long_description, "+ + + + + - +"),
        ("name: pdf\ndescription: Reads.\npaths: ['*.pdf']", "+ + + + + + +"),
        ("name: pdf\ndescription: Reads.\npaths: '*.pdf'", "+ + + + - + +"),
        ("name: pdf\ndescription: Reads.\ncontext: fork\nmodel: opus\neffort: huge", "+ + + + + + +"),
        ("name: pdf\ndescription: Reads.\nallowed-tools: [Read]", "+ + + + + + +"),
        ("name: pdf\ndescription: Reads.\nmetadata: {a: 1, b: [c]}", "+ + + + + + +"),
        ("name: pdf\ndescription: Reads.\ncolour: red", "+ + + + + + +"),
    ] {
        assert_eq!(loaded(&file(skill(fields).as_bytes())), expected, "{fields:.60}");
    }
    let valid = skill("name: pdf\ndescription: Reads.");
    let valid_file = file(valid.as_bytes());
    assert_eq!(loaded(&file(b"# No frontmatter\n")), "+ - - - - - -");
    assert_eq!(loaded(&file(format!("\u{feff}{valid}").as_bytes())), "+ - - + + + -");
    assert_eq!(loaded(&file(valid.replace('\n', "\r\n").as_bytes())), "+ + + + + + +");
    assert_eq!(loaded(&SkillFile { depth: Some(2), ..valid_file }), "- + - + - + +");
    assert_eq!(loaded(&SkillFile { file_name: Some("skill.md"), ..valid_file }), "- - - - - - -");
}

#[test]
fn a_valid_skill_fits_every_client() {
    let source = skill("name: pdf\ndescription: Reads.\nlicense: MIT\nmetadata: {author: Ada}");
    for client in Client::ALL {
        assert_eq!(check_fit(client, &file(source.as_bytes())), [], "{client}");
    }
}

#[test]
fn messages_of_every_client() {
    let source = skill(
        "name: PDF Tools\ndescription: [Reads]\ndisable-model-invocation: true\nuser-invocable: false\npaths: '*.pdf'\n\
         context: fork\nversion: 1.0\nmetadata: {count: 3}\nenabled: 'no'\nmodel: [opus]",
    );
    let long =
        format!("{}---\n", skill(&format!("name: {}\ndescription: {}", "p".repeat(70), "x".repeat(1_600))));
    let mut out = String::new();
    for client in Client::ALL {
        out += &format!("## {client}\n");
        for source in [source.as_str(), &long, "---\nlicense: MIT\n---\n"] {
            for diagnostic in check_fit(client, &SkillFile { depth: Some(7), ..file(source.as_bytes()) }) {
                let line = diagnostic.location.map_or(0, |location| location.line);
                let help = diagnostic.help.as_deref().unwrap_or_default().replace('\n', "\n    ");
                out += &format!("{line}: {diagnostic}\n    {help}\n");
            }
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn codex_respects_openai_yaml() {
    let source = skill("name: pdf\ndescription: Reads.\ndisable-model-invocation: true");
    let codes = |hidden: bool| {
        let file = SkillFile { hidden_by_openai_yaml: hidden, ..file(source.as_bytes()) };
        check_fit(Client::Codex, &file).iter().map(|diagnostic| diagnostic.code.as_str()).collect::<Vec<_>>()
    };
    assert_eq!((codes(false), codes(true)), (vec!["SK104"], vec![]));
}
