//! The arguments of `prowess chat` and `prowess chats`.

use std::path::PathBuf;

use clap::Subcommand;

// The arguments of `prowess chat`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without a message, starts an interactive chat on a terminal; type /help there for a list of commands.\n\
    Standard input is appended to the message: git diff | prowess chat \"Review this\"\n\n\
    Standard output contains only the reply, or with --json, one event per line.\n\
    Exit codes: 0 complete reply, 1 incomplete, 2 usage or environment error, 130 after Ctrl-C"
)]
pub(crate) struct ChatArgs {
    /// Message; start it with /NAME to call a skill
    #[arg(value_name = "MESSAGE")]
    pub(crate) message: Option<String>,
    /// Add a file to the chat and attach it to the message; repeatable
    #[arg(long = "file", value_name = "PATH")]
    pub(crate) files: Vec<PathBuf>,
    /// Continue this chat
    #[arg(long, value_name = "ID", conflicts_with_all = ["latest", "new"])]
    pub(crate) chat: Option<String>,
    /// Continue the latest chat
    #[arg(long = "continue", short = 'c', conflicts_with = "new")]
    pub(crate) latest: bool,
    /// Start a new chat (default)
    #[arg(long)]
    pub(crate) new: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

// The option that selects the chat store.
#[derive(Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// Chat store: a file or a postgresql:// URL [default: chat.store, or a file in the state directory]
    /// [env: PROWESS_STORE]
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(crate) store: Option<String>,
}

// The arguments of `prowess chats`.
#[derive(Debug, clap::Args)]
pub(crate) struct ChatsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ChatsCommand>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

// The subcommands of `prowess chats`; the default is `list`.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ChatsCommand {
    /// List chats, newest first
    List {
        /// Maximum number of chats
        #[arg(short, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
        n: u32,
    },
    /// Show the messages of a chat
    Show {
        /// Chat ID
        id: String,
    },
    /// Delete chats
    Delete {
        /// Chat IDs
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// List the files of a chat
    Files {
        /// Chat ID
        id: String,
    },
    /// Save a file of a chat
    Save {
        /// Chat ID
        id: String,
        /// Path of the file in the chat
        path: String,
        /// Output file or directory; nothing is overwritten [default: the current directory]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Export chats as JSON
    Export {
        /// Chat ID [default: all chats]
        id: Option<String>,
        /// Output file, which must not exist yet [default: standard output]
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
    /// Import all chats of an exported file, or none if any is invalid
    Import {
        /// Exported file; `-` reads standard input
        file: PathBuf,
    },
}
