//! Reads what agents print: lines of JSON, in the format of each agent.
//!
//! The output is untrusted and may end anywhere. Lines that are not JSON objects are kept as text.

use serde_json::Value;

use super::TranscriptEntry;
use super::presets::AgentPreset;
use super::transcript::{REPLY_MAX, TranscriptBuilder, shorten};

/// The maximum length of a line that is parsed, in bytes. A parsed line takes many times its length of memory.
pub(super) const LINE_MAX: usize = 4 * 1024 * 1024;

/// What an agent printed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ParsedOutput {
    pub(super) reply: String,
    pub(super) transcript: Vec<TranscriptEntry>,
    /// The error that the agent reported.
    pub(super) error: Option<String>,
}

/// Reads the output of a custom command: all of it is the reply.
pub(super) fn read_text(stdout: &[u8]) -> ParsedOutput {
    let mut transcript = TranscriptBuilder::default();
    let text = String::from_utf8_lossy(stdout);
    transcript.add_text(text.trim());
    ParsedOutput { reply: shorten(text.trim(), REPLY_MAX), transcript: transcript.finish(), error: None }
}

/// Reads the output of a known agent.
pub(super) fn read_events(preset: AgentPreset, stdout: &[u8]) -> ParsedOutput {
    let mut reader = EventReader::default();
    for line in stdout.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let event = match line.len() <= LINE_MAX {
            true => serde_json::from_slice::<Value>(line).ok().filter(|value| value["type"].is_string()),
            false => None,
        };
        match (event, preset) {
            (Some(event), AgentPreset::Claude) => reader.add_claude(&event),
            (Some(event), AgentPreset::Codex) => reader.add_codex(&event),
            (Some(event), AgentPreset::Opencode) => reader.add_opencode(&event),
            (None, _) => reader.transcript.add_text(&String::from_utf8_lossy(line)),
        }
    }
    reader.finish()
}

#[derive(Default)]
struct EventReader {
    transcript: TranscriptBuilder,
    /// The last message; lines that are not events are not messages.
    last_message: Option<String>,
    error: Option<String>,
}

impl EventReader {
    fn add_message(&mut self, text: &str) {
        self.transcript.add_text(text);
        if !text.trim().is_empty() {
            self.last_message = Some(shorten(text, REPLY_MAX));
        }
    }

    /// Events of `claude --output-format stream-json`: messages as in its API, and a result at the end.
    fn add_claude(&mut self, event: &Value) {
        match text_of(&event["type"]) {
            "assistant" => {
                for part in parts(&event["message"]["content"]) {
                    match text_of(&part["type"]) {
                        "text" => self.add_message(text_of(&part["text"])),
                        "tool_use" => self.transcript.add_call(
                            text_of(&part["id"]),
                            text_of(&part["name"]),
                            &part["input"].to_string(),
                        ),
                        _ => {}
                    }
                }
            }
            "user" => {
                for part in parts(&event["message"]["content"]) {
                    if part["type"] == "tool_result" {
                        let failed = part["is_error"].as_bool().unwrap_or(false);
                        let result = joined_text(&part["content"]);
                        self.transcript.set_result(text_of(&part["tool_use_id"]), &result, failed);
                    }
                }
            }
            "result" => {
                let result = text_of(&event["result"]);
                if event["is_error"].as_bool().unwrap_or(false) {
                    let reason = if result.is_empty() { text_of(&event["subtype"]) } else { result };
                    self.error = Some(reason.to_owned());
                } else if !result.is_empty() {
                    self.last_message = Some(shorten(result, REPLY_MAX));
                }
            }
            _ => {}
        }
    }

    /// Events of `codex exec --json`: items, of which the completed ones are recorded, and the end of the turn.
    fn add_codex(&mut self, event: &Value) {
        let item = &event["item"];
        match (text_of(&event["type"]), text_of(&item["type"])) {
            ("item.completed", "agent_message") => self.add_message(text_of(&item["text"])),
            ("item.started" | "item.updated" | "item.completed", kind) => self.add_codex_item(kind, item),
            ("turn.failed", _) => self.error = Some(text_of(&event["error"]["message"]).to_owned()),
            _ => {}
        }
    }

    fn add_codex_item(&mut self, kind: &str, item: &Value) {
        let (name, arguments, result) = match kind {
            "command_execution" => {
                ("command".to_owned(), item["command"].to_string(), joined_text(&item["aggregated_output"]))
            }
            "file_change" => ("file_change".to_owned(), item["changes"].to_string(), String::new()),
            "web_search" => ("web_search".to_owned(), item["query"].to_string(), String::new()),
            "mcp_tool_call" => {
                let name = format!("{}.{}", text_of(&item["server"]), text_of(&item["tool"]));
                let result = match &item["error"] {
                    Value::Null => joined_text(&item["result"]["content"]),
                    error => joined_text(&error["message"]),
                };
                (name, item["arguments"].to_string(), result)
            }
            _ => return,
        };
        let id = text_of(&item["id"]);
        if !self.transcript.has_call(id) {
            self.transcript.add_call(id, &name, &arguments);
        }
        let failed = item["status"] == "failed" || item["exit_code"].as_i64().is_some_and(|code| code != 0);
        self.transcript.set_result(id, &result, failed);
    }

    /// Events of `opencode run --format json`: parts of messages.
    fn add_opencode(&mut self, event: &Value) {
        let part = &event["part"];
        match text_of(&event["type"]) {
            "text" => self.add_message(text_of(&part["text"])),
            "tool_use" => {
                let (id, state) = (text_of(&part["callID"]), &part["state"]);
                if !self.transcript.has_call(id) {
                    self.transcript.add_call(id, text_of(&part["tool"]), &state["input"].to_string());
                }
                let failed = state["status"] == "error";
                let result = joined_text(&state[if failed { "error" } else { "output" }]);
                self.transcript.set_result(id, &result, failed);
            }
            "error" => {
                let error = &event["error"];
                let message = text_of(&error["data"]["message"]);
                let reason = if message.is_empty() { text_of(&error["name"]) } else { message };
                self.error = Some(reason.to_owned());
            }
            _ => {}
        }
    }

    fn finish(self) -> ParsedOutput {
        ParsedOutput {
            reply: self.last_message.unwrap_or_default(),
            transcript: self.transcript.finish(),
            error: self.error,
        }
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn parts(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns a text, or the texts of parts.
fn joined_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| text_of(&part["text"])).collect::<Vec<_>>().join("\n"),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn show(parsed: &ParsedOutput) -> String {
        let entry = |entry: &TranscriptEntry| match entry {
            TranscriptEntry::Text { text } => format!("text: {text}"),
            TranscriptEntry::ToolCall { name, arguments, result, failed } => {
                format!("call: {name} {arguments} -> {result} failed={failed}")
            }
        };
        let mut lines: Vec<String> = parsed.transcript.iter().map(entry).collect();
        lines.push(format!("reply: {}", parsed.reply));
        lines.extend(parsed.error.iter().map(|error| format!("error: {error}")));
        lines.join("\n")
    }

    #[test]
    fn events_of_claude_become_a_transcript() {
        let output = br#"{"type":"system","subtype":"init","tools":["Read"]}
{"type":"assistant","message":{"content":[{"type":"text","text":"I read."},{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"one"}],"is_error":true}]}}
a warning
{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}
{"type":"result","subtype":"success","is_error":false,"result":"Done."}
"#;
        insta::assert_snapshot!(show(&read_events(AgentPreset::Claude, output)), @r#"
        text: I read.
        call: Read {"file_path":"a"} -> one failed=true
        text: a warning
        text: Done.
        reply: Done.
        "#);
    }

    #[test]
    fn events_of_codex_become_a_transcript() {
        let output = br#"{"type":"thread.started","thread_id":"x"}
{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"cat a","status":"in_progress"}}
{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"cat a","aggregated_output":"no a","exit_code":1,"status":"failed"}}
{"type":"item.completed","item":{"id":"i2","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"x":1},"result":{"content":[{"type":"text","text":"ok"}]},"status":"completed"}}
{"type":"item.completed","item":{"id":"i3","type":"agent_message","text":"Done."}}
{"type":"error","message":"Reconnecting... 1/2"}
{"type":"turn.failed","error":{"message":"stream disconnected"}}
"#;
        insta::assert_snapshot!(show(&read_events(AgentPreset::Codex, output)), @r#"
        call: command "cat a" -> no a failed=true
        call: s.t {"x":1} -> ok failed=false
        text: Done.
        reply: Done.
        error: stream disconnected
        "#);
    }

    #[test]
    fn events_of_opencode_become_a_transcript() {
        let output = br#"{"type":"step_start","part":{"type":"step-start"}}
{"type":"tool_use","part":{"type":"tool","callID":"c1","tool":"skill","state":{"status":"completed","input":{"name":"csv"},"output":"text"}}}
{"type":"tool_use","part":{"type":"tool","callID":"c2","tool":"bash","state":{"status":"error","input":{"command":"x"},"error":"not found"}}}
{"type":"text","part":{"type":"text","text":"Done."}}
{"type":"error","error":{"name":"APIError","data":{"message":"limit reached"}}}
"#;
        insta::assert_snapshot!(show(&read_events(AgentPreset::Opencode, output)), @r#"
        call: skill {"name":"csv"} -> text failed=false
        call: bash {"command":"x"} -> not found failed=true
        text: Done.
        reply: Done.
        error: limit reached
        "#);
    }

    #[test]
    fn broken_output_is_kept_as_text() {
        let mut output = b"not json\r\n{\"type\":1}\n\xff\xfe\n{\"type\":\"text\",\"part\":{\"te".to_vec();
        let parsed = read_events(AgentPreset::Opencode, &output);
        insta::assert_snapshot!(show(&parsed), @r#"
        text: not json
        text: {"type":1}
        text: ��
        text: {"type":"text","part":{"te
        reply: 
        "#);
        output = vec![b'['; LINE_MAX + 10];
        let parsed = read_events(AgentPreset::Claude, &output);
        assert_eq!(parsed.transcript.len(), 1);
        assert_eq!(read_text(b"  answer \xff\n\n").reply, "answer \u{fffd}");
    }

    proptest! {
        #[test]
        fn no_output_makes_reading_fail(bytes in proptest::collection::vec(any::<u8>(), 0..400), cut in 0_usize..400) {
            let valid = br#"{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"Done."}}"#;
            let start = valid.get(..cut.min(valid.len())).unwrap_or_default();
            let output = [&bytes[..], b"\n", start].concat();
            for preset in AgentPreset::ALL {
                read_events(preset, &output);
            }
        }
    }
}
