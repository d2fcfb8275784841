import type { DeviceLink } from "../../src/devices/device-connection.js";
import type { DeviceSession } from "./core.js";
import { Link, Path } from "./network.js";
import { SimulatedProcess, type World } from "./world.js";

/** A device's results, by method. */
const RESULTS: Readonly<Record<string, object>> = {
	initialize: {
		protocolVersion: "2024-11-05",
		capabilities: { tools: {} },
		serverInfo: { name: "simulated", version: "1.0.0" },
	},
	"tools/list": { tools: [{ name: "work", description: "Works for a while", inputSchema: { type: "object" } }] },
};

interface Request {
	readonly id?: number | string;
	readonly method: string;
	readonly params?: { readonly arguments?: { readonly n: number; readonly ms: number } };
}

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
	 * @param accept returns undefined if the gateway does not run any more
	 */
	connect(process: SimulatedProcess, accept: (link: DeviceLink) => DeviceSession | undefined): void {
		if (this.#link !== undefined) {
			this.leave(true);
		}
		this.isOn = true;
		this.gateway = process.name;
		let session: DeviceSession | undefined;
		const path = new Path(this.#world);
		const link: Link<string> = new Link(path, [
			{
				process: this.#process,
				received: (text) => link === this.#link && this.#received(text, link),
				ended: () => link === this.#link && this.#ended(),
			},
			{ process, received: (text) => session?.received(text), ended: () => session?.ended() },
		]);
		this.#link = link;
		this.#world.at(this.#world.random.between(...path.delay), process, () => {
			session = accept({ write: (text) => link.send(1, text), disconnect: () => link.close(1) });
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
		const link = this.#link;
		this.isOn = false;
		this.#link = undefined;
		this.gateway = undefined;
		this.#world.at(isSilent ? this.#world.random.between(1_000, 8_000) : 0, this.#process, () => link?.close(0));
	}

	#ended(): void {
		this.#link = undefined;
		this.gateway = undefined;
		this.#onLost();
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
		} else {
			answer(RESULTS[method] ?? {}, 1);
		}
	}
}
