import { join } from "node:path";
import type { McpManager } from "xs-mcp-manager";
import { definePlugin, FILE, inGroup, oneOf, setting } from "../plugin.js";

/** Open connections to configured servers; a further one closes the longest idle. */
const MAX_CONNECTIONS = 100;

/** Milliseconds that the start waits for configured servers. */
const SERVERS_TIME = 3_000;

/** Connects to the configured servers, and offers the management tools. Slow servers are waited for in the background. */
export const management = definePlugin({
	name: "management",
	settings: inGroup("Other MCP servers and hosted agents", {
		serversFile: setting(FILE, "File of the servers (mcp-servers.json)"),
		managementTools: setting(
			oneOf("clients", ["off", "local", "all"]),
			"Who gets the management tools (off, local, all). Such a client can start any command on this machine",
			"off",
		),
	}),
	setup: async (gateway): Promise<McpManager | undefined> => {
		const { settings, log } = gateway;
		const { serversFile: file, managementTools } = settings;
		if (file === undefined && managementTools === "off") {
			return undefined;
		}
		const [{ McpManager }, { managementToolsFor }] = await Promise.all([
			import("xs-mcp-manager"),
			import("./management.js"),
		]);
		const signIns = { folder: signInFolder(settings.stateFolder), how: SIGN_IN_COMMAND };
		const manager = new McpManager({
			file,
			registry: gateway.servers,
			options: { maxConnections: MAX_CONNECTIONS, signIns },
		});
		manager.on("warning", (message) => log.warn(message));
		// Each outage is logged once: attempts to connect again are details.
		const down = new Set<string>();
		manager.on("status", (server, status, reason) => {
			const level = status === "connecting" || down.has(server) ? "debug" : "info";
			if (status === "error") {
				down.add(server);
			} else if (status !== "connecting") {
				down.delete(server);
			}
			log[status === "connected" ? "info" : level]({ server, ...(reason && { reason }) }, `server ${status}`);
		});
		manager.on("debug", (server, line) => log.debug({ server }, line));
		gateway.tools.add((access) => managementToolsFor(access, manager, managementTools));
		await manager.initialize(SERVERS_TIME);
		return manager;
	},
});

/** Command with which a person signs in at an upstream server. */
const SIGN_IN_COMMAND = "xs-mcp-gateway servers login";

/** Returns the folder of sign-ins at upstream servers. */
export function signInFolder(stateFolder: string): string {
	return join(stateFolder, "sign-ins");
}
