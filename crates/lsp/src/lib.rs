//! A language server for authors of skills: diagnostics while a `SKILL.md` is edited, completion, hover, code actions,
//! links, renaming of files, and code lenses with the token cost and similar skills.
//!
//! The server never runs anything of a skill, writes no files, and reads only the folders of the client, the configured
//! directories and the directories of open skills. An edit costs the same in a large workspace as in a small one.
//!
//! | module | subject |
//! |---|---|
//! | [`transport`] | messages over standard input and output |
//! | [`position`] | positions in UTF-8, UTF-16 and UTF-32 |
//! | `settings`, `client`, `capabilities` | options of the server, support of the client, offers of the server |
//! | `document`, `frontmatter`, `skill_files` | open documents, places in the frontmatter, files on disk |
//! | `diagnostics`, `completion`, `hover`, `actions`, `references`, `rename`, `lens` | the features |
//! | `workspace`, `neighbours`, `background` | the skills of the workspace, and the threads that read them |
//! | `server` | the session: messages in, messages out |

mod actions;
mod background;
mod capabilities;
mod client;
mod completion;
mod diagnostics;
mod document;
mod edits;
mod frontmatter;
mod hover;
mod lens;
mod mentions;
mod neighbours;
pub mod position;
mod references;
mod rename;
mod server;
mod settings;
mod skill_files;
mod tool_names;
pub mod transport;
mod workspace;

use std::io;

pub use server::{SessionEnd, serve};
pub use settings::{FileChecker, ServerOptions, Settings};

/// Serves a client over standard input and output until it exits.
pub fn serve_stdio(options: ServerOptions) -> io::Result<SessionEnd> {
    let reader = io::BufReader::new(io::stdin());
    let (connection, threads) = transport::connect(reader, io::stdout());
    let end = serve(connection, options);
    match threads.join() {
        // A client that is gone does not read the last messages.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(end),
        result => result.map(|()| end),
    }
}
