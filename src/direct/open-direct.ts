import type { Runtime } from "../hardware/timer.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import type { HttpServerPlatform } from "../net/http-server.js";
import { readDirectConfig } from "../settings/config.js";
import type { SettingSource } from "../settings/read-setting.js";
import { hostnameOf } from "../text/hostname.js";
import { McpEndpoint } from "./mcp-endpoint.js";

/** The dependencies of serving clients directly. */
export interface DirectOptions extends Runtime, SettingSource {
	/** The device's MAC address, lower case, with colons. */
	readonly deviceId: string;
	/** Bytes that a message may have, and that may wait to be sent. */
	readonly maxMessageBytes: number;
	readonly maxQueuedBytes: number;
}

/** Clients on the network are served directly. */
export interface Direct {
	serve<Context>(server: McpServer<Context>): { online(): void; offline(): void };
}

/**
 * Serves MCP clients on the network without a gateway, if the setting `http` names a port.
 *
 * A device that listens on more than loopback needs a token: the setting `httpToken`.
 *
 * @returns undefined if it is not set
 * @throws SettingError
 */
export const openDirect = (platform: HttpServerPlatform, options: DirectOptions): Direct | undefined => {
	const { deviceId, maxMessageBytes, maxQueuedBytes, timer, log } = options;
	const config = readDirectConfig(options, platform.address);
	if (config === undefined) {
		return undefined;
	}
	const { port, token } = config;
	// Two requests are served at a time, beside the backend's messages.
	const rules = { token, hostname: hostnameOf(deviceId), maxBytes: Math.floor(maxMessageBytes / 2) };
	return {
		serve: (server) =>
			new McpEndpoint(server, {
				platform,
				port,
				rules,
				timer,
				log,
				maxQueuedBytes: Math.floor(maxQueuedBytes / 2),
			}),
	};
};
