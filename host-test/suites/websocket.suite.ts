import { SettingError } from "../../src/settings/setting-error.js";
import { FakeWebSocketClient } from "../doubles/fake-clients.js";
import { connect, inSession, mcp } from "../doubles/websocket-session.js";
import { equal, matches, ok, suite, throws } from "../harness.js";

export default suite("WebSocket", {
	"connects to host, port and path with its headers"() {
		const { options } = connect().client;
		equal([options.host, options.port, options.path], ["backend", 9000, "/xiaozhi/?a=b"]);
		equal(
			[...options.headers],
			[
				["Authorization", "Bearer t"],
				["Protocol-Version", "1"],
				["Device-Id", "02:00:00:00:00:01"],
				["Client-Id", "uuid"],
			],
		);
	},
	"sends a token that names its scheme as it is, and no header if the token is empty"() {
		equal(connect({ token: "Basic abc" }).client.options.headers.get("Authorization"), "Basic abc");
		equal(connect({ token: "" }).client.options.headers.has("Authorization"), false);
		equal(connect({ protocolVersion: 3 }).client.options.headers.get("Protocol-Version"), "3");
	},
	"uses the record of its scheme with its options, and does not change them"() {
		const wss = Object.freeze({ io: FakeWebSocketClient, socket: Object.freeze({ secure: true }) });
		const { options } = connect({ url: "wss://h", network: Object.freeze({ wss }) }).client;
		equal([options.port, options.path, options.socket], [443, "/", { secure: true }]);
		equal(connect({ url: "ws://h" }).client.options.port, 80);
	},
	"names the setting it cannot use"() {
		ok(throws(() => connect({ url: "wss://h" }), /^backend: .* wss:/) instanceof SettingError);
		throws(() => connect({ url: "http://h" }), /^backend: .* http:/);
	},
	"says hello as soon as it may write"() {
		const { client } = connect();
		equal(client.written, []);
		client.grant(1000);
		equal(JSON.parse(client.messages[0] as string).version, 1);
		equal(client.written[0]?.options.binary, false);
	},
	"writes no more than it may, and all of it in the end"() {
		const { protocol, client } = inSession();
		const texts = ["a".repeat(5000), "short", "日本語".repeat(100)];
		for (const text of texts) {
			protocol.send(text);
		}
		for (let turn = 0; turn < 60; turn += 1) {
			client.grant(150);
		}
		equal(client.messages, texts);
	},
	"waits for room rather than write crumbs"() {
		const { protocol, client } = inSession();
		client.grant(10);
		protocol.send("x".repeat(500));
		equal(client.written, []);
	},
	"ends the session when more waits than may, and says how much"() {
		const { protocol, client, lost } = inSession({ maxQueuedBytes: 1000 });
		client.grant(0);
		protocol.send("x".repeat(600));
		equal(lost, []);
		protocol.send("x".repeat(600));
		equal(lost[0]?.code, "send-queue-full");
		matches(lost[0]?.message ?? "", /600 bytes queued/);
		ok(client.closed);
	},
	"does not read while too much waits, and goes on when there is room"() {
		const { protocol, client, heard } = inSession({ maxQueuedBytes: 1000 });
		client.grant(0);
		protocol.send("x".repeat(600));
		client.arrive([mcp("a")]);
		equal(heard, []);
		client.grant(1000);
		equal(heard, ["a"]);
	},
	"puts a message together from its parts, cut within a character too"() {
		const { client, heard } = inSession();
		const bytes = new Uint8Array(ArrayBuffer.fromString(mcp("日😀")));
		for (let at = 1; at < bytes.length; at += 1) {
			client.arrive([bytes.slice(0, at).buffer, bytes.slice(at).buffer]);
		}
		equal(heard.length, bytes.length - 1);
		ok(heard.every((payload) => payload === "日😀"));
	},
	"puts a message together from single bytes, empty parts among them"() {
		const { client, heard } = inSession();
		const bytes = new Uint8Array(ArrayBuffer.fromString(mcp("日本語".repeat(500))));
		const parts = [new ArrayBuffer(0), ...Array.from(bytes, (byte) => Uint8Array.of(byte).buffer), new ArrayBuffer(0)];
		client.arrive(parts);
		equal(heard, ["日本語".repeat(500)]);
	},
	"rejects a message that is too long, and takes the next"() {
		const { client, heard, log } = inSession({ maxMessageBytes: 1000 });
		client.arrive([mcp("x".repeat(400)), "y".repeat(600), "z".repeat(600)]);
		client.arrive([mcp("next")]);
		equal(heard, ["next"]);
		matches(log.join(), /limit 1000/);
	},
	"rejects a message that is not UTF-8, and takes the next"() {
		const { client, heard, log } = inSession();
		client.arrive([Uint8Array.of(0x22, 0xc3, 0x28).buffer]);
		client.arrive([mcp("next")]);
		equal(heard, ["next"]);
		matches(log.join(), /not valid UTF-8/);
	},
	"takes an empty message for a malformed one"() {
		const { client, log } = inSession();
		client.arrive([""]);
		matches(log.join(), /message dropped/);
	},
	"reads audio and drops it"() {
		const { client, heard, lost } = inSession();
		client.arrive([new ArrayBuffer(500)], { binary: true });
		client.arrive([mcp("next")]);
		equal([heard, lost], [["next"], []]);
	},
	"tells why the connection ended"() {
		const closed = inSession();
		closed.client.options.onClose();
		const broken = inSession();
		broken.client.options.onError(new Error("reset"));
		const never = connect();
		never.client.options.onError();
		equal(
			[closed.lost[0]?.code, broken.lost[0]?.message, never.lost[0]?.message],
			["connection-closed", "connection lost: reset", "no connection"],
		);
	},
	"ends the session when the client cannot write after all"() {
		const { protocol, client, lost } = inSession();
		client.room = 0;
		protocol.send("x");
		equal(lost[0]?.code, "connection-failed");
	},
	"ignores what comes after it closed"() {
		const { protocol, client, heard, lost } = inSession();
		protocol.close();
		client.arrive([mcp("late")]);
		client.grant(100);
		client.options.onClose();
		client.options.onError(new Error("late"));
		equal([heard, lost, client.written], [[], [], []]);
	},
	"tells once that the connection ended"() {
		const { client, lost } = inSession();
		client.options.onError(new Error("reset"));
		client.options.onError(new Error("reset again"));
		client.options.onClose();
		equal(
			lost.map(({ message }) => message),
			["connection lost: reset"],
		);
	},
});
