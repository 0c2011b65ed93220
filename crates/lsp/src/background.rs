//! Work that takes time in proportion to the workspace or to a text, on two threads of its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use gen_lsp_types::CodeLens;
use lsp_server::RequestId;
use prowess::FileDiagnostic;
use prowess::check::{CheckedSkill, find_skills};
use prowess_format::fence::Extent;
use prowess_format::{HeadOutcome, Rules, parse_head};
use prowess_fs::read_bounded;
use url::Url;

use crate::document::DocumentText;
use crate::lens::lenses;
use crate::neighbours::NeighbourIndex;
use crate::settings::FileChecker;
use crate::workspace::{SKILL_MD_MAX, WorkspaceSkill};

/// How long no skill must have changed before the routing index is built again.
const QUIET: Duration = Duration::from_secs(1);

/// A task of the thread that knows the workspace.
pub(crate) enum ScanTask {
    /// Search these directories.
    Scan(Vec<PathBuf>),
    /// Read these skills again.
    Update(Vec<PathBuf>),
}

/// A task about one document.
pub(crate) enum DocumentTask {
    /// Compute the code lenses and answer a request.
    Lenses {
        id: RequestId,
        content: Arc<DocumentText>,
        path: Option<PathBuf>,
        index: Option<Arc<NeighbourIndex>>,
    },
    /// Check the other files of a skill.
    Files { uri: Url, checked: Arc<CheckedSkill>, checker: FileChecker },
}

/// What the threads report.
pub(crate) enum BackgroundEvent {
    /// A scan has begun.
    ScanStarted,
    /// A scan found these skills. They are indexed next.
    Scanned(Vec<WorkspaceSkill>),
    /// Single skills have changed; `None` if one has no name any more.
    Updated(Vec<(PathBuf, Option<String>)>),
    /// The routing index was built.
    Indexed(Arc<NeighbourIndex>),
    /// The code lenses of a request.
    Lenses(RequestId, Vec<CodeLens>),
    /// The problems in other files of a skill.
    FilesChecked(Url, Vec<FileDiagnostic>),
}

/// The senders of tasks. The threads end when it is dropped.
#[derive(Clone)]
pub(crate) struct Background {
    pub(crate) scans: Sender<ScanTask>,
    pub(crate) documents: Sender<DocumentTask>,
}

impl Background {
    /// Starts the threads. Returns their events, too.
    pub(crate) fn start(rules: &Rules) -> (Self, Receiver<BackgroundEvent>) {
        let (events, received) = unbounded();
        let (scans, scan_tasks) = unbounded();
        let (documents, document_tasks) = unbounded();
        let scanner = Scanner { rules: rules.clone(), events: events.clone(), skills: HashMap::new() };
        std::thread::spawn(move || scanner.run(&scan_tasks));
        let rules = rules.clone();
        std::thread::spawn(move || run_documents(&document_tasks, &events, &rules));
        (Self { scans, documents }, received)
    }
}

fn run_documents(tasks: &Receiver<DocumentTask>, events: &Sender<BackgroundEvent>, rules: &Rules) {
    // Loads the vocabulary before it is needed.
    prowess_tools::tokens::count("load");
    for task in tasks {
        let event = match task {
            DocumentTask::Lenses { id, content, path, index } => {
                BackgroundEvent::Lenses(id, lenses(&content.text, path.as_deref(), rules, index.as_deref()))
            }
            DocumentTask::Files { uri, checked, checker } => {
                BackgroundEvent::FilesChecked(uri, checker(&checked))
            }
        };
        if events.send(event).is_err() {
            return;
        }
    }
}

struct Scanner {
    rules: Rules,
    events: Sender<BackgroundEvent>,
    skills: HashMap<PathBuf, String>,
}

impl Scanner {
    fn run(mut self, tasks: &Receiver<ScanTask>) {
        let (mut is_outdated, mut quiet) = (false, QUIET);
        loop {
            let task = match is_outdated {
                true => tasks.recv_timeout(quiet),
                false => tasks.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let is_sent = match task {
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(ScanTask::Update(paths)) => {
                    is_outdated = true;
                    self.update(paths)
                }
                Ok(ScanTask::Scan(dirs)) => {
                    is_outdated = true;
                    // Nothing waits for the end of a change here.
                    quiet = Duration::ZERO;
                    self.scan(&dirs)
                }
                Err(RecvTimeoutError::Timeout) => {
                    is_outdated = false;
                    let started = Instant::now();
                    let is_sent = self.index();
                    // A large workspace is indexed less often.
                    quiet = QUIET.max(started.elapsed() * 10);
                    is_sent
                }
            };
            if !is_sent {
                return;
            }
        }
    }

    fn scan(&mut self, dirs: &[PathBuf]) -> bool {
        if self.events.send(BackgroundEvent::ScanStarted).is_err() {
            return false;
        }
        self.skills.clear();
        for dir in dirs {
            // A folder that cannot be read has no skills.
            let checked = find_skills(dir, &self.rules, &Default::default()).unwrap_or_default().checked;
            self.skills.extend(checked.into_iter().filter_map(|skill| Some((skill.path, skill.name?))));
        }
        self.events.send(BackgroundEvent::Scanned(self.all())).is_ok()
    }

    fn update(&mut self, paths: Vec<PathBuf>) -> bool {
        let mut updated = Vec::with_capacity(paths.len());
        for path in paths {
            let name = read_name(&path, &self.rules);
            match &name {
                Some(name) => self.skills.insert(path.clone(), name.clone()),
                None => self.skills.remove(&path),
            };
            updated.push((path, name));
        }
        self.events.send(BackgroundEvent::Updated(updated)).is_ok()
    }

    fn index(&self) -> bool {
        let index = NeighbourIndex::build(self.all(), &self.rules);
        self.events.send(BackgroundEvent::Indexed(Arc::new(index))).is_ok()
    }

    /// Returns the skills, sorted by path, so that the index does not depend on the order of a map.
    fn all(&self) -> Vec<WorkspaceSkill> {
        let skill =
            |(path, name): (&PathBuf, &String)| WorkspaceSkill { path: path.clone(), name: name.clone() };
        let mut skills: Vec<_> = self.skills.iter().map(skill).collect();
        skills.sort_by(|a, b| a.path.cmp(&b.path));
        skills
    }
}

/// Returns the name of the skill at a path; `None` if there is none. A symlink is not followed, because a workspace could
/// point it anywhere.
fn read_name(path: &Path, rules: &Rules) -> Option<String> {
    let source = read_bounded(path, SKILL_MD_MAX)?;
    let dir_name = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    match parse_head(&source, Extent::Whole, dir_name, rules) {
        HeadOutcome::Done(parsed) => Some(parsed.document?.manifest.name().to_string()),
        HeadOutcome::NeedMore => None,
    }
}
