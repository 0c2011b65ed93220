"""The official Python client, second generation (`mcp` 2.x), behind the same interface.

It supports both eras: with a handshake up to 2025-11-25 (`mode` legacy), and without one since 2026-07-28 (`mode` auto).
"""

import warnings
from contextlib import AsyncExitStack

import anyio
import mcp
import mcp_types as types
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import event_to_notification
from pydantic import ConfigDict

warnings.simplefilter("ignore")


class AnyResult(types.Result):
    """A result type that accepts anything."""

    model_config = ConfigDict(extra="allow")


def to_json(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Client:
    Error = MCPError

    def __init__(self, settings):
        self.settings = settings
        self.notifications = []
        self.questions = []

    async def __aenter__(self):
        self.stack = AsyncExitStack()
        server = self.settings["server"]
        if "url" in server:
            target = server["url"]
        else:
            target = stdio_client(mcp.StdioServerParameters(**server), errlog=self.settings["errlog"])
        client = mcp.Client(
            target,
            mode=self.settings["mode"],
            message_handler=self.on_message,
            elicitation_callback=self.on_question,
            cache=None,
        )
        self.client = await self.stack.enter_async_context(client)
        self.session = self.client.session
        self.version = self.client.protocol_version
        self.era = "legacy" if self.version < "2026-07-28" else "modern"
        self.server = to_json(self.client.server_info) if self.client.server_info else None
        self.capabilities = to_json(self.client.server_capabilities)
        self.instructions = self.client.instructions
        return self

    async def __aexit__(self, *error):
        await self.stack.__aexit__(*error)

    async def on_message(self, message):
        if hasattr(message, "method"):
            self.notifications.append(to_json(message))

    async def on_question(self, context, params):
        self.questions.append(to_json(params))
        return types.ElicitResult(action="accept", content={"decision": "once"})

    async def request(self, method, params):
        request = types.Request[dict, str](method=method, params=params)
        return to_json(await self.session.send_request(request, AnyResult))

    async def tools(self):
        return to_json(await self.client.list_tools())

    async def call(self, name, arguments, progress=None, level=None):
        meta = {"io.modelcontextprotocol/logLevel": level} if level else None
        return to_json(await self.client.call_tool(name, arguments, progress_callback=progress, meta=meta))

    async def cancel_last(self):
        """Does nothing, because this client cancels a request when its caller is cancelled."""

    async def resources(self):
        return to_json(await self.client.list_resources())

    async def templates(self):
        return to_json(await self.client.list_resource_templates())

    async def read(self, uri):
        return to_json(await self.client.read_resource(uri))

    async def prompts(self):
        return to_json(await self.client.list_prompts())

    async def prompt(self, name, arguments=None):
        return to_json(await self.client.get_prompt(name, arguments))

    async def complete(self, template, name, value, context=None):
        reference = types.ResourceTemplateReference(type="ref/resource", uri=template)
        return to_json(await self.client.complete(reference, {"name": name, "value": value}, context))

    async def ping(self):
        await self.client.send_ping()

    async def set_level(self, level):
        await self.client.set_logging_level(level)

    async def listen(self, uri):
        if self.era == "legacy":
            await self.client.subscribe_resource(uri)
            return
        self.listening = anyio.Event()
        self.stop = anyio.Event()
        self.settings["tasks"].start_soon(self.follow, uri)
        await self.listening.wait()

    async def follow(self, uri):
        """Keeps the stream of changes open until `stop` is set."""
        lists = {"tools_list_changed": True, "prompts_list_changed": True, "resources_list_changed": True}
        async with anyio.create_task_group() as tasks:
            async with self.client.listen(**lists, resource_subscriptions=[uri]) as subscription:

                async def collect():
                    async for event in subscription:
                        self.notifications.append(to_json(event_to_notification(event, {})))

                tasks.start_soon(collect)
                self.listening.set()
                await self.stop.wait()
                tasks.cancel_scope.cancel()

    async def unlisten(self, uri):
        if self.era == "legacy":
            await self.client.unsubscribe_resource(uri)
        else:
            self.stop.set()
