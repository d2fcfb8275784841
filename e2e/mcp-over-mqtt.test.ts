import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import mqtt, { type IPublishPacket, type MqttClient } from "mqtt";
import { connect, startProgram } from "xs-mcp-gateway/testing/program";
import { until } from "../host-test/support/testing.js";
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
		this.mqtt.on("message", (topic, payload, packet) => void this.#receive(topic, JSON.parse(String(payload)), packet));
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
		const result = results[method ?? ""];
		if (result !== undefined) {
			await this.mqtt.publishAsync(rpc, JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
		}
	}

	saw(method: string): Heard[] {
		return this.heard.filter(({ message }) => message.method === method);
	}
}

async function start(t: TestContext) {
	const broker = await Mosquitto.start(t);
	const flags = {
		brokerUrl: broker.url,
		brokerUsername: ACCESS.username,
		brokerPassword: ACCESS.password,
		mcpOverMqtt: true,
	};
	const open = () => startProgram(t, flags);
	return { broker, open };
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

describe("a server of MCP over MQTT at brokerUrl", { skip: whyNoMosquitto }, () => {
	it("that was there before the gateway is initialized, listed and called on the topics of the specification", async (t) => {
		const { broker, open } = await start(t);
		const lamp = await Lamp.start(t, broker.url);
		const program = await open();
		await untilOnline(program);
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
	});

	it("is offline after its will, and gets another client id when it is back", async (t) => {
		const { broker, open } = await start(t);
		const program = await open();
		const lamp = await Lamp.start(t, broker.url);
		await untilOnline(program);
		lamp.mqtt.stream.destroy();
		await untilOffline(program);
		await lamp.connect(broker.url);
		await untilOnline(program);
		const clients = lamp.saw("initialize").map(({ client }) => client);
		assert.equal(new Set(clients).size, 2);
	});

	it("is initialized again when it announces itself again", async (t) => {
		const { broker, open } = await start(t);
		const program = await open();
		const lamp = await Lamp.start(t, broker.url);
		await untilOnline(program);
		await lamp.announce();
		await until(() => lamp.saw("initialize").length === 2, "initialized again");
		await untilOnline(program);
	});

	it("is listed again after a change that it reports on its capability topic", async (t) => {
		const { broker, open } = await start(t);
		const program = await open();
		const lamp = await Lamp.start(t, broker.url);
		await untilOnline(program);
		lamp.tools = ["set_lamp", "dim_lamp"];
		const changed = JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
		await lamp.mqtt.publishAsync(lamp.topic("capability/"), changed);
		await until(() => find(program)?.record.offers.tools?.length === 2, "listed again");
	});

	it("that disconnects the gateway is offline until it announces itself", async (t) => {
		const { broker, open } = await start(t);
		const program = await open();
		const lamp = await Lamp.start(t, broker.url);
		await untilOnline(program);
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

	it("hears that the gateway stops", async (t) => {
		const { broker, open } = await start(t);
		const lamp = await Lamp.start(t, broker.url);
		const program = await open();
		await untilOnline(program);
		await program.gateway.close();
		await until(() => lamp.saw("notifications/disconnected").length === 1, "disconnected");
		const [{ topic } = { topic: "" }] = lamp.saw("notifications/disconnected");
		assert.equal(topic, `$mcp-client/presence/${lamp.heard[0]?.client}`);
	});

	it("hears by the gateway's will that its connection was lost, and is initialized again", async (t) => {
		const { broker, open } = await start(t);
		const lamp = await Lamp.start(t, broker.url);
		const program = await open();
		await untilOnline(program);
		// The broker closes the connection of a client whose id another one takes over.
		const rival = await mqtt.connectAsync(broker.url, { ...ACCESS, clientId: lamp.heard[0]?.client ?? "" });
		t.after(() => rival.endAsync(true));
		await until(() => lamp.saw("notifications/disconnected").length === 1, "disconnected");
		await until(() => lamp.saw("initialize").length === 2, "initialized again");
		await untilOnline(program);
	});

	it("is online again after a restart of the broker", async (t) => {
		const { broker, open } = await start(t);
		const program = await open();
		const lamp = await Lamp.start(t, broker.url);
		await untilOnline(program);
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
		await Lamp.start(t, broker.url);
		await untilOnline(program);
	});
});
