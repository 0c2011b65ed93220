//! Answers that are kept as they were last sent, until the skills change. How each is made is up to `skills`.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::HeaderValue;
use prowess::Snapshot;
use prowess_chat::store::SkillUse;
use serde_json::Value;

/// How long an index may be sent again. Files of a skill besides its manifest change without being noticed.
const INDEX_KEPT: Duration = Duration::from_secs(10);

/// One page for each kind of request.
type Pages = [Option<Page>; 4];

/// The list of skills.
#[derive(Default)]
pub(crate) struct Listed {
    kept: RwLock<Option<(Arc<Snapshot>, Pages)>>,
}

/// A page of the list, as it is sent.
#[derive(Clone)]
pub(crate) struct Page {
    pub(crate) bytes: Bytes,
    pub(crate) tag: HeaderValue,
}

impl Listed {
    /// Returns the page that was made from this snapshot.
    pub(crate) fn get(&self, snapshot: &Arc<Snapshot>, all: bool, admin: bool) -> Option<Page> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let (of, pages) = kept.as_ref()?;
        Arc::ptr_eq(of, snapshot).then(|| pages[number(all, admin)].clone()).flatten()
    }

    /// Keeps a page. Pages of another snapshot are dropped.
    pub(crate) fn put(&self, snapshot: Arc<Snapshot>, all: bool, admin: bool, page: Page) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        let pages = match kept.take() {
            Some((of, pages)) if Arc::ptr_eq(&of, &snapshot) => pages,
            _ => Default::default(),
        };
        let (_, pages) = kept.insert((snapshot, pages));
        pages[number(all, admin)] = Some(page);
    }
}

fn number(all: bool, admin: bool) -> usize {
    usize::from(all) * 2 + usize::from(admin)
}

/// What the figures of the overview are made of.
pub(crate) struct Figures {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) uses: Vec<SkillUse>,
    pub(crate) chats: u64,
    pub(crate) admin: bool,
}

impl Figures {
    fn is(&self, other: &Self) -> bool {
        let Self { snapshot, uses, chats, admin } = self;
        Arc::ptr_eq(snapshot, &other.snapshot)
            && (*chats, *admin) == (other.chats, other.admin)
            && *uses == other.uses
    }
}

/// The figures of the overview, for administrators and for others, and those of the catalog, which cost most.
#[derive(Default)]
pub(crate) struct Overviews {
    sent: RwLock<[Option<(Figures, Bytes)>; 2]>,
    catalog: Mutex<Option<(Arc<Snapshot>, Value)>>,
}

impl Overviews {
    /// Returns the figures that were made of the same parts.
    pub(crate) fn get(&self, of: &Figures) -> Option<Bytes> {
        let sent = self.sent.read().unwrap_or_else(PoisonError::into_inner);
        let (made_of, bytes) = sent[usize::from(of.admin)].as_ref()?;
        made_of.is(of).then(|| bytes.clone())
    }

    /// Keeps figures, and what they were made of.
    pub(crate) fn put(&self, of: Figures, bytes: Bytes) {
        let mut sent = self.sent.write().unwrap_or_else(PoisonError::into_inner);
        let of_admin = usize::from(of.admin);
        sent[of_admin] = Some((of, bytes));
    }

    /// Returns the figures of a snapshot's catalog. Only the first request makes them; others wait for it.
    pub(crate) fn catalog(&self, snapshot: &Arc<Snapshot>, make: impl FnOnce() -> Value) -> Value {
        let mut kept = self.catalog.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, figures)) = &*kept
            && Arc::ptr_eq(of, snapshot)
        {
            return figures.clone();
        }
        let figures = make();
        *kept = Some((Arc::clone(snapshot), figures.clone()));
        figures
    }
}

/// The index of the skills that can be installed from this server.
#[derive(Default)]
pub(crate) struct Index {
    kept: Mutex<Option<(Arc<Snapshot>, Instant, Bytes)>>,
}

impl Index {
    /// Returns the index of a snapshot. Only the first request makes it; others wait for it.
    pub(crate) fn get(&self, snapshot: &Arc<Snapshot>, make: impl FnOnce() -> Bytes) -> Bytes {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, made, bytes)) = &*kept
            && Arc::ptr_eq(of, snapshot)
            && made.elapsed() < INDEX_KEPT
        {
            return bytes.clone();
        }
        let bytes = make();
        *kept = Some((Arc::clone(snapshot), Instant::now(), bytes.clone()));
        bytes
    }
}
