import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { type WebSocket, WebSocketServer } from "ws";
import { connectToMqtt, type Gateway, listenForMqtt, listenForWebSocket } from "xs-mcp-gateway";
import { nextOnline, openGateway, startGateway } from "xs-mcp-gateway/testing/gateway";
import { openChannels } from "xs-mcp-gateway/testing/udp-channels";
import {
	BOARD_PROFILES,
	type BoardProfile,
	bundle,
	chooseEngine,
	type HeapLimits,
	VirtualDevice,
	type VirtualDeviceOptions,
} from "xs-mcp-virtual-device";
import { skipIf } from "../host-test/support/testing.js";
import { Mosquitto, whyNoMosquitto } from "./mosquitto.js";

export const ENGINES = await Promise.all(
	(["xs", "v8"] as const).map(async (kind) => ({ kind, ...(await chooseEngine(kind)) })),
).then((choices) => choices.filter(({ kind, whyNotXs }) => kind === "v8" || skipIf(whyNotXs) === false));

export type Engine = (typeof ENGINES)[number];

export const [ENGINE] = ENGINES as [Engine];

const GATEWAY_ACCESS = { username: "maker", password: "secret" };
export const DEVICE_ACCESS = { mqttUsername: "maker", mqttPassword: "secret" };

const firmware = await bundle();

/** Milliseconds for one command of a machine, also on a busy computer. */
const MAX_COMMAND_TIME = 300_000;

interface DeviceOptions extends Omit<VirtualDeviceOptions, "firmware" | "startEngine"> {
	readonly limits?: HeapLimits;
	/** Bundled. Default: the firmware itself. */
	readonly script?: string | undefined;
}

/** Starts a virtual device that is stopped with its test, and collects its log. */
export async function startDevice(
	test: TestContext,
	engine: Engine,
	{ limits, script = firmware, ...options }: DeviceOptions,
): Promise<{ device: VirtualDevice; log: string[] }> {
	const device = new VirtualDevice({
		firmware: script,
		startEngine: (onTrace) => engine.start({ onTrace, timeoutMs: MAX_COMMAND_TIME, limits }),
		...options,
	});
	const log: string[] = [];
	device.on("trace", (line) => log.push(line));
	test.after(() => device.stop());
	await device.start();
	return { device, log };
}

export const EVERYTHING = fileURLToPath(new URL("../host-test/fixtures/everything/main.ts", import.meta.url));

export async function bundleManifest(path: string): Promise<string> {
	return await bundle(undefined, false, undefined, path);
}

export const OWN_BOARD = BOARD_PROFILES.get("esp32") as BoardProfile;

export async function startOwnDevice(test: TestContext, engine: Engine, script: string) {
	const side = await startGateway(test);
	const online = nextOnline(side.gateway.servers);
	const config = { backend: side.deviceUrl };
	const started = await startDevice(test, engine, { config, script, board: OWN_BOARD });
	return { ...started, side, server: await online };
}

if (whyNoMosquitto) {
	console.log(`Not against mosquitto: ${whyNoMosquitto}`);
}

export interface GatewaySide {
	readonly gateway: Gateway;
	readonly config: { readonly backend: string; readonly [setting: string]: unknown };
	readonly wrongConfig: { readonly [setting: string]: unknown };
}

export async function openOverWebSocket(test: TestContext): Promise<GatewaySide> {
	const gateway = await openGateway(test);
	const devices = await listenForWebSocket(gateway.servers, {
		port: 0,
		authenticate: ({ secret }) => (secret === "secret" ? {} : "unknown token"),
	});
	const backend = `ws://127.0.0.1:${devices.port}/`;
	test.after(() => devices.close());
	return { gateway, config: { backend, token: "secret" }, wrongConfig: { backend, token: "wrong" } };
}

export async function openOverMqtt(test: TestContext): Promise<GatewaySide> {
	const gateway = await openGateway(test);
	const devices = await listenForMqtt(
		gateway.servers,
		{
			port: 0,
			authenticate: ({ username, secret }) =>
				username === GATEWAY_ACCESS.username && secret === GATEWAY_ACCESS.password
					? {}
					: "unknown user name or password",
		},
		await openChannels(test, gateway.servers),
	);
	test.after(() => devices.close());
	const config = { backend: `mqtt://127.0.0.1:${devices.port}`, ...DEVICE_ACCESS };
	return { gateway, config, wrongConfig: { ...config, mqttPassword: "wrong" } };
}

export async function openThroughMosquitto(test: TestContext): Promise<GatewaySide & { readonly broker: Mosquitto }> {
	const gateway = await openGateway(test);
	const broker = await Mosquitto.start(test);
	const channels = await openChannels(test, gateway.servers);
	const devices = await connectToMqtt(gateway.servers, broker.url, GATEWAY_ACCESS, channels);
	test.after(() => devices.close());
	const config = { backend: broker.url, ...DEVICE_ACCESS };
	return { broker, gateway, config, wrongConfig: { ...config, mqttPassword: "wrong" } };
}

export const TRANSPORTS: Readonly<Record<string, (test: TestContext) => Promise<GatewaySide>>> = {
	websocket: openOverWebSocket,
	mqtt: openOverMqtt,
	...(whyNoMosquitto === false && { mosquitto: openThroughMosquitto }),
};

/** A backend made of `ws` alone, to say and hear exactly what is on the wire. */
export class RawBackend {
	readonly #http: Server;
	readonly #server = new WebSocketServer({ noServer: true });
	#isStopped = false;
	socket!: WebSocket;
	headers: Readonly<Record<string, string | string[] | undefined>> = {};
	readonly #scheme: "ws" | "wss";
	#heard: string[] = [];
	#wake: (() => void) | undefined;
	#failure: Error | undefined;
	#silence: { readonly max: number; readonly explain: () => Promise<string> } | undefined;

	private constructor(http: Server, scheme: "ws" | "wss") {
		this.#http = http;
		this.#scheme = scheme;
		http.on("upgrade", (request, connection: Duplex, head) => {
			if (this.#isStopped) {
				connection.destroy();
				return;
			}
			this.#server.handleUpgrade(request, connection, head, (socket) => {
				this.socket = socket;
				this.headers = request.headers;
				this.#heard = [];
				socket.on("message", (data: Buffer) => {
					this.#heard.push(data.toString());
					this.#wake?.();
				});
			});
		});
	}

	/** @param tls key and certificate; default: without TLS */
	static async listen(test: TestContext, port = 0, tls?: { key: Buffer; cert: string }): Promise<RawBackend> {
		const http = tls === undefined ? createServer() : createSecureServer(tls);
		const backend = new RawBackend(http, tls === undefined ? "ws" : "wss");
		await once(http.listen(port, "127.0.0.1"), "listening");
		test.after(() => {
			backend.stop();
			http.close();
		});
		return backend;
	}

	get port(): number {
		return (this.#http.address() as AddressInfo).port;
	}

	get url(): string {
		return `${this.#scheme}://127.0.0.1:${this.port}/xiaozhi/v1/?a=b`;
	}

	limitSilence(max: number, explain: () => Promise<string>): void {
		this.#silence = { max, explain };
	}

	async hear(): Promise<string> {
		while (this.#heard.length === 0) {
			if (this.#failure !== undefined) {
				throw this.#failure;
			}
			const timer = this.#silence && setTimeout(() => void this.#failAsSilent(), this.#silence.max);
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
			clearTimeout(timer);
		}
		return this.#heard.shift() as string;
	}

	// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
	async answer(): Promise<any> {
		for (;;) {
			const { type, payload } = JSON.parse(await this.hear());
			if (type === "mcp" && payload.method === undefined) {
				return payload;
			}
		}
	}

	fail(error: Error): void {
		this.#failure = error;
		this.#wake?.();
	}

	async #failAsSilent(): Promise<void> {
		const state = await this.#silence?.explain().catch(String);
		this.fail(new Error(`no message for ${this.#silence?.max} ms. ${state}`));
	}

	/** @param message bytes become a binary frame */
	say(message: object | string | Buffer): void {
		const isRaw = typeof message === "string" || Buffer.isBuffer(message);
		this.socket.send(isRaw ? message : JSON.stringify(message));
	}

	async greet(sessionId = "s-1"): Promise<Record<string, unknown>> {
		let hello: Record<string, unknown>;
		do {
			// Messages of an earlier connection may be unread.
			hello = JSON.parse(await this.hear());
		} while (hello.type !== "hello");
		this.say({ type: "hello", transport: "websocket", session_id: sessionId, audio_params: {} });
		return hello;
	}

	// biome-ignore lint/suspicious/noExplicitAny: as above
	async ask(payload: object, envelope: object = {}): Promise<any> {
		this.say({ ...envelope, type: "mcp", payload: { jsonrpc: "2.0", ...payload } });
		return await this.answer();
	}

	/** Drops all connections and new ones. It keeps its port, which another test could take otherwise. */
	stop(): void {
		this.#isStopped = true;
		for (const client of this.#server.clients) {
			client.terminate();
		}
		this.#heard = [];
	}

	restart(): void {
		this.#isStopped = false;
	}
}
