import { ProtocolError } from "../../src/protocols/envelope.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { inSession, request, start } from "../doubles/started-application.js";
import { equal, given, ok, settled, suite } from "../harness.js";

const tts = (state: string): object => ({ type: "tts", state });

const GOODBYE = { type: "goodbye", session_id: "s-1" };

const upgrade = (id = 1): object =>
	request(id, "tools/call", { name: "self.upgrade_firmware", arguments: { url: "http://f" } });

const states = (log: readonly string[]): string[] =>
	log.filter((line) => line.startsWith("state ")).map((line) => line.slice("state ".length));

export default suite("device states, entered where they are true", {
	"connecting, until hellos are exchanged": given(start, ({ application, transport }) => {
		equal(application.state, "connecting");
		transport.channel.events.onOpen();
		equal(application.state, "connecting");
		transport.channel.say({ type: "hello", session_id: "s-1" });
		equal(application.state, "idle");
	}),
	"connecting again for the next session on a connection that was kept"() {
		const { application, transport, timer } = inSession(undefined, { saysGoodbye: true });
		transport.channel.say(GOODBYE);
		equal(application.state, "idle");
		timer.pass(1000);
		equal([application.state, transport.channels.length], ["connecting", 1]);
	},
	"listening, while the application listens in a session": given(inSession, ({ application, transport }) => {
		application.talk.listen();
		equal(application.state, "listening");
		transport.channel.say(tts("start"));
		equal(application.state, "speaking");
		transport.channel.say(tts("stop"));
		equal(application.state, "listening");
		application.talk.stopListening();
		equal(application.state, "idle");
	}),
	"idle after speaking, if the application stopped listening meanwhile"() {
		const { application, transport } = inSession();
		application.talk.listen();
		transport.channel.say(tts("start"));
		application.talk.stopListening();
		equal(application.state, "speaking");
		transport.channel.say(tts("stop"));
		equal(application.state, "idle");
	},
	"listening, as soon as a session that was asked for on demand has begun"() {
		const { application, transport } = start(undefined, {}, "on-demand");
		equal([application.state, transport.channels.length], ["idle", 0]);
		application.talk.listen();
		equal(application.state, "connecting");
		transport.channel.greet();
		equal(application.state, "listening");
		transport.channel.events.onClose(new ProtocolError("connection-closed", "x"));
		equal(application.state, "idle");
		application.talk.listen();
		transport.channel.greet();
		equal(application.state, "listening");
	},
	"not listening any more in the next session": given(inSession, ({ application, transport, timer }) => {
		application.talk.listen();
		transport.channel.events.onClose(new ProtocolError("connection-closed", "x"));
		timer.pass(1000);
		transport.channel.greet("s-2");
		equal(application.state, "idle");
	}),
	"unchanged by the end of speech that never began": given(start, ({ application, transport }) => {
		transport.channel.events.onOpen();
		transport.channel.say(tts("stop"));
		equal(application.state, "connecting");
		transport.channel.say({ type: "hello", session_id: "s-1" });
		application.talk.listen();
		transport.channel.say(tts("stop"));
		equal(application.state, "listening");
	}),
	async "upgrading, until the firmware could not be installed"() {
		const board = Object.assign(new FakeBoard(), { upgradeFails: true });
		const { application, transport, log, timer } = inSession(board);
		transport.channel.say(tts("start"));
		log.length = 0;
		transport.channel.say(upgrade());
		equal(application.state, "upgrading");
		await settled();
		equal(states(log), ["speaking -> idle", "idle -> upgrading", "upgrading -> idle"]);
		const shown = Object.assign({}, ...board.shown);
		equal(shown.alert, { status: "Update failed", message: "Error: no such firmware" });
		timer.pass(10_000);
		equal(board.shown.at(-1), { alert: { status: "", message: "" }, emotion: "neutral" });
	},
	async "upgrading, while another upgrade is rejected, as the log says"() {
		const { application, transport, log } = inSession();
		transport.channel.say(upgrade());
		transport.channel.say(upgrade());
		await settled();
		equal(application.state, "upgrading");
		ok(log.some((line) => /^upgrade from .* rejected: another update is in progress$/.test(line)));
	},
	async "upgrading, until the device restarts, whatever the backend says"() {
		const { application, transport } = inSession();
		transport.channel.say(upgrade());
		await settled();
		transport.channel.say(tts("start"));
		transport.channel.say(tts("stop"));
		transport.channel.events.onClose(new ProtocolError("connection-closed", "x"));
		equal(application.state, "upgrading");
	},
	"wifi_configuring, if no Wi-Fi is set, until there is one"() {
		const board = new FakeBoard();
		Object.assign(board.network, { ssid: "", online: false });
		const { application, transport, log } = start(board);
		equal([application.state, transport.channels.length], ["wifi_configuring", 0]);
		board.network.onChange?.();
		equal(application.state, "wifi_configuring");
		Object.assign(board.network, { ssid: "home", online: true });
		board.network.onChange?.();
		equal(application.state, "connecting");
		equal(states(log), [
			"unknown -> starting",
			"starting -> wifi_configuring",
			"wifi_configuring -> activating",
			"activating -> idle",
			"idle -> connecting",
		]);
	},
	"told to the backend in a session only"() {
		const { application, transport, timer, mcp } = inSession(undefined, { saysGoodbye: true });
		equal(mcp().length, 1);
		transport.channel.say(GOODBYE);
		timer.pass(1000);
		equal([application.state, mcp()], ["connecting", []]);
		transport.channel.say({ type: "hello", session_id: "s-2" });
		equal(mcp().length, 1);
	},
});
