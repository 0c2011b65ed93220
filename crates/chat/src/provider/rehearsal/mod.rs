//! What happens where no provider is configured: everything but the model.
//!
//! The message is routed with Prowess's own matcher, the tools are called through the same loop, and the answer is what a
//! model would have been given. No network, no dice, no clock: the same message and the same skills give the same answer.

mod answer;
mod plan;

use std::collections::VecDeque;
use std::sync::Arc;

use prowess_tools::Toolbox;

use crate::provider::{Answer, Chunk, Model, ModelError, Pending, Request, Stop};
use plan::{Plan, Seen};

/// Stands where a model would. It is not one, and says so.
#[derive(Debug)]
pub struct Rehearsal {
    toolbox: Arc<Toolbox>,
}

impl Rehearsal {
    /// A rehearsal with these skills.
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

    fn answer<'a>(&'a self, request: Request<'a>) -> Box<dyn Answer + 'a> {
        let seen = Seen {
            system: request.system.to_owned(),
            entries: request.entries.to_vec(),
            tools: request.tools.to_vec(),
        };
        Box::new(Rehearsed { work: Some((Arc::clone(&self.toolbox), seen)), chunks: VecDeque::new() })
    }
}

/// The answer, which is worked out when it is first asked for.
struct Rehearsed {
    work: Option<(Arc<Toolbox>, Seen)>,
    chunks: VecDeque<Chunk>,
}

impl Answer for Rehearsed {
    fn next(&mut self) -> Pending<'_, Result<Option<Chunk>, ModelError>> {
        Box::pin(async {
            if let Some((toolbox, seen)) = self.work.take() {
                let done = tokio::task::spawn_blocking(move || chunks(&toolbox, &seen)).await;
                self.chunks = done
                    .map_err(|_| ModelError::BrokeOff("the rehearsal could not be worked out".to_owned()))?;
            }
            Ok(self.chunks.pop_front())
        })
    }
}

fn chunks(toolbox: &Toolbox, seen: &Seen) -> VecDeque<Chunk> {
    let (mut chunks, text) = match plan::plan(toolbox, seen) {
        Plan::Call(calls) => {
            let chunk = |(number, call): (usize, plan::Wanted)| Chunk::Call {
                id: format!("rehearsal_{number}"),
                name: call.tool,
                arguments: call.arguments.to_string(),
            };
            ((1..).zip(calls).map(chunk).collect::<VecDeque<_>>(), String::new())
        }
        Plan::Answer(found) => {
            let text = answer::render(toolbox, seen, &found);
            // In pieces, as a model's would come.
            (text.split_inclusive('\n').map(|line| Chunk::Text(line.to_owned())).collect(), text)
        }
    };
    chunks.push_back(Chunk::Usage(answer::usage(seen, &text)));
    chunks.push_back(Chunk::End(Stop::Finished));
    chunks
}
