"""The official Python client, first generation (`mcp` 1.x), behind a common interface that uses JSON."""

from contextlib import AsyncExitStack

import mcp.types as types
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl, ConfigDict


class AnyResult(types.Result):
    """A result type that accepts anything."""

    model_config = ConfigDict(extra="allow")


def to_json(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Client:
    era = "legacy"
    Error = McpError

    def __init__(self, settings):
        self.settings = settings
        self.notifications = []
        self.questions = []

    async def __aenter__(self):
        self.stack = AsyncExitStack()
        server = self.settings["server"]
        if "url" in server:
            transport = streamablehttp_client(server["url"])
        else:
            transport = stdio_client(StdioServerParameters(**server), errlog=self.settings["errlog"])
        read, write, *_ = await self.stack.enter_async_context(transport)
        session = ClientSession(
            read, write, message_handler=self.on_message, elicitation_callback=self.on_question
        )
        self.session = await self.stack.enter_async_context(session)
        result = to_json(await self.session.initialize())
        self.version = result["protocolVersion"]
        self.server = result["serverInfo"]
        self.capabilities = result["capabilities"]
        self.instructions = result.get("instructions")
        return self

    async def __aexit__(self, *error):
        await self.stack.__aexit__(*error)

    async def on_message(self, message):
        if isinstance(message, types.ServerNotification):
            self.notifications.append(to_json(message.root))

    async def on_question(self, context, params):
        self.questions.append(to_json(params))
        return types.ElicitResult(action="accept", content={"decision": "once"})

    async def request(self, method, params):
        request = types.Request[dict, str](method=method, params=params)
        return to_json(await self.session.send_request(request, AnyResult))

    async def tools(self):
        return to_json(await self.session.list_tools())

    async def call(self, name, arguments, progress=None, level=None):
        return to_json(await self.session.call_tool(name, arguments, progress_callback=progress))

    async def cancel_last(self):
        """Cancels the last request, because this client does not do so itself."""
        number = self.session._request_id - 1
        params = types.CancelledNotificationParams(requestId=number, reason="enough")
        notification = types.CancelledNotification(method="notifications/cancelled", params=params)
        await self.session.send_notification(types.ClientNotification(notification))

    async def resources(self):
        return to_json(await self.session.list_resources())

    async def templates(self):
        return to_json(await self.session.list_resource_templates())

    async def read(self, uri):
        return await self.request("resources/read", {"uri": uri})

    async def prompts(self):
        return to_json(await self.session.list_prompts())

    async def prompt(self, name, arguments=None):
        return to_json(await self.session.get_prompt(name, arguments))

    async def complete(self, template, name, value, context=None):
        reference = types.ResourceTemplateReference(type="ref/resource", uri=template)
        return to_json(await self.session.complete(reference, {"name": name, "value": value}, context))

    async def ping(self):
        await self.session.send_ping()

    async def set_level(self, level):
        await self.session.set_logging_level(level)

    async def listen(self, uri):
        await self.session.subscribe_resource(AnyUrl(uri))

    async def unlisten(self, uri):
        await self.session.unsubscribe_resource(AnyUrl(uri))
