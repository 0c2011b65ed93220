//! Skills and chats over HTTP.
//!
//! | module | subject |
//! |---|---|
//! | [`Server`] | a server from its first request to its last |
//! | `app`, `live` | what all requests share: the store, the turns, and the skills and settings in force |
//! | `turns`, `metrics`, `cache` | the answers under way, what is counted, and answers that are kept |
//! | `api` | which request goes where, and the description of all of it |
//! | `guard` | who is let in, and as what |
//! | `asked`, `problem` | what requests bring, and what is wrong with them |
//! | `chats` | conversations, and the streams of their turns |
//! | `skills`, `settings` | skills and settings, seen and changed |
//! | `page` | the page for people, and what keeps it to itself |
//! | `transfer`, `announce` | chats as files, and what concerns everybody |
//! | [`markdown`] | Markdown as HTML that can be put into a page |
//! | `about`, `operate` | what this server is, whether it is well, what it counts and notes |
//! | `limits`, `listen` | how much is taken on at once, and connections |
//!
//! What must always hold: nobody beyond this machine is answered without being known; a turn belongs to the server and not to
//! the connection that began it; and nothing that another server needs is kept in this process.

mod about;
mod announce;
mod api;
mod app;
mod asked;
mod cache;
mod chats;
mod compress;
mod describe;
mod guard;
mod limits;
mod listen;
mod live;
pub mod markdown;
mod metrics;
mod operate;
mod page;
mod problem;
mod render;
mod serve;
mod settings;
mod skills;
mod transfer;
mod turns;

pub use api::description;
pub use guard::{Guard, Names, StartToken};
pub use limits::Limits;
pub use live::{Load, LoadError, Parts};
pub use serve::{Options, ServeError, Server};
