// The code in the sandbox: the gateway's own sources, and stand-ins for its listeners.
import { digest, ServerError, type Store } from "xs-mcp-manager/core";
import { cluster } from "../../src/cluster/plugin.js";
import { accessOf } from "../../src/config/access.js";
import { readConfiguration } from "../../src/config/configuration.js";
import { TokenStore } from "../../src/config/token-store.js";
import { DeviceConnection, type DeviceLink, NO_HELLO, parseMessage } from "../../src/devices/device-connection.js";
import { events } from "../../src/events/plugin.js";
import { webhooks } from "../../src/events/webhooks-plugin.js";
import { RunningGateway } from "../../src/gateway.js";
import type { Logger } from "../../src/log.js";
import { definePlugin } from "../../src/plugin.js";
import { openStores } from "../../src/store/open-stores.js";

export { makeSignInCode, takeSignInCode } from "../../src/config/token-store.js";
export { type Store, TokenStore };

/** No clients over HTTP. */
const clients = definePlugin({ name: "clients", setup: () => ({ endpoint: { clients: [] } }) });

/** The answer to a call: the result's text, or the code of the error. */
export interface Answer {
	readonly text?: string;
	readonly error?: string;
}

/** A device's connection to a gateway, at the gateway's end. */
export type DeviceSession = ReturnType<SimulatedGateway["connectDevice"]>;

type Log = (line: string) => void;

const DEFAULTS = readConfiguration({ flags: { stateFolder: "/state" } });

const settingsOf = (clusterName: string): typeof DEFAULTS => {
	const flags = { cluster: "nats://nats:4222", historyBytes: 0, auditBytes: 0, offlineWait: 2_000 };
	return { ...DEFAULTS, ...flags, clusterName };
};

/**
 * A gateway as its program makes it, without HTTP and sockets for devices: those are other programs' code, which no seed
 * decides. Calls begin where the request of a client has been read.
 */
export class SimulatedGateway {
	readonly running: RunningGateway;
	/** Of clients' requests in progress: the hash of their token, and what ends them. */
	readonly #requests = new Map<AbortController, string>();

	private constructor(running: RunningGateway) {
		this.running = running;
		// As the guard of requests does.
		running.on("tick", () => {
			for (const [request, sha256] of this.#requests) {
				if (running.tokens.current(sha256) === undefined) {
					request.abort();
				}
			}
		});
	}

	/** Starts as the program does. Rejects as that does. */
	static async start(name: string, say: Log): Promise<SimulatedGateway> {
		const line = (...parts: unknown[]): void =>
			say(parts.map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(" "));
		const log = { trace: () => {}, debug: () => {}, info: line, warn: line, error: line } as unknown as Logger;
		const settings = settingsOf(name);
		const { close: onClosed, ...stores } = await openStores(settings, line);
		const tokens = new TokenStore(stores.store);
		const plugins = [clients, events, cluster, webhooks];
		const running = await RunningGateway.setUp({ settings, log, tokens, onClosed, ...stores }, plugins);
		await running.start();
		return new SimulatedGateway(running);
	}

	/** Every known device. */
	get devices() {
		return this.running.servers.all;
	}

	/** The cluster as this gateway sees it. */
	get status() {
		return this.running.use(cluster)?.status;
	}

	get events() {
		return this.running.use(events).log.after(0);
	}

	/** Whether a token is valid here now. */
	admits(secret: string): boolean {
		return this.running.tokens.current(digest(secret)) !== undefined;
	}

	/** A device has connected. */
	connectDevice(deviceId: string, link: DeviceLink) {
		const identity = { id: deviceId, clientId: deviceId, transport: "websocket" };
		const connection = new DeviceConnection(identity, NO_HELLO, link);
		this.running.servers.connect(connection);
		return {
			received: (text: string): void => connection.receive(parseMessage(text)),
			ended: (): void => connection.ended("the device closed the connection"),
		};
	}

	/**
	 * Makes the call of a client, as the MCP server for clients does.
	 *
	 * @param alias of the device
	 * @returns "401" if the token is not valid, "gone" if it is removed meanwhile
	 */
	async call(secret: string, alias: string, args: object): Promise<Answer> {
		const token = this.running.tokens.verify("client", secret);
		if (token === undefined) {
			return { error: "401" };
		}
		const found = this.running.catalog(accessOf(token.name, token, [])).findTool(`${alias}__work`);
		if (found === undefined) {
			return { error: "unknown-tool" };
		}
		const request = new AbortController();
		this.#requests.set(request, token.sha256);
		try {
			const { signal } = request;
			const result = await found.server.call(found.tool, args, { principal: token.name, signal });
			const [content] = "content" in result ? (result.content as readonly { readonly text?: string }[]) : [];
			return signal.aborted ? { error: "gone" } : { text: content?.text ?? "" };
		} catch (error) {
			return { error: error instanceof ServerError ? error.code : (error as Error).message };
		} finally {
			this.#requests.delete(request);
		}
	}

	/** The ids of the devices that a client sees. */
	seenBy(secret: string): string[] {
		const token = this.running.tokens.current(digest(secret));
		return token ? this.running.catalog(accessOf(token.name, token, [])).servers.map(({ id }) => id) : [];
	}
}

/** Runs a command beside a gateway, which uses the same store. Rejects as the command does. */
export async function runCommand<T>(name: string, say: Log, run: (store: Store) => Promise<T>): Promise<T> {
	const { store, close } = await openStores(settingsOf(name), say);
	try {
		return await run(store);
	} finally {
		await close();
	}
}
