import type { TestContext } from "node:test";
import { WebSocket } from "ws";
import { listenForSockets, until } from "../../host-test/support/testing.js";

export interface Relayed {
	readonly from: "device" | "backend";
	// biome-ignore lint/suspicious/noExplicitAny: whatever a peer sends
	readonly message: any;
}

/** Stands between a device and a backend: passes messages on, keeps them, and can speak for the device. */
export class Relay {
	readonly seen: Relayed[] = [];
	readonly url: string;
	#backend: WebSocket | undefined;

	private constructor(url: string) {
		this.url = url;
	}

	/** @param target the backend's URL, with its path */
	static async listen(test: TestContext, target: string): Promise<Relay> {
		const { server, url } = await listenForSockets(test);
		const relay = new Relay(url);
		server.on("connection", (device, { headers }) => {
			const names = ["authorization", "device-id", "client-id", "protocol-version"];
			const passed = Object.fromEntries(names.flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])));
			relay.#connect(device, new WebSocket(target, { headers: passed as Record<string, string> }));
		});
		return relay;
	}

	sayAsDevice(message: object): void {
		this.#backend?.send(JSON.stringify(message));
	}

	// biome-ignore lint/suspicious/noExplicitAny: whatever a peer sends
	async saw(what: string, fits: (relayed: Relayed) => boolean): Promise<any> {
		const seen = (): Relayed | undefined => this.seen.find(fits);
		await until(() => seen() !== undefined, `${what}, but: ${JSON.stringify(this.seen)}`);
		return seen()?.message;
	}

	#connect(device: WebSocket, backend: WebSocket): void {
		this.#backend = backend;
		const waiting: { data: Buffer; binary: boolean }[] = [];
		device.on("message", (data: Buffer, binary) => {
			this.#keep("device", data, binary);
			if (backend.readyState === WebSocket.OPEN) {
				backend.send(data, { binary });
			} else {
				waiting.push({ data, binary });
			}
		});
		backend.on("open", () => {
			for (const { data, binary } of waiting) {
				backend.send(data, { binary });
			}
		});
		backend.on("message", (data: Buffer, binary) => {
			this.#keep("backend", data, binary);
			device.send(data, { binary });
		});
		backend.on("error", () => device.close());
		backend.on("close", () => device.close());
		device.on("close", () => backend.close());
	}

	#keep(from: Relayed["from"], data: Buffer, binary: boolean): void {
		this.seen.push({ from, message: binary ? `${data.length} bytes` : parse(data.toString()) });
	}
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
