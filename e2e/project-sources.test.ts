import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { buildProject, openProject } from "xs-mcp/project";
import { openDevice } from "xs-mcp/test";
import { MANIFEST, ownProject, TOOL } from "../host-test/support/own-project.js";

const bundleOf = async (files: Readonly<Record<string, string | undefined>>): Promise<string> =>
	(await buildProject(openProject(ownProject(files)))).firmware;

const { "lib/*": _, ...WITHOUT_LIB } = MANIFEST.modules;

/** Wrong files of a project, and the error that names the place. */
const FAULTS: readonly (readonly [fault: string, files: Readonly<Record<string, string>>, message: RegExp])[] = [
	["an error in a tool", { "tools/level.ts": `${TOOL}const x: = 1;\n` }, /tools\/level\.ts:7:10: Unexpected "="/],
	[
		"an import of Node's",
		{ "tools/level.ts": TOOL.replace("../lib/level.js", "node:fs") },
		/tools\/level\.ts:2:25: node:fs: not a module of the virtual device/,
	],
	[
		"a module that its manifest does not name, which a chip would not have",
		{ "manifest.json": JSON.stringify({ ...MANIFEST, modules: WITHOUT_LIB }) },
		/lib\/level\.ts: the project's manifest\.json does not name this module/,
	],
	[
		"an included manifest that does not exist",
		{ "manifest.json": JSON.stringify({ ...MANIFEST, build: { XS_MCP: "./elsewhere" } }) },
		/manifest\.json: "include" names \$\(XS_MCP\)\/manifest\.json, which does not exist/,
	],
];

describe("a project of its own on a virtual device", () => {
	it("has its tools beside the firmware's, in a path with spaces", async (t) => {
		const device = await openDevice({ folder: ownProject() });
		t.after(() => device.close());
		const names = (await device.listTools()).map(({ name }) => name);
		assert.equal(names[0], "self.get_device_status");
		assert.ok(names.includes("self.pond.level"), names.join());
		assert.deepEqual(await device.call("self.pond.level"), { level: 20 });
	});

	it("has its parts: a test calls their tools, and reads and sets their pins", async (t) => {
		const device = await openDevice({ folder: ownProject() });
		t.after(() => device.close());
		assert.equal(device.read("pump"), 0);
		await device.call("self.switch.set", { name: "pump", on: true, seconds: 5 });
		assert.deepEqual([device.read("pump"), device.read(26)], [1, 1]);
		device.set("soil", 1200);
		assert.deepEqual(await device.call("self.sensor.read"), { soil: { kind: "moisture", value: 100, unit: "%" } });
		await assert.rejects(
			device.call("self.switch.set", { name: "pump", on: true, seconds: 31 }),
			/seconds: pump stays on for at most 30 seconds, not 31/,
		);
		assert.throws(() => device.read("heater"), /heater: the device has opened no such pin; open: pump, soil/);
		assert.throws(() => device.set("pump", 1), /pump: expected soil/);
	});

	it("fails the call that ends the device, and those after it, with the reason", async (t) => {
		const endless = TOOL.replace(
			"({ level: levelOf(2) })",
			"{ const f = (): number => f() + levelOf(2); return f(); }",
		);
		const device = await openDevice({ folder: ownProject({ "tools/level.ts": endless }) });
		t.after(() => device.close());
		await assert.rejects(
			device.call("self.pond.level"),
			/^Error: self\.pond\.level: the device ended: stack-overflow: /,
		);
		await assert.rejects(
			device.call("self.sensor.read"),
			/^Error: self\.sensor\.read: the device ended: stack-overflow: /,
		);
		await assert.rejects(device.listTools(), /^Error: tools\/list: the device ended: stack-overflow: /);
	});

	it("is told that the result of a tool is too long", async (t) => {
		const long = TOOL.replace("({ level: levelOf(2) })", '"x".repeat(50_000 * levelOf(1))');
		const device = await openDevice({ folder: ownProject({ "tools/level.ts": long }) });
		t.after(() => device.close());
		await assert.rejects(
			device.call("self.pond.level"),
			/Internal error: response of 500089 bytes \(limit of this connection: 65513\)$/,
		);
	});

	it("is told of the name of a tool that clients cannot call, and of two tools of one name", async () => {
		const named = TOOL.replace("self.pond.level", "self.water plants!");
		await assert.rejects(
			openDevice({ folder: ownProject({ "tools/level.ts": named }) }),
			/tool name "self\.water plants!": expected 1 to 128 letters, digits, "_", "-" or "\."/,
		);
		await assert.rejects(
			openDevice({ folder: ownProject({ "tools/other.ts": TOOL }) }),
			/tools\/other\.ts: tool self\.pond\.level: .*tools\/level\.ts has a tool of this name: choose another name/,
		);
	});

	it("may have no tool yet", async () => {
		assert.match(await bundleOf({ "tools/level.ts": undefined }), /self\.get_device_status/);
	});

	for (const [fault, files, message] of FAULTS) {
		it(`is told of ${fault}`, async () => {
			await assert.rejects(bundleOf(files), message);
		});
	}

	it("is told that the firmware is older than its package.json asks for", async () => {
		const open = (version: string) =>
			openDevice({ folder: ownProject({ "package.json": JSON.stringify({ dependencies: { "xs-mcp": version } }) }) });
		await assert.rejects(open("^99.1.0"), /is installed, but package\.json asks for \^99\.1\.0: run npm install/);
		(await open("^0.1.0")).close();
		(await open("file:../xs-mcp.tgz")).close();
	});
});
