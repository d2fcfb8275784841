import { createHash } from "node:crypto";
import { ServerError, type Store } from "xs-mcp-manager/core";
import type { Cluster } from "../../../src/cluster/cluster.js";
import { cluster } from "../../../src/cluster/plugin.js";
import { readConfiguration } from "../../../src/config/configuration.js";
import type { Configuration } from "../../../src/config/settings.js";
import { takeSignInCode } from "../../../src/config/sign-in-code.js";
import type { TokenRecord } from "../../../src/config/token-record.js";
import { TokenStore } from "../../../src/config/token-store.js";
import { type Admission, DeviceGuard } from "../../../src/devices/admission.js";
import { DeviceConnection, type DeviceLink } from "../../../src/devices/device-connection.js";
import { NO_HELLO } from "../../../src/devices/hello.js";
import { parseMessage } from "../../../src/devices/messages.js";
import { events } from "../../../src/events/plugin.js";
import { webhooks } from "../../../src/events/webhooks-plugin.js";
import { RunningGateway } from "../../../src/gateway.js";
import type { Logger } from "../../../src/log/log.js";
import { accessOf } from "../../../src/oauth/request-guard.js";
import { definePlugin } from "../../../src/plugin.js";
import { openStores } from "../../../src/store/open-stores.js";

/** No clients over HTTP. */
const clients = definePlugin({ name: "clients", setup: () => ({ endpoint: { sessions: 0 } }) });

/** The settings that a machine's gateway and commands share. */
export interface Machine {
	readonly name: string;
	readonly log: (line: string) => void;
}

/** The answer to a call: the result's text, or the code of the error. */
export interface Answer {
	readonly text?: string;
	readonly error?: string;
}

/** A device's connection to a gateway, at the gateway's end. */
export interface DeviceSession {
	readonly received: (text: string) => void;
	/** The connection has ended. */
	readonly ended: () => void;
}

/**
 * A gateway as its program makes it, without HTTP and sockets for devices: those are other programs' code, which no seed
 * decides. Calls begin where the request of a client has been read.
 */
export class SimulatedGateway {
	readonly #gateway: RunningGateway;
	readonly #guard: DeviceGuard;
	readonly #devices = new Map<DeviceConnection, Admission>();
	/** Of clients' requests in progress: the hash of their token, and what ends them. */
	readonly #requests = new Map<AbortController, string>();
	readonly #cluster: Cluster | undefined;

	private constructor(gateway: RunningGateway) {
		this.#gateway = gateway;
		this.#guard = new DeviceGuard("127.0.0.1", gateway.tokens);
		this.#cluster = gateway.use(cluster);
		gateway.on("tick", () => this.#recheck());
	}

	/** Starts as the program does. Rejects as that does. */
	static async start(machine: Machine): Promise<SimulatedGateway> {
		const line = (...parts: unknown[]): void => machine.log(parts.map((each) => textOf(each)).join(" "));
		const log = { trace: () => {}, debug: () => {}, info: line, warn: line, error: line } as unknown as Logger;
		const settings = configurationOf(machine);
		const { close: onClosed, ...stores } = await openStores(settings, line);
		const tokens = new TokenStore(stores.store);
		const gateway = await RunningGateway.setUp({ settings, log, tokens, onClosed, ...stores }, [
			clients,
			events,
			cluster,
			webhooks,
		]);
		await gateway.start();
		return new SimulatedGateway(gateway);
	}

	/** Stops as the program does. */
	async close(): Promise<void> {
		await this.#gateway.close();
	}

	/** Every known device. */
	get devices() {
		return this.#gateway.servers.all;
	}

	/** The cluster as this gateway sees it; undefined while it joins. */
	get status() {
		return this.#cluster?.status;
	}

	/** The events that can be read: their places and data. */
	get events(): { readonly seq: number; readonly name: string; readonly data: Readonly<Record<string, unknown>> }[] {
		return this.#gateway
			.use(events)
			.log.after(0)
			.map(({ seq, name, data }) => ({ seq, name, data }));
	}

	/** Whether a token is valid here now. Does not read the file again, which would be an act of the gateway. */
	admits(secret: string): boolean {
		return this.#tokenOf(secret) !== undefined;
	}

	/** A device has connected. Returns undefined if it is not admitted. */
	connectDevice(deviceId: string, link: DeviceLink): DeviceSession | undefined {
		const admission = this.#guard.authenticate({ deviceId, secret: "" });
		if (typeof admission === "string") {
			return undefined;
		}
		const identity = { id: deviceId, clientId: deviceId, transport: "websocket" };
		const connection = new DeviceConnection(identity, NO_HELLO, link);
		this.#devices.set(connection, admission);
		this.#gateway.servers.connect(connection);
		return {
			received: (text) => connection.receive(parseMessage(text)),
			ended: () => {
				this.#devices.delete(connection);
				connection.ended("the device closed the connection");
			},
		};
	}

	/**
	 * Makes the call of a client, as the MCP server for clients does.
	 *
	 * @param alias of the device
	 * @returns "401" if the token is not valid, "gone" if it is removed meanwhile
	 */
	async call(secret: string, alias: string, args: object): Promise<Answer> {
		const token = this.#gateway.tokens.verify("client", secret);
		if (token === undefined) {
			return { error: "401" };
		}
		const catalog = this.#gateway.catalog(accessOf(token.name, token, []));
		const found = catalog.findTool(`${alias}__work`);
		if (found === undefined) {
			return { error: "unknown-tool" };
		}
		const request = new AbortController();
		this.#requests.set(request, token.sha256);
		try {
			const { signal } = request;
			const result = await found.server.call(found.tool, args, { principal: token.name, signal });
			const [content] = "content" in result ? (result.content as readonly { readonly text?: string }[]) : [];
			return request.signal.aborted ? { error: "gone" } : { text: content?.text ?? "" };
		} catch (error) {
			return { error: error instanceof ServerError ? error.code : (error as Error).message };
		} finally {
			this.#requests.delete(request);
		}
	}

	/** The aliases of the devices whose tools a client sees; undefined: the token is not valid. */
	seenBy(secret: string): string[] | undefined {
		const token = this.#tokenOf(secret);
		return token && this.#gateway.catalog(accessOf(token.name, token, [])).servers.map(({ id }) => id);
	}

	#tokenOf(secret: string): TokenRecord | undefined {
		return this.#gateway.tokens.current(createHash("sha256").update(secret).digest("hex"));
	}

	async edit(id: string, change: { alias?: string; tags?: string[] }): Promise<void> {
		if ((await this.#gateway.servers.edit(id, change)) === undefined) {
			throw new Error("unknown device");
		}
	}

	async forget(id: string): Promise<boolean> {
		return await this.#gateway.servers.forget(id);
	}

	/** Uses a code of `token code`. */
	async takeSignInCode(code: string): Promise<boolean> {
		return await takeSignInCode(this.#gateway.store, code);
	}

	/** As the listeners of devices and clients do every second. */
	#recheck(): void {
		const { tokens } = this.#gateway;
		for (const [request, sha256] of this.#requests) {
			if (tokens.current(sha256) === undefined) {
				request.abort();
			}
		}
		const stillAdmits = this.#guard.currentlyAdmits();
		for (const [connection, admission] of this.#devices) {
			if (!stillAdmits(admission)) {
				connection.close("the token is no longer valid");
			}
		}
	}
}

/** Runs a command beside a gateway, which uses the same store. Rejects as the command does. */
export async function runCommand<T>(machine: Machine, run: (store: Store) => Promise<T>): Promise<T> {
	const { store, close } = await openStores(configurationOf(machine), machine.log);
	try {
		return await run(store);
	} finally {
		await close();
	}
}

const DEFAULTS = readConfiguration({ flags: { stateFolder: "/state" } });

function configurationOf({ name }: Machine): Configuration {
	const flags = { cluster: "nats://nats:4222", clusterName: name, historyBytes: 0, auditBytes: 0, offlineWait: 2_000 };
	return { ...DEFAULTS, ...flags };
}

function textOf(part: unknown): string {
	return typeof part === "string" ? part : JSON.stringify(part);
}
