import { DeviceEvents } from "../../src/direct/device-events.js";
import { MAX_DATA, MAX_EVENTS } from "../../src/direct/event-types.js";
import { openDirect } from "../../src/direct/open-direct.js";
import type { Hardware } from "../../src/hardware/hardware.js";
import { FeatureSet } from "../../src/mcp_server/features/feature-set.js";
import { Logging } from "../../src/mcp_server/features/logging.js";
import { Client, tool, type Wire } from "../doubles/client.js";
import { FakeHttpPlatform } from "../doubles/fake-http-server.js";
import { boardWithParts } from "../doubles/fake-parts.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { start } from "../doubles/started-application.js";
import { statelessClient } from "../doubles/stateless-client.js";
import { equal, matches, ok, suite } from "../harness.js";

/** A client of a device with events, and what has gone wrong. */
function open() {
	const log: string[] = [];
	const events = new DeviceEvents((line) => log.push(line));
	const client = new Client<undefined>({ context: undefined, features: new FeatureSet<undefined>([events]) });
	const poll = (params: object): Wire => client.ask("events/poll", params);
	/** Where polls begin that shall get all that happens from now on. */
	const now = (): string => poll({ name: "button.pressed" }).result.cursor;
	const press = (button = "boot", long = false): void =>
		events.told("notifications/button_pressed", { button, long, milliseconds: 120 });
	return { events, client, poll, now, press, log };
}

/** Event types other than presses, in list order: the source notification, and the event's data if it differs. */
const TOLD: Readonly<Record<string, readonly [method: string, params: object, data?: object]>> = {
	"sensor.changed": ["sensor_changed", { sensor: "room", kind: "temperature", value: 21, unit: "°C" }],
	"switch.changed": ["switch_changed", { switch: "pump", on: true, cause: "call" }],
	"line.received": ["line_received", { line: "scale", text: "12 g" }],
	"timer.due": ["timer_due", { id: 3, text: "tea" }],
	"device.event": ["event", { name: "tank.empty", data: { litres: 0 } }, { event: "tank.empty", data: { litres: 0 } }],
	"device.state": [
		"state_changed",
		{ newState: "idle", oldState: "speaking" },
		{ state: "idle", previous: "speaking" },
	],
};

const dataOf = ({ result }: Wire): unknown[] => result.events.map(({ data }: Wire) => data);

export default suite("events of a device that serves clients directly", {
	"are an extension and a capability of the server"() {
		equal(open().client.initialize("2025-11-25").result.capabilities, {
			tools: { listChanged: true },
			extensions: { "io.modelcontextprotocol/events": {} },
			events: {},
		});
	},
	"have types, which are only polled"() {
		const { events } = open().client.ask("events/list").result;
		equal(
			events.map(({ name, delivery }: Wire) => [name, delivery]),
			["button.pressed", ...Object.keys(TOLD)].map((name) => [name, ["poll"]]),
		);
		equal(events[0].inputSchema, {
			type: "object",
			properties: { button: { type: "string" } },
			additionalProperties: false,
		});
		equal(events[0].payloadSchema, {
			type: "object",
			properties: {
				device: { type: "string" },
				button: { type: "string" },
				long: { type: "boolean" },
				milliseconds: { type: "number" },
			},
			required: ["device", "button"],
		});
	},
	"come from now on without a cursor, and with one from there on"() {
		const { poll, press } = open();
		press("boot");
		const first = poll({ name: "button.pressed" }).result;
		equal([first.events, first.truncated, first.hasMore, first.nextPollMs], [[], false, false, 5_000]);
		matches(first.cursor, /^[0-9a-f]{12}\.1$/);
		press("side", true);
		const { result } = poll({ name: "button.pressed", cursor: first.cursor });
		const [event] = result.events;
		equal(result.events.length, 1);
		equal(event.eventId, `evt_${first.cursor.replace(".1", "_2")}`);
		equal(event.name, "button.pressed");
		matches(event.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
		equal(event.data, { device: "test", button: "side", long: true, milliseconds: 120 });
		equal(poll({ name: "button.pressed", cursor: result.cursor }).result.events, []);
	},
	"have the data of the gateway's"() {
		const { poll, now, events } = open();
		const cursor = now();
		for (const [name, [method, params, data = params]] of Object.entries(TOLD)) {
			events.told(`notifications/${method}`, params);
			equal(dataOf(poll({ name, cursor })), [{ device: "test", ...data }]);
		}
	},
	"tell a sensor's value of the event before"() {
		const { poll, now, events } = open();
		const cursor = now();
		for (const [sensor, value] of Object.entries({ room: 20, soil: 5 })) {
			events.told("notifications/sensor_changed", { sensor, value });
		}
		events.told("notifications/sensor_changed", { sensor: "room", value: 22 });
		equal(dataOf(poll({ name: "sensor.changed", arguments: { sensor: "room" }, cursor })), [
			{ device: "test", sensor: "room", value: 20 },
			{ device: "test", sensor: "room", value: 22, previous: 20 },
		]);
	},
	"are not made of what the assistant says, nor of other notifications"() {
		const { now, events } = open();
		const before = now();
		for (const name of ["said", "tools/list_changed", "progress"]) {
			events.told(`notifications/${name}`, { role: "user", text: "hello" });
		}
		equal(now(), before);
	},
	"are the newest ones: a poll is told what it has missed"() {
		const { poll, now, press } = open();
		const cursor = now();
		for (let at = 0; at < MAX_EVENTS; at += 1) {
			press(`b${at}`);
		}
		equal(poll({ name: "button.pressed", cursor }).result.truncated, false);
		press("last");
		const { result } = poll({ name: "button.pressed", cursor });
		equal([result.events.length, result.truncated, result.hasMore], [MAX_EVENTS, true, false]);
		equal([result.events[0].data.button, result.events.at(-1).data.button], ["b1", "last"]);
	},
	"come in several polls if a client wants few, or if they are long"() {
		const { poll, now, press, client } = open();
		const cursor = now();
		press("a");
		press("b");
		const one = poll({ name: "button.pressed", cursor, maxEvents: 1 }).result;
		equal([one.events.length, one.hasMore, one.truncated], [1, true, false]);
		equal(dataOf(poll({ name: "button.pressed", cursor: one.cursor })), [
			{ device: "test", button: "b", long: false, milliseconds: 120 },
		]);
		for (let at = 0; at < MAX_EVENTS; at += 1) {
			press(`${at}`.padEnd(MAX_DATA - 100, "ä"));
		}
		let next = poll({ name: "button.pressed", cursor }).result;
		let count = next.events.length;
		while (next.hasMore) {
			ok(next.events.length > 0, "each poll goes on");
			ok(ArrayBuffer.fromString(JSON.stringify(next)).byteLength <= client.session.pageBytes, "each answer has room");
			next = poll({ name: "button.pressed", cursor: next.cursor }).result;
			count += next.events.length;
		}
		equal(count, MAX_EVENTS);
	},
	"are not kept if they are too long"() {
		const { events, now, log } = open();
		const before = now();
		events.told("notifications/line_received", { line: "scale", text: "x".repeat(MAX_DATA) });
		equal(now(), before);
		matches(log[0] ?? "", /^event line\.received dropped: \d+ characters \(limit 512\)$/);
	},
	"are skipped if a poll wants newer ones"() {
		const { poll, now, press } = open();
		const cursor = now();
		press();
		const young = poll({ name: "button.pressed", cursor, maxAgeMs: 600_000 }).result;
		equal([young.events.length, young.truncated], [1, false]);
		equal(poll({ name: "button.pressed", cursor, maxAgeMs: -1 }).error.message.split(":")[0], "maxAgeMs");
	},
	"are unknown to another run of the firmware"() {
		const { poll, now, press } = open();
		press();
		const other = "000000000000.1";
		const { result } = poll({ name: "button.pressed", cursor: other });
		equal([result.events, result.truncated, result.cursor], [[], true, now()]);
		const later = now().replace(/\d+$/, "99");
		equal(poll({ name: "button.pressed", cursor: later }).result.truncated, true);
	},
	"of an unknown type are an error as on the gateway"() {
		const { poll } = open();
		equal(poll({ name: "door.opened" }).error, {
			code: -32011,
			message: "Unknown event: door.opened",
			data: { kind: "event" },
		});
		equal(poll({ name: "conversation.said" }).error.code, -32011);
	},
	"are not polled with wrong parameters, whose names the error has"() {
		const { poll, client } = open();
		const name = "button.pressed";
		for (const [params, message] of [
			[{}, /^name: expected/],
			[{ name, cursor: "soon" }, /^cursor: not one of this device$/],
			[{ name, cursor: 1 }, /^cursor: expected a string$/],
			[{ name, maxEvents: 0 }, /^maxEvents: expected an integer of at least 1$/],
			[{ name, arguments: { button: 1 } }, /^arguments\.button: expected a string$/],
			[{ name, arguments: { long: true } }, /^arguments\.long: button\.pressed has only the argument button/],
			[{ name: "timer.due", arguments: { device: "a" } }, /^arguments\.device: timer\.due has no arguments/],
			[{ name, arguments: [] }, /^arguments: expected an object$/],
		] as const) {
			const { error } = poll(params);
			equal(error.code, -32602);
			matches(error.message, message);
		}
		equal(client.ask("events/list", { cursor: "x" }).error.message, "unknown cursor");
		equal(client.ask("events/stream", { name }).error.code, -32601);
	},
	async "are polled by clients of 2026-07-28, too"() {
		const events = new DeviceEvents(() => {});
		const { ask } = statelessClient({ features: [events] });
		const { cursor } = (await ask("events/poll", { name: "button.pressed" })).result;
		events.told("notifications/button_pressed", { button: "boot", long: false });
		const { result } = await ask("events/poll", { name: "button.pressed", cursor });
		equal([result.resultType, result.events.length], ["complete", 1]);
	},
	"are recorded outside a session with a backend"() {
		const board = boardWithParts();
		const events = new DeviceEvents(() => {});
		const { application } = start(board, {}, undefined, {
			features: new FeatureSet<Hardware>([events]),
			followers: [events],
		});
		const texts: string[] = [];
		const session = application.server.open({ send: (text) => texts.push(String(text)) });
		const poll = (cursor?: string): Wire => {
			const params = { name: "button.pressed", cursor };
			session.receiveText(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "events/poll", params }));
			return JSON.parse(texts.pop() ?? "");
		};
		const { cursor } = poll().result;
		board.buttons.side.press(true);
		equal(poll(cursor).result.events[0].data, {
			device: application.server.name,
			button: "side",
			long: true,
			milliseconds: 2_000,
		});
	},
	"are added to the features that the firmware has, and have what a client's own call reports"() {
		const platform = new FakeHttpPlatform();
		const timer = new FakeTimer();
		const direct = openDirect(platform, {
			built: { http: 80 },
			settings: undefined,
			deviceId: "02:12:34:56:78:9a",
			maxMessageBytes: 1_000,
			maxQueuedBytes: 8_000,
			timer,
			log: () => {},
		});
		const tools = [tool("empty", (_args, _context, call) => call.emit("tank.empty", { litres: 0 }))];
		const features = direct?.withEvents(new FeatureSet<undefined>([new Logging()]));
		const server = features?.serve({ name: "test", version: "1", context: undefined, tools, timer });
		ok(direct !== undefined && server !== undefined);
		equal(Object.keys(server.capabilities).sort(), ["events", "extensions", "logging", "tools"]);
		direct.serve(server).online();
		const post = (method: string, params: object): string => {
			const connection = platform.connect();
			connection.post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
			return connection.grant().grant().sent;
		};
		const poll = (cursor?: string): Wire => JSON.parse(post("events/poll", { name: "device.event", cursor }));
		const { cursor } = poll().result;
		post("tools/call", { name: "empty" });
		equal(dataOf(poll(cursor)), [{ device: "test", event: "tank.empty", data: { litres: 0 } }]);
	},
});
