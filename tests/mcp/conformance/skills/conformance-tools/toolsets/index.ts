import { z } from "zod";
import { Tool } from "@agent/tools";

// One red pixel.
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

// An empty sound.
const SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

const tool = (name: string, description: string, execute: () => unknown) =>
  Tool.define(name, { description, parameters: z.object({}), execute: async () => execute() });

const result = (output: string, ...attachments: unknown[]) => ({
  title: output,
  metadata: {},
  output,
  attachments,
});

const picture = { mime: "image/png", data: PICTURE };
const sound = { mime: "audio/wav", url: `data:audio/wav;base64,${SOUND}` };
const resource = (uri: string, mime: string, text: string) => ({ uri, mime, text });

export const ConformanceToolset = [
  tool("test_simple_text", "Returns a text.", () => result("This is a simple text response for testing.")),
  tool("test_error_handling", "Fails.", () => {
    throw new Error("This tool intentionally returns an error for testing");
  }),
  tool("test_image_content", "Returns a picture.", () => result("A picture.", picture)),
  tool("test_audio_content", "Returns a sound.", () => result("A sound.", sound)),
  tool("test_embedded_resource", "Returns a resource.", () =>
    result(
      "A resource.",
      resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ),
  ),
  tool("test_multiple_content_types", "Returns a text, a picture and a resource.", () =>
    result(
      "Multiple content types test:",
      picture,
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
  ),
  tool("test_logging_tool", "Has something to log.", () => result("Done.")),
  tool("test_streaming_elicitation", "Would ask the user, if it could.", () => result("Done without asking.")),
];
