import { isNewer } from "../../src/core/text/version.js";
import { readAnswer } from "../../src/features/bootstrap/bootstrap-answer.js";
import { readBootstrapConfig } from "../../src/features/bootstrap/bootstrap-report.js";
import { FakeSettings } from "../doubles/fake-board.js";
import { equal, suite, throws } from "../harness.js";

const read = (answer: unknown) => {
	const { backends, dropped, ...rest } = readAnswer(JSON.stringify(answer));
	equal(dropped, []);
	const [backend] = backends;
	return { ...(backend && { backend }), ...rest };
};

const droppedOf = (answer: unknown): readonly string[] => readAnswer(JSON.stringify(answer)).dropped;

const MQTT = {
	endpoint: "broker",
	client_id: "GID@@@aa",
	username: "user",
	password: "secret",
	publish_topic: "device-server",
	subscribe_topic: "devices/p2p/aa",
};

export default suite("the bootstrap's settings and answers", {
	"take mqtt before websocket"() {
		equal(read({ websocket: { url: "ws://w/" }, mqtt: { ...MQTT, keepalive: 120 } }), {
			backend: {
				backend: "mqtts://broker:8883",
				clientId: "GID@@@aa",
				mqttUsername: "user",
				mqttPassword: "secret",
				publishTopic: "device-server",
				subscribeTopic: "devices/p2p/aa",
				keepAlive: 120,
			},
		});
	},
	"mean TLS by port 8883 alone"() {
		const urlOf = (endpoint: string) => read({ mqtt: { ...MQTT, endpoint } }).backend?.backend;
		equal(["broker", "broker:8883", "broker:1883", "[::1]:1883", "mqtts://broker:9000"].map(urlOf), [
			"mqtts://broker:8883",
			"mqtts://broker:8883",
			"mqtt://broker:1883",
			"mqtt://[::1]:1883",
			"mqtts://broker:9000",
		]);
	},
	"subscribe to nothing if the topic is null, missing, or the word null"() {
		for (const topic of [null, undefined, "null"]) {
			equal(read({ mqtt: { ...MQTT, subscribe_topic: topic } }).backend?.subscribeTopic, "");
		}
	},
	"take URL, token and version of a WebSocket"() {
		equal(read({ websocket: { url: "wss://w/", token: "t", version: 3 } }).backend, {
			backend: "wss://w/",
			token: "t",
			protocolVersion: 3,
		});
		equal(read({ websocket: { url: "ws://w/" }, mqtt: null }).backend, { backend: "ws://w/", token: "" });
	},
	"take null for a member that is missing"() {
		equal(read({ websocket: { url: "ws://w/", token: null, version: null } }).backend, {
			backend: "ws://w/",
			token: "",
		});
		equal(read({ mqtt: { ...MQTT, keepalive: null } }), read({ mqtt: MQTT }));
	},
	"take firmware without a URL for no offer, whatever its version"() {
		for (const url of ["", " ", null, undefined]) {
			equal(read({ firmware: { version: "2.2.2", url, force: 1 } }), {});
		}
		equal(read({ firmware: { version: "2.2.2", url: "http://f.bin" } }).firmware?.url, "http://f.bin");
	},
	"never allow firmware of another project"() {
		const { firmware } = read({ firmware: { version: "9.0.0", url: "http://f.bin", force: 1, anyProject: true } });
		equal(firmware, { version: "9.0.0", url: "http://f.bin", force: true, sha256: undefined, signature: undefined });
	},
	"take an error with status 200 for an error, in the server's words"() {
		throws(() => read({ success: false, message: "request error." }), /^server error: request error\.$/);
		throws(() => read({ error: "Device ID is required" }), /^server error: Device ID is required$/);
	},
	"drop a bad block, and name its member"() {
		for (const [answer, problem] of [
			[{ mqtt: 5 }, "mqtt: expected an object, got number"],
			[{ mqtt: {} }, "mqtt.endpoint: expected a string, got nothing"],
			[{ mqtt: { ...MQTT, endpoint: null } }, "mqtt.endpoint: expected a string, got nothing"],
			[{ mqtt: { ...MQTT, endpoint: "" } }, 'mqtt.endpoint: expected host[:port], got ""'],
			[{ mqtt: { ...MQTT, endpoint: "a b" } }, 'mqtt.endpoint: expected host[:port], got "a b"'],
			[{ mqtt: { ...MQTT, password: {} } }, "mqtt.password: expected a string, got object"],
			[{ mqtt: { endpoint: "b" } }, "mqtt.client_id: expected a string, got nothing"],
			[{ firmware: { url: "http://f", version: true } }, "firmware.version: expected a string, got boolean"],
			[{ firmware: { url: "http://f", sha256: [] } }, "firmware.sha256: expected a string, got object"],
			[{ activation: { code: [] } }, "activation.code: expected a string, got object"],
			[{ server_time: "now" }, "server_time: expected an object, got string"],
		] as const) {
			const websocket = { url: "ws://w/" };
			const { backends, dropped, ...rest } = readAnswer(JSON.stringify({ ...answer, websocket }));
			equal([backends, dropped, rest], [[{ backend: "ws://w/", token: "" }], [problem], {}]);
		}
		equal(droppedOf({ mqtt: MQTT, websocket: {} }), ["websocket.url: expected a string, got nothing"]);
	},
	"drop a bad member that its block can do without"() {
		const { backends, dropped } = readAnswer('{"websocket":{"url":"ws://w","version":"three"}}');
		equal(
			[backends, dropped],
			[[{ backend: "ws://w", token: "" }], ['websocket.version: expected a number, got "three"']],
		);
	},
	"take numbers that are text, text that is a number, and spaces around a URL"() {
		equal(read({ websocket: { url: " ws://w/ ", token: 12345, version: "3" } }).backend, {
			backend: "ws://w/",
			token: "12345",
			protocolVersion: 3,
		});
		equal(read({ mqtt: { ...MQTT, keepalive: "120", endpoint: " b " } }).backend?.keepAlive, 120);
		equal(read({ activation: { code: 123456 } }).activation?.code, "123456");
	},
	"take 0 for a number that is absent, as servers write it that send every member"() {
		for (const none of [0, "0"]) {
			equal(read({ websocket: { url: "ws://w/", version: none } }).backend, { backend: "ws://w/", token: "" });
			equal(read({ mqtt: { ...MQTT, keepalive: none } }).backend?.keepAlive, undefined);
		}
	},
	"reject what is no JSON object"() {
		throws(() => readAnswer("[]"), /not a JSON object/);
		throws(() => readAnswer("{"), /JSON|object|missing|property/i);
	},
	"reject an answer with too many values, or nested too deep"() {
		throws(() => readAnswer(JSON.stringify({ a: Array.from({ length: 300 }, () => 1) })), /values/);
		throws(() => readAnswer("[".repeat(100)), /nested/);
	},
	"take a time only if the server's clock is set"() {
		equal(read({ server_time: { timestamp: 1_800_000_000_000 } }).serverTime, { time: 1_800_000_000_000, timezone: 0 });
		equal(read({ server_time: { timestamp: 5, timezone_offset: 60 } }), {});
	},
	"take no time that a clock cannot have"() {
		equal(readAnswer('{"server_time":{"timestamp":1e999}}').serverTime, undefined);
		equal(read({ server_time: { timestamp: 5_000_000_000_000 } }), {});
		for (const offset of [1e9, -1_000, "60", null]) {
			const { serverTime } = read({ server_time: { timestamp: 1_800_000_000_000, timezone_offset: offset } });
			equal(serverTime?.timezone, 0, String(offset));
		}
	},
	"take an activation without code and challenge for none, as bound devices of some servers get it"() {
		for (const activation of [{}, { code: null, challenge: null, message: null }, { message: "Welcome" }]) {
			equal(read({ activation }), {});
		}
		equal(read({ activation: { challenge: "c" } }).activation?.challenge, "c");
	},
	"limit how long the server may hold a request"() {
		equal(read({ activation: { code: "1", timeout_ms: 1e12 } }).activation, {
			message: "",
			code: "1",
			challenge: "",
			timeout: 120_000,
		});
	},
	"compare versions as numbers with dots"() {
		const newer = [
			["0.1.1", "0.1.0"],
			["1.10.0", "1.9.9"],
			["2", "1.9"],
			["1.0.1", "1"],
		] as const;
		const compared = newer.map(([version, present]) => [isNewer(version, present), isNewer(present, version)]);
		equal(
			compared,
			newer.map(() => [true, false]),
		);
		for (const version of ["1.0", "1.0.0", "", "v2", "2.x", "-1", "99999999999999999999"]) {
			equal(isNewer(version, "1.0.0"), false, version);
		}
	},
	"are absent without an otaUrl"() {
		for (const built of [{}, { otaUrl: "" }]) {
			equal(readBootstrapConfig({ built, settings: undefined }), undefined);
		}
	},
	"have a daily check, no serial number and no key unless they are set"() {
		equal(readBootstrapConfig({ built: { otaUrl: "http://ota/" }, settings: undefined }), {
			otaUrl: "http://ota/",
			otaInterval: 86_400,
			serialNumber: "",
			hmacKey: undefined,
			language: "en",
		});
		const settings = new FakeSettings();
		settings.set("xs-mcp", "otaUrl", "https://stored/");
		settings.set("xs-mcp", "hmacKey", "00ff");
		const stored = readBootstrapConfig({ built: { otaUrl: "http://ota/", otaInterval: "0" }, settings });
		equal([stored?.otaUrl, stored?.otaInterval, stored?.hmacKey], ["https://stored/", 0, Uint8Array.of(0, 255).buffer]);
	},
	"name the setting that cannot be used, and do not quote the key"() {
		for (const [setting, message] of [
			[{ otaUrl: 5 }, /^otaUrl: expected/],
			[{ otaUrl: "ws://ota/" }, /^otaUrl: expected http:\/\//],
			[{ otaInterval: 5 }, /^otaInterval: expected 0, or whole seconds from 60 to 2000000, got 5$/],
			[{ serialNumber: "a b" }, /^serialNumber: expected/],
			[{ hmacKey: "secret" }, /^hmacKey: expected at most 64 bytes as hexadecimal digits$/],
		] as const) {
			throws(() => readBootstrapConfig({ built: { otaUrl: "http://ota/", ...setting }, settings: undefined }), message);
		}
	},
});
