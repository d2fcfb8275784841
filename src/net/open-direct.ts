import type { Settings } from "../hardware/hardware.js";
import type { TimerModule } from "../hardware/timer.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import { ProtocolError } from "../protocols/protocol-error.js";
import { readSetting } from "../settings/read-setting.js";
import { hostnameOf } from "../text/hostname.js";
import type { HttpServerPlatform } from "./http-server.js";
import { McpEndpoint } from "./mcp-endpoint.js";

/** What the application hands to a way to serve clients directly. */
export interface DirectOptions {
	/** What the firmware was built with. */
	readonly built: Readonly<Record<string, unknown>>;
	readonly settings: Settings | undefined;
	/** The device's MAC address, lower case, with colons. */
	readonly deviceId: string;
	/** Bytes that a message may have, and that may wait to be sent. */
	readonly maxMessageBytes: number;
	readonly maxQueuedBytes: number;
	readonly timer: TimerModule;
	readonly log: (message: string) => void;
}

/** Clients on the network are served directly. */
export interface Direct {
	serve<Context>(server: McpServer<Context>): { open(): void; close(): void };
}

/**
 * Serves MCP clients on the network, without a gateway between, if the setting `http` names a port.
 *
 * A device that listens on more than loopback needs a token: the setting `httpToken`.
 *
 * @returns undefined if the setting is not there
 * @throws ProtocolError "bad-config" that names the setting
 */
export function openDirect(platform: HttpServerPlatform, options: DirectOptions): Direct | undefined {
	const { built, settings, deviceId, maxMessageBytes, maxQueuedBytes, timer, log } = options;
	const setting = readSetting("http", built, settings) ?? "";
	if (setting === "") {
		return undefined;
	}
	const port = readPort(setting);
	const token = readSetting("httpToken", built, settings) ?? "";
	if (typeof token !== "string" || /[^\x21-\x7e]/.test(token)) {
		throw new ProtocolError("bad-config", "httpToken: expected printable ASCII characters without spaces");
	}
	if (token === "" && !isLoopback(platform.address)) {
		throw new ProtocolError("bad-config", `httpToken: a device that listens on ${platform.address} needs a token`);
	}
	// Two requests are served at a time, beside the backend's messages.
	const rules = { token, hostname: hostnameOf(deviceId), maxBytes: Math.floor(maxMessageBytes / 2) };
	return {
		serve: (server) =>
			new McpEndpoint(server, {
				...{ platform, port, rules, timer, log },
				maxQueuedBytes: Math.floor(maxQueuedBytes / 2),
			}),
	};
}

/** On the command line of mcconfig every value is a string. */
function readPort(setting: unknown): number {
	const port = Number(setting);
	if (!Number.isInteger(port) || port < 1 || port > 65_535) {
		const got = JSON.stringify(setting);
		throw new ProtocolError("bad-config", `http: expected a port from 1 to 65535, got ${got}`);
	}
	return port;
}

function isLoopback(address: string): boolean {
	return /^127(\.\d{1,3}){3}$/.test(address) || address === "::1" || address === "localhost";
}
