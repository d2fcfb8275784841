import type { Clients } from "../app.js";
import { localAccess } from "../config/access.js";
import type { Channel } from "../mcp/client-request.js";
import { definePlugin, inGroup, setting, urls } from "../plugin.js";

/** Serves clients over HTTP, and devices on the same port. */
export const clients = definePlugin({
	name: "clients",
	setup: async (gateway): Promise<Clients> => {
		const { serveClients } = await import("../app.js");
		return serveClients(gateway);
	},
});

/** Connects to the endpoints of hosted agents, and keeps the connections. */
export const endpoints = definePlugin({
	name: "endpoints",
	settings: inGroup("Other MCP servers and hosted agents", {
		endpoints: setting({ ...urls(["ws:", "wss:"]), secret: true }, "MCP endpoints of hosted agents to connect to", []),
	}),
	setup: async (gateway): Promise<void> => {
		const { log, settings } = gateway;
		if (settings.endpoints.length === 0) {
			return;
		}
		const [{ connectEndpoint }, { openClient }] = await Promise.all([
			import("./endpoint.js"),
			import("../mcp/client.js"),
		]);
		gateway.on("started", () => {
			for (const url of settings.endpoints) {
				const principal = `endpoint ${new URL(url).host}`;
				// Hosted agents are elsewhere.
				const access = { ...localAccess(settings.userTools), principal, microphone: false };
				const onChange = (text: string): void => log.info(text);
				const open = (channel: Channel) => openClient(gateway, gateway.catalog(access), channel);
				gateway.on("close", connectEndpoint(url, open, onChange));
			}
		});
	},
});
