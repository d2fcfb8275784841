import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, connect as dial, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import mqtt, { type IPublishPacket, type MqttClient } from "mqtt";
import { connect, startProgram } from "xs-mcp-gateway/testing/program";
import { testWith, until } from "../host-test/support/testing.js";
import { Mosquitto, whyNoMosquitto } from "./mosquitto.js";

const ACCESS = { username: "maker", password: "secret" };

const NAME = "house/lamp";
const ONLINE = JSON.stringify({
	jsonrpc: "2.0",
	method: "notifications/server/online",
	params: { server_name: NAME, description: "A lamp." },
});

interface Heard {
	readonly topic: string;
	readonly client: string;
	readonly message: { readonly id?: number; readonly method?: string; readonly params?: Record<string, unknown> };
}

/** A server of MCP over MQTT as the specification describes it. */
class Lamp {
	readonly id: string;
	readonly name: string;
	readonly heard: Heard[] = [];
	tools: readonly string[] = ["set_lamp"];
	/** The method of requests that it answers with an error. */
	failing: string | undefined;
	/** Published on its capability topic before the answer to a call; `id` is that of the call. */
	forged: object | undefined;
	mqtt!: MqttClient;

	constructor(id: string, name: string) {
		this.id = id;
		this.name = name;
	}

	static async start(t: TestContext, url: string, id = "lamp-1", name = NAME): Promise<Lamp> {
		const lamp = new Lamp(id, name);
		await lamp.connect(url);
		t.after(() => lamp.mqtt.endAsync(true));
		return lamp;
	}

	async connect(url: string): Promise<void> {
		const will = { topic: this.topic("presence/"), payload: Buffer.alloc(0), retain: true, qos: 0 as const };
		this.mqtt = await mqtt.connectAsync(url, {
			...ACCESS,
			clientId: this.id,
			protocolVersion: 5,
			reconnectPeriod: 0,
			will,
		});
		this.mqtt.on("message", (topic, payload, packet) => {
			this.#receive(topic, JSON.parse(String(payload)), packet).catch((error) => {
				// Its test may end, and the broker before it, while it answers.
				assert.ok(this.mqtt.disconnecting || !this.mqtt.connected, error);
			});
		});
		await this.mqtt.subscribeAsync(this.topic());
		await this.announce();
	}

	topic(kind = ""): string {
		return `$mcp-server/${kind}${this.id}/${this.name}`;
	}

	async announce(payload = ONLINE): Promise<void> {
		await this.mqtt.publishAsync(this.topic("presence/"), payload, { retain: true });
	}

	async #receive(topic: string, message: Heard["message"], { properties }: IPublishPacket): Promise<void> {
		const { "MCP-MQTT-CLIENT-ID": id, "MCP-COMPONENT-TYPE": type } = properties?.userProperties ?? {};
		const client = String(id ?? topic.split("/").at(-1));
		this.heard.push({ topic, client, message });
		const rpc = `$mcp-rpc/${client}/${this.id}/${this.name}`;
		const { method } = message;
		if (method === "initialize") {
			assert.equal(type, "mcp-client");
			await this.mqtt.subscribeAsync({ [rpc]: { qos: 0, nl: true }, [`$mcp-client/presence/${client}`]: { qos: 0 } });
		}
		const results: Record<string, object> = {
			initialize: {
				protocolVersion: "2025-03-26",
				capabilities: { tools: { listChanged: true } },
				serverInfo: { name: "lamp", version: "1.2.3" },
			},
			"tools/list": { tools: this.tools.map((name) => ({ name, inputSchema: { type: "object" } })) },
			"tools/call": { content: [{ type: "text", text: "on" }] },
		};
		if (method === "tools/call" && this.forged !== undefined) {
			const forged = JSON.stringify({ jsonrpc: "2.0", id: message.id, ...this.forged });
			await this.mqtt.publishAsync(this.topic("capability/"), forged);
		}
		const result = results[method ?? ""];
		if (method !== undefined && method === this.failing) {
			const error = { code: -32_603, message: "out of memory" };
			await this.mqtt.publishAsync(rpc, JSON.stringify({ jsonrpc: "2.0", id: message.id, error }));
		} else if (result !== undefined) {
			await this.mqtt.publishAsync(rpc, JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
		}
	}

	saw(method: string): Heard[] {
		return this.heard.filter(({ message }) => message.method === method);
	}
}

/** A way to the broker that can hold its CONNACKs (2) or SUBACKs (9) back. */
class SlowBroker {
	/** The type of the packets from the broker that are held back. */
	holding: 2 | 9 | undefined;
	connections = 0;
	readonly held: { readonly socket: Socket; readonly pass: () => void }[] = [];

	/** Starts it for a test, and returns it with its URL. */
	static async start(t: TestContext, port: number) {
		const slow = new SlowBroker();
		const server = createServer((socket) => slow.#relay(socket, dial(port, "127.0.0.1")));
		await once(server.listen(0, "127.0.0.1"), "listening");
		t.after(() => server.close());
		const { port: own } = server.address() as { port: number };
		return { slow, brokerUrl: `mqtt://127.0.0.1:${own}` };
	}

	#relay(socket: Socket, broker: Socket): void {
		this.connections += 1;
		socket.on("error", () => broker.destroy()).pipe(broker);
		broker.on("error", () => socket.destroy()).on("end", () => socket.end());
		broker.on("data", (chunk: Buffer) => {
			// Mosquitto writes each packet for itself.
			if ((chunk[0] ?? 0) >> 4 === this.holding) {
				this.held.push({ socket, pass: () => void socket.write(chunk) });
			} else {
				socket.write(chunk);
			}
		});
	}

	/** Lets a packet pass, and waits until the gateway has closed that connection. */
	async passLate({ socket, pass }: SlowBroker["held"][number]): Promise<void> {
		pass();
		await until(() => socket.destroyed, "the connection is closed");
	}
}

type Flags = NonNullable<Parameters<typeof startProgram>[1]>;

async function start(t: TestContext, more: Flags = {}) {
	const broker = await Mosquitto.start(t);
	const flags = {
		brokerUrl: broker.url,
		brokerUsername: ACCESS.username,
		brokerPassword: ACCESS.password,
		mcpOverMqtt: true,
		...more,
	};
	const open = (other: Flags = {}) => startProgram(t, { ...flags, ...other });
	return { broker, open };
}

/** Starts a gateway whose broker can hold packets back. */
async function startSlow(t: TestContext) {
	const { broker, open } = await start(t);
	const { slow, brokerUrl } = await SlowBroker.start(t, broker.port);
	return { broker, slow, program: await open({ brokerUrl }) };
}

/** Waits until the gateway has taken every presence message that a server has published. */
async function untilTaken(program: Program, lamp: Lamp): Promise<void> {
	const topic = `$mcp-server/presence/${lamp.id}/last`;
	await lamp.mqtt.publishAsync(topic, "last");
	await until(() => program.log().includes(`${topic}: dropped`), "the last presence message");
}

type Program = Awaited<ReturnType<typeof startProgram>>;

const find = ({ gateway }: Program, name = NAME) => gateway.servers.find(`mcp/${name}`);

const untilOnline = (program: Program, name = NAME) =>
	until(() => find(program, name)?.online === true, `${name} is online`).catch((error) =>
		assert.fail(`${error.message}\n${program.log()}`),
	);

const untilOffline = (program: Program) => until(() => find(program)?.online === false, `${NAME} is offline`);

async function call(t: TestContext, program: Program): Promise<unknown> {
	const client = await connect(t, program);
	const { tools } = await client.listTools();
	const name = tools.find((tool) => tool.name.endsWith("set_lamp"))?.name ?? "";
	const { content } = await client.callTool({ name, arguments: { on: true } });
	return content;
}

/** Types of MQTT packets of the broker. */
const CONNACK = 2;
const SUBACK = 9;

/** Starts a server that goes offline before a packet of the broker reaches the gateway. The packet comes late. */
async function goOfflineDuring(t: TestContext, packet: typeof CONNACK | typeof SUBACK) {
	const { broker, slow, program } = await startSlow(t);
	slow.holding = packet;
	const lamp = await Lamp.start(t, broker.url);
	await until(() => slow.held.length === 1, "a packet is held back");
	await lamp.announce("");
	await untilTaken(program, lamp);
	slow.holding = undefined;
	for (const late of slow.held) {
		await slow.passLate(late);
	}
	return { program, lamp };
}

/** A server that was there before the gateway, and is online. */
const itOnline = testWith(async (t) => {
	const { broker, open } = await start(t);
	const lamp = await Lamp.start(t, broker.url);
	const program = await open();
	await untilOnline(program);
	return { broker, program, lamp };
});

describe("a server of MCP over MQTT at brokerUrl", { skip: whyNoMosquitto }, () => {
	itOnline(
		"that was there before the gateway is initialized, listed and called on the topics of the specification",
		async ({ program, lamp }, t) => {
			assert.deepEqual(await call(t, program), [{ type: "text", text: "on" }]);
			const [{ client } = { client: "" }] = lamp.heard;
			const rpc = `$mcp-rpc/${client}/lamp-1/${NAME}`;
			assert.deepEqual(
				lamp.heard.map(({ topic, message }) => [topic, message.method]),
				[
					[`$mcp-server/lamp-1/${NAME}`, "initialize"],
					[rpc, "notifications/initialized"],
					[rpc, "tools/list"],
					[rpc, "tools/call"],
				],
			);
			const [listed] = lamp.saw("tools/list");
			assert.deepEqual(listed?.message.params ?? {}, {});
			const { alias, board } = find(program) ?? {};
			assert.match(alias ?? "", /^lamp_[0-9a-f]{6}$/);
			assert.deepEqual(board, { name: "lamp", version: "1.2.3" });
		},
	);

	itOnline(
		"is offline after its will, and gets another client id when it is back",
		async ({ program, lamp, broker }) => {
			lamp.mqtt.stream.destroy();
			await untilOffline(program);
			await lamp.connect(broker.url);
			await untilOnline(program);
			const clients = lamp.saw("initialize").map(({ client }) => client);
			assert.equal(new Set(clients).size, 2);
		},
	);

	itOnline("is initialized again when it announces itself again", async ({ program, lamp }) => {
		await lamp.announce();
		await until(() => lamp.saw("initialize").length === 2, "initialized again");
		await untilOnline(program);
		const methods = lamp.heard.map(({ message }) => message.method);
		assert.deepEqual(methods.slice(3, 5), ["notifications/disconnected", "initialize"]);
	});

	it("is offline if it goes offline before the gateway has subscribed to its topics", async (t) => {
		const { program, lamp } = await goOfflineDuring(t, SUBACK);
		assert.equal(program.gateway.servers.get(`mcp/${NAME}`), undefined);
		await lamp.announce();
		await untilOnline(program);
	});

	it("leaves no connection if it goes offline before the broker has accepted the gateway", async (t) => {
		await goOfflineDuring(t, CONNACK);
	});

	it("has one session after two quick announcements", async (t) => {
		const { broker, slow, program } = await startSlow(t);
		slow.holding = SUBACK;
		const lamp = await Lamp.start(t, broker.url);
		await until(() => slow.held.length === 1, "subscribed");
		slow.holding = undefined;
		await lamp.announce();
		await untilOnline(program);
		for (const late of slow.held) {
			await slow.passLate(late);
		}
		await untilTaken(program, lamp);
		assert.equal(find(program)?.online, true);
		assert.equal(lamp.saw("initialize").length, 1);
	});

	itOnline("keeps its new session when messages of the one before come late", async ({ program, lamp }) => {
		const [{ client } = { client: "" }] = lamp.heard;
		const rpc = `$mcp-rpc/${client}/lamp-1/${NAME}`;
		const leave = () =>
			Array.from({ length: 300 }, () =>
				lamp.mqtt.publishAsync(rpc, '{"jsonrpc":"2.0","method":"notifications/disconnected"}'),
			);
		await Promise.all([...leave(), lamp.announce(), ...leave()]);
		await until(() => lamp.saw("initialize").length > 1, "initialized again");
		await untilOnline(program);
		await untilTaken(program, lamp);
		assert.equal(find(program)?.online, true);
		assert.equal(lamp.saw("initialize").length, 2);
	});

	it("is not connected to for each of many announcements", async (t) => {
		const { broker, slow, program } = await startSlow(t);
		const lamp = await Lamp.start(t, broker.url);
		await untilOnline(program);
		const before = slow.connections;
		await Promise.all(Array.from({ length: 20 }, () => lamp.announce()));
		await untilTaken(program, lamp);
		await untilOnline(program);
		assert.ok(slow.connections - before < 5, `${slow.connections - before} connections`);
	});

	it("that does not answer tools/list is tried as rarely as one that does not answer initialize", async (t) => {
		const { broker, open } = await start(t);
		const mute = await Lamp.start(t, broker.url, "mute-1", "house/mute");
		mute.failing = "initialize";
		const lamp = await Lamp.start(t, broker.url);
		const program = await open();
		await untilOnline(program);
		lamp.failing = "tools/list";
		const before = lamp.saw("initialize").length;
		await lamp.announce();
		await until(() => mute.saw("initialize").length >= 3, "the third attempt");
		const attempts = lamp.saw("initialize").length - before;
		assert.ok(attempts <= 3, `${attempts} attempts`);
	});

	itOnline("is listed again after a change that it reports on its capability topic", async ({ program, lamp }) => {
		lamp.tools = ["set_lamp", "dim_lamp"];
		const changed = JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
		await lamp.mqtt.publishAsync(lamp.topic("capability/"), changed);
		await until(() => find(program)?.record.offers.tools?.length === 2, "listed again");
	});

	itOnline("cannot be answered for, or disconnected, on its capability topic", async ({ program, lamp }, t) => {
		lamp.forged = { result: { content: [{ type: "text", text: "forged" }] } };
		assert.deepEqual(await call(t, program), [{ type: "text", text: "on" }]);
		lamp.forged = { id: undefined, method: "notifications/disconnected" };
		assert.deepEqual(await call(t, program), [{ type: "text", text: "on" }]);
		assert.equal(program.log().match(/message dropped: expected a change of its lists/g)?.length, 2);
	});

	it("gets no access to the gateway's uploads of pictures", async (t) => {
		const { broker, open } = await start(t, { publicUrl: "https://gateway.example" });
		const program = await open();
		const lamp = await Lamp.start(t, broker.url);
		await untilOnline(program);
		const [{ message } = { message: { params: undefined } }] = lamp.saw("initialize");
		assert.doesNotMatch(JSON.stringify(message.params), /gateway\.example|token|vision/);
	});

	it("is no device without the setting mcpOverMqtt", async (t) => {
		const { broker, open } = await start(t, { mcpOverMqtt: false });
		const lamp = await Lamp.start(t, broker.url);
		const program = await open();
		const client = await connect(t, program);
		const { tools } = await client.listTools();
		assert.deepEqual(
			tools.filter((tool) => tool.name.endsWith("set_lamp")),
			[],
		);
		assert.deepEqual(lamp.heard, []);
	});

	itOnline("that disconnects the gateway is offline until it announces itself", async ({ program, lamp }) => {
		const [{ client } = { client: "" }] = lamp.heard;
		const rpc = `$mcp-rpc/${client}/lamp-1/${NAME}`;
		await lamp.mqtt.publishAsync(rpc, '{"jsonrpc":"2.0","method":"notifications/disconnected"}');
		await untilOffline(program);
		await lamp.announce();
		await untilOnline(program);
	});

	it("is replaced by another instance of its name", async (t) => {
		const { broker, open } = await start(t);
		const program = await open();
		const first = await Lamp.start(t, broker.url);
		await untilOnline(program);
		const second = await Lamp.start(t, broker.url, "lamp-2");
		first.mqtt.stream.destroy();
		await until(() => second.saw("tools/list").length > 0, "the second one is used");
		await untilOnline(program);
		assert.equal(program.gateway.servers.all.length, 1);
	});

	itOnline("hears that the gateway stops", async ({ program, lamp }) => {
		await program.gateway.close();
		await until(() => lamp.saw("notifications/disconnected").length === 1, "disconnected");
		const [{ topic } = { topic: "" }] = lamp.saw("notifications/disconnected");
		assert.equal(topic, `$mcp-client/presence/${lamp.heard[0]?.client}`);
	});

	itOnline(
		"hears by the gateway's will that its connection was lost, and is initialized again",
		async ({ broker, program, lamp }, t) => {
			// The broker closes the connection of a client whose id another one takes over.
			const rival = await mqtt.connectAsync(broker.url, { ...ACCESS, clientId: lamp.heard[0]?.client ?? "" });
			t.after(() => rival.endAsync(true));
			await until(() => lamp.saw("notifications/disconnected").length === 1, "disconnected");
			await until(() => lamp.saw("initialize").length === 2, "initialized again");
			await untilOnline(program);
		},
	);

	itOnline("is online again after a restart of the broker", async ({ program, lamp, broker }) => {
		const closed = once(lamp.mqtt as never, "close");
		await broker.kill();
		await closed;
		await untilOffline(program);
		await broker.run();
		await lamp.connect(broker.url);
		await untilOnline(program);
	});

	it("that sends anything but MCP is named in the log, and others work", async (t) => {
		const { broker, open } = await start(t);
		const program = await open();
		const bad = await Lamp.start(t, broker.url, "bad-1", "house/bad");
		await untilOnline(program, "house/bad");
		await bad.announce("hello");
		await until(() => /presence\/bad-1\/house\/bad: dropped: .*JSON/.test(program.log()), "presence");
		const rpc = `$mcp-rpc/${bad.heard[0]?.client}/bad-1/house/bad`;
		await bad.mqtt.publishAsync(rpc, "{");
		await until(() => /mcp\/house\/bad: message dropped: .*JSON/.test(program.log()), "message");
		await bad.mqtt.publishAsync(rpc, '{"jsonrpc":"2.0","id":99,"result":{}}');
		await until(() => program.log().includes("mcp/house/bad: message dropped: answer to an unknown request: 99"), "id");
		await bad.mqtt.publishAsync("$mcp-server/presence/bad-1", ONLINE, { retain: true });
		await until(() => /presence\/bad-1: dropped: expected ID\/NAME/.test(program.log()), "topic");
		for (const id of ["presence", "capability"]) {
			const path = `${id}/lamp-1/house/lamp`;
			await bad.mqtt.publishAsync(`$mcp-server/presence/${path}`, ONLINE, { retain: true });
			await until(() => program.log().includes(`presence/${path}: dropped: expected another id than ${id}`), id);
		}
		await Lamp.start(t, broker.url);
		await untilOnline(program);
	});
});
