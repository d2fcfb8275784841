import { createConnection, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { listen } from "../../../host-test/support/testing.js";

/** The way to a server of this machine, which fails in the ways that networks fail. */
export class Gate {
	/** The ends of each connection: at the client, and at the server. */
	readonly #pairs = new Set<readonly [near: Socket, far: Socket]>();
	/** Connections that came while there was silence. */
	#held: Socket[] = [];
	#state: "open" | "cut" | "silent" = "open";
	readonly #target: number;
	port = 0;

	private constructor(target: number) {
		this.#target = target;
	}

	static async open(t: TestContext, target: number): Promise<Gate> {
		const gate = new Gate(target);
		gate.port = await listen(
			t,
			createServer((socket) => gate.#accept(socket)),
		);
		t.after(() => gate.cut());
		return gate;
	}

	get url(): string {
		return `nats://127.0.0.1:${this.port}`;
	}

	/** Ends every connection, and accepts none until {@link restore}. */
	cut(): void {
		this.#state = "cut";
		for (const socket of [...[...this.#pairs].flat(), ...this.#held.splice(0)]) {
			socket.destroy();
		}
	}

	/** Nothing gets through any more, and neither side is told: a router without power. */
	silence(): void {
		this.#state = "silent";
		for (const [near, far] of this.#pairs) {
			near.unpipe().pause();
			far.unpipe().pause();
		}
	}

	/** Everything gets through again, also what was sent meanwhile. */
	restore(): void {
		this.#state = "open";
		for (const pair of this.#pairs) {
			this.#join(pair);
		}
		for (const socket of this.#held.splice(0)) {
			this.#accept(socket);
		}
	}

	/** Lets nothing of the server pass any more on the connections that are open. */
	mute(): void {
		for (const [, far] of this.#pairs) {
			far.unpipe();
		}
	}

	#accept(near: Socket): void {
		if (this.#state === "silent") {
			this.#held.push(near);
			return;
		}
		if (this.#state === "cut") {
			near.destroy();
			return;
		}
		const far = createConnection(this.#target, "127.0.0.1");
		const pair = [near, far] as const;
		this.#pairs.add(pair);
		for (const socket of pair) {
			socket.on("error", () => {});
			socket.on("close", () => this.#join(pair));
		}
		this.#join(pair);
	}

	/** Passes on what each side sends, and the end of one side to the other, as soon as it can hear of it. */
	#join(pair: readonly [Socket, Socket]): void {
		const [near, far] = pair;
		if (this.#state === "silent") {
			return;
		}
		if (near.destroyed || far.destroyed) {
			near.destroy();
			far.destroy();
			this.#pairs.delete(pair);
		} else {
			near.unpipe().pipe(far);
			far.unpipe().pipe(near);
		}
	}
}
