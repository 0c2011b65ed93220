// The shared worker: it lives as long as any tab of this server does, and holds the stream of events for all of them.

import { Hub } from "./lib/hub.js";

const hub = new Hub();
/** @type {any} */ (globalThis).onconnect = (/** @type {MessageEvent} */ event) => {
  const port = event.ports[0];
  if (port) hub.attach(port);
};
