-- Tests the language server in Neovim with the configuration of docs/editors.md. Called by run.sh, which sets EDITORS_DOC and
-- EDITORS_DIR. Ends with the line "N passed, N failed", and exits with 1 if a check failed.

local passed, failed = 0, 0
local dir = assert(vim.env.EDITORS_DIR)
local timeout = 20000

local function say(text)
  io.stdout:write(text .. "\n")
end

--- Runs a check. A check fails if it raises an error.
local function check(name, work)
  local ok, message = pcall(work)
  if ok then
    passed = passed + 1
    say("ok " .. name)
  else
    failed = failed + 1
    say("FAILED " .. name .. ": " .. tostring(message))
  end
end

local function equal(actual, expected)
  if not vim.deep_equal(actual, expected) then
    error("expected " .. vim.inspect(expected) .. ", got " .. vim.inspect(actual), 2)
  end
end

local function wait_until(condition, what)
  if not vim.wait(timeout, condition, 20) then
    error("timed out: " .. what, 2)
  end
end

-- Neovim 0.7, which Debian 12 has, lacks vim.lsp.start.
local exit_code
local original_start = vim.lsp.start
vim.lsp.start = function(config, options)
  config.on_exit = function(code)
    exit_code = code
  end
  if original_start then
    return original_start(config, options)
  end
  local id = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(options.bufnr, id)
  return id
end

--- Returns the first Lua block of a document.
local function lua_block(path)
  local text = table.concat(vim.fn.readfile(path), "\n")
  return assert(text:match("```lua\n(.-)\n```"), "no Lua block in " .. path)
end

local function client()
  local get = vim.lsp.get_clients or vim.lsp.get_active_clients
  return get()[1]
end

local function request(method, extra)
  local params = vim.tbl_extend("force", { textDocument = { uri = vim.uri_from_bufnr(0) } }, extra or {})
  local responses, problem = vim.lsp.buf_request_sync(0, method, params, timeout)
  assert(responses, method .. ": " .. tostring(problem))
  local _, response = next(responses)
  assert(response, method .. ": no response")
  assert(not response.error, method .. ": " .. vim.inspect(response.error))
  return response.result
end

local function at(line, character, extra)
  return vim.tbl_extend("force", { position = { line = line, character = character } }, extra or {})
end

local function codes()
  local found = vim.tbl_map(function(diagnostic)
    return diagnostic.code
  end, vim.diagnostic.get(0))
  table.sort(found)
  return found
end

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

local function apply(edit)
  vim.lsp.util.apply_workspace_edit(edit, client().offset_encoding)
end

say("Neovim " .. tostring(vim.version().major) .. "." .. tostring(vim.version().minor))
check("the configuration of the guide loads", function()
  assert((loadstring or load)(lua_block(vim.env.EDITORS_DOC)))()
end)

vim.cmd("cd " .. dir)
vim.cmd("edit " .. dir .. "/skills/pdf/SKILL.md")

check("the server starts", function()
  wait_until(function()
    local started = client()
    return started and started.server_capabilities and started.server_capabilities.hoverProvider
  end, "no initialized client")
end)

check("diagnostics are shown when a skill is opened", function()
  wait_until(function()
    return #vim.diagnostic.get(0) > 0
  end, "no diagnostics")
  equal(codes(), { "SK022", "SK063" })
  local first = vim.diagnostic.get(0)[1]
  equal({ first.lnum, first.source }, { 2, "prowess" })
end)

check("a code action repairs the frontmatter", function()
  local range = { start = { line = 2, character = 0 }, ["end"] = { line = 2, character = 0 } }
  local actions = request("textDocument/codeAction", { range = range, context = { diagnostics = {} } })
  equal(actions[1].kind, "quickfix")
  apply(actions[1].edit)
  equal(lines()[3], 'description: "Fill: forms. Use when asked"')
end)

check("diagnostics follow the edit", function()
  wait_until(function()
    return #vim.diagnostic.get(0) == 1
  end, "the repaired line still has a diagnostic")
  equal(codes(), { "SK063" })
end)

check("a missing file can be created", function()
  local range = { start = { line = 5, character = 0 }, ["end"] = { line = 5, character = 0 } }
  local actions = request("textDocument/codeAction", { range = range, context = { diagnostics = {} } })
  equal(actions[1].title, "create scripts/missing.py")
  apply(actions[1].edit)
  equal(vim.fn.filereadable(dir .. "/skills/pdf/scripts/missing.py"), 1)
end)

check("keys are completed", function()
  local list = request("textDocument/completion", at(1, 0))
  local labels = {}
  for _, item in ipairs(list.items) do
    labels[item.label] = item
  end
  assert(labels["allowed-tools"], "allowed-tools is not offered")
  assert(not labels["description"], "description is there already")
  assert(labels["allowed-tools"].documentation.value:find("confirmation"), "no documentation")
end)

check("hover explains a key", function()
  local hover = request("textDocument/hover", at(1, 1))
  assert(hover.contents.value:find("at most 64 characters"), vim.inspect(hover))
end)

check("hover describes a file", function()
  local hover = request("textDocument/hover", at(4, 18))
  assert(hover.contents.value:find("8 bytes"), vim.inspect(hover))
end)

check("files are links", function()
  local links = request("textDocument/documentLink")
  assert(#links >= 1 and links[1].target:find("guide.md"), vim.inspect(links))
end)

check("a reference leads to its file", function()
  local location = request("textDocument/definition", at(4, 18))
  equal(vim.uri_to_fname(location.uri), dir .. "/skills/pdf/guide.md")
end)

check("code lenses show the cost and similar skills", function()
  local titles
  wait_until(function()
    titles = vim.tbl_map(function(lens)
      return lens.command.title
    end, request("textDocument/codeLens"))
    return #titles == 2
  end, "no lens for similar skills")
  assert(titles[1]:find("^%d+ tokens in the catalog, %d+ when loaded$"), titles[1])
  assert(titles[2]:find("pdf%-forms"), titles[2])
end)

check("a file is renamed with its references", function()
  local prepared = request("textDocument/prepareRename", at(4, 18))
  equal(prepared.placeholder, "guide.md")
  apply(request("textDocument/rename", at(4, 18, { newName = "handbook.md" })))
  equal(lines()[5], "See [the guide](handbook.md) first.")
  equal(vim.fn.filereadable(dir .. "/skills/pdf/handbook.md"), 1)
  equal(vim.fn.filereadable(dir .. "/skills/pdf/guide.md"), 0)
end)

check("typing reports a problem and undoing removes it", function()
  vim.cmd("write")
  wait_until(function()
    return #vim.diagnostic.get(0) == 0
  end, "problems remain: " .. vim.inspect(vim.diagnostic.get(0)))
  vim.api.nvim_buf_set_lines(0, 1, 1, false, { "colour: röt 𝄞" })
  wait_until(function()
    return vim.deep_equal(codes(), { "SK051" })
  end, "no diagnostic about the unknown key")
  vim.api.nvim_buf_set_lines(0, 1, 2, false, {})
  wait_until(function()
    return #vim.diagnostic.get(0) == 0
  end, "the diagnostic remains")
end)

check("the server ends with the editor's request", function()
  client().stop()
  wait_until(function()
    return exit_code ~= nil
  end, "the server is still running")
  equal(exit_code, 0)
end)

say(passed .. " passed, " .. failed .. " failed")
vim.cmd(failed == 0 and "qall!" or "cquit 1")
