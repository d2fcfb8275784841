import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { describeConfiguration, listSettings, loadPlugins, readConfiguration } from "../src/config/configuration.js";
import { createGateway } from "../src/gateway.js";
import { makeLog } from "../src/log.js";
import { ConfigurationError, type Plugin } from "../src/plugin.js";
import { WireDevice } from "../testing/gateway.js";
import { makeStateFolder } from "../testing/program.js";

const DOCUMENTATION = readFileSync(new URL("../../../docs/gateway/plugins.md", import.meta.url), "utf8");
const EXAMPLE = /```js\n(\/\/ notify\.js\n.*?)```/s.exec(DOCUMENTATION)?.[1] as string;
const PORTS = { httpPort: 0, websocketPort: 0, announce: false };

/** Writes plugins and a settings file that names them, and reads it as the command line does. */
async function readSettings(modules: Readonly<Record<string, string>>, settings: object = {}) {
	const stateFolder = makeStateFolder();
	const file = join(stateFolder, "gateway.json");
	const plugins = Object.keys(modules).map((name) => `./${name}`);
	writeFileSync(file, JSON.stringify({ ...PORTS, stateFolder: ".", plugins, ...settings }));
	for (const [name, content] of Object.entries(modules)) {
		writeFileSync(join(stateFolder, name), content);
	}
	const loaded = await loadPlugins({ file });
	return { plugins: loaded, settings: readConfiguration({ file, plugins: loaded }), file };
}

const log = makeLog("silent");

describe("an operator's own plugin", () => {
	it("follows devices and serves a path, as the documented example", async (t) => {
		const messages: string[] = [];
		const receiver = createServer(async (request, response) => {
			messages.push(await text(request));
			response.end();
		});
		await once(receiver.listen(0, "127.0.0.1"), "listening");
		t.after(() => receiver.close());
		const notifyUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
		const { plugins, settings } = await readSettings({ "notify.mjs": EXAMPLE }, { notifyUrl });
		const gateway = await createGateway({ settings, log, plugins });
		t.after(() => gateway.close());
		const { clients = "", websocket: deviceUrl = "" } = gateway.urls;
		const device = await WireDevice.connect(t, { gateway, deviceUrl });
		await device.unplug();
		const sent = async () => (await (await fetch(new URL("/notify", clients))).json()).sent;
		await until(async () => (await sent()) === 1, "the message is sent");
		assert.match(messages.join(), /^lamp_000001: /);
	});

	it("answers an error of settings as an internal error", async (t) => {
		const plugin: Plugin = {
			name: "p",
			setup: ({ publicRoutes }) =>
				void publicRoutes.get("/broken", () => {
					throw new ConfigurationError(["/etc/secret: cannot be read"]);
				}),
		};
		const settings = readConfiguration({ flags: { ...PORTS, stateFolder: makeStateFolder() } });
		const gateway = await createGateway({ settings, log, plugins: [plugin] });
		t.after(() => gateway.close());
		const answer = await fetch(new URL("/broken", gateway.urls.clients));
		assert.equal(answer.status, 500);
		assert.deepEqual((await answer.json()).error, { code: -32603, message: "internal error" });
	});

	it("has its problems named together with those of all others", async () => {
		const { plugins, settings } = await readSettings({ "notify.mjs": EXAMPLE }, { speechCommand: "/no/voice" });
		await assert.rejects(createGateway({ settings, log, plugins }), {
			name: "ConfigurationError",
			message: "speechCommand: no program /no/voice\nnotifyUrl: required by the plugin notify",
		});
	});

	it("is named with its problem if it fails before the gateway starts, together with the problems of all others", async () => {
		const failing = { name: "first", check: () => assert.fail("no such setting"), setup() {} };
		const second = { name: "second", check: () => ["second: required"], setup() {} };
		const settings = readConfiguration({ flags: { ...PORTS, stateFolder: makeStateFolder() } });
		await assert.rejects(createGateway({ settings, log, plugins: [failing, second] }), {
			name: "ConfigurationError",
			message: "plugin first: no such setting\nsecond: required",
		});
		const broken = { name: "broken", setup: () => assert.fail("no such host") };
		await assert.rejects(
			createGateway({ settings, log, plugins: [broken] }),
			/^ConfigurationError: plugin broken: no such host$/,
		);
	});

	it("does not end the gateway if a step of it fails, nor keep others from theirs", async (t) => {
		const steps: string[] = [];
		const plugins = ["first", "second"].map(
			(name): Plugin => ({
				name,
				setup(gateway) {
					for (const phase of ["tick", "stop", "drain", "close"] as const) {
						gateway.on(phase, () => {
							steps.push(`${name} ${phase}`);
							throw new Error(`${phase} failed`);
						});
					}
				},
			}),
		);
		const lines: string[] = [];
		const settings = readConfiguration({ flags: { ...PORTS, stateFolder: makeStateFolder() } });
		const destination = { write: (line: string) => void lines.push(line) };
		const gateway = await createGateway({ settings, log: makeLog("error", destination), plugins });
		t.after(() => gateway.close());
		await until(() => steps.includes("second tick"), "both steps run");
		await gateway.close();
		assert.deepEqual(
			steps.filter((step) => !step.endsWith("tick")),
			["first stop", "second stop", "first drain", "second drain", "second close", "first close"],
		);
		assert.match(lines.join(""), /"msg":"close failed"/);
	});

	it("has its settings among those that operators see, secrets hidden", async () => {
		const content = `export default ({ setting, text, KEY }) => ({ name: "p", setup() {}, settings: {
			greeting: setting(text("text"), "What it says", "hello"),
			greetingKey: setting(KEY, "Its key"),
		} });`;
		const { settings, file } = await readSettings({ "p.mjs": content }, { greetingKey: "hunter2" });
		assert.deepEqual(listSettings(settings).at(-1), {
			group: "Your own plugins",
			settings: [
				{
					name: "greeting",
					flag: "XS_MCP_GATEWAY_GREETING",
					description: "What it says",
					value: "hello",
					source: undefined,
				},
				{
					name: "greetingKey",
					flag: "XS_MCP_GATEWAY_GREETING_KEY",
					description: "Its key",
					value: "***",
					source: `${file}: greetingKey`,
				},
			],
		});
		assert.equal(describeConfiguration(settings).greeting, "hello");
	});

	it("is not needed by commands, which ignore its settings", async () => {
		const { file } = await readSettings({ "notify.mjs": EXAMPLE }, { notifyUrl: "http://127.0.0.1/" });
		assert.equal(readConfiguration({ file }).plugins.length, 1);
	});

	for (const [what, content, problem] of [
		["exports no plugin", "export default 7;", /plugins: .*p\.mjs: expected a default export with name and setup/],
		["cannot be parsed", "export default {", /plugins: .*p\.mjs: Unexpected/],
		[
			"takes the name of another setting",
			'export default ({ setting, text }) => ({ name: "p", settings: { httpPort: setting(text("x"), "") }, setup() {} });',
			/plugin p: there is another setting httpPort/,
		],
		[
			"takes the name of another plugin",
			'export default { name: "speech", setup() {} };',
			/plugin speech: there are two/,
		],
	] as const) {
		it(`is rejected if it ${what}`, async () => {
			await assert.rejects(async () => {
				const { plugins, settings } = await readSettings({ "p.mjs": content });
				await createGateway({ settings, log, plugins });
			}, problem);
		});
	}
});
