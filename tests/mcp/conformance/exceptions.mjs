// What the conformance suite asks for that a server of skills does not have. The suite is made for SDKs: many of its
// scenarios call tools, prompts and resources of given names, which the example server of an SDK brings. Some of these a
// skill can bring as well; the others are named here, each with the reason.

/** Scenarios that are run against a server with the fixture skills of this folder, and how that server is started. */
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

const ADDRESSES =
  "resources have skill:// addresses here, and the scenario wants one that begins with test://";
const ASKS =
  "it needs a tool that asks the client for something (a text, a choice, a completion), and none of ours does";
const PROMPTS = "a skill as a prompt is one text, and the scenario wants other kinds of content in it";
const TOOLSETS =
  "it needs a tool that reports in numbers or logs while it works, which tools of skills do not; progress and logging are checked with the official clients";
const SCHEMAS =
  "it needs a tool whose schema has keywords that tools of skills may not use, for nothing would check them";
const CHANGES =
  "it needs a tool that changes the lists; that they are told is checked with the official clients";

/** Scenarios that cannot pass, and why. */
export const SCENARIOS = {
  "elicitation-sep1034-defaults": ASKS,
  "elicitation-sep1330-enums": ASKS,
  "http-custom-header-server-validation": SCHEMAS,
  "input-required-result-basic-elicitation": ASKS,
  "input-required-result-basic-list-roots": ASKS,
  "input-required-result-basic-sampling": ASKS,
  "input-required-result-capability-check": ASKS,
  "input-required-result-ignore-extra-params": ASKS,
  "input-required-result-missing-input-response": ASKS,
  "input-required-result-multi-round": ASKS,
  "input-required-result-multiple-input-requests": ASKS,
  "input-required-result-non-tool-request": ASKS,
  "input-required-result-request-state": ASKS,
  "input-required-result-result-type": ASKS,
  "input-required-result-tampered-state": ASKS,
  "json-schema-2020-12": SCHEMAS,
  "prompts-get-embedded-resource": PROMPTS,
  "prompts-get-with-image": PROMPTS,
  "resources-read-binary": ADDRESSES,
  "resources-read-text": ADDRESSES,
  "resources-subscribe": ADDRESSES,
  "resources-templates-read": ADDRESSES,
  "resources-unsubscribe": ADDRESSES,
  "server-sse-polling":
    "it needs a tool that cuts its own stream; that a cut stream is taken up again is checked with the official clients",
  "tools-call-elicitation": ASKS,
  "tools-call-sampling": ASKS,
  "tools-call-with-logging": TOOLSETS,
  "tools-call-with-progress": TOOLSETS,
};

/** Scenarios that pass, and show nothing. */
export const EMPTY = {
  "input-required-result-validate-input": "it passes, but only because the tool that it calls is not there",
};

/** Single checks that cannot pass, as `scenario:check`, and why. */
export const CHECKS = {
  "server-stateless:sep-2575-missing-capability-http-400": ASKS,
  "server-stateless:sep-2575-server-rejects-undeclared-capability": ASKS,
  "server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription": CHANGES,
  "server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription": CHANGES,
};
