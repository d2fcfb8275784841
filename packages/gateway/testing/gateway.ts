// A gateway with real sockets on both sides, and devices and clients for it.

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { WebSocket } from "ws";
import type { Connection, Server, ServerRegistry } from "xs-mcp-manager/core";
import { listen, PATIENT, until } from "../../../host-test/support/testing.js";
import type { Access } from "../src/config/access.js";
import { listenForWebSocket } from "../src/devices/websocket.js";
import { toClient } from "../src/http/rejections.js";
import { answerRpc } from "../src/http/route.js";
import { Gateway, type GatewayOptions } from "../src/mcp/gateway.js";
import { HttpEndpoint } from "../src/transports/http-endpoint.js";

export const LOCAL: Access = { principal: "local", userTools: false };

export interface ClientSide {
	readonly gateway: Gateway;
	readonly endpoint: HttpEndpoint;
	/** The URL for clients: /mcp, or /mcp/DEVICE. */
	clientUrl(device?: string): URL;
	access: Access;
	close(): Promise<void>;
}

export interface TestGateway extends ClientSide {
	readonly deviceUrl: string;
	readonly warnings: string[];
}

type TestGatewayOptions = GatewayOptions &
	ConstructorParameters<typeof HttpEndpoint>[1] & { readonly clientPort?: number };

/** Opens a gateway that gathers changes for a short time only, and waits long for devices. It is closed with its test. */
export async function openGateway(test: TestContext, options: GatewayOptions = {}, warnings: string[] = []) {
	const patient = { callTimeout: PATIENT.timeout, discoveryTimeout: PATIENT.timeout };
	const gateway = await Gateway.open({ changeDelay: 20, ...patient, ...options }, (message) => warnings.push(message));
	test.after(() => gateway.close());
	return gateway;
}

export async function serveClients(
	test: Pick<TestContext, "after">,
	gateway: Gateway,
	options: TestGatewayOptions = {},
): Promise<ClientSide> {
	const endpoint = new HttpEndpoint(gateway, options);
	const server = createServer(async (request, response) => {
		const device = request.url?.split("?")[0]?.split("/")[2];
		const body = await readJson(request);
		const server = device && decodeURIComponent(device);
		await endpoint
			.handle(request, response, { access: self.access, server, body })
			.catch((error) => answerRpc(response, toClient(error)));
	});
	const port = await listen(test, server, options.clientPort);
	const self: ClientSide = {
		gateway,
		endpoint,
		clientUrl: (device) => new URL(`http://127.0.0.1:${port}/mcp${device === undefined ? "" : `/${device}`}`),
		access: LOCAL,
		async close() {
			await endpoint.close();
			await gateway.close();
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
	test.after(() => self.close());
	return self;
}

export async function startGateway(test: TestContext, options: TestGatewayOptions = {}): Promise<TestGateway> {
	const warnings: string[] = [];
	const gateway = await openGateway(test, options, warnings);
	const clientSide = await serveClients(test, gateway, options);
	const devices = await listenForWebSocket(gateway.servers, { port: 0 });
	const deviceUrl = `ws://127.0.0.1:${devices.port}/`;
	test.after(() => devices.close());
	return Object.assign(clientSide, { warnings, deviceUrl });
}

export async function nextSession(servers: ServerRegistry): Promise<{ server: Server; connection: Connection }> {
	const [server, connection] = await once(servers, "connected");
	return { server, connection };
}

export async function nextOnline(servers: ServerRegistry): Promise<Server> {
	const [server] = await once(servers, "online");
	return server;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
	const bytes = await buffer(request);
	return bytes.length === 0 ? undefined : JSON.parse(bytes.toString());
}

export interface Asked {
	readonly id: number;
	readonly method: string;
	// biome-ignore lint/suspicious/noExplicitAny: tests look at what was sent.
	readonly params: any;
}

export type Answer = (asked: Asked, device: WireDevice) => object | undefined;

export interface WireMessage {
	readonly type: string;
	readonly state?: string;
	readonly text?: string;
}

export interface WireCall {
	readonly id: number;
	readonly name: string;
	readonly arguments: Record<string, unknown>;
	readonly progressToken: unknown;
}

export interface WireDeviceOptions {
	readonly id?: string;
	readonly board?: string;
	readonly version?: string;
	/** Default: {@link SET_VOLUME} and {@link REBOOT}; with `answers`, none. */
	readonly tools?: readonly object[];
	readonly capabilities?: object;
	/** By method. A result that has `code` and `message` is an error. */
	readonly answers?: Readonly<Record<string, Answer>>;
	/** Answers a call with a result, or later by {@link WireDevice.answer} when it returns nothing. */
	readonly onCall?: (call: WireCall, device: WireDevice) => object | undefined;
	readonly token?: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly hello?: object;
	readonly onMessage?: (message: WireMessage, device: WireDevice) => void;
	readonly onPacket?: (packet: Buffer) => void;
	readonly listsNothing?: boolean;
	readonly pages?: number;
}

export const SET_VOLUME = {
	name: "self.audio_speaker.set_volume",
	description: "Set the volume.",
	inputSchema: {
		type: "object",
		properties: { volume: { type: "integer", minimum: 0, maximum: 100 } },
		required: ["volume"],
		additionalProperties: false,
	},
};

export const STATUS = {
	name: "self.get_device_status",
	description: "Status.",
	inputSchema: { type: "object", properties: {} },
};

export const REBOOT = {
	name: "self.reboot",
	description: "Restart.",
	inputSchema: { type: "object", properties: {} },
	annotations: { audience: ["user"] },
};

export const LAMP = "aa:bb:cc:00:00:01";
/** The tool {@link SET_VOLUME} of the lamp, as /mcp lists it. */
export const VOLUME = "lamp_000001__self_audio_speaker_set_volume";

const HELLO = { type: "hello", version: 1, transport: "websocket", features: { mcp: true } };

const DEFAULTS: Readonly<Record<string, object>> = {
	"resources/list": { resources: [] },
	"resources/templates/list": { resourceTemplates: [] },
	"prompts/list": { prompts: [] },
	"resources/subscribe": {},
	"resources/unsubscribe": {},
	"logging/setLevel": {},
	ping: {},
};

/** A device made with `ws` alone, so that a test decides what it says. */
export class WireDevice {
	/** Every request and notification of the gateway, except the handshake. */
	readonly asked: Asked[] = [];
	readonly calls: WireCall[] = [];
	readonly cancelled: unknown[] = [];
	capabilities: Readonly<Record<string, unknown>> = {};
	tools: readonly object[];
	readonly #options: WireDeviceOptions;
	readonly #socket: WebSocket;
	#sessionId = "";
	/** Its session at the gateway; undefined if only the URL of that is known. */
	#connection: Connection | undefined;

	private constructor(socket: WebSocket, options: WireDeviceOptions) {
		this.#socket = socket;
		this.#options = options;
		this.tools = options.tools ?? (options.answers === undefined ? [SET_VOLUME, REBOOT] : []);
	}

	/** Connects and says hello. Resolves when it is online, rejects when it is disconnected before. */
	static async connect(
		test: TestContext,
		{ gateway, deviceUrl }: Pick<TestGateway, "gateway" | "deviceUrl">,
		options: WireDeviceOptions = {},
	): Promise<WireDevice> {
		const { id = LAMP } = options;
		const online = new Promise<Connection | undefined>((resolve) => {
			const check = (server: Server): void => {
				if (server.id === id) {
					gateway.servers.off("online", check);
					resolve(server.connection);
				}
			};
			gateway.servers.on("online", check);
		});
		const device = await WireDevice.connectTo(test, deviceUrl, options);
		const rejected = once(device.#socket, "close").then(() => Promise.reject(new Error("disconnected")));
		device.#connection = await Promise.race([online, rejected]);
		rejected.catch(() => {
			// Later it may disconnect.
		});
		return device;
	}

	static async connectTo(test: TestContext, url: string, options: WireDeviceOptions = {}): Promise<WireDevice> {
		const { id = LAMP, token, headers: more, hello = HELLO } = options;
		const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
		const headers = { "device-id": id, "client-id": `uuid-of-${id}`, ...authorization, ...more };
		const socket = new WebSocket(url, { headers });
		test.after(() => socket.terminate());
		const device = new WireDevice(socket, options);
		await once(socket, "open");
		socket.on("message", (data: Buffer, isBinary) => {
			if (isBinary) {
				options.onPacket?.(data);
			} else {
				device.#receive(JSON.parse(data.toString()));
			}
		});
		socket.send(JSON.stringify(hello));
		return device;
	}

	get methods(): string[] {
		return this.asked.map(({ method }) => method);
	}

	askedBy(method: string): Asked[] {
		return this.asked.filter((each) => each.method === method);
	}

	stopReading(): void {
		this.#socket.pause();
	}

	async disconnected(): Promise<void> {
		this.#socket.resume();
		if (this.#socket.readyState !== WebSocket.CLOSED) {
			await once(this.#socket, "close");
		}
	}

	/** Pulls the plug. Settles when the gateway has noticed. */
	async unplug(): Promise<void> {
		this.#socket.terminate();
		if (this.#socket.readyState !== WebSocket.CLOSED) {
			await once(this.#socket, "close");
		}
		if (this.#connection?.identity.gateway === undefined) {
			await until(() => this.#connection?.isOpen !== true, "the device is offline");
		}
	}

	answer(id: number, result: object): void {
		this.#send("code" in result ? { id, error: result } : { id, result });
	}

	notify(method: string, params: object = {}): void {
		this.#send({ method, params });
	}

	/** Says something besides MCP, as most firmware does: without the id of its session. */
	say(message: object): void {
		this.#socket.send(JSON.stringify({ session_id: "", ...message }));
	}

	send(packet: Uint8Array): void {
		this.#socket.send(packet);
	}

	ask(id: number, method: string): void {
		this.#send({ id, method });
	}

	changeTools(tools: readonly object[]): void {
		this.tools = tools;
		this.notify("notifications/tools/list_changed");
	}

	#send(payload: object): void {
		const message = { type: "mcp", session_id: this.#sessionId, payload: { jsonrpc: "2.0", ...payload } };
		this.#socket.send(JSON.stringify(message));
	}

	#receive(message: { type: string; session_id: string; payload: Asked }) {
		if (message.type === "hello") {
			this.#sessionId = message.session_id;
			return;
		}
		if (message.type !== "mcp") {
			this.#options.onMessage?.(message, this);
			return;
		}
		const { id, method, params } = message.payload;
		if (method === "initialize") {
			const { board = "lamp", version = "1.0.0", capabilities = { tools: {} } } = this.#options;
			this.capabilities = params.capabilities;
			this.answer(id, { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: board, version } });
			return;
		}
		this.asked.push(message.payload);
		if (method === "notifications/cancelled") {
			this.cancelled.push(params.requestId);
		}
		const result = id === undefined ? undefined : this.#resultOf(message.payload);
		if (result !== undefined) {
			this.answer(id, result);
		}
	}

	#resultOf(asked: Asked): object | undefined {
		const { id, method, params } = asked;
		const { answers, listsNothing, pages = 1, onCall } = this.#options;
		const answer = answers?.[method];
		if (answer !== undefined) {
			return answer(asked, this);
		}
		if (method === "tools/list") {
			const page = Number(params.cursor || 0) + 1;
			return listsNothing ? undefined : { tools: this.tools, ...(page < pages && { nextCursor: String(page) }) };
		}
		if (method === "tools/call") {
			const call = { id, name: params.name, arguments: params.arguments, progressToken: params._meta?.progressToken };
			this.calls.push(call);
			return onCall ? onCall(call, this) : { content: [{ type: "text", text: "true" }], isError: false };
		}
		return DEFAULTS[method] ?? { code: -32601, message: method };
	}
}

export async function startWithDevice(
	test: TestContext,
	options: TestGatewayOptions = {},
	deviceOptions: WireDeviceOptions = {},
): Promise<{ side: TestGateway; device: WireDevice }> {
	const side = await startGateway(test, options);
	return { side, device: await WireDevice.connect(test, side, deviceOptions) };
}

export const ERAS = {
	"2025-11-25": { versionNegotiation: { mode: "legacy" } },
	"2026-07-28": { versionNegotiation: { mode: { pin: "2026-07-28" } } },
} as const;

export async function connectClient(
	test: TestContext,
	url: URL,
	era: keyof typeof ERAS,
	{ token, ...options }: ClientOptions & { readonly token?: string | undefined } = {},
): Promise<Client> {
	const client = new Client({ name: "test-client", version: "1.0.0" }, { ...ERAS[era], ...options });
	test.after(() => client.close());
	const requestInit = token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };
	await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
	return client;
}

/** The names of a client's tools as the gateway has them now, not as the client remembers them. */
export async function toolNames(client: Client): Promise<string[]> {
	const { tools } = await client.listTools(undefined, { cacheMode: "refresh" });
	return tools.map(({ name }) => name);
}

// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
export async function callTool(client: Client, name: string, args: object = {}): Promise<any> {
	return await client.callTool({ name, arguments: { ...args } });
}
