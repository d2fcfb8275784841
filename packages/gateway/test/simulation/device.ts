import type { DeviceLink } from "../../src/devices/device-connection.js";
import type { DeviceSession } from "./core.js";
import { Link, Path } from "./network.js";
import { SimulatedProcess, type World } from "./world.js";

/** A device's result of `initialize`. */
const INITIALIZED = {
	protocolVersion: "2024-11-05",
	capabilities: { tools: {} },
	serverInfo: { name: "simulated", version: "1.0.0" },
};

const TOOLS = [
	{
		name: "work",
		description: "Works for a while",
		inputSchema: { type: "object", properties: { n: { type: "integer" }, ms: { type: "integer" } } },
	},
];

interface Request {
	readonly id?: number | string;
	readonly method?: string;
	readonly params?: { readonly arguments?: { readonly n: number; readonly ms: number } };
}

/** How a device reaches a gateway: undefined if that does not accept it. */
export type Accept = (device: string, link: DeviceLink) => DeviceSession | undefined;

/** A device: it answers MCP, and connects again when it has lost its gateway. */
export class SimulatedDevice {
	readonly id: string;
	/** How often each call was carried out, by its number. */
	readonly done = new Map<number, number>();
	/** The gateway that the device believes it is connected to. */
	gateway: string | undefined;
	/** Whether it wants a gateway. */
	isOn = false;
	readonly #world: World;
	readonly #process: SimulatedProcess;
	readonly #onLost: () => void;
	#link: Link<string> | undefined;
	#connections = 0;

	/** @param onLost its connection has ended, and it did not end it */
	constructor(id: string, world: World, onLost: () => void) {
		this.id = id;
		this.#world = world;
		this.#process = new SimulatedProcess(id, new Path(world));
		this.#onLost = onLost;
	}

	/**
	 * Opens a connection. One that is open stays half open: the device has forgotten it, and its gateway does not know that.
	 *
	 * @param process of the gateway
	 */
	connect(process: SimulatedProcess, accept: Accept): void {
		this.#connections += 1;
		const connection = this.#connections;
		this.isOn = true;
		this.gateway = process.name;
		let session: DeviceSession | undefined;
		const path = new Path(this.#world);
		const link: Link<string> = new Link(path, [
			{
				process: this.#process,
				received: (text) => connection === this.#connections && this.#received(text, link),
				ended: () => this.#ended(connection),
			},
			{ process, received: (text) => session?.received(text), ended: () => session?.ended() },
		]);
		this.#link = link;
		this.#world.at(this.#world.random.between(...path.delay), process, () => {
			session = accept(this.id, { write: (text) => link.send(1, text), disconnect: () => link.close(1) });
			if (session === undefined) {
				link.close(1);
			}
		});
	}

	/** Reports an event, if it is connected. */
	report(n: number): void {
		const payload = { jsonrpc: "2.0", method: "notifications/event", params: { name: "counted", data: { n } } };
		this.#link?.send(0, JSON.stringify({ type: "mcp", payload }));
	}

	/** Whether its connection with this gateway is open at both ends. */
	isWith(gateway: string): boolean {
		return this.gateway === gateway && this.#link?.isOpen === true;
	}

	/** @param isSilent the gateway notices only after a while, as of a device without power */
	leave(isSilent: boolean): void {
		this.isOn = false;
		this.#abandon(isSilent);
	}

	/** Goes on without the connection that it has, and does not close it. */
	#abandon(isSilent: boolean): void {
		const link = this.#link;
		this.#connections += 1;
		this.#link = undefined;
		this.gateway = undefined;
		this.#world.at(isSilent ? this.#world.random.between(1_000, 8_000) : 0, this.#process, () => link?.close(0));
	}

	/** Forgets its connection before it opens another one. */
	restart(): void {
		if (this.#link !== undefined) {
			this.#abandon(true);
		}
	}

	#ended(connection: number): void {
		if (connection === this.#connections) {
			this.#link = undefined;
			this.gateway = undefined;
			this.#onLost();
		}
	}

	#received(text: string, link: Link<string>): void {
		const { type, payload } = JSON.parse(text) as { type: string; payload: Request };
		if (type !== "mcp" || payload.id === undefined) {
			return;
		}
		const { id, method, params } = payload;
		const answer = (result: object, delay: number): void => {
			const message = JSON.stringify({ type: "mcp", payload: { jsonrpc: "2.0", id, result } });
			this.#world.at(delay, this.#process, () => link.send(0, message));
		};
		if (method === "tools/call") {
			const { n, ms } = params?.arguments ?? { n: -1, ms: 0 };
			this.done.set(n, (this.done.get(n) ?? 0) + 1);
			answer({ content: [{ type: "text", text: `done ${n}` }] }, ms);
		} else if (method === "initialize") {
			answer(INITIALIZED, 1);
		} else if (method === "tools/list") {
			answer({ tools: TOOLS }, 1);
		} else {
			answer({}, 0);
		}
	}
}
