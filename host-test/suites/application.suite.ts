import { ProtocolError } from "../../src/protocols/envelope.js";
import { FakeBoard, FakeSettings } from "../doubles/fake-board.js";
import { inSession, request, start, stateChange } from "../doubles/started-application.js";
import { equal, given, matches, ok, settled, suite } from "../harness.js";

export default suite("application", {
	"is idle in a session, and says so in its envelope": given(inSession, ({ application, mcp }) => {
		equal(application.state, "idle");
		equal(mcp(), [{ session_id: "s-1", type: "mcp", payload: stateChange("idle", "connecting") }]);
	}),
	"shows what the backend says": given(inSession, ({ board, transport }) => {
		board.shown.length = 0;
		for (const message of [
			{ type: "stt", text: "hello" },
			{ type: "llm", emotion: "happy", text: "😀" },
			{ type: "alert", status: "Warning", message: "hot", emotion: "sad" },
			{ type: "tts", state: "sentence_start", text: "Hi." },
			{ type: "custom", payload: { a: 1 } },
			{ type: "notify", text: "Tea is ready" },
		]) {
			transport.channel.say(message);
		}
		equal(board.shown, [
			{ message: "hello" },
			{ emotion: "happy" },
			{ alert: { status: "Warning", message: "hot" }, emotion: "sad" },
			{ message: "Hi." },
			{ message: '{"a":1}' },
			{ message: "Tea is ready" },
		]);
	}),
	"shows its backend and its volume from the start, and whether it is connected": given(inSession, ({ board }) => {
		const shown = Object.assign({}, ...board.shown);
		equal([shown.backend, shown.volume, shown.connected, shown.state], ["ws://backend/", 70, true, "idle"]);
	}),
	"shows that the session is lost": given(inSession, ({ board, transport }) => {
		board.shown.length = 0;
		transport.channel.events.onClose(new ProtocolError("connection-closed", "gone"));
		equal(board.shown[0], { connected: false, online: false });
	}),
	"cuts a text that is too long for the heap, and says so by an ellipsis": given(inSession, ({ board, transport }) => {
		board.shown.length = 0;
		transport.channel.say({ type: "stt", text: "x".repeat(10_000) });
		equal(board.shown[0]?.message, `${"x".repeat(511)}…`);
	}),
	"restarts when the backend tells it to": given(inSession, ({ board, transport, log }) => {
		transport.channel.say({ type: "system", command: "dance" });
		transport.channel.say({ type: "system", command: "reboot" });
		equal(board.restarts, [1000]);
		matches(log.join(), /unknown system command "dance"/);
	}),
	"restarts as soon as nobody talks with it, when the backend tells it to do so lazily"() {
		const { board, transport } = inSession();
		transport.channel.say({ type: "tts", state: "start" });
		transport.channel.say({ type: "system", command: "lazy_reboot" });
		equal(board.restarts, []);
		transport.channel.say({ type: "tts", state: "stop" });
		equal(board.restarts, [1000]);
	},
	"survives messages whose members are missing or wrong": given(inSession, ({ application, transport }) => {
		for (const type of ["tts", "stt", "llm", "alert", "system", "custom"]) {
			transport.channel.say({ type });
			transport.channel.say({ type, state: 5, text: [], emotion: {}, status: 1, message: null, command: [] });
		}
		equal(application.state, "idle");
	}),
	"speaks once, however often it is told, and is silent when it was": given(inSession, ({ transport, mcp }) => {
		mcp();
		for (const state of ["stop", "start", "start", "sentence_start", "stop", "stop"]) {
			transport.channel.say({ type: "tts", state });
		}
		const told = mcp().map(({ payload }) => payload);
		equal(told, [stateChange("speaking", "idle"), stateChange("idle", "speaking")]);
	}),
	"runs on a board that has no part at all"() {
		const { system } = new FakeBoard();
		const { application, transport, mcp } = start({ name: "bare", system });
		transport.channel.greet();
		equal(application.state, "idle");
		mcp();
		for (const type of ["tts", "stt", "llm", "alert", "custom"]) {
			transport.channel.say({ type, state: "start", text: "t" });
		}
		mcp();
		transport.channel.say(request(1, "tools/list", { withUserTools: true }));
		equal(mcp()[0].payload.result.tools[0].name, "self.get_device_status");
	},
	"is idle when it has lost its session, and keeps nothing of it in the next one"() {
		const { application, transport, timer, mcp } = inSession();
		transport.channel.say(request(1, "initialize", { protocolVersion: "2025-11-25" }));
		transport.channel.say({ type: "tts", state: "start" });
		transport.channel.events.onClose(new ProtocolError("connection-closed", "x"));
		equal(application.state, "idle");
		timer.pass(1000);
		equal(application.state, "connecting");
		transport.channel.greet("s-2");
		mcp();
		transport.channel.say(request(2, "tools/call", { name: "x" }));
		equal(mcp()[0].payload.error.code, -32601);
	},
	"restores volume, brightness and theme, and stores them as they change"() {
		const settings = new FakeSettings();
		settings.set("audio", "output_volume", 11);
		settings.set("display", "brightness", 22);
		settings.set("display", "theme", "dark");
		const { board, transport } = inSession(new FakeBoard(settings));
		equal([board.speaker.volume, board.screen.brightness, board.screen.theme], [11, 22, "dark"]);
		const params = { name: "self.audio_speaker.set_volume", arguments: { volume: 33 } };
		transport.channel.say(request(1, "tools/call", params));
		equal([board.speaker.volume, settings.get("audio", "output_volume")], [33, 33]);
		equal(board.shown.at(-1), { volume: 33 });
	},
	"does not restore nonsense"() {
		for (const value of [-1, 101, 1.5, "50", true]) {
			const settings = new FakeSettings();
			settings.set("audio", "output_volume", value);
			settings.set("display", "brightness", value);
			settings.set("display", "theme", "pink");
			const board = new FakeBoard(settings);
			start(board);
			equal([board.speaker.volume, board.screen.brightness, board.screen.theme], [70, 75, "light"]);
		}
	},
	async "drops the result of a call from an earlier session"() {
		const answers: (() => void)[] = [];
		const board = new FakeBoard();
		const answerLater = () =>
			new Promise<{ status: number; body: ArrayBuffer }>((resolve) => {
				answers.push(() => resolve({ status: 200, body: new ArrayBuffer(0) }));
			});
		const { transport, timer, mcp } = inSession(Object.assign(board, { http: { request: answerLater } }));
		const call = { name: "self.screen.preview_image", arguments: { url: "http://p" } };
		transport.channel.say(request(1, "tools/call", call));
		transport.channel.events.onClose(new ProtocolError("connection-closed", "x"));
		timer.pass(1000);
		transport.channel.greet("s-2");
		transport.channel.say(request(1, "tools/call", call));
		mcp();
		answers[0]?.();
		await settled();
		equal(mcp(), []);
		answers[1]?.();
		await settled();
		const answered = mcp().map(({ session_id, payload }) => [session_id, payload.id]);
		equal(answered, [["s-2", 1]]);
	},
	"reports to a new session what happens in it, and nothing from before"() {
		const { transport, timer, mcp } = inSession();
		transport.channel.say({ type: "tts", state: "start" });
		transport.channel.events.onClose(new ProtocolError("connection-closed", "x"));
		timer.pass(1000);
		transport.channel.greet("s-2");
		equal(mcp(), [{ session_id: "s-2", type: "mcp", payload: stateChange("idle", "connecting") }]);
	},
	"follows its network when it goes off, on and off again"() {
		const board = new FakeBoard();
		const { application, transport, timer } = inSession(board, {}, { built: { restartAfter: 0 } });
		for (const [online, state, channels] of [
			[true, "idle", 1],
			[false, "idle", 1],
			[false, "idle", 1],
			[true, "connecting", 2],
		] as const) {
			board.network.online = online;
			board.network.onChange?.();
			equal([application.state, transport.channels.length], [state, channels]);
		}
		ok(transport.channels[0]?.closed);
		board.network.online = false;
		board.network.onChange?.();
		timer.pass(1_000_000);
		// The timer that is left looks at battery and signal.
		equal([transport.channels.length, timer.size, application.state], [2, 1, "idle"]);
	},
});
