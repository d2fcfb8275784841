import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import * as z from "zod";
import { cases } from "../../../host-test/support/scope.js";
import { temporaryFolder, testWith, until } from "../../../host-test/support/testing.js";
import { EventLog } from "../src/events/event-log.js";
import {
	ask,
	buttonOf,
	follow,
	type Occurrence,
	PRESSED,
	poll,
	press,
	pressed,
	rejection,
	start,
} from "../testing/events.js";
import { ERAS, WireDevice } from "../testing/gateway.js";
import { connect, makeStateFolder, startProgram } from "../testing/program.js";

// SEP-3415, the extension io.modelcontextprotocol/events.

async function startWithClient(t: TestContext) {
	const opened = await start(t);
	return { ...opened, client: await connect(t, opened.side) };
}

const itStarted = testWith(start);
const itWithClient = testWith(startWithClient);

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`a client of ${era}`, () => {
		it("lists the types of events, and is told of the extension", async (t) => {
			const side = await startProgram(t);
			const client = await connect(t, side, undefined, era);
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

		itStarted("polls: without a cursor from now on, with one from there on", async ({ side, device }, t) => {
			const client = await connect(t, side, undefined, era);
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
			const client = await connect(t, side, undefined, era);
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
	itStarted("asks for a device, a tag, a button, or a limit that a sensor crosses", async ({ side, device }, t) => {
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
		const { device, client } = await startWithClient(t);
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

	itWithClient("gets the events that a maker's tool reports, by their names", async ({ device, client }) => {
		const from = { name: "device.event", arguments: { event: "tank.empty" } };
		const { cursor } = await ask(client, "events/poll", { ...from, cursor: null });
		device.notify("notifications/event", { name: "tank.full" });
		device.notify("notifications/event", { name: "tank.empty", data: { litres: 0 } });
		let found: Occurrence[] = [];
		await until(async () => {
			found = (await ask(client, "events/poll", { ...from, cursor })).events;
			return found.length > 0;
		}, "it is recorded");
		const seen = found.map(({ data }) => data);
		assert.deepEqual(seen, [{ event: "tank.empty", data: { litres: 0 }, device: "lamp_000001" }]);
	});

	itWithClient("with wrong arguments gets an error that names the member", async ({ client }) => {
		const wrong = { name: "sensor.changed", arguments: { above: "hot" } };
		for (const [params, message] of [
			[wrong, /arguments\.above: expected number, received string$/],
			[{ name: "sensor.changed", arguments: { tea: 1 } }, /arguments: unknown key "tea"$/],
			[{}, /name: required \(string\)$/],
			[{ name: "sensor.changed", maxEvents: 0 }, /maxEvents: expected number to be >=1$/],
		] as const) {
			const { code, message: said } = await rejection(client, "events/poll", params);
			assert.equal(code, -32602);
			assert.match(said, message);
			assert.doesNotMatch(said, /Invalid input|Too small|Unrecognized/);
		}
		const unknown = await rejection(client, "events/poll", { name: "tea.ready" });
		assert.deepEqual([unknown.code, unknown.data], [-32023, { kind: "event" }]);
		assert.equal((await rejection(client, "events/poll", { name: "timer.due", cursor: "7" })).code, -32602);
		const hidden = await rejection(client, "events/poll", { name: "conversation.said" });
		assert.equal(hidden.code, -32023);
	});

	itWithClient("with the cursor of another gateway is told that events were skipped", async ({ client }) => {
		const { truncated, events } = await ask(client, "events/poll", { name: "timer.due", cursor: "0123456789ab.7" });
		assert.deepEqual([truncated, events], [true, []]);
	});

	itWithClient("gets a burst of events of one device whole", async ({ device, client }) => {
		const { cursor } = await ask(client, "events/poll", { name: "button.pressed" });
		const names = Array.from({ length: 90 }, (_, index) => `${index}`);
		for (const name of names) {
			device.notify(PRESSED, press(name));
		}
		await until(async () => (await poll(client, cursor)).length === 90, "every event is recorded");
		const found = await ask(client, "events/poll", { name: "button.pressed", cursor });
		assert.deepEqual([found.events.map(({ data }) => data.button), found.truncated], [names, false]);
	});

	it("is told that events of a device were lost, because there were too many", async (t) => {
		const { side, device, client } = await startWithClient(t);
		await WireDevice.connect(t, side, { id: "aa:bb:cc:00:00:02", board: "door" });
		const { cursor } = await ask(client, "events/poll", { name: "button.pressed" });
		device.notify(PRESSED, { ...press("boot"), long: "very" });
		for (let count = 0; count < 900; count += 1) {
			device.notify(PRESSED, press("boot"));
		}
		await until(() => /too many events \(limit 20 a second\)/.test(side.log()), "it is told");
		assert.match(side.log(), /not an event button.pressed/);
		const truncatedFor = async (args: object): Promise<boolean> => {
			let at = cursor;
			for (;;) {
				const found = await ask(client, "events/poll", { name: "button.pressed", cursor: at, arguments: args });
				if (found.truncated || !found.hasMore) {
					return found.truncated;
				}
				at = found.cursor;
			}
		};
		await until(async () => await truncatedFor({}), "the loss is told");
		assert.equal(await truncatedFor({ device: "door_000002" }), false);
	});

	it("with a pause gets what happens after it has begun, also in a span of time with earlier events", async (t) => {
		const { device, client } = await startWithClient(t);
		await pressed(client, device, "before");
		const pause = { name: "button.pressed", arguments: { pause: 86_400 } };
		const { cursor } = await ask(client, "events/poll", pause);
		await pressed(client, device, "first");
		const first = await ask(client, "events/poll", { ...pause, cursor });
		await pressed(client, device, "second");
		const second = await ask(client, "events/poll", { ...pause, cursor: first.cursor });
		const buttons = [...first.events, ...second.events].map(({ data }) => data.button);
		assert.deepEqual(buttons, ["first"]);
	});

	it("to a limit that a sensor crosses is not repeated after a restart", async (t) => {
		const folder = makeStateFolder();
		const { side, device } = await start(t, {}, folder);
		const client = await connect(t, side);
		const { cursor } = await ask(client, "events/poll", { name: "sensor.changed" });
		const soil = (value: number) => ({ sensor: "soil", kind: "moisture", value, unit: "%" });
		const below = async (user: typeof client) =>
			(await poll(user, cursor, { below: 30 }, "sensor.changed")).map(({ data }) => data.value);
		for (const value of [40, 28]) {
			device.notify("notifications/sensor_changed", soil(value));
		}
		await until(async () => (await below(client)).length === 1, "the limit is crossed");
		await side.gateway.close();
		const next = await startProgram(t, {}, folder);
		const again = await WireDevice.connect(t, next);
		const user = await connect(t, next);
		for (const value of [27, 35, 26]) {
			again.notify("notifications/sensor_changed", soil(value));
		}
		await until(async () => (await poll(user, cursor, {}, "sensor.changed")).length === 5, "every value has come");
		assert.deepEqual(await below(user), [28, 26]);
	});

	itStarted("by stream: a token has 20 at most", async ({ side }, t) => {
		const client = await connect(t, side, await side.tokens.add({ name: "agent", kind: "client" }));
		const told = follow(client);
		const open = () => ask(client, "events/stream", { name: "timer.due" });
		for (let streams = 1; streams <= 20; streams += 1) {
			void open().catch(() => {});
			await until(() => told.length === streams, `${streams} are open`);
		}
		const { code, data } = await rejection(client, "events/stream", { name: "timer.due" });
		assert.deepEqual([code, data], [-32025, { limit: "streams", max: 20 }]);
	});

	itStarted("of a token sees the events of its devices only", async ({ side, device }, t) => {
		const other = await WireDevice.connect(t, side, { id: "aa:bb:cc:00:00:02", board: "door" });
		const token = await side.tokens.add({ name: "door", kind: "client", devices: ["aa:bb:cc:00:00:02"] });
		const all = await connect(t, side, await side.tokens.add({ name: "all", kind: "client" }));
		const client = await connect(t, side, token);
		const { cursor } = await ask(client, "events/poll", { name: "button.pressed" });
		await pressed(all, device, "boot");
		await pressed(all, other, "bell");
		const seen = (await poll(client, cursor)).map(({ data }) => data.button);
		assert.deepEqual(seen, ["bell"]);
		assert.deepEqual(await poll(client, cursor, { device: "lamp_000001" }), []);
	});
});

it("an event that waits for the disk while its gateway joins a cluster has no place among those of the cluster", async () => {
	const saved: unknown[] = [];
	const log = await EventLog.open(`${temporaryFolder()}/events`, (error) => saved.push(error));
	const event = { name: "device.offline", device: "d", data: {} };
	log.append(event);
	log.share({ publish: () => {} }, "0123456789ab");
	const timestamp = new Date().toISOString();
	for (const seq of [1, 2, 3]) {
		log.received(seq, { ...event, timestamp });
	}
	await log.close();
	assert.deepEqual(saved, [undefined]);
	log.received(4, { ...event, timestamp });
	const ids = log.after(0).map(({ eventId }) => eventId);
	assert.deepEqual(
		ids,
		[1, 2, 3, 4].map((seq) => `evt_0123456789ab_${seq}`),
	);
});
