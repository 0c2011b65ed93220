//! The server as strangers and attackers meet it: raw messages in, raw messages out.
//!
//! | module | subject |
//! |---|---|
//! | `negotiation` | how a conversation begins, in each revision of the protocol |
//! | `tools`, `scripts`, `sessions` | tools, the scripts that they run, and that conversations are apart |
//! | `resources`, `changes`, `prompts` | files, what is told when they change, and what people call |
//! | `extension`, `manifests` | the skills extension |
//! | `malformed`, `uris`, `floods` | what is no message, no address, and too much |
//! | `http`, `streams` | what only HTTP has |
//! | `leaks` | what is left when everybody is gone |

mod changes;
mod extension;
mod floods;
mod http;
mod leaks;
mod malformed;
mod manifests;
mod negotiation;
mod prompts;
mod resources;
mod scripts;
mod sessions;
mod streams;
mod tools;
mod uris;
