import { type Config, deviceUuid, readConfig } from "../../src/core/config.js";
import { SettingError } from "../../src/core/read-setting.js";
import type { Settings } from "../../src/hardware/hardware.js";
import { messageLimits } from "../../src/protocols/transport.js";
import { FakeSettings } from "../doubles/fake-board.js";
import { FakeMqttClient, type FakeWebSocketClient } from "../doubles/fake-clients.js";
import { startOn } from "../doubles/started-application.js";
import { equal, given, matches, ok, suite, throws } from "../harness.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const read = (built: object, settings?: Settings): Config =>
	readConfig({ built: { backend: "ws://h/", ...built }, settings }, "mac");

const UUID_SET = "123e4567-e89b-42d3-a456-426614174000";

const startFor = (built: Readonly<Record<string, unknown>>) => startOn({ built: { uuid: UUID_SET, ...built } });

const noSettings = () => new FakeSettings();

export default suite("configuration", {
	"makes its UUID once": given(noSettings, (settings) => {
		const uuid = deviceUuid(settings);
		matches(uuid, UUID);
		equal(deviceUuid(settings), uuid);
		equal(settings.get("board", "uuid"), uuid);
		ok(deviceUuid(undefined) !== uuid);
	}),
	"makes UUIDs of version 4"() {
		for (let made = 0; made < 100; made += 1) {
			matches(deviceUuid(undefined), UUID);
		}
	},
	"takes the UUID that is set in place of the one that it has, and keeps it": given(noSettings, (settings) => {
		deviceUuid(settings);
		const { uuid } = read({ uuid: "123E4567-e89b-42d3-a456-426614174000" });
		equal(deviceUuid(settings, uuid), "123E4567-e89b-42d3-a456-426614174000");
		equal([settings.get("board", "uuid"), deviceUuid(settings)], [uuid, uuid]);
	}),
	"reads its settings, stored ones before those it was built with": given(noSettings, (settings) => {
		settings.set("xs-mcp", "backend", "mqtt://stored");
		const built = { backend: "ws://built/", token: "built", protocolVersion: "2", keepAlive: "60" };
		const { backend, token, protocolVersion, keepAlive, clientId, publishTopic, subscribeTopic } = read(
			built,
			settings,
		);
		equal([backend, token, protocolVersion, keepAlive], ["mqtt://stored", "built", 2, 60]);
		equal([clientId, publishTopic, subscribeTopic], ["mac", "xs-mcp/mac/up", "xs-mcp/mac/down"]);
	}),
	"prefers a stored setting even where it is empty": given(noSettings, (settings) => {
		settings.set("xs-mcp", "token", "");
		settings.set("xs-mcp", "subscribeTopic", "");
		const { token, subscribeTopic } = read({ token: "built", subscribeTopic: "built" }, settings);
		equal([token, subscribeTopic], ["", ""]);
	}),
	"names the setting that it cannot use"() {
		for (const [key, values] of Object.entries({
			backend: [5],
			token: [5],
			protocolVersion: [4, "one"],
			clientId: [true],
			mqttUsername: [1],
			mqttPassword: [1],
			keepAlive: [0, 65_536, 1.5, "soon"],
			publishTopic: [1],
			subscribeTopic: [1],
			chunkBytes: [1000, "much"],
			session: ["sometimes"],
			uuid: ["123", 5],
		})) {
			for (const value of values) {
				const error = throws(() => read({ [key]: value }), new RegExp(`^${key}: expected .*, got `));
				ok(error instanceof SettingError && error.setting === key, key);
			}
		}
	},
	"quotes what it cannot use as it was set, except a secret, which would stand in the log and on the screen"() {
		throws(() => read({ keepAlive: "nonsense" }), /^keepAlive: .*, got "nonsense"$/);
		for (const key of ["token", "mqttPassword"]) {
			throws(() => read({ [key]: 12_345_678 }), new RegExp(`^${key}: expected a string, got number$`));
		}
	},
	"does not take stored bytes for text"() {
		const settings: Settings = { get: () => new ArrayBuffer(4), set: () => true, delete() {} };
		throws(() => read({}, settings), /^clientId: expected a string/);
	},
	"opens the connection that the backend's URL asks for"() {
		equal(startFor({ backend: "ws://h/" }).sockets().length, 1);
		const before = FakeMqttClient.made.length;
		startFor({ backend: "mqtt://h" });
		equal(FakeMqttClient.made.length, before + 1);
		for (const backend of ["wss://h", "mqtts://h", "http://h", "mqttx://h", "nonsense", ""]) {
			const { log, sockets } = startFor({ backend });
			matches(log.at(-1) ?? "", /^fatal error: backend: /);
			equal(sockets(), []);
		}
	},
	"tells WebSocket who the device is, by MAC address and UUID"() {
		const [socket] = startFor({ token: "t", protocolVersion: 3, clientId: "for MQTT" }).sockets();
		const { headers } = (socket as FakeWebSocketClient).options;
		const values = ["Authorization", "Protocol-Version", "Device-Id", "Client-Id"].map((name) => headers.get(name));
		equal(values, ["Bearer t", "3", "02:00:00:00:00:01", UUID_SET]);
	},
	"takes an eighth of the chunk heap for the longest message, and does not let a stored setting change it"() {
		const limitOf = (built: object): number => messageLimits(read(built).chunkBytes).maxMessageBytes;
		equal([limitOf({}), limitOf({ chunkBytes: 65_536 }), limitOf({ chunkBytes: "131072" })], [65_536, 8_192, 16_384]);
		const settings = new FakeSettings();
		settings.set("xs-mcp", "chunkBytes", 1_000_000);
		equal(read({ chunkBytes: 65_536 }, settings).chunkBytes, 65_536);
	},
});
