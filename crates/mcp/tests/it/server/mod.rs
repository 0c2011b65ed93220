//! Tests of the server with raw messages, including malicious ones.
//!
//! | module | subject |
//! |---|---|
//! | `negotiation`, `instructions` | the handshake in each revision of the protocol, and the instructions for each client |
//! | `tools`, `scripts`, `sessions` | tools, scripts, and the isolation of conversations |
//! | `artifacts`, `consent`, `client_roots` | files of scripts, questions to the user, and inputs from roots |
//! | `resources`, `changes`, `prompts` | files, notifications about changes, and prompts |
//! | `extension`, `manifests` | the skills extension |
//! | `malformed`, `uris`, `floods` | invalid messages and URIs, and excessive input |
//! | `http`, `streams` | HTTP |
//! | `leaks` | what disconnected clients leave behind |

mod artifacts;
mod changes;
mod client_roots;
mod consent;
mod extension;
mod floods;
mod http;
mod instructions;
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
