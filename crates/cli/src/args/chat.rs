//! What `prowess chat` and `prowess chats` take.

use std::path::PathBuf;

use clap::Subcommand;

// What `prowess chat` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without a message, on a terminal, it is a conversation; /help tells there what can be typed.\n\
    What is piped in is the message, or follows the one that is typed: git diff | prowess chat \"Review this\"\n\n\
    Standard output is the answer and nothing else; with --json, one event a line.\n\
    Exit codes: 0 the answer is complete, 1 it broke off or came to a bound, 2 the call or the environment is wrong."
)]
pub(crate) struct Chat {
    /// What to say; /NAME at its beginning calls a skill
    #[arg(value_name = "MESSAGE")]
    pub(crate) message: Option<String>,
    /// Go on with this chat
    #[arg(long, value_name = "ID", conflicts_with_all = ["latest", "new"])]
    pub(crate) chat: Option<String>,
    /// Go on with the latest chat
    #[arg(long = "continue", short = 'c', conflicts_with = "new")]
    pub(crate) latest: bool,
    /// Begin a new chat; this is the default
    #[arg(long)]
    pub(crate) new: bool,
    #[command(flatten)]
    pub(crate) place: StoreArgs,
}

// Where chats are kept.
#[derive(Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// Where chats are kept: a file, or postgresql://… [default: chat.store, or a file in the state]
    /// [env: PROWESS_STORE]
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(crate) store: Option<String>,
}

// What `prowess chats` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Chats {
    #[command(subcommand)]
    pub(crate) command: Option<ChatsCommand>,
    #[command(flatten)]
    pub(crate) place: StoreArgs,
}

// What comes after `prowess chats`; nothing is the list.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ChatsCommand {
    /// List chats, the latest first
    List {
        /// How many at most
        #[arg(short, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
        n: u32,
    },
    /// Print what was said in a chat
    Show {
        /// The chat
        id: String,
    },
    /// Delete chats and everything in them
    Delete {
        /// The chats
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Write chats as JSON
    Export {
        /// The chat [default: all of them]
        id: Option<String>,
        /// The file, which must not be there yet [default: standard output]
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
    /// Add the chats of a file that was exported, all of them or none
    Import {
        /// The file; - reads standard input
        file: PathBuf,
    },
}
