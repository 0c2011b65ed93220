// The shared worker: holds the event stream for all tabs, and lives as long as any of them.

import { Hub } from "./lib/hub.js";

const hub = new Hub();
/** @type {any} */ (globalThis).onconnect = (/** @type {MessageEvent} */ event) => {
  const port = event.ports[0];
  if (port) hub.attach(port);
};
