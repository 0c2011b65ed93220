// Scenarios of the conformance suite that a server of skills cannot pass. The suite is made for SDKs: many scenarios call
// tools, prompts and resources with given names, which the example server of an SDK provides. A skill can provide some of
// them; the others are listed here with the reason.

/** Scenarios that run against a server with the fixture skills of this directory, and the flags of that server. */
export const FIXTURES = {
  skills: ["conformance-tools", "test_simple_prompt", "test_prompt_with_arguments"],
  flags: ["--skill", "conformance-tools"],
  scenarios: [
    "completion-complete",
    "prompts-get-simple",
    "prompts-get-with-args",
    "server-stateless",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-simple-text",
  ],
};

const URIS =
  "it requires a resource whose URI begins with test://, but ours begin with skill://";
const CLIENT_INPUT =
  "it requires a tool that requests input from the client (a text, a choice, a completion), which ours do not";
const PROMPTS = "it requires other content than text in a prompt, but a skill as a prompt is one text";
const PROGRESS =
  "it requires a tool that reports progress or logs while it runs, which tools of skills do not; progress and logging are checked with the official clients";
const SCHEMAS =
  "it requires a tool whose schema has keywords that tools of skills may not use, because they would not be checked";
const LIST_CHANGES =
  "it requires a tool that changes the lists; the notifications are checked with the official clients";

/** Scenarios that cannot pass, with the reason. */
export const SCENARIOS = {
  "elicitation-sep1034-defaults": CLIENT_INPUT,
  "elicitation-sep1330-enums": CLIENT_INPUT,
  "http-custom-header-server-validation": SCHEMAS,
  "input-required-result-basic-elicitation": CLIENT_INPUT,
  "input-required-result-basic-list-roots": CLIENT_INPUT,
  "input-required-result-basic-sampling": CLIENT_INPUT,
  "input-required-result-capability-check": CLIENT_INPUT,
  "input-required-result-ignore-extra-params": CLIENT_INPUT,
  "input-required-result-missing-input-response": CLIENT_INPUT,
  "input-required-result-multi-round": CLIENT_INPUT,
  "input-required-result-multiple-input-requests": CLIENT_INPUT,
  "input-required-result-non-tool-request": CLIENT_INPUT,
  "input-required-result-request-state": CLIENT_INPUT,
  "input-required-result-result-type": CLIENT_INPUT,
  "input-required-result-tampered-state": CLIENT_INPUT,
  "json-schema-2020-12": SCHEMAS,
  "prompts-get-embedded-resource": PROMPTS,
  "prompts-get-with-image": PROMPTS,
  "resources-read-binary": URIS,
  "resources-read-text": URIS,
  "resources-subscribe": URIS,
  "resources-templates-read": URIS,
  "resources-unsubscribe": URIS,
  "server-sse-polling":
    "it requires a tool that closes its own stream; resuming a stream is checked with the official clients",
  "tools-call-elicitation": CLIENT_INPUT,
  "tools-call-sampling": CLIENT_INPUT,
  "tools-call-with-logging": PROGRESS,
  "tools-call-with-progress": PROGRESS,
};

/** Scenarios that pass without testing anything, with the reason. */
export const EMPTY = {
  "input-required-result-validate-input": "it passes only because the tool that it calls does not exist",
};

/** Single checks that cannot pass, as `scenario:check`, with the reason. */
export const CHECKS = {
  "server-stateless:sep-2575-missing-capability-http-400": CLIENT_INPUT,
  "server-stateless:sep-2575-server-rejects-undeclared-capability": CLIENT_INPUT,
  "server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription": LIST_CHANGES,
  "server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription": LIST_CHANGES,
};
