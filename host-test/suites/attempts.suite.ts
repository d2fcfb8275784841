import { ProtocolError } from "../../src/protocols/envelope.js";
import { beforeHello, FakeProtocol, fakeProtocol, inSession } from "../doubles/fake-protocol.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, given, matches, ok, suite } from "../harness.js";

const broken = (): ProtocolError => new ProtocolError("connection-failed", "x");

/** A protocol that is closed in one of its events. */
function closedFrom(event: "onConnecting" | "onSession" | "onMcp" | "onMessage" | "onLost") {
	let protocol: FakeProtocol | undefined;
	const close = (at: string) => () => {
		if (at === event) {
			protocol?.close();
		}
	};
	const timer = new FakeTimer();
	protocol = new FakeProtocol({
		timer,
		log() {},
		events: {
			onOpen() {},
			onConnecting: close("onConnecting"),
			onSession: close("onSession"),
			receiver: { receive: close("onMcp"), reject() {} },
			onMessage: close("onMessage"),
			onLost: close("onLost"),
		},
	});
	protocol.open();
	return { protocol, timer };
}

export default suite("device protocol, attempt after attempt", {
	"opens once, however often it is told to": given(fakeProtocol, ({ protocol }) => {
		protocol.open();
		protocol.open();
		protocol.lastChannel.greet();
		protocol.open();
		equal(protocol.channels.length, 1);
	}),
	"gives up a connection that does not come within ten seconds, and tries again"() {
		const { protocol, timer, lost } = fakeProtocol();
		protocol.open();
		const { lastChannel: channel } = protocol;
		timer.pass(9_999);
		equal([lost, channel.closed], [[], false]);
		timer.pass(1);
		equal([lost[0]?.error.code, lost[0]?.retryIn, channel.closed], ["hello-timeout", 500, true]);
		matches(lost[0]?.error.message ?? "", /^no connection within 10000 ms$/);
		timer.pass(499);
		equal(protocol.channels.length, 1);
		timer.pass(1);
		equal(protocol.channels.length, 2);
	},
	"waits ten seconds for hello"() {
		const { timer, lost } = beforeHello();
		timer.pass(10_000);
		matches(lost[0]?.error.message ?? "", /^no hello within 10000 ms$/);
	},
	"does not take a hello that comes too late": given(beforeHello, ({ protocol, timer, heard, log }) => {
		const { lastChannel: channel } = protocol;
		timer.pass(10_000);
		channel.say({ type: "hello", transport: "fake", session_id: "late" });
		equal([heard, log, protocol.session], [[], [], undefined]);
	}),
	"ignores members of a hello that have the wrong type, as the C++ firmware does"() {
		for (const hello of [{ session_id: 5 }, { session_id: {} }, { audio_params: 5 }, { audio_params: [] }]) {
			const { protocol, heard, lost } = beforeHello();
			protocol.lastChannel.say({ type: "hello", ...hello });
			protocol.lastChannel.say({ type: "mcp", payload: {}, ...hello });
			equal([heard, lost], [["session ", { mcp: {} }], []]);
		}
	},
	"keeps the code of what connecting throws, and takes anything for a reason"() {
		for (const [thrown, code, message] of [
			[new ProtocolError("silent", "no such host"), "silent", "no such host"],
			[new TypeError("no class"), "connection-failed", "no class"],
			["text", "connection-failed", "text"],
		] as const) {
			const { protocol, lost } = fakeProtocol();
			protocol.fakeTransport.failure = thrown as Error;
			protocol.open();
			equal([lost.length, lost[0]?.error.code, lost[0]?.error.message], [1, code, message]);
		}
	},
	"takes a silence for the end after two minutes, by half a minute at most, whenever it begins"() {
		for (const last of [0, 1, 15_000, 29_999, 30_000, 59_999, 100_000]) {
			const { protocol, timer, lost } = inSession({}, { silenceTimeout: 120_000 });
			timer.pass(last);
			protocol.lastChannel.events.onActivity();
			timer.pass(119_999);
			equal(lost, [], `heard at ${last}`);
			timer.pass(30_001);
			equal(lost[0]?.error.code, "silent", `heard at ${last}`);
			ok(protocol.channels[0]?.closed);
		}
	},
	"pings after half of the silence timeout, and again after each sign of life"() {
		const { protocol, timer, lost } = inSession({}, { silenceTimeout: 120_000 });
		const { lastChannel: channel } = protocol;
		for (const pings of [1, 2]) {
			timer.pass(59_999);
			equal(channel.pings, pings - 1);
			timer.pass(1);
			equal(channel.pings, pings);
			channel.events.onActivity();
		}
		equal(lost, []);
	},
	"never pings nor ends a silent session without a timeout"() {
		const { protocol, timer, lost } = inSession({}, { silenceTimeout: 0 });
		timer.pass(6_000_000);
		equal([protocol.lastChannel.pings, lost], [0, []]);
	},
	"is not kept alive by a channel of before"() {
		const { protocol, timer, lost } = inSession({}, { silenceTimeout: 120_000 });
		const old = protocol.lastChannel;
		old.events.onClose(broken());
		timer.pass(500);
		protocol.lastChannel.greet("s-2");
		for (let quarter = 0; quarter < 5; quarter += 1) {
			timer.pass(30_000);
			old.events.onActivity();
		}
		equal(lost.at(-1)?.error.code, "silent");
	},
	"drops and logs what is sent without a connection": given(fakeProtocol, ({ protocol, log }) => {
		const dropped = (): number => log.filter((line) => line === "no connection: message dropped").length;
		protocol.send("a");
		protocol.open();
		protocol.send("b");
		protocol.lastChannel.events.onOpen();
		protocol.send("c");
		const { lastChannel: channel } = protocol;
		protocol.close();
		protocol.send("d");
		equal([dropped(), channel.sent.length], [3, 2]);
	}),
	"may be opened again after it closed"() {
		const { protocol, timer, heard } = inSession({}, { silenceTimeout: 120_000 });
		const old = protocol.lastChannel;
		protocol.close();
		protocol.close();
		equal([protocol.session, old.closed, timer.size], [undefined, true, 0]);
		protocol.open();
		protocol.lastChannel.greet("s-2");
		equal([heard, protocol.channels.length], [["connecting", "open", "session s-2"], 2]);
	},
	"closes from within whatever it reports, and leaves nothing behind"() {
		for (const event of ["onSession", "onMcp", "onMessage", "onLost"] as const) {
			const { protocol, timer } = closedFrom(event);
			const { lastChannel: channel } = protocol;
			channel.greet();
			channel.say({ type: "mcp", payload: {} });
			channel.say({ type: "tts" });
			channel.events.onClose(broken());
			timer.pass(1_000_000);
			equal([timer.size, channel.closed, protocol.channels.length], [0, true, 1], event);
		}
	},
	"closes from within the report that it connects, and leaves nothing behind"() {
		const { protocol, timer } = closedFrom("onConnecting");
		equal([timer.size, protocol.channels.filter(({ closed }) => !closed).length], [0, 0]);
	},
	"says no goodbye where there was no session"() {
		const { protocol } = beforeHello({}, { saysGoodbye: true });
		const { lastChannel: channel } = protocol;
		protocol.close();
		equal(channel.sent.length, 1);
	},
});
