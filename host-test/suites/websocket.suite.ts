import { SettingError } from "../../src/core/read-setting.js";
import { FakeWebSocketClient } from "../doubles/fake-clients.js";
import { connect, inSession, mcp } from "../doubles/websocket-session.js";
import { equal, given, matches, ok, suite, throws } from "../harness.js";

const PING = 9;
const PONG = 10;

const partSizes = (client: FakeWebSocketClient): number[] => client.written.map(({ bytes }) => bytes.byteLength);

export default suite("WebSocket", {
	"sends a token that names its scheme as it is, and no header if the token is empty"() {
		equal(connect({ token: "Basic abc" }).client.options.headers.get("Authorization"), "Basic abc");
		equal(connect({ token: "" }).client.options.headers.has("Authorization"), false);
		equal(connect({ protocolVersion: 3 }).client.options.headers.get("Protocol-Version"), "3");
	},
	"uses the record of its scheme with its options, and does not change them"() {
		const wss = Object.freeze({ io: FakeWebSocketClient, socket: Object.freeze({ secure: true }) });
		const { options } = connect({ backend: "wss://h", network: Object.freeze({ wss }) }).client;
		equal([options.port, options.path, options.socket], [443, "/", { secure: true }]);
		equal(connect({ backend: "ws://h" }).client.options.port, 80);
	},
	"names the setting it cannot use"() {
		ok(throws(() => connect({ backend: "wss://h" }), /^backend: .* wss:/) instanceof SettingError);
		throws(() => connect({ backend: "http://h" }), /^backend: .* http:/);
	},
	"waits for room rather than write crumbs": given(inSession, ({ protocol, client }) => {
		client.grant(10);
		protocol.send("x".repeat(500));
		equal(client.written, []);
	}),
	"ends the session when the client cannot write after all": given(inSession, ({ protocol, client, lost }) => {
		client.room = 0;
		protocol.send("x");
		equal(lost[0]?.code, "connection-failed");
	}),
	"ignores what comes after it closed": given(inSession, ({ protocol, client, heard, lost }) => {
		protocol.close();
		client.arrive([mcp("late")]);
		client.grant(100);
		client.options.onClose();
		client.options.onError(new Error("late"));
		equal([heard, lost, client.written], [[], [], []]);
	}),
	"marks the parts of a message, the last of them apart": given(inSession, ({ protocol, client }) => {
		client.grant(100);
		protocol.send("x".repeat(250));
		client.grant(100);
		client.grant(100);
		equal(partSizes(client), [100, 100, 50]);
		equal(
			client.written.map(({ options }) => [options.more, options.binary]),
			[
				[true, false],
				[true, false],
				[false, false],
			],
		);
	}),
	"cuts within characters if it must, and loses none"() {
		const text = "aé日😀".repeat(100);
		for (const room of [64, 65, 66, 67, 97, 126, 500]) {
			const { protocol, client } = inSession();
			client.grant(0);
			protocol.send(text);
			for (let turn = 0; turn < 20; turn += 1) {
				client.grant(room);
			}
			ok(client.messages.length === 1 && client.messages[0] === text, `${room} bytes at a time`);
		}
	},
	"keeps messages in order, and each apart, however many wait": given(inSession, ({ protocol, client }) => {
		client.grant(0);
		const texts = Array.from({ length: 50 }, (_, at) => `${at}:${"x".repeat(at * 7)}`);
		for (const text of texts) {
			protocol.send(text);
		}
		equal(client.written, []);
		for (let turn = 0; turn < 200; turn += 1) {
			client.grant(100);
		}
		equal(client.messages, texts);
	}),
	"lets exactly as many bytes wait as may, and as many again once those are written"() {
		const { protocol, client, lost } = inSession({ maxQueuedBytes: 900 });
		for (let round = 0; round < 3; round += 1) {
			client.grant(0);
			protocol.send("x".repeat(450));
			protocol.send("語".repeat(150));
			equal(lost, []);
			client.grant(2000);
		}
		equal(client.messages.length, 6);
		client.grant(0);
		protocol.send("x".repeat(900));
		protocol.send("y");
		equal([lost[0]?.code, client.closed, client.messages.length], ["send-queue-full", true, 6]);
	},
	"reads while a quarter of what may wait does, and nothing while a byte more does"() {
		for (const [waiting, read] of [
			[250, ["a"]],
			[251, []],
		] as const) {
			const { protocol, client, heard } = inSession({ maxQueuedBytes: 1000 });
			client.grant(0);
			protocol.send("x".repeat(waiting));
			client.arrive([mcp("a")]);
			equal(heard, read, `${waiting} bytes wait`);
		}
	},
	"reads nothing while too much waits, then all of it in order"() {
		const { protocol, client, heard } = inSession({ maxQueuedBytes: 1000 });
		client.grant(0);
		protocol.send("x".repeat(600));
		client.arrive([mcp("a")]);
		client.arrive(['{"type":"mcp",', '"payload":"b"}']);
		client.arrive([mcp("c")]);
		client.grant(70);
		equal(heard, []);
		client.grant(1000);
		equal(heard, ["a", "b", "c"]);
	},
	"keeps it apart even if it did not read when the empty part came"() {
		const { protocol, client, heard } = inSession({ maxQueuedBytes: 1000 });
		client.arrive([mcp("a")], { unfinished: true });
		client.grant(0);
		protocol.send("x".repeat(600));
		client.arrive([""]);
		client.arrive([mcp("b")]);
		client.grant(1000);
		equal(heard, ["a", "b"]);
	},
	"takes a message as long as it may be, and not a byte more"() {
		const { client, heard, log } = inSession({ maxMessageBytes: 1000 });
		const text = (bytes: number): string => mcp("x".repeat(bytes - mcp("").length));
		client.arrive([text(1000)]);
		equal([heard.length, log], [1, []]);
		client.arrive([text(1001)]);
		client.arrive([text(600), text(600), ""]);
		equal([heard.length, log.length], [1, 2]);
		matches(log[1] as string, /^message dropped: 1200 bytes \(limit 1000\)$/);
		client.arrive([text(1000)]);
		equal(heard.length, 2);
	},
	"answers a request that is too long by its id, which stands in its first part"() {
		const { client, heard } = inSession({ maxMessageBytes: 1000 });
		const request = (id: string, bytes: number): string =>
			`{"session_id":"s","type":"mcp","payload":{"jsonrpc":"2.0","id":${id},"method":"x","params":{"a":"${"x".repeat(bytes)}"}}}`;
		client.arrive([request("7", 2000)]);
		client.arrive([request('"a\\"b"', 300), "y".repeat(900), "z".repeat(60_000)]);
		const rejected = heard.map((each) => (each as { rejected: unknown }).rejected);
		equal(rejected, [{ id: 7 }, { id: 'a"b' }]);
		equal((heard[0] as { reason: string }).reason, `${request("7", 2000).length} bytes (limit 1000)`);
	},
	"answers no request for another session, and none with its id after its params"() {
		const { client, heard, log } = inSession({ maxMessageBytes: 1000 });
		for (const start of [
			'{"session_id":"other","type":"mcp","payload":{"jsonrpc":"2.0","id":7,',
			'{"type":"mcp","payload":{"method":"x","params":{"id":7,',
			'{"type":"custom","payload":{"id":7,',
			'{"type":"mcp","payload":{"jsonrpc":"2.0","result":{"id":7,',
			'{"type":"mcp","payload":[{"id":7,',
		]) {
			client.arrive([`${start}"a":"${"x".repeat(2000)}"}}`]);
		}
		equal([heard, log.length], [[], 5]);
	},
	"never treats audio as text, whatever its size and parts"() {
		const { client, heard, log, lost } = inSession({ maxMessageBytes: 100 });
		client.arrive([mcp("no")], { binary: true });
		client.arrive([new ArrayBuffer(5000)], { binary: true });
		client.arrive([new ArrayBuffer(40), "", new ArrayBuffer(40)], { binary: true });
		client.arrive([""], { binary: true });
		client.arrive([mcp("yes")]);
		equal([heard, log, lost], [["yes"], [], []]);
	},
	"rejects bytes that are not UTF-8"() {
		for (const bytes of [[0xff], [0xc3], [0x80], [0xe6, 0x97], [0xf0, 0x9f, 0x98], [0xf8, 0x88, 0x80, 0x80, 0x80]]) {
			const { client, heard, log } = inSession();
			const whole = [...new Uint8Array(ArrayBuffer.fromString(mcp("|")))];
			client.arrive([Uint8Array.from(whole.flatMap((byte) => (byte === 0x7c ? bytes : byte))).buffer]);
			equal([heard, log.some((line) => line.includes("not valid UTF-8"))], [[], true], `bytes ${bytes.join()}`);
		}
	},
	"takes a message that begins with a byte order mark, or ends with NUL bytes"() {
		const { client, heard } = inSession();
		for (const text of ['{"type":"mcp","payload":1}', '{"type":"mcp","payload":"é"}']) {
			// XS 13 encodes NUL as two bytes.
			const endWith = (start: string, ...nuls: number[]) =>
				Uint8Array.of(...new Uint8Array(ArrayBuffer.fromString(start + text)), ...nuls).buffer;
			client.arrive([endWith("\ufeff")]);
			client.arrive([endWith("", 0)]);
			client.arrive([endWith("\ufeff", 0, 0)]);
		}
		equal(heard, [1, 1, 1, "é", "é", "é"]);
	},
	"rejects a message with text after a NUL": given(inSession, ({ client, heard, log }) => {
		client.arrive([Uint8Array.of(...new Uint8Array(ArrayBuffer.fromString(mcp("a"))), 0, 0x7d).buffer]);
		equal(heard, []);
		// XS 13 would read the text up to the NUL byte, and XS 17 all of it: JSON has no such character.
		matches(log.join(), /^message dropped: .*(NUL|invalid character)/);
	}),
	"asks an idle backend for a pong, which is a sign of life": given(inSession, ({ client, timer, lost }) => {
		for (let minute = 1; minute <= 10; minute += 1) {
			timer.pass(60_000);
			equal(client.written.filter(({ options }) => options.opcode === PING).length, minute);
			client.options.onControl(PONG, new ArrayBuffer(0));
		}
		equal([lost, client.messages], [[], []]);
		timer.pass(150_000);
		equal([lost[0]?.code, client.closed], ["silent", true]);
	}),
	"takes a whole message for a sign of life, but not the parts of one"() {
		const { client, timer, lost, heard } = inSession();
		const halves = mcp("x").split("p");
		for (let part = 1; part <= 4; part += 1) {
			timer.pass(30_000);
			client.arrive([" "], { unfinished: true });
		}
		client.arrive(halves.map((half, at) => (at === 0 ? half : `p${half}`)));
		equal(heard, ["x"]);
		for (let part = 1; part <= 4; part += 1) {
			timer.pass(30_000);
			client.arrive([" "], { unfinished: true });
			equal(lost, []);
		}
		timer.pass(30_000);
		equal([lost[0]?.code, client.closed], ["silent", true]);
	},
	"takes a binary message and one that is dropped for signs of life"() {
		const { client, timer, lost } = inSession({ maxMessageBytes: 100 });
		for (let round = 0; round < 3; round += 1) {
			timer.pass(100_000);
			client.arrive(["x".repeat(200)]);
			timer.pass(100_000);
			client.arrive([new ArrayBuffer(5)], { binary: true });
		}
		equal(lost, []);
	},
	"counts the room that a ping takes": given(inSession, ({ protocol, client, timer, lost }) => {
		client.grant(500);
		timer.pass(60_000);
		equal(client.written[0]?.options.opcode, PING);
		protocol.send("x".repeat(800));
		equal([lost, partSizes(client)], [[], [0, 494]]);
	}),
	"logs a ping that cannot be sent, and stays up": given(inSession, ({ client, timer, log, lost }) => {
		client.write = () => {
			throw new Error("no room");
		};
		timer.pass(60_000);
		matches(log.join(), /could not send ping: Error: no room/);
		equal(lost, []);
	}),
	"takes anything for the cause of an error, and keeps it"() {
		for (const [cause, message] of [
			[new Error("reset"), "connection lost: reset"],
			["reset", "connection lost"],
			[undefined, "connection lost"],
		] as const) {
			const { client, lost } = inSession();
			client.options.onError(cause);
			client.options.onClose();
			client.options.onError(cause);
			equal([lost.length, lost[0]?.code, lost[0]?.message], [1, "connection-failed", message]);
			ok(lost[0]?.cause === cause && client.closed);
		}
		const [closed, never] = [inSession(), connect()];
		closed.client.options.onClose();
		never.client.options.onError();
		equal([closed.lost[0]?.code, never.lost[0]?.message], ["connection-closed", "no connection"]);
	},
	"does not let the record's options decide where it connects"() {
		const record = Object.freeze({ io: FakeWebSocketClient, host: "elsewhere", port: 1, path: "/else", dns: "d" });
		const { options } = connect({ backend: "ws://h/p", network: { ws: record } }).client;
		equal([options.host, options.port, options.path, options.dns], ["h", 80, "/p", "d"]);
		equal([record.host, Object.keys(record).length], ["elsewhere", 5]);
	},
});
