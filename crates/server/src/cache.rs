//! Caches of serialized responses, valid until the skills change. The `skills` module creates the responses.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::HeaderValue;
use prowess::Snapshot;
use prowess_chat::store::SkillUse;
use serde_json::Value;

/// How long an index is cached. Changes to files of a skill other than its manifest are not detected.
const INDEX_TTL: Duration = Duration::from_secs(10);

/// One page for each combination of `all` and `admin`.
type Pages = [Option<CachedPage>; 4];

#[derive(Default)]
pub(crate) struct SkillListCache {
    cached: RwLock<Option<(Arc<Snapshot>, Pages)>>,
}

/// A serialized list of skills.
#[derive(Clone)]
pub(crate) struct CachedPage {
    pub(crate) bytes: Bytes,
    pub(crate) tag: HeaderValue,
}

impl SkillListCache {
    pub(crate) fn get(&self, snapshot: &Arc<Snapshot>, all: bool, admin: bool) -> Option<CachedPage> {
        let cached = self.cached.read().unwrap_or_else(PoisonError::into_inner);
        let (cached_snapshot, pages) = cached.as_ref()?;
        Arc::ptr_eq(cached_snapshot, snapshot).then(|| pages[page_index(all, admin)].clone()).flatten()
    }

    /// Caches a page, and drops the pages of other snapshots.
    pub(crate) fn put(&self, snapshot: Arc<Snapshot>, all: bool, admin: bool, page: CachedPage) {
        let mut cached = self.cached.write().unwrap_or_else(PoisonError::into_inner);
        let pages = match cached.take() {
            Some((cached_snapshot, pages)) if Arc::ptr_eq(&cached_snapshot, &snapshot) => pages,
            _ => Default::default(),
        };
        let (_, pages) = cached.insert((snapshot, pages));
        pages[page_index(all, admin)] = Some(page);
    }
}

fn page_index(all: bool, admin: bool) -> usize {
    usize::from(all) * 2 + usize::from(admin)
}

pub(crate) struct OverviewInputs {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) uses: Vec<SkillUse>,
    pub(crate) chats: u64,
    pub(crate) admin: bool,
}

impl OverviewInputs {
    fn is_same(&self, other: &Self) -> bool {
        let Self { snapshot, uses, chats, admin } = self;
        Arc::ptr_eq(snapshot, &other.snapshot)
            && (*chats, *admin) == (other.chats, other.admin)
            && *uses == other.uses
    }
}

/// The cached overview, for administrators and for other users, and the catalog figures, which are the most expensive part.
#[derive(Default)]
pub(crate) struct OverviewCache {
    responses: RwLock<[Option<(OverviewInputs, Bytes)>; 2]>,
    catalog: Mutex<Option<(Arc<Snapshot>, Value)>>,
}

impl OverviewCache {
    /// Returns the cached overview with the same inputs.
    pub(crate) fn get(&self, inputs: &OverviewInputs) -> Option<Bytes> {
        let responses = self.responses.read().unwrap_or_else(PoisonError::into_inner);
        let (cached, bytes) = responses[usize::from(inputs.admin)].as_ref()?;
        cached.is_same(inputs).then(|| bytes.clone())
    }

    pub(crate) fn put(&self, inputs: OverviewInputs, bytes: Bytes) {
        let mut responses = self.responses.write().unwrap_or_else(PoisonError::into_inner);
        let slot = usize::from(inputs.admin);
        responses[slot] = Some((inputs, bytes));
    }

    /// Returns the catalog figures of a snapshot. The first request computes them; concurrent requests wait for it.
    pub(crate) fn catalog(&self, snapshot: &Arc<Snapshot>, make: impl FnOnce() -> Value) -> Value {
        let mut cached = self.catalog.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((cached_snapshot, figures)) = &*cached
            && Arc::ptr_eq(cached_snapshot, snapshot)
        {
            return figures.clone();
        }
        let figures = make();
        *cached = Some((Arc::clone(snapshot), figures.clone()));
        figures
    }
}

/// The cached index of the skills that can be installed from this server.
#[derive(Default)]
pub(crate) struct IndexCache {
    cached: Mutex<Option<(Arc<Snapshot>, Instant, Bytes)>>,
}

impl IndexCache {
    /// Returns the index of a snapshot. The first request creates it; concurrent requests wait for it.
    pub(crate) fn get(&self, snapshot: &Arc<Snapshot>, make: impl FnOnce() -> Bytes) -> Bytes {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((cached_snapshot, created, bytes)) = &*cached
            && Arc::ptr_eq(cached_snapshot, snapshot)
            && created.elapsed() < INDEX_TTL
        {
            return bytes.clone();
        }
        let bytes = make();
        *cached = Some((Arc::clone(snapshot), Instant::now(), bytes.clone()));
        bytes
    }
}
