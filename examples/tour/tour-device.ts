import { once } from "node:events";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { portableNames } from "../../gateway/src/catalog/names.js";
import type { Server, Session } from "../../gateway/src/index.js";
import { bundleDevicePage } from "../../toolchain/page-bundles.js";
import { ProgramError } from "../../toolchain/program.js";
import { type BoardProfile, type EngineChoice, VirtualDevice } from "../../virtual-device/src/index.js";
import { DevicePage } from "../../virtual-device/src/page/device-page.js";
import { event, heading, line, paint } from "../../virtual-device/src/prompt/output.js";
import type { OwnNames } from "../../virtual-device/src/prompt/tool-names.js";
import type { TourGateway } from "./start-gateway.js";
import { showEvents, tour } from "./tour.js";

/** Milliseconds for a virtual device to come online. */
const CONNECT_TIMEOUT = 20_000;

/** The same at every start, so that clients find the tools they know. */
const MAC_ADDRESS = "02:00:00:00:00:01";

/** The firmware's stack after its error: functions of the bundle, without lines. */
const FIRMWARE_STACK = /\n +at .*$/s;

interface TourDeviceOptions {
	readonly engine: EngineChoice;
	/** A bundle for the engine. */
	readonly firmware: string;
	/** Of a device of one's own. Default: one that has everything. */
	readonly board?: BoardProfile | undefined;
	readonly gateway: TourGateway;
	/** Whether the device's log is shown. */
	readonly verbose?: boolean | undefined;
}

/** The virtual device of the tour, and what is seen of it through the gateway. */
export class TourDevice {
	/** Whether the engine ended by itself. */
	failed = false;
	readonly #options: TourDeviceOptions;
	readonly virtual: VirtualDevice;
	#page: DevicePage | undefined;
	readonly #end = new AbortController();

	constructor(options: TourDeviceOptions) {
		const { engine, firmware, board, gateway, verbose } = options;
		this.#options = options;
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
		const { engine, gateway } = this.#options;
		await this.virtual.start().catch((error: Error) => {
			throw new ProgramError(error.message.replace(FIRMWARE_STACK, ""), { cause: error });
		});
		this.virtual.on("exit", ({ code, detail }) => {
			this.failed = true;
			line(paint("red", `the device's engine ended: ${code}: ${detail}`));
		});
		const { server, session } = await this.#online();
		heading("A device, a gateway and an MCP client, on this computer");
		line(`device   ${server.alias} on ${paint("green", this.virtual.engineName)}`);
		if (engine.whyNotXs !== undefined) {
			line(paint("yellow", `This is not XS: ${engine.whyNotXs.split("\n")[0]}`));
		}
		line(`gateway  ${gateway.deviceUrl} for devices, ${gateway.clientUrl} for clients`);
		showEvents(server.alias, session, this.#end.signal);
		const client = await this.connectClient(server.alias);
		try {
			await tour(client, session);
		} finally {
			await client.close();
		}
	}

	/** Reports when the device comes online again. */
	follow(): void {
		this.#servers.on("online", ({ alias, session }) => {
			event(`device ${alias} is online again`);
			if (session !== undefined) {
				showEvents(alias, session, this.#end.signal);
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
		this.#page = await DevicePage.open(this.virtual, await bundleDevicePage(), 0);
		return this.#page.url;
	}

	/** An MCP client of one device, or of all. */
	async connectClient(alias?: string): Promise<Client> {
		const path = alias === undefined ? "" : `/${alias}`;
		const url = new URL(`${this.#options.gateway.clientUrl}${path}?catalog=full`);
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
		return this.#options.gateway.program.gateway.servers;
	}

	async #online(): Promise<{ server: Server; session: Session }> {
		const signal = AbortSignal.timeout(CONNECT_TIMEOUT);
		for (;;) {
			const server = this.#servers.find(MAC_ADDRESS);
			if (server?.online && server.session !== undefined) {
				return { server, session: server.session };
			}
			await once(this.#servers, "online", { signal }).catch(() => {
				throw new ProgramError(`no device came online within ${CONNECT_TIMEOUT / 1000} s`);
			});
		}
	}
}
