import { Application } from "../../src/app/application.js";
import { readConfig } from "../../src/app/config.js";
import { deviceUuid } from "../../src/app/uuid.js";
import { ProtocolError } from "../../src/protocols/protocol-error.js";
import type { Wire } from "../doubles/client.js";
import { FakeBoard, FakeSettings } from "../doubles/fake-board.js";
import { FakeProtocol } from "../doubles/fake-protocol.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, matches, ok, suite, throws } from "../harness.js";

function start(board = new FakeBoard()) {
	const timer = new FakeTimer();
	const log: string[] = [];
	let protocol!: FakeProtocol;
	const application = new Application({
		board,
		log: (line) => log.push(line),
		protocol: (events) => {
			protocol = new FakeProtocol({ events, timer, log: (line) => log.push(line) });
			return protocol;
		},
	});
	application.start();
	/** MCP messages sent on the present channel and not yet looked at. */
	const mcp = (): Wire[] =>
		protocol.channel.sent
			.splice(0)
			.map((text) => JSON.parse(text))
			.filter(({ type }) => type === "mcp");
	return { application, board, protocol, timer, log, mcp };
}

function inSession(board?: FakeBoard) {
	const started = start(board);
	started.protocol.channel.greet();
	return started;
}

const stateChange = (newState: string, oldState: string): object => ({
	jsonrpc: "2.0",
	method: "notifications/state_changed",
	params: { newState, oldState },
});

export default suite("application", {
	"goes from unknown to connecting as it starts"() {
		const { application, log } = start();
		equal(application.state, "connecting");
		equal(log, [
			"state unknown -> starting",
			"state starting -> activating",
			"state activating -> idle",
			"state idle -> connecting",
		]);
	},
	"is idle in a session, and says so in its envelope"() {
		const { application, mcp } = inSession();
		equal(application.state, "idle");
		equal(mcp(), [{ session_id: "s-1", type: "mcp", payload: stateChange("idle", "connecting") }]);
	},
	"answers MCP"() {
		const { protocol, mcp } = inSession();
		mcp();
		protocol.channel.say({ type: "mcp", payload: { jsonrpc: "2.0", id: 4, method: "ping" } });
		equal(mcp()[0].payload, { jsonrpc: "2.0", id: 4, result: {} });
	},
	"speaks while the backend does"() {
		const { application, protocol, mcp } = inSession();
		mcp();
		protocol.channel.say({ type: "tts", state: "start" });
		equal(application.state, "speaking");
		protocol.channel.say({ type: "tts", state: "stop" });
		equal(
			mcp().map(({ payload }) => payload),
			[stateChange("speaking", "idle"), stateChange("idle", "speaking")],
		);
	},
	"shows what the backend says"() {
		const { board, protocol } = inSession();
		board.shown.length = 0;
		for (const message of [
			{ type: "stt", text: "hello" },
			{ type: "llm", emotion: "happy", text: "😀" },
			{ type: "alert", status: "Warning", message: "hot", emotion: "sad" },
			{ type: "tts", state: "sentence_start", text: "Hi." },
			{ type: "custom", payload: { a: 1 } },
		]) {
			protocol.channel.say(message);
		}
		equal(board.shown, [
			{ message: "hello" },
			{ emotion: "happy", message: "😀" },
			{ alert: { status: "Warning", message: "hot" }, emotion: "sad" },
			{ message: "Hi." },
			{ message: '{"a":1}' },
		]);
	},
	"restarts when the backend tells it to"() {
		const { board, protocol, log } = inSession();
		protocol.channel.say({ type: "system", command: "dance" });
		protocol.channel.say({ type: "system", command: "reboot" });
		equal(board.restarts, [1000]);
		matches(log.join(), /"dance": not known/);
	},
	"survives messages whose members are missing or wrong"() {
		const { application, protocol } = inSession();
		for (const type of ["tts", "stt", "llm", "alert", "system", "custom"]) {
			protocol.channel.say({ type });
			protocol.channel.say({ type, state: 5, text: [], emotion: {}, status: 1, message: null, command: [] });
		}
		equal(application.state, "idle");
	},
	"is idle when it has lost its session, and connects again with nothing of the old one"() {
		const { application, protocol, timer, mcp } = inSession();
		protocol.channel.say({
			type: "mcp",
			payload: { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } },
		});
		protocol.channel.say({ type: "tts", state: "start" });
		protocol.channel.events.onClose(new ProtocolError("connection-closed", "x"));
		equal(application.state, "idle");
		timer.pass(1000);
		equal(application.state, "connecting");
		protocol.channel.greet("s-2");
		mcp();
		protocol.channel.say({
			type: "mcp",
			payload: { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "x" } },
		});
		equal(mcp()[0].payload.error.code, -32601);
	},
	"connects when the network is there, and lets go when it is not"() {
		const board = new FakeBoard();
		board.network.online = false;
		const { application, protocol, mcp } = start(board);
		equal([application.state, protocol.channels.length], ["idle", 0]);
		board.network.online = true;
		board.network.onChange?.();
		protocol.channel.greet();
		mcp();
		board.network.online = false;
		board.network.onChange?.();
		ok(protocol.channel.closed);
		equal(application.state, "idle");
	},
	"lets go of everything when it stops"() {
		const { application, board, protocol, timer } = inSession();
		application.stop();
		timer.pass(1_000_000);
		equal([board.closed, protocol.channel.closed, timer.size], [true, true, 0]);
	},
	"restores volume, brightness and theme, and stores them as they change"() {
		const settings = new FakeSettings();
		settings.set("audio", "output_volume", 11);
		settings.set("display", "brightness", 22);
		settings.set("display", "theme", "dark");
		const { board, protocol } = inSession(new FakeBoard(settings));
		equal([board.speaker.volume, board.screen.brightness, board.screen.theme], [11, 22, "dark"]);
		const params = { name: "self.audio_speaker.set_volume", arguments: { volume: 33 } };
		protocol.channel.say({ type: "mcp", payload: { jsonrpc: "2.0", id: 1, method: "tools/call", params } });
		equal([board.speaker.volume, settings.get("audio", "output_volume")], [33, 33]);
	},
	"does not restore nonsense"() {
		for (const value of [-1, 101, 1.5, "50", true]) {
			const settings = new FakeSettings();
			settings.set("audio", "output_volume", value);
			settings.set("display", "theme", "pink");
			const board = new FakeBoard(settings);
			start(board);
			equal([board.speaker.volume, board.screen.theme], [70, "light"]);
		}
	},
	"makes its UUID once"() {
		const settings = new FakeSettings();
		const uuid = deviceUuid(settings);
		matches(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
		equal(deviceUuid(settings), uuid);
		ok(deviceUuid(undefined) !== uuid);
	},
	"reads its settings, stored ones before those it was built with"() {
		const settings = new FakeSettings();
		const built = { backend: "ws://built/", token: "built", protocolVersion: "2", keepAlive: "60", qos: "1" };
		settings.set("xs-mcp", "backend", "mqtt://stored");
		const { backend, token, protocolVersion, keepAlive, qos, clientId, publishTopic, subscribeTopic } = readConfig(
			built,
			settings,
			"mac",
		);
		equal([backend, token, protocolVersion, keepAlive, qos], ["mqtt://stored", "built", 2, 60, 1]);
		equal([clientId, publishTopic, subscribeTopic], ["mac", "xs-mcp/mac/up", "xs-mcp/mac/down"]);
	},
	"names the setting that it cannot use"() {
		const built = { backend: "ws://h/" };
		for (const [key, value] of [
			["backend", 5],
			["token", 5],
			["protocolVersion", 4],
			["keepAlive", 0],
			["qos", 2],
			["transport", "ws"],
		] as const) {
			throws(() => readConfig({ ...built, [key]: value }, undefined, "mac"), new RegExp(`^${key}: expected`));
		}
		throws(() => readConfig({}, undefined, "mac"), /^backend: expected a string/);
	},
});
