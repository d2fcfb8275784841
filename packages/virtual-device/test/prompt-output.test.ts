import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Client, Tool } from "@modelcontextprotocol/client";
import { heading, line } from "../src/prompt-output.js";
import { showTools } from "../src/tool-names.js";

const tool = (name: string, description: string, ...args: string[]): Tool => ({
	name,
	description,
	inputSchema: { type: "object", properties: Object.fromEntries(args.map((each) => [each, {}])) },
});

const TOOLS = [
	tool(
		"self_upgrade_firmware",
		"Download firmware from a URL, install it, and restart. Slow",
		"url",
		"version",
		"sha256",
	),
	tool("self_reboot", "Restart the device"),
];

const OWN = new Map([
	["self_upgrade_firmware", "self.upgrade_firmware"],
	["self_reboot", "self.reboot"],
]);

/** Output on a terminal with this many columns, without colours. */
async function printed(t: TestContext, columns: number, print: () => unknown): Promise<string[]> {
	const { isTTY, columns: before } = process.stdout;
	const colours = process.env.NO_COLOR;
	const lines: string[] = [];
	const log = t.mock.method(console, "log", (text: string) => lines.push(...text.split("\n")));
	Object.assign(process.stdout, { isTTY: true, columns });
	process.env.NO_COLOR = "1";
	try {
		await print();
	} finally {
		log.mock.restore();
		Object.assign(process.stdout, { isTTY, columns: before });
		process.env.NO_COLOR = colours;
		if (colours === undefined) {
			delete process.env.NO_COLOR;
		}
	}
	return lines;
}

const list = () => showTools({ listTools: async () => ({ tools: TOOLS }) } as unknown as Client, OWN);

describe("the prompt's list of tools", () => {
	it("has a table of whole sentences where the terminal is wide, continued in their column", async (t) => {
		assert.deepEqual(await printed(t, 110, list), [
			"",
			"Tools (2)",
			"  self.upgrade_firmware (url, version, sha256) Download firmware from a URL, install it, and restart",
			"  self.reboot           () Restart the device",
		]);
		assert.deepEqual((await printed(t, 70, list)).slice(2), [
			"  self.upgrade_firmware (url, version, sha256) Download firmware from",
			"                        a URL, install it, and restart",
			"  self.reboot           () Restart the device",
		]);
	});

	it("has the sentences below the names where the terminal is narrow", async (t) => {
		assert.deepEqual((await printed(t, 60, list)).slice(2), [
			"  self.upgrade_firmware",
			"    (url, version, sha256) Download firmware from a URL,",
			"    install it, and restart",
			"  self.reboot",
			"    () Restart the device",
		]);
	});
});

it("text on a terminal is broken between words, and continued below its beginning", async (t) => {
	assert.deepEqual(await printed(t, 30, () => heading("The device reports its state: here")), [
		"",
		"The device reports its",
		"state: here",
	]);
	assert.deepEqual(await printed(t, 30, () => line("   {\n  failed: the device is offline")), [
		"     {",
		"    failed: the device is",
		"    offline",
	]);
});
