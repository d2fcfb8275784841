import type { Runtime } from "../hardware/timer.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import type { HttpServerPlatform } from "../net/http-server.js";
import { readSetting, type SettingSource } from "../settings/read-setting.js";
import { SettingError } from "../settings/setting-error.js";
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
	const port = readSetting("http", options);
	if (port === undefined) {
		return undefined;
	}
	const token = readSetting("httpToken", options);
	if (token === "" && !isLoopback(platform.address)) {
		throw new SettingError("httpToken", `a device that listens on ${platform.address} needs a token`);
	}
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

const isLoopback = (address: string): boolean =>
	/^127(\.\d{1,3}){3}$/.test(address) || address === "::1" || address === "localhost";
