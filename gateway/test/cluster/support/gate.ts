import { createConnection, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** The way from a gateway to NATS, which a test can cut. */
export class Gate {
	readonly #sockets = new Set<Socket>();
	/** The ends at NATS. */
	readonly #targets = new Set<Socket>();
	#isOpen = true;
	#port = 0;

	/** Opens a way to a port of this machine until a test ends. */
	static async open(t: TestContext, target: number): Promise<Gate> {
		const gate = new Gate();
		const server = createServer((socket) => gate.#pass(socket, target));
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		gate.#port = (server.address() as { port: number }).port;
		t.after(() => {
			gate.cut();
			server.close();
		});
		return gate;
	}

	get url(): string {
		return `nats://127.0.0.1:${this.#port}`;
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

	/** Lets nothing of NATS pass any more on the connections that are open. */
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
