//! A scripted model, used if no provider is configured.
//!
//! Prowess's own matcher routes the message, the turn loop calls the tools, and the reply shows what a model would have
//! received. It uses no network, randomness or clock: the same message and skills give the same reply.

mod answer;
mod plan;

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use prowess_tools::Toolbox;

use crate::provider::{Chunk, Model, ModelError, ModelRequest, ReplyStream, StopReason};
use plan::{ModelInput, NextStep};

/// A scripted model that shows what a real model would receive.
#[derive(Debug)]
pub struct Rehearsal {
    toolbox: Arc<Toolbox>,
}

impl Rehearsal {
    /// Creates a rehearsal with these skills.
    pub fn new(toolbox: Arc<Toolbox>) -> Self {
        Self { toolbox }
    }
}

impl Model for Rehearsal {
    fn name(&self) -> String {
        "rehearsal".to_owned()
    }

    fn can_call_tools(&self) -> bool {
        true
    }

    fn forbids_dots(&self) -> bool {
        false
    }

    fn can_summarize(&self) -> bool {
        false
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> Box<dyn ReplyStream + 'a> {
        let input = ModelInput {
            system: request.system.to_owned(),
            entries: request.entries.to_vec(),
            tools: request.tools.to_vec(),
        };
        Box::new(RehearsalReply {
            pending: Some((Arc::clone(&self.toolbox), input)),
            chunks: VecDeque::new(),
        })
    }
}

/// The reply, which is computed on first use.
struct RehearsalReply {
    pending: Option<(Arc<Toolbox>, ModelInput)>,
    chunks: VecDeque<Chunk>,
}

#[async_trait]
impl ReplyStream for RehearsalReply {
    async fn next(&mut self) -> Result<Option<Chunk>, ModelError> {
        if let Some((toolbox, input)) = self.pending.take() {
            let result = tokio::task::spawn_blocking(move || chunks(&toolbox, &input)).await;
            self.chunks = result.map_err(|_| ModelError::Interrupted("the rehearsal failed".to_owned()))?;
        }
        Ok(self.chunks.pop_front())
    }
}

fn chunks(toolbox: &Toolbox, input: &ModelInput) -> VecDeque<Chunk> {
    let (mut chunks, text) = match plan::next_step(toolbox, input) {
        NextStep::Call(calls) => {
            let chunk = |(number, call): (usize, plan::PlannedCall)| Chunk::Call {
                id: format!("rehearsal_{number}"),
                name: call.tool,
                arguments: call.arguments.to_string(),
            };
            ((1..).zip(calls).map(chunk).collect::<VecDeque<_>>(), String::new())
        }
        NextStep::Reply(outcome) => {
            let text = answer::render(toolbox, input, &outcome);
            // In pieces, like the reply of a model.
            (text.split_inclusive('\n').map(|line| Chunk::Text(line.to_owned())).collect(), text)
        }
    };
    chunks.push_back(Chunk::Usage(answer::usage(input, &text)));
    chunks.push_back(Chunk::End(StopReason::Finished));
    chunks
}
