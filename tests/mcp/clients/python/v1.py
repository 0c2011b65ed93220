"""The official Python client, first generation (`mcp` 1.x), seen through one small face: everything is JSON."""

from contextlib import AsyncExitStack

import mcp.types as types
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl, ConfigDict


class Anything(types.Result):
    """Takes any result as it comes."""

    model_config = ConfigDict(extra="allow")


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Client:
    era = "legacy"
    Error = McpError

    def __init__(self, settings):
        self.settings = settings
        self.notifications = []

    async def __aenter__(self):
        self.stack = AsyncExitStack()
        server = self.settings["server"]
        if "url" in server:
            transport = streamablehttp_client(server["url"])
        else:
            transport = stdio_client(StdioServerParameters(**server), errlog=self.settings["errlog"])
        read, write, *_ = await self.stack.enter_async_context(transport)
        session = ClientSession(read, write, message_handler=self.heard)
        self.session = await self.stack.enter_async_context(session)
        answer = plain(await self.session.initialize())
        self.version = answer["protocolVersion"]
        self.server = answer["serverInfo"]
        self.capabilities = answer["capabilities"]
        self.instructions = answer.get("instructions")
        return self

    async def __aexit__(self, *error):
        await self.stack.__aexit__(*error)

    async def heard(self, message):
        if isinstance(message, types.ServerNotification):
            self.notifications.append(plain(message.root))

    async def request(self, method, params):
        request = types.Request[dict, str](method=method, params=params)
        return plain(await self.session.send_request(request, Anything))

    async def tools(self):
        return plain(await self.session.list_tools())

    async def call(self, name, arguments, progress=None, level=None):
        return plain(await self.session.call_tool(name, arguments, progress_callback=progress))

    async def cancel_last(self):
        """Cancels the request sent last: this client leaves that to its user."""
        number = self.session._request_id - 1
        params = types.CancelledNotificationParams(requestId=number, reason="enough")
        notification = types.CancelledNotification(method="notifications/cancelled", params=params)
        await self.session.send_notification(types.ClientNotification(notification))

    async def resources(self):
        return plain(await self.session.list_resources())

    async def templates(self):
        return plain(await self.session.list_resource_templates())

    async def read(self, uri):
        return await self.request("resources/read", {"uri": uri})

    async def prompts(self):
        return plain(await self.session.list_prompts())

    async def prompt(self, name, arguments=None):
        return plain(await self.session.get_prompt(name, arguments))

    async def complete(self, template, name, value, context=None):
        reference = types.ResourceTemplateReference(type="ref/resource", uri=template)
        return plain(await self.session.complete(reference, {"name": name, "value": value}, context))

    async def ping(self):
        await self.session.send_ping()

    async def set_level(self, level):
        await self.session.set_logging_level(level)

    async def listen(self, uri):
        await self.session.subscribe_resource(AnyUrl(uri))

    async def unlisten(self, uri):
        await self.session.unsubscribe_resource(AnyUrl(uri))
