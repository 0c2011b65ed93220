//! How much a toolset may take, and telling a call to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The limits of a toolset. Each may be lowered; [`Limits::default`] is what a stranger's skill gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Memory of the engine, in bytes.
    pub memory: usize,
    /// Stack of the engine, in bytes.
    pub stack: usize,
    /// Time to load, all modules together.
    pub load_time: Duration,
    /// Time for one call.
    pub call_time: Duration,
    /// How long a call that was cancelled may go on to end in good order.
    pub grace: Duration,
    /// Output of a call, in bytes; more is cut.
    pub output: usize,
    /// Metadata of a call, as JSON; more is an error.
    pub metadata: usize,
    /// Attachments of a call, as JSON; more is an error.
    pub attachments: usize,
    /// What is kept of the console, in bytes.
    pub console: usize,
    /// Text of one module, in bytes.
    pub module_bytes: usize,
    /// The same of a module in TypeScript: parsing deep nesting costs far more memory than the text has.
    pub typescript_bytes: usize,
    /// Modules of one skill.
    pub modules: usize,
    /// Engines that are kept.
    pub engines: usize,
    /// How long an engine that nobody uses is kept.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64 * 1024 * 1024,
            stack: 512 * 1024,
            load_time: Duration::from_secs(5),
            call_time: Duration::from_secs(30),
            grace: Duration::from_millis(500),
            output: 1024 * 1024,
            metadata: 256 * 1024,
            attachments: 4 * 1024 * 1024,
            console: 64 * 1024,
            module_bytes: 1024 * 1024,
            typescript_bytes: 256 * 1024,
            modules: 200,
            engines: 16,
            idle: Duration::from_secs(600),
        }
    }
}

/// A flag that ends calls. Clones are the same flag.
///
/// ```
/// let cancel = prowess_toolset::Cancel::default();
/// cancel.clone().cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the call to end: `ctx.abort` says so at once, and after a short time it is ended.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether somebody did.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
