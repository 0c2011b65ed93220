// The configurations with which agents use a scripted model.

/** Returns the configuration of Codex; tables may follow. */
export const codexConfig = (model) => `model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
analytics.enabled = false
[model_providers.scripted]
name = "scripted"
base_url = ${JSON.stringify(model)}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`;

/** Returns the configuration of opencode. */
export const opencodeConfig = (model) => {
  const models = {
    scripted: { name: "scripted", tool_call: true, limit: { context: 100000, output: 4096 } },
  };
  const options = { baseURL: model, apiKey: "none" };
  return {
    autoupdate: false,
    share: "disabled",
    model: "scripted/scripted",
    small_model: "scripted/scripted",
    enabled_providers: ["scripted"],
    provider: { scripted: { npm: "@ai-sdk/openai-compatible", name: "scripted", options, models } },
  };
};

const off = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"];

/** The environment variables of opencode. */
export const opencodeEnvironment = Object.fromEntries(off.map((what) => [`OPENCODE_DISABLE_${what}`, "1"]));
