import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/until.js";
import { connectClient, ERAS, WireDevice } from "../support/gateway.js";
import { makeStateFolder, type StartedProgram, startProgram } from "../support/program.js";

// SEP-3415, the extension io.modelcontextprotocol/events.

const PRESSED = "notifications/button_pressed";
const press = (button: string) => ({ button, long: false, milliseconds: 120 });
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

type Occurrence = { eventId: string; name: string; timestamp: string; data: Record<string, unknown>; cursor?: string };
interface Poll {
	events: Occurrence[];
	cursor: string;
	truncated: boolean;
	hasMore: boolean;
	nextPollMs: number;
}

/** Sends a request of the extension, and returns its result. */
async function ask<Result = Poll>(client: Client, method: string, params: Record<string, unknown>): Promise<Result> {
	return (await client.request({ method, params }, z.looseObject({}))) as Result;
}

/** The error of a request of the extension. */
async function rejection(client: Client, method: string, params: Record<string, unknown>) {
	const error = await ask(client, method, params).then(
		() => undefined,
		(reason: unknown) => reason as { code: number; message: string; data?: Record<string, unknown> },
	);
	assert.ok(error, `${method} succeeds`);
	return { code: error.code, message: error.message, data: error.data };
}

async function connect(t: TestContext, { base }: StartedProgram, token?: string): Promise<Client> {
	const client = new Client({ name: "test-client", version: "1.0.0" });
	t.after(() => client.close());
	const headers = token === undefined ? undefined : { Authorization: `Bearer ${token}` };
	await client.connect(
		new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } as RequestInit }),
	);
	return client;
}

/** An endpoint for events, which checks signatures by the library of Standard Webhooks. */
class Endpoint {
	readonly messages: { id: string; subscription: string; body: Occurrence & { type?: string; error?: unknown } }[] = [];
	/** The status of the next answers; 200 if empty. */
	readonly statuses: number[] = [];
	secret = SECRET;
	url = "";

	static async listen(t: TestContext): Promise<Endpoint> {
		const self = new Endpoint();
		const server = createServer(async (request, response) => {
			let text = "";
			for await (const chunk of request) {
				text += chunk;
			}
			const headers = request.headers as Record<string, string>;
			const body = new Webhook(self.secret).verify(text, headers) as (typeof self.messages)[number]["body"];
			if (body.type === "verification") {
				response.end(JSON.stringify({ challenge: (body as unknown as { challenge: string }).challenge }));
				return;
			}
			const status = self.statuses.shift() ?? 200;
			if (status === 200) {
				self.messages.push({
					id: headers["webhook-id"] ?? "",
					subscription: headers["x-mcp-subscription-id"] ?? "",
					body,
				});
			}
			response.writeHead(status).end();
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		t.after(() => server.close());
		self.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
		return self;
	}

	get host(): string {
		return new URL(this.url).host;
	}

	get buttons(): unknown[] {
		return this.messages.map(({ body }) => body.data?.button);
	}
}

/** A gateway with one device, `lamp_000001`. */
async function start(t: TestContext, settings: Parameters<typeof startProgram>[1] = {}, folder = makeStateFolder()) {
	const side = await startProgram(t, settings, folder);
	return { side, device: await WireDevice.connect(t, side) };
}

/** Presses a button, and settles when the log has it. */
async function pressed(client: Client, device: WireDevice, button: string): Promise<void> {
	const { cursor } = await ask(client, "events/poll", { name: "button.pressed" });
	device.notify(PRESSED, press(button));
	await until(async () => (await poll(client, cursor)).length > 0, `${button} was pressed`);
}

async function poll(client: Client, cursor: string, args: object = {}, name = "button.pressed"): Promise<Occurrence[]> {
	return (await ask(client, "events/poll", { name, cursor, arguments: args })).events;
}

function follow(client: Client): { method: string; params: Record<string, unknown> }[] {
	const told: { method: string; params: Record<string, unknown> }[] = [];
	client.fallbackNotificationHandler = async ({ method, params }) => {
		told.push({ method: method.replace("notifications/events/", ""), params: params ?? {} });
	};
	return told;
}

function buttonOf(told: { readonly params: Record<string, unknown> } | undefined): unknown {
	return (told?.params.data as Record<string, unknown> | undefined)?.button;
}

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`a client of ${era}`, () => {
		it("lists the types of events, and is told of the extension", async (t) => {
			const side = await startProgram(t);
			const client = await connectClient(t, new URL(`${side.base}/mcp`), era);
			const { events } = await ask<{ events: { name: string; delivery: string[]; inputSchema: object }[] }>(
				client,
				"events/list",
				{},
			);
			const type = events.find(({ name }) => name === "button.pressed");
			assert.deepEqual(type?.delivery, ["push", "poll"]);
			assert.ok("button" in (type as { inputSchema: { properties: object } }).inputSchema.properties);
			assert.ok(!events.some(({ name }) => name === "conversation.said"), "a user-only type is listed");
			assert.ok("io.modelcontextprotocol/events" in (client.getServerCapabilities()?.extensions ?? {}));
		});

		it("polls: without a cursor from now on, with one from there on", async (t) => {
			const { side, device } = await start(t);
			const client = await connectClient(t, new URL(`${side.base}/mcp`), era);
			await pressed(client, device, "early");
			const { events, cursor } = await ask(client, "events/poll", { name: "button.pressed", cursor: null });
			assert.deepEqual(events, []);
			await pressed(client, device, "boot");
			const found = await ask(client, "events/poll", { name: "button.pressed", cursor });
			const [{ eventId, timestamp, ...event } = {} as Occurrence] = found.events;
			assert.deepEqual(event, { name: "button.pressed", data: { ...press("boot"), device: "lamp_000001" } });
			assert.match(eventId, /^evt_/);
			assert.ok(Date.parse(timestamp) <= Date.now());
			const later = await ask(client, "events/poll", { name: "button.pressed", cursor: found.cursor });
			assert.deepEqual([later.events, later.truncated, later.hasMore], [[], false, false]);
		});

		it("gets events on a stream, with the id of its request, and goes on after the last cursor", async (t) => {
			const { side, device } = await start(t);
			const client = await connectClient(t, new URL(`${side.base}/mcp`), era);
			const told = follow(client);
			const stop = new AbortController();
			const open = (cursor: string | null) =>
				client
					.request({ method: "events/stream", params: { name: "button.pressed", cursor } }, z.looseObject({}), {
						signal: stop.signal,
						timeout: 600_000,
					})
					.catch(() => {});
			void open(null);
			await until(() => told.some(({ method }) => method === "active"), "active");
			device.notify(PRESSED, press("boot"));
			await until(() => told.some(({ method }) => method === "event"), "an event has come");
			const { params } = told.find(({ method }) => method === "event") as (typeof told)[number];
			assert.deepEqual(buttonOf({ params }), "boot");
			const subscription = (each: (typeof told)[number] | undefined) =>
				(each?.params._meta as Record<string, unknown> | undefined)?.["io.modelcontextprotocol/subscriptionId"];
			assert.equal(subscription(told[0]), subscription(told.at(-1)));
			stop.abort();
			await pressed(client, device, "while away");
			told.length = 0;
			void client
				.request(
					{ method: "events/stream", params: { name: "button.pressed", cursor: params.cursor } },
					z.looseObject({}),
					{
						timeout: 600_000,
					},
				)
				.catch(() => {});
			await until(() => told.some(({ method }) => method === "event"), "what came meanwhile");
			assert.equal(buttonOf(told.at(-1)), "while away");
		});
	});
}

describe("a subscription", () => {
	it("asks for a device, a tag, a button, or a limit that a sensor crosses", async (t) => {
		const { side, device } = await start(t);
		const other = await WireDevice.connect(t, side, { id: "aa:bb:cc:00:00:02", board: "door" });
		const client = await connect(t, side);
		await side.gateway.servers.edit("door_000002", { tags: ["kitchen"] });
		const { cursor } = await ask(client, "events/poll", { name: "button.pressed" });
		await pressed(client, device, "boot");
		await pressed(client, other, "bell");
		const buttons = async (args: object) => (await poll(client, cursor, args)).map(({ data }) => data.button);
		assert.deepEqual(await buttons({}), ["boot", "bell"]);
		assert.deepEqual(await buttons({ device: "door_000002" }), ["bell"]);
		assert.deepEqual(await buttons({ tag: "kitchen" }), ["bell"]);
		assert.deepEqual(await buttons({ button: "boot" }), ["boot"]);
		for (const value of [40, 60, 70, 30, 80]) {
			device.notify("notifications/sensor_changed", { sensor: "soil", kind: "moisture", value, unit: "%" });
		}
		const values = async (args: object) =>
			(await poll(client, cursor, args, "sensor.changed")).map(({ data }) => data.value);
		await until(async () => (await values({})).length === 5, "every value has come");
		assert.deepEqual(await values({ above: 50 }), [60, 80]);
		assert.deepEqual(await values({ below: 35 }), [30]);
		assert.deepEqual((await values({ pause: 86_400 })).length <= 2, true);
	});

	it("asks for lines of a serial port, and for sensors whose value is a yes or no, or has several members", async (t) => {
		const { side, device } = await start(t);
		const client = await connect(t, side);
		const { cursor } = await ask(client, "events/poll", { name: "sensor.changed" });
		const air = { sensor: "air", kind: "combined", value: { near: true, distance: 50 }, unit: { distance: "cm" } };
		device.notify("notifications/sensor_changed", { sensor: "door", kind: "opening", value: true });
		device.notify("notifications/sensor_changed", air);
		device.notify("notifications/line_received", { line: "scale", text: "12.5 kg" });
		device.notify("notifications/line_received", { line: "gps", text: "$GPGGA" });
		const got = async (name: string, args: object = {}) =>
			(await poll(client, cursor, args, name)).map(({ data: { device: _, ...data } }) => data);
		await until(async () => (await got("line.received")).length === 2, "every line has come");
		assert.deepEqual(await got("sensor.changed"), [{ sensor: "door", kind: "opening", value: true }, air]);
		assert.deepEqual(await got("line.received", { line: "scale" }), [{ line: "scale", text: "12.5 kg" }]);
	});

	it("gets the events that a maker's tool reports, by their names", async (t) => {
		const { side, device } = await start(t);
		const client = await connect(t, side);
		const from = { name: "device.event", arguments: { event: "tank.empty" } };
		const { cursor } = await ask(client, "events/poll", { ...from, cursor: null });
		device.notify("notifications/event", { name: "tank.full" });
		device.notify("notifications/event", { name: "tank.empty", data: { litres: 0 } });
		let found: Occurrence[] = [];
		await until(async () => {
			found = (await ask(client, "events/poll", { ...from, cursor })).events;
			return found.length > 0;
		}, "it is recorded");
		assert.deepEqual(
			found.map(({ data }) => data),
			[{ event: "tank.empty", data: { litres: 0 }, device: "lamp_000001" }],
		);
	});

	it("with wrong arguments gets an error that names the member", async (t) => {
		const { side } = await start(t);
		const client = await connect(t, side);
		const wrong = { name: "sensor.changed", arguments: { above: "hot" } };
		assert.match((await rejection(client, "events/poll", wrong)).message, /arguments\.above: .*expected number/);
		assert.equal((await rejection(client, "events/poll", wrong)).code, -32602);
		const unknown = await rejection(client, "events/poll", { name: "tea.ready" });
		assert.deepEqual([unknown.code, unknown.data], [-32011, { kind: "event" }]);
		assert.equal((await rejection(client, "events/poll", { name: "timer.due", cursor: "7" })).code, -32602);
		const hidden = await rejection(client, "events/poll", { name: "conversation.said" });
		assert.equal(hidden.code, -32011);
	});

	it("with the cursor of another gateway is told that events were skipped", async (t) => {
		const { side } = await start(t);
		const client = await connect(t, side);
		const { truncated, events } = await ask(client, "events/poll", { name: "timer.due", cursor: "0123456789ab.7" });
		assert.deepEqual([truncated, events], [true, []]);
	});

	it("gets at most 20 events a second of one device, and none of another shape", async (t) => {
		const { side, device } = await start(t);
		const client = await connect(t, side);
		const { cursor } = await ask(client, "events/poll", { name: "button.pressed" });
		device.notify(PRESSED, { ...press("boot"), long: "very" });
		for (let count = 0; count < 200; count += 1) {
			device.notify(PRESSED, press("boot"));
		}
		await until(() => /too many events \(limit 20 a second\)/.test(side.log()), "it is told");
		assert.match(side.log(), /not an event button.pressed/);
		// That it is online is one of the 20. Events can be read once they are on disk.
		await until(async () => (await poll(client, cursor)).length >= 19, "those within the limit are told");
		// A busy computer may need more than a second for all 200.
		const { length } = await poll(client, cursor);
		assert.ok(length < 200, `${length}`);
	});

	it("by stream: a token has 20 at most", async (t) => {
		const { side } = await start(t);
		const client = await connect(t, side, await side.tokens.add({ name: "agent", kind: "client" }));
		const told = follow(client);
		const open = () => ask(client, "events/stream", { name: "timer.due" });
		for (let streams = 1; streams <= 20; streams += 1) {
			void open().catch(() => {});
			await until(() => told.length === streams, `${streams} are open`);
		}
		const { code, data } = await rejection(client, "events/stream", { name: "timer.due" });
		assert.deepEqual([code, data], [-32013, { limit: "streams", max: 20 }]);
	});

	it("of a token sees the events of its devices only", async (t) => {
		const { side, device } = await start(t);
		const other = await WireDevice.connect(t, side, { id: "aa:bb:cc:00:00:02", board: "door" });
		const token = await side.tokens.add({ name: "door", kind: "client", devices: ["aa:bb:cc:00:00:02"] });
		const all = await connect(t, side, await side.tokens.add({ name: "all", kind: "client" }));
		const client = await connect(t, side, token);
		const { cursor } = await ask(client, "events/poll", { name: "button.pressed" });
		await pressed(all, device, "boot");
		await pressed(all, other, "bell");
		assert.deepEqual(
			(await poll(client, cursor)).map(({ data }) => data.button),
			["bell"],
		);
		assert.deepEqual(await poll(client, cursor, { device: "lamp_000001" }), []);
	});

	it("reads what was stored before the gateway was killed", async (t) => {
		const folder = makeStateFolder();
		const { side, device } = await start(t, {}, folder);
		const client = await connect(t, side);
		const { cursor } = await ask(client, "events/poll", { name: "button.pressed" });
		await pressed(client, device, "boot");
		const [before] = await poll(client, cursor);
		await side.program.close();
		const next = await startProgram(t, {}, folder);
		const again = await connect(t, next);
		assert.deepEqual((await poll(again, cursor))[0], before);
	});
});

/** A gateway with a device, a client with a token, and an endpoint that the gateway trusts. */
async function startWebhook(t: TestContext, folder = makeStateFolder()) {
	const endpoint = await Endpoint.listen(t);
	const { side, device } = await start(t, { webhookHosts: [endpoint.host] }, folder);
	const token = await side.tokens.add({ name: "agent", kind: "client" });
	const client = await connect(t, side, token);
	const params = {
		name: "button.pressed",
		arguments: {},
		cursor: null,
		delivery: { mode: "webhook", url: endpoint.url, secret: SECRET },
	};
	return { endpoint, side, device, token, client, params };
}

interface Subscribed {
	id: string;
	refreshBefore: string;
	cursor: string;
	truncated: boolean;
	deliveryStatus?: { lastError: string | null; lastDeliveryAt: string | null };
}

describe("a webhook", () => {
	it("gets signed events in their order, also those that it has refused at first", async (t) => {
		const { endpoint, device, client, params } = await startWebhook(t);
		const { id, refreshBefore, truncated } = await ask<Subscribed>(client, "events/subscribe", params);
		assert.ok(Date.parse(refreshBefore) > Date.now());
		assert.equal(truncated, false);
		endpoint.statuses.push(503);
		for (const button of ["a", "b", "c"]) {
			device.notify(PRESSED, press(button));
		}
		await until(() => endpoint.messages.length === 3, "every event has come");
		assert.deepEqual(endpoint.buttons, ["a", "b", "c"]);
		const [first] = endpoint.messages;
		assert.deepEqual([first?.id, first?.subscription], [first?.body.eventId, id]);
	});

	it("goes on after a restart of the gateway: with the same ids, and without its client", async (t) => {
		const folder = makeStateFolder();
		const { endpoint, side, device, client, params } = await startWebhook(t, folder);
		const { id } = await ask<Subscribed>(client, "events/subscribe", params);
		await side.program.close();
		const next = await startProgram(t, { webhookHosts: [endpoint.host] }, folder);
		const again = await WireDevice.connect(t, next);
		again.notify(PRESSED, press("after"));
		await until(() => endpoint.messages.length > 0, "it has come");
		assert.deepEqual([endpoint.buttons, endpoint.messages[0]?.subscription], [["after"], id]);
		assert.ok(device);
	});

	it("is renewed, with another secret, and ended", async (t) => {
		const { endpoint, device, client, params } = await startWebhook(t);
		const { id } = await ask<Subscribed>(client, "events/subscribe", params);
		const secret = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
		const delivery = { ...params.delivery, secret };
		const renewed = await ask<Subscribed>(client, "events/subscribe", { ...params, delivery, ttlMs: null });
		assert.equal(renewed.id, id);
		assert.equal(renewed.deliveryStatus?.lastError, null);
		endpoint.secret = secret;
		device.notify(PRESSED, press("new"));
		await until(() => endpoint.messages.length === 1, "signed with the new secret");
		endpoint.secret = SECRET;
		device.notify(PRESSED, press("old"));
		await until(() => endpoint.messages.length === 2, "and with the old one");
		const { name, arguments: args } = params;
		await ask(client, "events/unsubscribe", { name, arguments: args, delivery: { url: endpoint.url } });
		const gone = await rejection(client, "events/unsubscribe", {
			name,
			arguments: args,
			delivery: { url: endpoint.url },
		});
		assert.deepEqual([gone.code, gone.data], [-32011, { kind: "subscription" }]);
	});

	it("is told, and ends, when its token is removed", async (t) => {
		const { endpoint, side, client, params } = await startWebhook(t);
		await ask(client, "events/subscribe", params);
		await side.tokens.remove("agent");
		await until(() => endpoint.messages.length === 1, "told");
		const [{ body } = {}] = endpoint.messages;
		assert.deepEqual([body?.type, (body as { error: { code: number } }).error.code], ["terminated", -32012]);
	});

	it("needs a token", async (t) => {
		const { side } = await start(t);
		const client = await connect(t, side);
		const delivery = { mode: "webhook", url: "https://example.com/hook", secret: SECRET };
		const { code, message } = await rejection(client, "events/subscribe", { name: "timer.due", delivery });
		assert.deepEqual([code, /token/.test(message)], [-32012, true]);
	});

	it("is not accepted at a private address, without TLS, with a short secret, or if its endpoint does not answer the challenge", async (t) => {
		const { side, client, params } = await startWebhook(t);
		const refuse = async (change: Record<string, string>) => {
			const delivery = { ...params.delivery, ...change };
			const { code, message, data } = await rejection(client, "events/subscribe", { ...params, delivery });
			return [code, message, data?.reason ?? data?.feature];
		};
		assert.deepEqual(await refuse({ url: `https://127.0.0.1:${new URL(side.base).port}/` }), [
			-32015,
			"delivery.url: connection_refused",
			"connection_refused",
		]);
		assert.deepEqual(await refuse({ url: "http://example.com/" }), [
			-32602,
			"delivery.url: expected an https URL",
			undefined,
		]);
		assert.match(`${(await refuse({ secret: "whsec_AAAA" }))[1]}`, /delivery\.secret: expected whsec_/);
		assert.deepEqual((await refuse({ mode: "fax" }))[2], "deliveryMode");
		const other = createServer((_request, response) => response.end("hello")).listen(0, "127.0.0.1");
		t.after(() => other.close());
		await until(() => other.listening, "it listens");
		const { port } = other.address() as AddressInfo;
		const { side: trusting } = await start(t, { webhookHosts: [`127.0.0.1:${port}`] });
		const user = await connect(t, trusting, await trusting.tokens.add({ name: "agent", kind: "client" }));
		const delivery = { ...params.delivery, url: `http://127.0.0.1:${port}/` };
		const failed = await rejection(user, "events/subscribe", { ...params, delivery });
		assert.deepEqual([failed.code, failed.data], [-32015, { reason: "challenge_failed" }]);
	});

	it("has at most 50 subscriptions of one token", async (t) => {
		const { client, params } = await startWebhook(t);
		for (let seconds = 1; seconds <= 50; seconds += 1) {
			await ask(client, "events/subscribe", { ...params, arguments: { pause: seconds } });
		}
		const { code, data } = await rejection(client, "events/subscribe", { ...params, arguments: { pause: 51 } });
		assert.deepEqual([code, data], [-32013, { limit: "subscriptions", max: 50 }]);
	});
});
