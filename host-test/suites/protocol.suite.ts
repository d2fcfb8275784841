import { helloMessage, ProtocolError } from "../../src/protocols/envelope.js";
import type { Transport } from "../../src/protocols/transport.js";
import { beforeHello, fakeProtocol, inSession } from "../doubles/fake-protocol.js";
import { checkGolangHello } from "../doubles/golang-server.js";
import { equal, given, ok, suite } from "../harness.js";

export default suite("device protocol", {
	"says in its hello what audio it has, as the golang server of the family takes it"() {
		const pcm = { format: "pcm", sample_rate: 24_000, channels: 2, frame_duration: 20 };
		for (const audio of [undefined, pcm]) {
			const options = audio && { hello: (transport: Transport) => helloMessage(transport, audio) };
			const hello = beforeHello(options).protocol.lastChannel.sent[0] as string;
			checkGolangHello(hello);
			const opus = { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 };
			equal(JSON.parse(hello).audio_params, audio ?? opus);
		}
	},
	"begins a session with the backend's hello, and keeps what it says": given(fakeProtocol, ({ protocol, heard }) => {
		protocol.open();
		protocol.lastChannel.events.onOpen();
		protocol.lastChannel.say({ type: "hello", transport: "fake", session_id: "abc", udp: { server: "u", port: 1 } });
		equal(heard, ["connecting", "open", "session abc"]);
		equal(protocol.session?.hello.udp, { server: "u", port: 1 });
	}),
	"closes a channel whose attempt has ended while it was opened": given(fakeProtocol, ({ protocol, lost, timer }) => {
		protocol.fakeTransport.refusal = new ProtocolError("connection-closed", "gone");
		protocol.open();
		equal([lost.length, lost[0]?.error.code], [1, "connection-closed"]);
		const { lastChannel: channel } = protocol;
		protocol.fakeTransport.refusal = undefined;
		timer.pass(lost[0]?.retryIn ?? 0);
		equal(protocol.channels.length, 2);
		protocol.close();
		equal([channel.closed, protocol.lastChannel.closed], [true, true]);
	}),
	"sends messages as long as the backend's hello says, unless that is less than any backend takes"() {
		const limitAfter = (max_message_bytes: unknown): number => {
			const { protocol } = beforeHello({}, { maxSentBytes: 9_999 });
			equal(protocol.maxSentBytes, 9_999);
			protocol.lastChannel.say({ type: "hello", session_id: "s", max_message_bytes });
			return protocol.maxSentBytes;
		};
		equal([512, 5_000].map(limitAfter), [512, 5_000]);
		equal([511, 0, "5000", undefined].map(limitAfter), [9_999, 9_999, 9_999, 9_999]);
	},
	"hands on the messages an application knows, and logs each unknown type once"() {
		const { protocol, heard, log } = inSession();
		for (const type of ["tts", "stt", "llm", "system", "alert", "custom", "nonsense", "nonsense"]) {
			protocol.lastChannel.say({ type });
		}
		equal(heard, ["message tts", "message stt", "message llm", "message system", "message alert", "message custom"]);
		equal(log.filter((line) => line.includes("nonsense")).length, 1);
	},
	"logs and drops what is malformed, and stays up": given(inSession, ({ protocol, heard, log, lost }) => {
		for (const text of ["", "{", "[]", "1", "null", '{"type":1}', "{}"]) {
			protocol.lastChannel.say(text);
		}
		equal(log.filter((line) => line.startsWith("message dropped")).length, 7);
		equal([heard, lost], [[], []]);
	}),
	"drops commands that a broker may have kept, for two seconds or until the backend's hello"() {
		const commands = ["system", "listen", "notify", "speak_request"].map((type) => ({ type }));
		for (const isGreeted of [false, true]) {
			const { protocol, timer, heard, log } = beforeHello({}, { mayRetain: true });
			const sayAll = (): void => {
				for (const command of commands) {
					protocol.lastChannel.say(command);
				}
			};
			sayAll();
			protocol.lastChannel.say({ type: "stt", text: "the code is 1234" });
			equal([heard, log.length], [["message stt"], 4]);
			isGreeted ? protocol.lastChannel.say({ type: "hello", session_id: "s-1" }) : timer.pass(2_000);
			heard.length = 0;
			sayAll();
			equal(heard.length, 4);
		}
	},
	"keeps the session at a hello without session_id, and at one that it cannot use"() {
		const { protocol, heard, log, lost } = inSession();
		for (const members of [{}, { session_id: null }, { session_id: "" }, { session_id: 7 }, { audio_params: [] }]) {
			protocol.lastChannel.say({ type: "hello", ...members });
		}
		equal([heard, lost, protocol.session?.id], [[], [], "s-1"]);
		equal(log, Array(5).fill("hello without session_id during a session: dropped"));
	},
	"takes a second hello of a session without an id": given(beforeHello, ({ protocol }) => {
		protocol.lastChannel.say({ type: "hello" });
		protocol.lastChannel.say({ type: "hello", audio_params: { channels: 1 } });
		equal(protocol.session?.hello.audio_params, { channels: 1 });
	}),
	"says goodbye when it closes, on a transport that does"() {
		const { protocol } = inSession({}, { saysGoodbye: true });
		protocol.close();
		equal(JSON.parse(protocol.lastChannel.sent.at(-1) as string), { type: "goodbye", session_id: "s-1" });
		const { protocol: other } = inSession();
		other.close();
		equal(other.lastChannel.sent.length, 1);
	},
	"waits longer after each failure, up to a minute, and begins anew after a good session"() {
		const { protocol, timer, lost } = fakeProtocol({ backoff: { random: () => 0.999_999 } });
		protocol.open();
		const fail = (): void => protocol.lastChannel.events.onClose(new ProtocolError("connection-failed", "x"));
		for (let attempt = 0; attempt < 9; attempt += 1) {
			fail();
			timer.pass(lost.at(-1)?.retryIn as number);
		}
		const retryIns = lost.map(({ retryIn }) => retryIn);
		equal(retryIns, [1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000]);
		protocol.lastChannel.greet();
		timer.pass(9_000);
		fail();
		equal(lost.at(-1)?.retryIn, 60_000);
		timer.pass(60_000);
		protocol.lastChannel.greet();
		timer.pass(10_000);
		fail();
		equal(lost.at(-1)?.retryIn, 1000);
	},
	"does not end at a goodbye to another session, nor at one before hello"() {
		const { protocol, lost, log } = beforeHello();
		protocol.lastChannel.say({ type: "goodbye" });
		protocol.lastChannel.say({ type: "hello", transport: "fake", session_id: "s-1" });
		protocol.lastChannel.say({ type: "goodbye", session_id: "s-0" });
		equal([lost, log.length], [[], 2]);
		protocol.lastChannel.say({ type: "goodbye" });
		equal(lost[0]?.error.code, "goodbye");
	},
	"tells of a request that nests too deep or holds too much, by its id"() {
		const { protocol, heard, log } = inSession();
		const request = (id: number, value: string): string =>
			`{"session_id":"s-1","type":"mcp","payload":{"jsonrpc":"2.0","id":${id},"method":"x","params":${value}}}`;
		protocol.lastChannel.say(request(1, "[".repeat(40) + "]".repeat(40)));
		protocol.lastChannel.say(request(2, `[${"[],".repeat(600)}0]`));
		protocol.lastChannel.say(request(3, `[${"0,".repeat(539)}0]`));
		protocol.lastChannel.say(`{"type":"mcp","payload":${"[".repeat(40)}`);
		equal(heard, [
			{ rejected: { id: 1 }, reason: "nested deeper than 32 levels" },
			{ rejected: { id: 2 }, reason: "1208 values (limit 546)" },
			{ rejected: { id: 3 }, reason: "547 values (limit 546)" },
		]);
		equal(log.length, 4);
	},
	"remembers no more unknown types than it has room for": given(inSession, ({ protocol, log, lost }) => {
		for (let type = 0; type < 1000; type += 1) {
			protocol.lastChannel.say({ type: `type ${type}` });
		}
		ok(log.length > 0 && log.length <= 100, `${log.length} lines`);
		equal(lost, []);
	}),
});
