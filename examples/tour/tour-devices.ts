import { once } from "node:events";
import type { Client } from "@modelcontextprotocol/client";
import { GatewayClient } from "../../gateway/src/cli/gateway-client.js";
import type { Server, Session } from "../../gateway/src/index.js";
import { bundleDevicePage } from "../../scripts/page-bundles.js";
import { ProgramError } from "../../scripts/program.js";
import { type EngineChoice, type SimulatedControls, VirtualDevice } from "../../virtual-device/src/index.js";
import { DevicePage } from "../../virtual-device/src/page/device-page.js";
import type { Transport } from "./options.js";
import { event, heading, line, paint } from "./output.js";
import type { TourGateway } from "./start-gateway.js";
import { showEvents, tour } from "./tour.js";

/** Milliseconds for a virtual device to come online. */
const CONNECT_TIMEOUT = 20_000;

/** The same at every start, so that clients find the tools they know. */
const MAC_ADDRESSES: Readonly<Record<Transport, string>> = {
	websocket: "02:00:00:00:00:01",
	mqtt: "02:00:00:00:00:02",
};

interface TourDevicesOptions {
	readonly engine: EngineChoice;
	/** A bundle for the engine. */
	readonly firmware: string;
	readonly gateway: TourGateway;
	/** Whether the devices' logs are shown. */
	readonly verbose: boolean;
}

/** The virtual devices of the tour, and what is seen of them through the gateway. */
export class TourDevices {
	/** Whether an engine ended by itself. */
	failed = false;
	readonly #options: TourDevicesOptions;
	readonly #virtuals: VirtualDevice[] = [];
	readonly #pages: DevicePage[] = [];
	readonly #end = new AbortController();

	constructor(options: TourDevicesOptions) {
		this.#options = options;
	}

	/** Starts a device, and takes the tour with it. Rejects when it is not online in time. */
	async show(transport: Transport): Promise<void> {
		const { engine, gateway } = this.#options;
		const virtual = await this.#start(transport);
		const { server, session } = await this.#online(MAC_ADDRESSES[transport]);
		heading(`xs-mcp over ${transport}`);
		line(`engine  ${paint("green", virtual.engineName)}`);
		if (engine.whyNotXs !== undefined) {
			line(paint("yellow", `This is not XS: ${engine.whyNotXs.split("\n")[0]}`));
		}
		line(`gateway ${gateway.deviceUrls[transport]} for devices, ${gateway.clientUrl} for clients`);
		showEvents(session, this.#end.signal);
		const client = await this.connectClient(server.alias);
		try {
			await tour(client, server, session);
		} finally {
			await client.close();
		}
	}

	/** Tells of devices that come online again. */
	follow(): void {
		this.#servers.on("online", ({ alias, session }) => {
			event(`device ${alias} is online again`);
			if (session !== undefined) {
				showEvents(session, this.#end.signal);
			}
		});
	}

	/** The button and the sensors of the first device. */
	get controls(): SimulatedControls {
		const [first] = this.#virtuals;
		if (first === undefined) {
			throw new TypeError("no device started");
		}
		return first;
	}

	/** Serves a page for each device. @returns their addresses */
	async openPages(): Promise<string[]> {
		const folder = await bundleDevicePage();
		for (const virtual of this.#virtuals) {
			this.#pages.push(await DevicePage.open(virtual, folder, 0));
		}
		return this.#pages.map(({ url }) => url);
	}

	/** An MCP client of one device, or of all. */
	async connectClient(alias?: string): Promise<Client> {
		return await new GatewayClient(this.#options.gateway.clientUrl).connect(alias);
	}

	stop(): void {
		this.#end.abort();
		for (const page of this.#pages) {
			page.close();
		}
		for (const virtual of this.#virtuals) {
			virtual.stop();
		}
	}

	get #servers() {
		return this.#options.gateway.program.gateway.servers;
	}

	async #start(transport: Transport): Promise<VirtualDevice> {
		const { engine, firmware, gateway, verbose } = this.#options;
		const virtual = new VirtualDevice({
			firmware,
			startEngine: (onTrace) => engine.start({ onTrace }),
			config: { backend: gateway.deviceUrls[transport] },
			macAddress: MAC_ADDRESSES[transport],
			watchdog: true,
		});
		this.#virtuals.push(virtual);
		virtual.on("trace", (text) => verbose && line(paint("dim", `device: ${text}`)));
		virtual.on("note", (text) => event(text));
		virtual.on("exit", ({ code, detail }) => {
			this.failed = true;
			line(paint("red", `the device's engine ended: ${code}: ${detail}`));
		});
		await virtual.start();
		return virtual;
	}

	async #online(id: string): Promise<{ server: Server; session: Session }> {
		const signal = AbortSignal.timeout(CONNECT_TIMEOUT);
		for (;;) {
			const server = this.#servers.find(id);
			if (server?.online && server.session !== undefined) {
				return { server, session: server.session };
			}
			await once(this.#servers, "online", { signal }).catch(() => {
				throw new ProgramError(`no device came online within ${CONNECT_TIMEOUT / 1000} s`);
			});
		}
	}
}
