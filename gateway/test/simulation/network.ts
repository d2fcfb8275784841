import type { Wire, WireListener } from "./core/nats.js";
import type { SimulatedProcess, World } from "./world.js";

/** How the network between two places behaves. */
export interface Path {
	/** Milliseconds that a packet takes. */
	delay: readonly [low: number, high: number];
	/** "held": data is delayed, and neither end notices. "cut": connections end, and new ones are refused. */
	state: "up" | "held" | "cut";
}

/** The receiver of the other end's bytes or messages. */
interface End<T> {
	readonly process: SimulatedProcess | undefined;
	received: (message: T) => void;
	/** The connection has ended: the other end closed it, or the network did. */
	ended: () => void;
}

/** A connection: data arrives at the other end in order, after a delay, unless the path is disturbed. */
export class Link<T> {
	readonly #world: World;
	readonly #path: Path;
	readonly #ends: readonly [End<T>, End<T>];
	/** When the last message to each end arrives. */
	readonly #latest: [number, number] = [0, 0];
	readonly #held: { readonly to: 0 | 1; readonly run: () => void }[] = [];
	readonly #open: [boolean, boolean] = [true, true];
	readonly #network: Network;

	constructor(network: Network, path: Path, ends: readonly [End<T>, End<T>]) {
		this.#network = network;
		this.#world = network.world;
		this.#path = path;
		this.#ends = ends;
		network.add(path, this);
		for (const side of [0, 1] as const) {
			ends[side].process?.onKilled.push(() => this.close(side));
		}
	}

	/** Whether both ends count it as open. */
	get isOpen(): boolean {
		return this.#open[0] && this.#open[1];
	}

	/** Whether data that was sent while the path was slow is still to arrive. */
	get isLate(): boolean {
		return Math.max(...this.#latest) - this.#world.now > NORMAL[1];
	}

	/** Sends from one end to the other. */
	send(from: 0 | 1, message: T): void {
		const to = from === 0 ? 1 : 0;
		if (this.#open[from]) {
			this.#deliver(to, () => this.#open[to] && this.#ends[to].received(message));
		}
	}

	/** One end closes the connection. */
	close(from: 0 | 1): void {
		const to = from === 0 ? 1 : 0;
		if (this.#open[from]) {
			this.#open[from] = false;
			this.#deliver(to, () => this.#end(to));
		}
		if (!this.#open[to]) {
			this.#network.remove(this.#path, this);
		}
	}

	/** The network ends it: both ends notice. */
	cut(): void {
		this.#held.length = 0;
		for (const side of [0, 1] as const) {
			this.#world.at(this.#world.random.between(0, 5), this.#ends[side].process, () => this.#end(side));
		}
		this.#network.remove(this.#path, this);
	}

	/** Delivers the held data. */
	release(): void {
		for (const { to, run } of this.#held.splice(0)) {
			this.#deliver(to, run);
		}
	}

	#end(side: 0 | 1): void {
		if (this.#open[side]) {
			this.#open[side] = false;
			this.#ends[side].ended();
			this.close(side);
		}
	}

	#deliver(to: 0 | 1, run: () => void): void {
		if (this.#path.state === "held") {
			this.#held.push({ to, run });
			return;
		}
		const world = this.#world;
		const arrival = Math.max(world.now + world.random.between(...this.#path.delay), this.#latest[to]);
		this.#latest[to] = arrival;
		// Not by the delay: what was rounded could overtake what was sent before.
		world.atTime(arrival, this.#ends[to].process, run);
	}
}

/** Milliseconds that a packet takes if nothing is wrong. */
export const NORMAL = [0.2, 2] as const;

/** Milliseconds between attempts to connect while nothing passes. */
const HELD_TIME = 500;

/** The network of a world. */
export class Network {
	readonly world: World;
	readonly #paths = new Map<string, Path>();
	readonly #links = new Map<Path, Set<Link<never>>>();
	/** Listeners by address. */
	readonly #listeners = new Map<string, Accept>();

	constructor(world: World) {
		this.world = world;
	}

	/** The path between two places. */
	path(name: string): Path {
		const path = this.#paths.get(name) ?? { delay: NORMAL, state: "up" };
		this.#paths.set(name, path);
		return path;
	}

	isNormal(name: string): boolean {
		const path = this.path(name);
		const { state, delay } = path;
		return state === "up" && delay === NORMAL && ![...(this.#links.get(path) ?? [])].some(({ isLate }) => isLate);
	}

	/** Everything works again. */
	heal(): void {
		for (const name of this.#paths.keys()) {
			this.disturb(name, { state: "up", delay: NORMAL });
		}
	}

	disturb(name: string, change: Partial<Path>): void {
		const path = this.path(name);
		Object.assign(path, change);
		for (const link of [...(this.#links.get(path) ?? [])]) {
			if (path.state === "cut") {
				link.cut();
			} else if (path.state === "up") {
				link.release();
			}
		}
	}

	/** Opens connections on a path. */
	count(name: string): number {
		return this.#links.get(this.path(name))?.size ?? 0;
	}

	add(path: Path, link: Link<never>): void {
		const links = this.#links.get(path) ?? new Set();
		this.#links.set(path, links.add(link));
	}

	remove(path: Path, link: Link<never>): void {
		this.#links.get(path)?.delete(link);
	}

	/** Has a server accept connections at an address, until the returned function is called. */
	listen(address: string, accept: Accept): () => void {
		this.#listeners.set(address, accept);
		return () => {
			this.#listeners.delete(address);
			for (const name of this.#paths.keys()) {
				if (name.endsWith(`>${address}`)) {
					for (const link of [...(this.#links.get(this.path(name)) ?? [])]) {
						link.cut();
					}
				}
			}
		};
	}

	/** Opens a connection of a process. Each message that it sends counts for a crash that is planned. */
	connect(process: SimulatedProcess, address: string, listener: WireListener): Wire {
		const path = this.path(`${process.name}>${address}`);
		let link: Link<string> | undefined;
		let isOver = false;
		const end = (): void => {
			if (!isOver) {
				isOver = true;
				listener.ended();
			}
		};
		const attempt = (): void => {
			const accept = this.#listeners.get(address);
			if (isOver) {
				return;
			}
			if (path.state === "held") {
				this.world.at(HELD_TIME, process, attempt);
			} else if (accept === undefined || path.state === "cut") {
				end();
			} else {
				link = this.#accept(accept, path, { process, received: listener.received, ended: end });
				listener.opened();
			}
		};
		this.world.at(this.world.random.between(...path.delay), process, attempt);
		const send = (text: string): void => {
			if (process.mayGoOn()) {
				link?.send(0, text);
			}
		};
		const close = (): void => {
			link?.close(0);
			this.world.at(0, process, end);
		};
		return { send, close };
	}

	#accept(accept: Accept, path: Path, client: End<string>): Link<string> {
		const server = { process: undefined, received: (_: string) => {}, ended: () => {} };
		const link = new Link<string>(this, path, [client, server]);
		Object.assign(
			server,
			accept((text) => link.send(1, text)),
		);
		return link;
	}
}

/** A server gets a function that writes to its client, and returns what is called with what that sends. */
type Accept = (write: (text: string) => void) => Pick<End<string>, "received" | "ended">;
