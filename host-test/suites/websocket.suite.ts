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
	"waits for room rather than write crumbs"() {
		const { protocol, client } = inSession();
		client.grant(10);
		protocol.send("x".repeat(500));
		equal(client.written, []);
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
	"takes an empty message for a malformed one"() {
		const { client, log } = inSession();
		client.arrive([""]);
		matches(log.join(), /message dropped/);
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
});
