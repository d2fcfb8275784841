import { ProtocolError } from "../../src/protocols/envelope.js";
import { fakeProtocol } from "../doubles/fake-protocol.js";
import { equal, given, matches, ok, suite } from "../harness.js";

type Fake = ReturnType<typeof fakeProtocol>;

const GOODBYE = { type: "goodbye", session_id: "s-1" };

const backoff = { random: () => 0.999_999 };

function overMqtt(options: Parameters<typeof fakeProtocol>[0] = {}) {
	const fake = fakeProtocol({ backoff, ...options }, { saysGoodbye: true });
	fake.protocol.open();
	return fake;
}

function betweenSessions() {
	const fake = overMqtt();
	fake.protocol.lastChannel.greet();
	fake.protocol.lastChannel.say(GOODBYE);
	fake.heard.length = 0;
	return fake;
}

const typesSent = ({ protocol }: Fake): string[] => protocol.lastChannel.sent.map((text) => JSON.parse(text).type);

const hello = (fake: Fake, id = "s-1"): void => fake.protocol.lastChannel.say({ type: "hello", session_id: id });

const closed = (): ProtocolError => new ProtocolError("connection-closed", "x");

/** Sessions over MQTT, one after another: what happens in each, and the delay after its end. */
function haveSessions(
	fake: ReturnType<typeof overMqtt>,
	delays: readonly number[],
	during: (at: number) => void,
): void {
	fake.protocol.lastChannel.greet();
	for (const [at, delay] of delays.entries()) {
		during(at);
		fake.protocol.lastChannel.say(GOODBYE);
		equal(fake.lost.at(-1)?.retryIn, delay);
		fake.timer.pass(delay);
		hello(fake);
	}
}

const withBackoff = () => fakeProtocol({ backoff });

export default suite("device protocol, session after session", {
	"a goodbye over MQTT ends the session and keeps the connection, on which the next one begins"() {
		const fake = overMqtt();
		fake.protocol.lastChannel.greet();
		fake.heard.length = 0;
		fake.protocol.lastChannel.say(GOODBYE);
		equal([fake.lost[0]?.error.code, fake.lost[0]?.retryIn], ["goodbye", 1000]);
		equal([fake.heard, fake.protocol.lastChannel.closed, fake.protocol.session], [["open"], false, undefined]);
		equal(typesSent(fake), ["hello"]);
		fake.timer.pass(1000);
		equal(typesSent(fake), ["hello", "hello"]);
		hello(fake, "s-2");
		equal(fake.heard, ["open", "connecting", "session s-2"]);
		equal(fake.protocol.channels.length, 1);
	},
	"MCP is served between two sessions, and begins the next one at once": given(betweenSessions, (fake) => {
		fake.protocol.lastChannel.say({ type: "mcp", payload: 7 });
		equal(fake.heard, [{ mcp: 7 }, "connecting"]);
		equal(typesSent(fake), ["hello", "hello"]);
		fake.timer.pass(9_999);
		equal(typesSent(fake), ["hello", "hello"]);
	}),
	"a hello between two sessions, which answers nothing, begins no session": given(betweenSessions, (fake) => {
		hello(fake, "s-2");
		equal([fake.heard, fake.protocol.session], [[], undefined]);
		equal(fake.log, ["unexpected hello: dropped"]);
	}),
	"a second goodbye changes nothing": given(betweenSessions, (fake) => {
		fake.protocol.lastChannel.say(GOODBYE);
		fake.protocol.lastChannel.say({ type: "goodbye" });
		equal([fake.lost.length, fake.timer.size], [1, 1]);
	}),
	"a connection that breaks between two sessions is made again": given(betweenSessions, (fake) => {
		fake.protocol.lastChannel.events.onClose(closed());
		equal(fake.timer.size, 1);
		fake.timer.pass(2000);
		fake.protocol.lastChannel.greet("s-2");
		equal([fake.protocol.channels.length, fake.heard.at(-1)], [2, "session s-2"]);
	}),
	"a backend that ends idle sessions is left alone for longer each time, up to a minute"() {
		for (const saysGoodbye of [true, false]) {
			const fake = fakeProtocol({ backoff }, { saysGoodbye, silenceTimeout: 120_000 });
			fake.protocol.open();
			for (let session = 0; session < 8; session += 1) {
				if (session === 0 || !saysGoodbye) {
					fake.protocol.lastChannel.greet();
				} else {
					hello(fake);
				}
				fake.timer.pass(90_000);
				fake.protocol.lastChannel.events.onActivity();
				fake.timer.pass(90_000);
				saysGoodbye ? fake.protocol.lastChannel.say(GOODBYE) : fake.protocol.lastChannel.events.onClose(closed());
				fake.timer.pass(fake.lost.at(-1)?.retryIn as number);
			}
			const retryIns = fake.lost.map(({ retryIn }) => retryIn);
			equal(retryIns, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
		}
	},
	"a session in which somebody spoke makes the delays short again": given(overMqtt, (fake) => {
		haveSessions(fake, [1000, 2000, 1000], (at) => {
			fake.timer.pass(180_000);
			if (at === 2) {
				fake.protocol.lastChannel.say({ type: "mcp", payload: {} });
				fake.timer.pass(180_000);
			}
		});
	}),
	"a session that ends within a minute makes the delays after idle ones short again": given(overMqtt, (fake) => {
		haveSessions(fake, [1000, 2000, 1000, 1000], (at) => fake.timer.pass(at === 2 ? 30_000 : 180_000));
	}),
	"a session that breaks is no idle one": given(withBackoff, (fake) => {
		fake.protocol.open();
		for (let session = 0; session < 3; session += 1) {
			fake.protocol.lastChannel.greet();
			fake.timer.pass(180_000);
			fake.protocol.lastChannel.events.onClose(new ProtocolError("connection-failed", "x"));
			equal(fake.lost.at(-1)?.retryIn, 1000);
			fake.timer.pass(1000);
		}
	}),
	"on demand, a device on WebSocket connects when a session is asked for, and not again after it"() {
		const fake = fakeProtocol({ backoff, session: "on-demand" });
		fake.protocol.open();
		fake.timer.pass(1_000_000);
		equal(fake.protocol.channels.length, 0);
		fake.protocol.request();
		fake.protocol.lastChannel.greet();
		equal(fake.heard, ["connecting", "open", "session s-1"]);
		fake.protocol.lastChannel.events.onClose(closed());
		equal([fake.lost[0]?.retryIn, fake.timer.size], [undefined, 0]);
		fake.protocol.request();
		equal(fake.protocol.channels.length, 2);
		fake.protocol.lastChannel.events.onClose(closed());
		equal([fake.lost[1]?.retryIn, fake.timer.size], [undefined, 0]);
	},
	"on demand, a device over MQTT is connected and answers, and begins a session when it is asked for"() {
		const fake = overMqtt({ session: "on-demand" });
		fake.protocol.lastChannel.events.onOpen();
		equal([fake.heard, typesSent(fake)], [["open"], []]);
		fake.protocol.request();
		equal([fake.heard, typesSent(fake)], [["open", "connecting"], ["hello"]]);
		hello(fake);
		fake.protocol.lastChannel.say(GOODBYE);
		fake.timer.pass(1_000_000);
		equal([fake.lost[0]?.retryIn, typesSent(fake)], [undefined, ["hello"]]);
		fake.protocol.lastChannel.events.onClose(closed());
		ok(fake.lost[1]?.retryIn !== undefined, "the connection itself is kept up");
	},
	"on demand, a backend that speaks over MQTT gets its session"() {
		const fake = overMqtt({ session: "on-demand" });
		fake.protocol.lastChannel.events.onOpen();
		fake.protocol.lastChannel.say({ type: "tts", state: "start" });
		equal([fake.heard, typesSent(fake)], [["open", "message tts", "connecting"], ["hello"]]);
	},
	"a message at the start of a session says nothing of how long it may be idle": given(overMqtt, (fake) => {
		haveSessions(fake, [1000, 2000, 4000], () => {
			fake.protocol.lastChannel.say({ type: "mcp", payload: {} });
			fake.timer.pass(180_000);
		});
	}),
	"a connection that tells its end while it is opened, and cannot be opened, is lost once"() {
		const fake = fakeProtocol({ backoff });
		fake.protocol.fakeTransport.refusal = closed();
		fake.protocol.fakeTransport.failure = new Error("broken");
		fake.protocol.open();
		const codes = fake.lost.map(({ error }) => error.code);
		equal(codes, ["connection-closed"]);
	},
	"asking for a session that is there, or in progress, changes nothing": given(withBackoff, (fake) => {
		fake.protocol.request();
		equal(fake.protocol.channels.length, 0);
		fake.protocol.open();
		fake.protocol.request();
		fake.protocol.lastChannel.events.onOpen();
		fake.protocol.request();
		hello(fake);
		fake.protocol.request();
		equal([fake.protocol.channels.length, typesSent(fake)], [1, ["hello"]]);
		equal(fake.heard, ["connecting", "open", "session s-1"]);
	}),
	"asking for a session ends the wait for the next attempt": given(withBackoff, (fake) => {
		fake.protocol.open();
		fake.protocol.lastChannel.events.onClose(closed());
		fake.protocol.request();
		equal([fake.protocol.channels.length, fake.timer.size], [2, 1]);
	}),
	"closes between two sessions, and leaves nothing behind": given(betweenSessions, (fake) => {
		fake.protocol.close();
		fake.timer.pass(1_000_000);
		equal([fake.timer.size, fake.protocol.lastChannel.closed, typesSent(fake)], [0, true, ["hello"]]);
		fake.protocol.request();
		equal(fake.protocol.channels.length, 1);
		matches(fake.log.join(), /^$/);
	}),
});
