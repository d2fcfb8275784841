import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { bundleDevicePage } from "xs-mcp/build/page-bundles";
import { ProgramError } from "xs-mcp/build/program";
import type { Connection, Server } from "xs-mcp-gateway";
import { portableNames } from "xs-mcp-gateway/names";
import { type BoardProfile, type EngineChoice, VirtualDevice } from "xs-mcp-virtual-device";
import { type DevicePage, openDevicePage } from "xs-mcp-virtual-device/device-page";
import { event, heading, line, paint } from "xs-mcp-virtual-device/prompt-output";
import { nameOf, type OwnNames, showCall } from "xs-mcp-virtual-device/tool-names";
import type { TourGateway } from "./start-gateway.js";

/** Milliseconds for a virtual device to come online. */
const CONNECT_TIMEOUT = 20_000;

/** The same at every start, so that clients find the tools they know. */
const MAC_ADDRESS = "02:00:00:00:00:01";

/** The firmware's stack after its error: functions of the bundle, without lines. */
const FIRMWARE_STACK = /\n +at .*$/s;

/** Milliseconds between the assistant's first and last word, so that the states can be seen to change. */
const SPEECH = 200;

/** Milliseconds that a device may take to be idle again: one with a codec first plays what it has. */
const IDLE_TIME = 10_000;

/** Tools that the tour names; the command `list` shows all. */
const NAMED_TOOLS = 3;

/** The virtual device of the tour, and what is seen of it through the gateway. */
export class TourDevice {
	/** Whether the engine ended by itself. */
	failed = false;
	readonly #gateway: TourGateway;
	readonly #engine: EngineChoice;
	readonly virtual: VirtualDevice;
	#page: DevicePage | undefined;
	readonly #end = new AbortController();

	/**
	 * @param firmware a bundle for the engine
	 * @param board profile of a custom device; default: a board with every part
	 * @param verbose whether the device's log is shown
	 */
	constructor(gateway: TourGateway, engine: EngineChoice, firmware: string, board?: BoardProfile, verbose = false) {
		this.#gateway = gateway;
		this.#engine = engine;
		this.virtual = new VirtualDevice({
			firmware,
			startEngine: (onTrace) => engine.start({ onTrace }),
			config: { backend: gateway.deviceUrl },
			macAddress: MAC_ADDRESS,
			watchdog: true,
			...(board && { board }),
		});
		this.virtual.on("trace", (text) => verbose && line(paint("dim", `device: ${text}`)));
		this.virtual.on("note", (text) => event(text));
	}

	/** Starts the device, and takes the tour with it. Rejects with ProgramError if it fails to start, or is not online in time. */
	async show(): Promise<void> {
		await this.virtual.start().catch((error: Error) => {
			throw new ProgramError(error.message.replace(FIRMWARE_STACK, ""), { cause: error });
		});
		this.virtual.on("exit", ({ code, detail }) => {
			this.failed = true;
			line(paint("red", `the device's engine ended: ${code}: ${detail}`));
		});
		const { server, connection } = await this.#online();
		heading("A device, a gateway and an MCP client, on this computer");
		line(`device   ${server.alias} on ${paint("green", this.virtual.engineName)}`);
		if (this.#engine.whyNotXs !== undefined) {
			line(paint("yellow", `This is not XS: ${this.#engine.whyNotXs.split("\n")[0]}`));
		}
		line(`gateway  ${this.#gateway.deviceUrl} for devices, ${this.#gateway.clientUrl} for clients`);
		showEvents(server.alias, connection, this.#end.signal);
		const client = await this.connectClient(server.alias);
		try {
			await tour(client, connection);
		} finally {
			await client.close();
		}
	}

	/** Reports when the device comes online again. */
	follow(): void {
		this.#servers.on("online", ({ alias, connection }) => {
			event(`device ${alias} is online again`);
			if (connection !== undefined) {
				showEvents(alias, connection, this.#end.signal);
			}
		});
	}

	/** Its own names of its tools, by the names that clients list. */
	get toolNames(): OwnNames {
		const server = this.#servers.find(MAC_ADDRESS);
		return portableNames(server?.tools.map(({ name }) => name) ?? [], server?.alias);
	}

	/** Serves the device's page. @returns its address */
	async openPage(): Promise<string> {
		const { console: consoleUrl } = this.#gateway.gateway.urls;
		this.#page = await openDevicePage(this.virtual, await bundleDevicePage(), undefined, consoleUrl);
		return this.#page.url;
	}

	/** An MCP client of one device, or of all. */
	async connectClient(alias?: string): Promise<Client> {
		const path = alias === undefined ? "" : `/${alias}`;
		const url = new URL(`${this.#gateway.clientUrl}${path}?catalog=full`);
		const client = new Client({ name: "tour", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
		await client.connect(new StreamableHTTPClientTransport(url));
		return client;
	}

	stop(): void {
		this.#end.abort();
		this.#page?.close();
		this.virtual.stop();
	}

	get #servers() {
		return this.#gateway.gateway.servers;
	}

	async #online(): Promise<{ server: Server; connection: Connection }> {
		const signal = AbortSignal.timeout(CONNECT_TIMEOUT);
		for (;;) {
			const server = this.#servers.find(MAC_ADDRESS);
			if (server?.online && server.connection !== undefined) {
				return { server, connection: server.connection };
			}
			await once(this.#servers, "online", { signal }).catch(() => {
				throw new ProgramError(`no device came online within ${CONNECT_TIMEOUT / 1000} s`);
			});
		}
	}
}

/** Shows an MCP client's use of a device step by step: list, calls, and messages of the device. */
async function tour(client: Client, connection: Connection): Promise<void> {
	const { tools } = await client.listTools();
	line(`client   the official SDK's, MCP ${client.getNegotiatedProtocolVersion() ?? ""}`);
	const names = tools.slice(0, NAMED_TOOLS).map(({ name }) => paint("green", name));
	line(`tools    ${names.join(", ")} and ${tools.length - names.length} more`);
	heading("The client calls the device's tools");
	const status = await nameOf(client, /get_device_status$/);
	// A custom device may have no speaker.
	const volume = tools.find(({ name }) => /set_volume$/.test(name))?.name;
	if (volume !== undefined) {
		await showCall(client, volume, { volume: 30 });
	}
	await showCall(client, status, {});
	if (volume !== undefined) {
		line(paint("dim", "A wrong call, on purpose: the error says what is wrong."));
		await showCall(client, volume, { volume: 101 });
	}
	heading("The device reports its state: here the backend speaks through it");
	await speak(connection);
}

async function speak(connection: Connection): Promise<void> {
	const states: string[] = [];
	const isOver = new AbortController();
	const seen = (method: string, params: Readonly<Record<string, unknown>>): void => {
		if (method === "notifications/state_changed" && states.push(`${params.oldState} -> ${params.newState}`) === 2) {
			isOver.abort();
		}
	};
	connection.events.on("notification", seen);
	connection.send({ type: "tts", state: "start" });
	await delay(SPEECH);
	connection.send({ type: "tts", state: "stop" });
	await delay(IDLE_TIME, undefined, { signal: isOver.signal }).catch(() => {});
	connection.events.off("notification", seen);
	if (states.length < 2) {
		throw new Error(`expected two state changes, saw ${states.join(", ") || "none"}`);
	}
}

/** Shows what the device says by itself, from now on until the end. */
function showEvents(alias: string, connection: Connection, end: AbortSignal): void {
	connection.events.on("notification", (method, params) => {
		// The device's log: --verbose shows it.
		if (method !== "notifications/message") {
			event(`${method} ${JSON.stringify(params)}`);
		}
	});
	connection.events.once("closed", (reason) => end.aborted || event(`device ${alias} is offline: ${reason}`));
}
