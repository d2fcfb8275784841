import { createConnection, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { listen } from "../../../host-test/support/listen.js";

/** The way to a server of this machine, which a test can cut. */
export class Gate {
	readonly #sockets = new Set<Socket>();
	/** The ends at the server. */
	readonly #targets = new Set<Socket>();
	#isOpen = true;
	readonly port: number;

	private constructor(port: number) {
		this.port = port;
	}

	static async open(t: TestContext, target: number): Promise<Gate> {
		const server = createServer((socket) => gate.#pass(socket, target));
		const gate = new Gate(await listen(t, server));
		t.after(() => gate.cut());
		return gate;
	}

	/** For NATS. */
	get url(): string {
		return `nats://127.0.0.1:${this.port}`;
	}

	/** Ends every connection, and accepts none until {@link restore}. */
	cut(): void {
		this.#isOpen = false;
		for (const socket of this.#sockets) {
			socket.destroy();
		}
	}

	restore(): void {
		this.#isOpen = true;
	}

	/** Lets nothing of the server pass any more on the connections that are open. */
	mute(): void {
		for (const socket of this.#targets) {
			socket.unpipe();
		}
	}

	#pass(socket: Socket, target: number): void {
		if (!this.#isOpen) {
			socket.destroy();
			return;
		}
		const other = createConnection(target, "127.0.0.1");
		this.#targets.add(other);
		other.on("close", () => this.#targets.delete(other));
		for (const [from, to] of [
			[socket, other],
			[other, socket],
		] as const) {
			this.#sockets.add(from);
			from.pipe(to);
			from.on("error", () => {});
			from.on("close", () => {
				this.#sockets.delete(from);
				to.destroy();
			});
		}
	}
}
