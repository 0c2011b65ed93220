// Types of server responses. Fields that the page does not use are omitted.

export interface About {
  version: string;
  preset: string;
  provider: string;
  model: string | null;
  is_model: boolean;
  can_call_tools: boolean;
  admin: boolean;
  skills_enabled: boolean;
  store: string | null;
  configuration: string | null;
  configuration_error: string | null;
  signed_in: boolean;
}

export interface Usage {
  input: number;
  output: number;
  cached?: number;
  cache_writes?: number;
}

export interface Chat {
  id: string;
  title: string;
  preset: string;
  created: number;
  updated: number;
  activated_skill_names: string[];
  usage?: Usage;
  writing?: string;
  seq: number;
  pinned?: boolean;
  archived?: boolean;
  /** In results of a search: where the text was found in a message. */
  excerpt?: string | null;
}

export interface TextPart {
  type: "text";
  text: string;
  html?: string;
}

export interface ThinkingPart {
  type: "thinking";
  text: string;
  /** How long the model thought, if this page was there. */
  seconds?: number;
  /** When it began, in milliseconds since 1970. */
  began?: number;
}

export interface CallPart {
  type: "tool_call";
  id: string;
  name: string;
  arguments: Record<string, any>;
  /** The question whether the script may run, while it waits for an answer. */
  question?: Question;
}

export interface Question {
  /** The id of the tool call. */
  id: string;
  /** The id that an answer names; missing if the question cannot be answered on the page. */
  question?: string;
  skill: string;
  script: string;
  access: { title: string; text: string }[];
}

export interface ResultPart {
  type: "tool_result";
  id: string;
  name: string;
  status: "success" | "partial" | "error";
  summary: Record<string, any>;
}

/** A file of a chat, as messages and tool results name it. */
export interface FileInfo {
  path: string;
  size: number;
  media_type: string;
  digest: string;
}

export interface FilePart extends FileInfo {
  type: "file";
}

export interface ChatFile extends FileInfo {
  origin: "uploaded" | "script";
  created: number;
  changed: number;
}

export type Part = TextPart | ThinkingPart | FilePart | CallPart | ResultPart;

export interface Message {
  id: string;
  role: "user" | "assistant";
  parts: Part[];
  state: "complete" | "writing" | "interrupted";
  reason?: string;
  usage?: Usage;
  at: number;
  /** The versions of this message; `previous` and `next` are ids of messages. */
  versions?: { index: number; count: number; previous: string | null; next: string | null };
  /** While it is written: the provider is asked again at that time. */
  waiting?: { reason: string; until: number };
  /** Why the model continues without tools. */
  tools_disabled?: string;
}

export interface Diagnostic {
  code: string;
  severity: "error" | "warning" | "info";
  message: string;
  path?: string;
  line?: number;
  column?: number;
  help?: string | null;
}

/** A diagnostic about a text that is edited; offsets are UTF-16 code units. */
export interface TextDiagnostic extends Diagnostic {
  start: number;
  end: number;
  fix: { start: number; end: number; text: string } | null;
}

export interface CheckedText {
  diagnostics: TextDiagnostic[];
  preview: { catalog: { text: string; tokens: number }; instructions: { text: string; tokens: number } } | null;
  tokens: number;
}

export type Status = "enabled" | "disabled" | "unavailable" | "untrusted" | "modified" | "shadowed" | "invalid";

export interface Skill {
  id: string;
  name: string;
  description: string;
  scope: "bundled" | "user" | "project" | "plugin";
  source: string;
  location: string;
  status: Status;
  reason: string | null;
  bytes: number;
  /** A bundled example, which models are not offered. */
  example?: boolean;
  uses?: number;
  last_used?: number | null;
  warnings?: number;
  errors?: number;
  editable?: boolean;
  not_editable_because?: string | null;
}

export interface SkillFile {
  path: string;
  bytes: number;
  binary?: boolean;
}

export interface Finding {
  rule: string;
  severity: string;
  message: string;
  path?: string;
  line?: number;
}

export interface Capabilities {
  scripts?: string[];
  hosts?: string[];
  tools?: string[];
  env?: string[];
}

/** A file of a skill that is installed or updated, with its texts if they can be shown. */
export interface PlannedFile extends SkillFile {
  executable: boolean;
  change: "added" | "changed" | "unchanged" | "removed";
  text: string | null;
  before: string | null;
}

export interface PlannedSkill {
  id: string;
  name: string;
  description: string;
  action: "installed" | "updated" | "unchanged" | "removed" | "skipped" | "failed";
  reason: string | null;
  tree: string | null;
  commit: string | null;
  files: PlannedFile[];
  findings: Finding[];
  capabilities: Capabilities | null;
  gained: Capabilities | null;
  refused: boolean;
  needs_confirmation: boolean;
}

export interface ImportReport {
  id: string;
  name: string;
  files: PlannedFile[];
  findings: Finding[];
  capabilities: Capabilities | null;
  replaces: boolean;
  refused?: boolean;
  needs_confirmation?: boolean;
}

export interface Setting {
  key: string;
  value: any;
  origin: string;
}

export interface Inspection {
  model: string;
  parts: { part: string; tokens: number; text: string }[];
  tokens: number;
  tier?: number | null;
  skills: { name: string; disclosed: string; score?: number; reasons?: string[]; why?: string }[];
  tools: { name: string; description: string; input_schema: any }[];
}

export interface Overview {
  sources: { source: string; scope: string; count: number; by_status: Record<string, number> }[];
  statuses: Record<string, number>;
  catalog: { tokens: number; characters: number; budget: number | null; shown: number; cut: number };
  most_used: { name: string; count: number; last: number }[];
  never_used: string[];
  costly?: { name: string; tokens: number }[];
  problems: Diagnostic[];
  chats: number;
}

/** A skill that matches a message. */
export interface Match {
  name: string;
  score: number;
  /** The confidence, from 0 to 1. */
  confidence: number;
  reasons: string[];
}

/** A report in the list of results of `prowess test`. */
export interface StoredReport {
  skill: string;
  iteration: number;
  timestamp: string;
  /** From 0 to 1. */
  pass_rate: number | null;
  change: number | null;
  p_value: number | null;
  complete: boolean;
}

export interface Proportion {
  passed: number;
  total: number;
  rate: number;
  interval: [number, number];
}

export interface Distribution {
  mean: number;
  stddev: number;
  min: number;
  max: number;
}

export interface TestVariant {
  runs: number;
  errors: number;
  passed: Proportion | null;
  pass_rate: Distribution;
  tokens: Distribution;
  time_seconds: Distribution;
  tool_calls: Distribution;
  dollars: Distribution;
  triggered: Proportion | null;
}

type ByVariant<T> = { with_skill?: T; without_skill?: T; old_skill?: T };

export interface TestCase {
  id: string;
  name: string | null;
  prompt: string;
  pass_rates: ByVariant<number>;
  change: "improved" | "unchanged" | "worsened" | null;
  triggered: Proportion | null;
  /** Expectations that were not met, with evidence. */
  failed: [string, string][];
  errors: string[];
}

/** Results of `prowess test` for a skill. */
export interface TestReport {
  skill: string;
  info: {
    agent: string;
    model: string;
    judge: string | null;
    timestamp: string;
    runs: number;
    against: string | null;
    stopped: string | null;
  };
  variants: ByVariant<TestVariant>;
  comparisons: {
    with: "without_skill" | "old_skill";
    pass_rate: { cases: number; mean: number; interval: [number, number] | null; p_value: number };
    improved: string[];
    unchanged: string[];
    worsened: string[];
  }[];
  cases: TestCase[];
  triggers: {
    query: string;
    should_trigger: boolean;
    triggered: Proportion | null;
    old_triggered: Proportion | null;
    errors: string[];
    passed: boolean | null;
  }[];
  notes: string[];
}
