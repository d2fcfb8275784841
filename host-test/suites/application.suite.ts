import { ProtocolError } from "../../src/protocols/transport.js";
import { FIRMWARE } from "../../src/settings/firmware.js";
import { inSession, request, start, stateChange } from "../doubles/started-application.js";
import { equal, matches, suite } from "../harness.js";

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
	"shows what the backend says"() {
		const { board, transport } = inSession();
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
	},
	"shows its backend and its volume from the start, and whether it is connected"() {
		const { board } = inSession();
		const shown = Object.assign({}, ...board.shown);
		equal([shown.backend, shown.volume, shown.connected, shown.state], ["ws://backend/", 70, true, "idle"]);
	},
	"shows that the session is lost"() {
		const { board, transport } = inSession();
		board.shown.length = 0;
		transport.channel.events.onClose(new ProtocolError("connection-closed", "gone"));
		equal(board.shown[0], { connected: false, online: false });
	},
	"shows the volume whenever it is set"() {
		const { board, transport } = inSession();
		board.shown.length = 0;
		transport.channel.say(
			request(1, "tools/call", { name: "self.audio_speaker.set_volume", arguments: { volume: 31 } }),
		);
		equal([board.speaker.volume, board.shown], [31, [{ volume: 31 }]]);
	},
	"cuts a text that is too long for the heap, and says so by an ellipsis"() {
		const { board, transport } = inSession();
		board.shown.length = 0;
		transport.channel.say({ type: "stt", text: "x".repeat(10_000) });
		equal(board.shown[0]?.message, `${"x".repeat(511)}…`);
	},
	"restarts when the backend tells it to"() {
		const { board, transport, log } = inSession();
		transport.channel.say({ type: "system", command: "dance" });
		transport.channel.say({ type: "system", command: "reboot" });
		equal(board.restarts, [1000]);
		matches(log.join(), /unknown system command "dance"/);
	},
	"restarts as soon as nobody talks with it, when the backend tells it to do so lazily"() {
		const { board, transport } = inSession();
		transport.channel.say({ type: "tts", state: "start" });
		transport.channel.say({ type: "system", command: "lazy_reboot" });
		equal(board.restarts, []);
		transport.channel.say({ type: "tts", state: "stop" });
		equal(board.restarts, [1000]);
	},
	"survives messages whose members are missing or wrong"() {
		const { application, transport } = inSession();
		for (const type of ["tts", "stt", "llm", "alert", "system", "custom"]) {
			transport.channel.say({ type });
			transport.channel.say({ type, state: 5, text: [], emotion: {}, status: 1, message: null, command: [] });
		}
		equal(application.state, "idle");
	},
	"names its board and the firmware's version in the answer to initialize"() {
		const { transport, mcp } = inSession();
		mcp();
		transport.channel.say(request(1, "initialize"));
		equal(mcp()[0].payload.result.serverInfo, { name: "fake", version: FIRMWARE.version });
	},
	"speaks once, however often it is told, and is silent when it was"() {
		const { transport, mcp } = inSession();
		mcp();
		for (const state of ["stop", "start", "start", "sentence_start", "stop", "stop"]) {
			transport.channel.say({ type: "tts", state });
		}
		const told = mcp().map(({ payload }) => payload);
		equal(told, [stateChange("speaking", "idle"), stateChange("idle", "speaking")]);
	},
	"runs on a board that has no part at all"() {
		const { application, transport, log, mcp } = start({ name: "bare", close() {} });
		transport.channel.greet();
		equal(application.state, "idle");
		mcp();
		for (const type of ["tts", "stt", "llm", "alert", "custom"]) {
			transport.channel.say({ type, state: "start", text: "t" });
		}
		transport.channel.say({ type: "system", command: "reboot" });
		matches(log.at(-1) as string, /unknown system command "reboot"/);
		mcp();
		transport.channel.say(request(1, "tools/list", { withUserTools: true }));
		equal(mcp()[0].payload.result.tools[0].name, "self.get_device_status");
	},
});
