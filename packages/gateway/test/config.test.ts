import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { describeConfiguration, readConfiguration } from "../src/config/configuration.js";
import { SETTING_NAMES, type SettingName, settingOf } from "../src/config/settings.js";
import { ConfigurationError } from "../src/plugin.js";

function fileWith(_t: TestContext, settings: unknown): string {
	const folder = temporaryFolder("xs-mcp-configuration-");
	mkdirSync(join(folder, "etc"));
	const path = join(folder, "etc", "gateway.json");
	writeFileSync(path, typeof settings === "string" ? settings : JSON.stringify(settings));
	return path;
}

/** The problems of sources that cannot be used, one line for each. */
function problemsOf(sources: Parameters<typeof readConfiguration>[0]): string[] {
	try {
		readConfiguration(sources);
	} catch (error) {
		assert.ok(error instanceof ConfigurationError, `${error}`);
		return error.message.split("\n");
	}
	return [];
}

describe("configuration", () => {
	it("uses the default of a setting that is not set", () => {
		const configuration = readConfiguration({});
		assert.equal(configuration.httpAddress, "127.0.0.1");
		assert.equal(configuration.httpPort, 8766);
		assert.equal(configuration.brokerUrl, undefined);
	});

	it("takes flags before environment before file before default", (t) => {
		const file = fileWith(t, { httpPort: 1, websocketPort: 1, mqtt: true, mqttPort: 1 });
		const environment = { XS_MCP_GATEWAY_HTTP_PORT: "2", XS_MCP_GATEWAY_WEBSOCKET_PORT: "2" };
		const configuration = readConfiguration({ flags: { httpPort: "3" }, environment, file });
		assert.equal(configuration.httpPort, 3);
		assert.equal(configuration.websocketPort, 2);
		assert.equal(configuration.mqttPort, 1);
		assert.equal(configuration.callTimeout, 30_000);
	});

	it("reads variables of a file with line ends of Windows", () => {
		const environment = {
			XS_MCP_GATEWAY_HTTP_PORT: "1\r",
			XS_MCP_GATEWAY_STATE_FOLDER: "/data\r",
			XS_MCP_GATEWAY_CLUSTER: "\r",
			XS_MCP_GATEWAY_CLUSTER_PASSWORD: " secret \r",
		};
		const { httpPort, stateFolder, cluster, clusterPassword } = readConfiguration({ environment });
		assert.deepEqual([httpPort, stateFolder, cluster, clusterPassword], [1, "/data", undefined, " secret "]);
	});

	it("names a setting as the user wrote it, with the value and what was expected", (t) => {
		const file = fileWith(t, { httpPort: 99_999, mqtt: "perhaps" });
		assert.deepEqual(
			problemsOf({
				flags: { logLevel: "loud" },
				environment: { XS_MCP_GATEWAY_CALL_TIMEOUT: "soon", XS_MCP_GATEWAY_BROKER_URL: "http://broker/" },
				file,
			}),
			[
				`${file}: httpPort: expected a whole number from 0 to 65535, got 99999`,
				`${file}: mqtt: expected true or false, got "perhaps"`,
				'XS_MCP_GATEWAY_BROKER_URL: expected a URL without "#" that begins with mqtt:// or mqtts://, got "http://broker/"',
				'--log-level: expected one of trace, debug, info, warn, error, fatal, silent, got "loud"',
				'XS_MCP_GATEWAY_CALL_TIMEOUT: expected a whole number from 1 to 86400000, got "soon"',
			],
		);
	});

	it("rejects an unknown setting in the file, and suggests known ones", (t) => {
		const file = fileWith(t, { http_port: 1, timeout: 1, colour: "red" });
		assert.deepEqual(problemsOf({ file }), [
			`${file}: http_port: unknown setting; did you mean httpPort?`,
			`${file}: timeout: unknown setting; did you mean callTimeout or sessionIdleTimeout?`,
			`${file}: colour: unknown setting`,
		]);
	});

	it("rejects a file that is missing, not JSON, or not an object", (t) => {
		assert.match(problemsOf({ file: "no-such-file.json" })[0] ?? "", /^no-such-file\.json: cannot be read: ENOENT/);
		assert.deepEqual(problemsOf({ file: fileWith(t, "[]") }).length, 1);
	});

	it("reads a file with a byte order mark, as editors on Windows write it", (t) => {
		assert.equal(readConfiguration({ file: fileWith(t, '\uFEFF{\r\n\t"httpPort": 1\r\n}') }).httpPort, 1);
		const file = fileWith(t, "\uFEFF{\r\n\t'httpPort': 1\r\n}");
		assert.match(problemsOf({ file })[0] ?? "", /:2:2: not JSON/);
	});

	it("says where a file is not JSON, in one line", (t) => {
		for (const [content, place] of [
			['{\n\t"httpPort": 8766\n\t"websocketPort": 8765\n}', "3:2"],
			['{\n\t"httpPort": 8766,\n}', "3:1"],
			['{\n\t"mqtt": yes\n}', "2:10"],
			["{\n\t'mqtt': true\n}", "2:2"],
			['{\n\t"mqtt": true\n', "2:14"],
			["", "1:1"],
		] as const) {
			const file = fileWith(t, content);
			const [problem = "", ...others] = problemsOf({ file });
			assert.deepEqual(others, []);
			assert.equal(problem.slice(0, `${file}:${place}: not JSON: `.length), `${file}:${place}: not JSON: `);
			assert.doesNotMatch(problem, /\n|position/);
		}
	});

	it("reads lists and pairs from flags, environment and file alike", (t) => {
		const expected = new Map([["02:00:00:00:00:01", "lamp"]]);
		const file = fileWith(t, { aliases: { "02:00:00:00:00:01": "lamp" }, userTools: ["*"] });
		assert.deepEqual(readConfiguration({ file }).aliases, expected);
		assert.deepEqual(readConfiguration({ file }).userTools, ["*"]);
		assert.deepEqual(readConfiguration({ flags: { aliases: ["02:00:00:00:00:01=lamp"] } }).aliases, expected);
		const environment = {
			XS_MCP_GATEWAY_ALIASES: "02:00:00:00:00:01=lamp, b=fan",
			XS_MCP_GATEWAY_USER_TOOLS: "a,b",
		};
		assert.deepEqual(readConfiguration({ environment }).aliases, new Map([...expected, ["b", "fan"]]));
		assert.deepEqual(readConfiguration({ environment }).userTools, ["a", "b"]);
		assert.match(problemsOf({ flags: { aliases: ["lamp"] } })[0] ?? "", /^--aliases: expected pairs like DEVICE=NAME/);
	});

	it("resolves a relative path in the file against the file's folder", (t) => {
		const file = fileWith(t, { stateFolder: "state" });
		assert.equal(readConfiguration({ file }).stateFolder, join(file, "..", "state"));
		assert.equal(readConfiguration({ flags: { stateFolder: "state" } }).stateFolder, join(process.cwd(), "state"));
	});

	it("rejects hostnames with a scheme or a port", () => {
		assert.deepEqual(readConfiguration({ flags: { allowedHosts: ["Gateway.example", "[::1]"] } }).allowedHosts, [
			"gateway.example",
			"[::1]",
		]);
		for (const name of ["https://app.example", "app.example:8080", "app.example/"]) {
			const [problem] = problemsOf({ flags: { allowedOrigins: [name] } });
			assert.match(problem ?? "", /^--allowed-origins: expected hostnames, without scheme and port/);
		}
	});

	it("rejects a certificate without its key", () => {
		assert.deepEqual(problemsOf({ flags: { mqtt: true, mqttCert: "cert.pem" } }), [
			"--mqtt-cert: requires mqttKey (--mqtt-key)",
		]);
	});

	it("rejects settings of the gateway's own broker without the broker, unless it is turned off explicitly", (t) => {
		assert.deepEqual(problemsOf({ flags: { mqttPort: "1884" } }), ["--mqtt-port: requires mqtt (--mqtt)"]);
		const file = fileWith(t, { mqttAddress: "0.0.0.0" });
		assert.deepEqual(problemsOf({ file }), [`${file}: mqttAddress: requires mqtt (--mqtt)`]);
		assert.deepEqual(problemsOf({ flags: { mqttPort: "1884", mqtt: true } }), []);
		assert.deepEqual(problemsOf({ flags: { mqttPort: "1884" }, file: fileWith(t, { mqtt: false }) }), []);
	});

	it("rejects MCP over MQTT without a broker, or in a cluster", () => {
		const flags = { mcpOverMqtt: true };
		assert.deepEqual(problemsOf({ flags }), ["--mcp-over-mqtt: requires brokerUrl (--broker-url)"]);
		const brokerUrl = "mqtt://broker.example";
		assert.deepEqual(problemsOf({ flags: { ...flags, brokerUrl } }), []);
		assert.deepEqual(problemsOf({ flags: { ...flags, brokerUrl, cluster: "nats://nats.example" } }), [
			"mcpOverMqtt: cannot be used with cluster, whose gateways would take the servers from each other",
		]);
	});

	it("never prints a secret, even if it is wrong", (t) => {
		const environment = { XS_MCP_GATEWAY_BROKER_PASSWORD: "hunter2" };
		const shown = describeConfiguration(readConfiguration({ environment }));
		assert.equal(shown.brokerPassword, "***");
		const wrong = problemsOf({ file: fileWith(t, { brokerPassword: ["hunter2"] }) });
		assert.equal(wrong.length, 1);
		assert.doesNotMatch(wrong.join(), /hunter2/);
	});

	it("never prints a password in a URL", () => {
		const shown = describeConfiguration(readConfiguration({ flags: { brokerUrl: "mqtts://me:hunter2@broker/" } }));
		assert.equal(shown.brokerUrl, "mqtts://me:***@broker/");
		assert.deepEqual(problemsOf({ flags: { brokerUrl: "http://me:hun:t@er2@broker/" } }), [
			'--broker-url: expected a URL without "#" that begins with mqtt:// or mqtts://, got "http://me:***@broker/"',
		]);
	});

	for (const [given, shown] of [
		["nats://hunter2@nats.example:4222", "nats://***@nats.example:4222"],
		["nats://hun/ter2@nats.example", "nats://***@nats.example"],
		["nats://a:hunter2@one,nats://hunter2@two:4222", "nats://a:***@one,nats://***@two:4222"],
		[" mqtt://me:hunter2@broker", " mqtt://me:***@broker"],
		["me:hun:ter2@broker:1883", "me:***@broker:1883"],
		["http:me:hunter2@broker", "http:***@broker"],
		["http://h/?token=hunter2&hunter2&b=hunter2#hunter2", "http://h/?token=***&***&b=***#***"],
	] as const) {
		it(`never prints a secret in a URL like ${shown}, even if it is rejected`, () => {
			const [problem = ""] = problemsOf({ flags: { homeAssistant: `${given}#` } });
			assert.ok(problem.includes(`got ${JSON.stringify(shown).slice(0, -1)}`), problem);
			assert.doesNotMatch(problem, /hunter2|ter2/);
		});
	}

	it("never prints a token in place of a user, the query of a URL, or the arguments of a program", () => {
		const flags = {
			cluster: "nats://hunter2@nats.example",
			websocketUrl: "wss://gateway.example/x?token=hunter2",
			visionUrl: "https://models.example/v1?key=hunter2",
			visionModel: "m",
			plugins: [join(tmpdir(), "@me", "plugin.js")],
			speechCommand: "'/opt/my voice' --key hunter2",
			transcriptionCommand: "listen",
		};
		const shown = describeConfiguration(readConfiguration({ flags }));
		assert.equal(shown.cluster, "nats://***@nats.example");
		assert.equal(shown.websocketUrl, "wss://gateway.example/x?token=***");
		assert.equal(shown.visionUrl, "https://models.example/v1?key=***");
		assert.deepEqual(shown.plugins, flags.plugins);
		assert.deepEqual([shown.speechCommand, shown.transcriptionCommand], ["/opt/my voice ***", "listen"]);
	});

	it("rejects a URL with a fragment, which cannot be connected to, and does not print the secret in it", () => {
		const [problem = ""] = problemsOf({ flags: { endpoints: ["wss://agent.example/mcp/?token=hunter2#top"] } });
		assert.match(problem, /endpoints: expected URLs: a URL without "#" that begins with ws:/);
		assert.doesNotMatch(problem, /hunter2/);
		assert.equal(problemsOf({ flags: { publicUrl: "https://gateway.example/#" } }).length, 1);
	});

	it("rejects a password in a URL of HTTP, where it would not be sent and could be logged", () => {
		const problems = problemsOf({
			flags: {
				visionUrl: "https://me:hunter2@models.example/v1",
				visionModel: "m",
				publicUrl: "http://me@gateway.example",
			},
		});
		assert.equal(problems.length, 2);
		assert.match(problems.join(), /--vision-url: expected a URL .* without user name and password/);
		assert.doesNotMatch(problems.join(), /hunter2/);
	});

	it("rejects lists and pairs with anything but text in them", (t) => {
		for (const settings of [
			{ aliases: { lamp: 1 } },
			{ aliases: { lamp: "" } },
			{ aliases: 7 },
			{ aliases: ["=x"] },
			{ userTools: [1] },
			{ userTools: "" },
			{ userTools: {} },
		]) {
			const [problem = ""] = problemsOf({ file: fileWith(t, settings) });
			assert.match(problem, /expected (pairs like DEVICE=NAME|a list of texts), got /, JSON.stringify(settings));
		}
	});

	it("is documented in docs/gateway/settings.md, line by line", () => {
		const documentation = readFileSync(new URL("../../../docs/gateway/settings.md", import.meta.url), "utf8");
		const rows = SETTING_NAMES.map((name) => rowOf(name));
		for (const row of rows) {
			assert.ok(documentation.includes(`${row}\n`), `docs/gateway/settings.md lacks this line:\n${row}`);
		}
	});
});

/** A setting's line in the documentation: its name, default and description. */
function rowOf(name: SettingName): string {
	const { default: value, description, secret } = settingOf(name);
	const shown =
		name === "stateFolder" ? "below" : value === undefined || typeof value === "object" ? undefined : `\`${value}\``;
	const note = secret ? "no flag" : shown;
	return `- \`${name}\`${note === undefined ? "" : ` (${note})`}: ${description}`;
}
