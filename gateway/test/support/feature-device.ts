import { once } from "node:events";
import type { TestContext } from "node:test";
import { WebSocket } from "ws";
import { until } from "../../../host-test/support/until.js";
import type { TestGateway } from "./gateway.js";

/** A request to a {@link FeatureDevice}. */
export interface Asked {
	readonly id: number;
	readonly method: string;
	// biome-ignore lint/suspicious/noExplicitAny: tests look at what was sent.
	readonly params: any;
}

/** Answers a request: a result, an error as JSON-RPC has it, or nothing if the test answers later. */
export type Answer = (asked: Asked, device: FeatureDevice) => object | undefined;

export interface FeatureDeviceOptions {
	readonly id?: string;
	readonly capabilities?: object;
	/** By method. A result that has `code` and `message` is an error. */
	readonly answers?: Readonly<Record<string, Answer>>;
}

/** The id by default. */
const ID = "aa:bb:cc:00:00:01";

/** A device made with `ws` alone, with whatever features a test gives it. */
export class FeatureDevice {
	/** Every request and notification of the gateway, except the handshake. */
	readonly asked: Asked[] = [];
	readonly #options: FeatureDeviceOptions;
	readonly #socket: WebSocket;
	#sessionId = "";

	private constructor(socket: WebSocket, options: FeatureDeviceOptions) {
		this.#socket = socket;
		this.#options = options;
	}

	/** Connects, says hello, and waits until the gateway has read its lists. */
	static async connect(
		test: TestContext,
		{ gateway, deviceUrl }: Pick<TestGateway, "gateway" | "deviceUrl">,
		options: FeatureDeviceOptions = {},
	): Promise<FeatureDevice> {
		const { id = ID } = options;
		const device = await FeatureDevice.connectTo(test, deviceUrl, options);
		await until(
			() => device.methods.includes("tools/list") && gateway.servers.find(id)?.online === true,
			`${id} is online`,
		);
		return device;
	}

	/** Connects and says hello. */
	static async connectTo(test: TestContext, url: string, options: FeatureDeviceOptions = {}): Promise<FeatureDevice> {
		const { id = ID } = options;
		const socket = new WebSocket(url, { headers: { "device-id": id, "client-id": `uuid-of-${id}` } });
		test.after(() => socket.terminate());
		const device = new FeatureDevice(socket, options);
		await once(socket, "open");
		socket.on("message", (data: Buffer) => device.#receive(JSON.parse(data.toString())));
		socket.send(JSON.stringify({ type: "hello", version: 1, transport: "websocket", features: { mcp: true } }));
		return device;
	}

	/** The methods of {@link asked}. */
	get methods(): string[] {
		return this.asked.map(({ method }) => method);
	}

	/** Requests of this method. */
	askedBy(method: string): Asked[] {
		return this.asked.filter((each) => each.method === method);
	}

	notify(method: string, params: object = {}): void {
		this.#send({ method, params });
	}

	answer(id: number, result: object): void {
		this.#send("code" in result ? { id, error: result } : { id, result });
	}

	/** Pulls the plug. */
	async unplug(): Promise<void> {
		this.#socket.terminate();
		if (this.#socket.readyState !== WebSocket.CLOSED) {
			await once(this.#socket, "close");
		}
	}

	#send(payload: object): void {
		this.#socket.send(
			JSON.stringify({ type: "mcp", session_id: this.#sessionId, payload: { jsonrpc: "2.0", ...payload } }),
		);
	}

	#receive(message: { type: string; session_id: string; payload: Asked }): void {
		if (message.type === "hello") {
			this.#sessionId = message.session_id;
			return;
		}
		const { id, method } = message.payload;
		if (method === "initialize") {
			const { capabilities = { tools: {} } } = this.#options;
			const serverInfo = { name: "lamp", version: "1.0.0" };
			this.#send({ id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo } });
			return;
		}
		this.asked.push(message.payload);
		if (id !== undefined) {
			const known = this.#options.answers?.[method] ?? DEFAULTS[method];
			const result = known === undefined ? { code: -32601, message: method } : known(message.payload, this);
			if (result !== undefined) {
				this.answer(id, result);
			}
		}
	}
}

const DEFAULTS: Readonly<Record<string, Answer>> = {
	"tools/list": () => ({ tools: [] }),
	"resources/list": () => ({ resources: [] }),
	"resources/templates/list": () => ({ resourceTemplates: [] }),
	"prompts/list": () => ({ prompts: [] }),
	"resources/subscribe": () => ({}),
	"resources/unsubscribe": () => ({}),
	"logging/setLevel": () => ({}),
	ping: () => ({}),
};
