use std::fs;

use super::*;

#[test]
fn the_table_is_complete_and_sorted() {
    let shared = AGENTS.iter().filter(|agent| agent.project == SHARED_DIR).count();
    assert_eq!((AGENTS.len(), shared), (79, 24));
    assert!(AGENTS.windows(2).all(|pair| pair[0].id < pair[1].id), "sorted, without duplicates");
    let inner =
        |path: &str| prowess_archive::InnerPath::parse(path.as_bytes()).is_ok() && path.ends_with("skills");
    for agent in AGENTS {
        let home = AgentHome::new(Path::new("/home/you"));
        let home_dirs = agent.home_dirs(&home);
        assert!(inner(agent.project) && agent.also_project.iter().all(|dir| inner(dir)), "{}", agent.id);
        assert!(
            home_dirs.iter().all(|dir| dir.starts_with("/home/you") && dir.ends_with("skills")),
            "{}",
            agent.id
        );
        assert!(!agent.title.is_empty(), "{}", agent.id);
    }
    let without_home: Vec<_> =
        AGENTS.iter().filter(|agent| agent.home.is_empty()).map(|agent| agent.id).collect();
    assert_eq!(without_home, ["eve", "promptscript"]);
    let never: Vec<_> = AGENTS.iter().filter(|agent| agent.traces.is_empty()).map(|agent| agent.id).collect();
    assert_eq!(never, ["universal"]);
}

/// The whole table, with the variables that move directories.
#[test]
fn directories_of_each_agent() {
    let variables = VARIABLES.map(|name| (name.to_owned(), Path::new("/").join(format!("${name}")))).to_vec();
    let plain = AgentHome::new(Path::new("~"));
    let moved = AgentHome { variables, ..plain.clone() };
    let mut report = String::new();
    for agent in AGENTS {
        let shown = |dirs: Vec<PathBuf>| {
            dirs.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(", ")
        };
        report += &format!("{} ({}): {}", agent.id, agent.title, shown(agent.project_dirs(Path::new(""))));
        let (home, moved) = (shown(agent.home_dirs(&plain)), shown(agent.home_dirs(&moved)));
        report += &format!("; {home}");
        if moved != home {
            report += &format!("; {moved}");
        }
        report += "\n";
    }
    insta::assert_snapshot!(report);
}

#[test]
fn agents_are_found_by_name() {
    assert_eq!(find_agent("windsurf").unwrap().project, ".windsurf/skills");
    assert_eq!(find_agent("tabnine-cli").unwrap().project, ".tabnine/agent/skills");
    assert_eq!(find_agent("curser").unwrap_err().suggestion, Some("cursor"));
    assert_eq!(find_agent("unrelated-name").unwrap_err().suggestion, None);
}

struct Dirs {
    dir: tempfile::TempDir,
}

impl Dirs {
    fn new(paths: &[&str]) -> Self {
        let dirs = Self { dir: tempfile::tempdir().unwrap() };
        for path in ["project", "home"].iter().chain(paths) {
            fs::create_dir_all(dirs.path(path)).unwrap();
        }
        dirs
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.dir.path().join(inner)
    }

    fn home(&self) -> AgentHome {
        AgentHome::new(&self.path("home"))
    }

    fn in_use(&self, home: &AgentHome) -> [Vec<&'static str>; 2] {
        let ids = |agents: Vec<&'static KnownAgent>| agents.iter().map(|agent| agent.id).collect::<Vec<_>>();
        [
            ids(find_agents_in_use(Some(&self.path("project")), Some(home))),
            ids(find_agents_in_use(None, Some(home))),
        ]
    }
}

#[test]
fn agents_are_detected_in_the_project_and_in_the_home_directory() {
    let none: [Vec<&str>; 2] = [Vec::new(), Vec::new()];
    let dirs = Dirs::new(&[]);
    assert_eq!(dirs.in_use(&dirs.home()), none);
    let dirs = Dirs::new(&["project/.claude", "project/.codex", "home/.config/goose", "home/.gemini"]);
    assert_eq!(
        dirs.in_use(&dirs.home()),
        [vec!["claude-code", "codex", "gemini-cli", "goose"], vec!["gemini-cli", "goose"]]
    );
    // Several agents read the directory .agents, so it shows none of them.
    let dirs = Dirs::new(&["project/.agents/skills", "home/.agents/skills"]);
    assert_eq!(dirs.in_use(&dirs.home()), none);
}

#[test]
fn a_visible_directory_is_not_created_in_every_project() {
    let dirs = Dirs::new(&["home/.openclaw", "home/.astrbot", "project/data/skills"]);
    assert_eq!(dirs.in_use(&dirs.home()), [vec!["astrbot"], vec!["astrbot", "openclaw"]]);
    let dirs = Dirs::new(&["project/agent"]);
    assert_eq!(dirs.in_use(&dirs.home())[0], Vec::<&str>::new());
    fs::write(dirs.path("project/package.json"), r#"{"dependencies":{"eve":"1"}}"#).unwrap();
    assert_eq!(dirs.in_use(&dirs.home())[0], ["eve"]);
    fs::write(dirs.path("project/package.json"), "[").unwrap();
    assert_eq!(dirs.in_use(&dirs.home())[0], Vec::<&str>::new());
}

#[test]
fn variables_move_directories() {
    let dirs = Dirs::new(&["elsewhere/claude", "home/.clawdbot"]);
    let variable =
        |name: &str, path: PathBuf| AgentHome { variables: vec![(name.to_owned(), path)], ..dirs.home() };
    let home = variable("CLAUDE_CONFIG_DIR", dirs.path("elsewhere/claude"));
    assert_eq!(dirs.in_use(&home)[1], ["claude-code", "openclaw"]);
    let claude = find_agent("claude-code").unwrap();
    assert_eq!(claude.home_dir(&home), Some(dirs.path("elsewhere/claude/skills")));
    // A relative path depends on the directory in which the agent is started.
    let relative = variable("CLAUDE_CONFIG_DIR", "elsewhere/claude".into());
    assert_eq!(claude.home_dir(&relative), Some(dirs.path("home/.claude/skills")));
    assert_eq!(
        find_agent("opencode").unwrap().home_dir(&variable("XDG_CONFIG_HOME", "/xdg".into())),
        Some("/xdg/opencode/skills".into())
    );
    // Of several directories, the one in use counts.
    assert_eq!(
        find_agent("openclaw").unwrap().home_dir(&dirs.home()),
        Some(dirs.path("home/.clawdbot/skills"))
    );
}
