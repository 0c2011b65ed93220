//! Skills and chats over HTTP.
//!
//! | module | subject |
//! |---|---|
//! | [`Server`] | starts a server and runs it until it is stopped |
//! | `app`, `reloadable` | state shared by all requests: the store, the turns, the active skills and settings |
//! | `turns`, `questions` | running turns, and their questions about scripts |
//! | `metrics`, `cache` | counters and cached responses |
//! | `api`, `openapi` | the router and the OpenAPI description |
//! | `guard` | authentication and access levels |
//! | `extract`, `problem` | request extractors and error responses |
//! | `chats` | chats and the event streams of their turns |
//! | `skills`, `settings` | reading and changing skills and settings |
//! | `page` | the web page and its security headers |
//! | `transfer`, `events` | export and import of chats, and the server-wide event stream |
//! | [`markdown`] | renders untrusted Markdown as safe HTML |
//! | `about`, `operations` | server information, health checks, metrics and request logs |
//! | `limits`, `listen` | rate and concurrency limits, and connections |
//!
//! Invariants: remote clients are never served without authentication; a turn belongs to the server, not to the connection that
//! started it; and no state that another server needs is kept only in this process.

mod about;
mod api;
mod app;
mod cache;
mod chats;
mod compress;
mod events;
mod extract;
mod guard;
mod limits;
mod listen;
pub mod markdown;
mod metrics;
mod model;
mod openapi;
mod operations;
mod page;
mod problem;
mod questions;
mod reloadable;
mod render;
mod serve;
mod settings;
mod skills;
mod transfer;
mod turns;

pub use api::openapi;
pub use guard::{AllowedHosts, Guard, StartToken};
pub use limits::Limits;
pub use reloadable::{LoadError, LoadFn, ServerParts};
pub use serve::{ServeError, Server, ServerOptions};
