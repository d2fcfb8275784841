import { ProtocolError } from "../../src/protocols/transport.js";
import { settled } from "../doubles/client.js";
import { FakeBoard, FakeSettings } from "../doubles/fake-board.js";
import { inSession, request, start, stateChange } from "../doubles/started-application.js";
import { equal, ok, suite } from "../harness.js";

export default suite("application, from session to session", {
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
	"lets go of everything when it stops"() {
		const { application, board, transport, timer } = inSession();
		application.stop();
		timer.pass(1_000_000);
		equal([board.closed, transport.channel.closed, timer.size], [true, true, 0]);
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
		const { application, transport, timer } = inSession(board);
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
	"stays stopped when the network changes after it stopped"() {
		const board = new FakeBoard();
		const { application, transport, timer } = inSession(board);
		application.stop();
		board.network.onChange?.();
		equal([transport.channels.length, timer.size], [1, 0]);
	},
});
