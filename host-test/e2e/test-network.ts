import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

interface Pair {
	readonly near: Socket;
	readonly far: Socket;
}

/** A network between others and a port of this machine, which can fail in the ways that networks fail. */
export class TestNetwork {
	readonly #target: number;
	readonly #server: Server;
	readonly #pairs = new Set<Pair>();
	/** Connections that came while there was silence. */
	#held: Socket[] = [];
	#isSilent = false;
	#port = 0;

	private constructor(target: number) {
		this.#target = target;
		this.#server = createServer((socket) => this.#accept(socket));
	}

	static async to(test: TestContext, port: number): Promise<TestNetwork> {
		const network = new TestNetwork(port);
		test.after(() => network.cut());
		await network.#listen();
		return network;
	}

	get port(): number {
		return this.#port;
	}

	/** Nothing gets through any more, and neither side is told: a router without power. */
	silence(): void {
		this.#isSilent = true;
		for (const { near, far } of this.#pairs) {
			near.pause();
			far.pause();
		}
	}

	/** Connections break, and new ones are rejected, as by a machine that was switched off. */
	async cut(): Promise<void> {
		const closed = this.#server.listening ? once(this.#server, "close") : undefined;
		this.#server.close();
		for (const { near, far } of this.#pairs) {
			near.destroy();
			far.destroy();
		}
		for (const socket of this.#held.splice(0)) {
			socket.destroy();
		}
		await closed;
	}

	/** Everything gets through again, also what was sent meanwhile: TCP sends it until somebody says that it has come. */
	async restore(): Promise<void> {
		if (!this.#server.listening) {
			await this.#listen();
		}
		this.#isSilent = false;
		for (const pair of this.#pairs) {
			pair.near.resume();
			pair.far.resume();
			this.#endBoth(pair);
		}
		for (const socket of this.#held.splice(0)) {
			this.#accept(socket);
		}
	}

	async #listen(): Promise<void> {
		this.#server.listen(this.#port, "127.0.0.1");
		await once(this.#server, "listening");
		this.#port = (this.#server.address() as AddressInfo).port;
	}

	#accept(near: Socket): void {
		if (this.#isSilent) {
			this.#held.push(near);
			return;
		}
		const far = connect(this.#target, "127.0.0.1");
		const pair = { near, far };
		this.#pairs.add(pair);
		for (const [from, to] of [
			[near, far],
			[far, near],
		] as const) {
			from.on("data", (chunk) => to.write(chunk));
			from.on("error", () => from.destroy());
			from.on("close", () => this.#endBoth(pair));
		}
	}

	/** The end of one side is the other's, as soon as it can hear of it. */
	#endBoth(pair: Pair): void {
		const { near, far } = pair;
		if (!this.#isSilent && (near.destroyed || far.destroyed)) {
			near.destroy();
			far.destroy();
			this.#pairs.delete(pair);
		}
	}
}
