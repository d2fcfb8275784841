import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it, type TestContext } from "node:test";
import { ROOT } from "xs-mcp/root";
import { nextOnline, nextSession, startGateway } from "xs-mcp-gateway/testing/gateway";
import { callTool } from "../support/call-tool.js";
import { noSdk, sdk } from "../support/sdk.js";
import { buildForSimulator, buildModForSimulator, Simulator } from "../support/simulator.js";
import { until } from "../support/testing.js";

const LAMP = join(ROOT, "examples", "mod-lamp");

/** A copy of the example, with another main module. It is removed after its test. */
function otherMod(t: TestContext, main: string): string {
	const folder = mkdtempSync(join(ROOT, "examples", "mod-test-"));
	t.after(() => {
		rmSync(folder, { recursive: true });
		rmSync(join(ROOT, ".cache", "moddable", "examples", folder.slice(folder.lastIndexOf("/") + 1)), {
			recursive: true,
			force: true,
		});
	});
	cpSync(LAMP, folder, { recursive: true });
	writeFileSync(join(folder, "main.ts"), main);
	return folder;
}

const SECOND_VERSION = `
import { defineTool } from "../../src/tools/define-tool.js";

const blink = defineTool({ name: "self.lamp.blink", description: "Blink.", needs: [], run: () => "blinks" });

export default [blink];
`;

const THROWING = `
import Timer from "timer";
import { defineTool } from "../../src/tools/define-tool.js";

const fail = defineTool({
	name: "self.lamp.fail",
	description: "Fail later.",
	needs: [],
	run() {
		Timer.set(() => {
			throw new Error("thrown on purpose");
		}, 1);
		return true;
	},
});

export default [fail];
`;

it("mods in the simulator add tools to a firmware that stays as it is, and can be replaced or fail", {
	skip: noSdk,
}, async (t) => {
	const { gateway, deviceUrl } = await startGateway(t);
	const library = await buildForSimulator(sdk, ROOT, [`backend=${deviceUrl}`]);
	const firmware = readFileSync(library);

	/** Runs the firmware with a mod: its session, its log, and how to end it. */
	const start = async (folder: string) => {
		const mod = await buildModForSimulator(sdk, folder);
		const session = nextSession(gateway.servers);
		const online = nextOnline(gateway.servers);
		const simulator = await Simulator.start(sdk, library, { headless: true, mod });
		t.after(() => simulator.stop());
		const lines: string[] = [];
		simulator.on("line", (line) => lines.push(line));
		await online;
		return { device: (await session).connection, lines, stop: () => simulator.stop() };
	};
	const text = (result: object): unknown => (result as { content: { text?: unknown }[] }).content[0]?.text;

	const first = await start(LAMP);
	const lamp = await callTool(first.device, "self.lamp.toggle");
	assert.deepEqual(lamp.structuredContent, { on: true });
	assert.equal(text(await callTool(first.device, "self.audio_speaker.set_volume", { volume: 30 })), '{"volume":30}');
	assert.ok(first.lines.includes("mod: self.lamp.toggle"), first.lines.join("\n"));
	await first.stop();

	const second = await start(otherMod(t, SECOND_VERSION));
	assert.equal(text(await callTool(second.device, "self.lamp.blink")), "blinks");
	const tools = (await second.device.list("tools")) as readonly { name: string }[];
	assert.deepEqual(
		tools.map(({ name }) => name).filter((name) => name.startsWith("self.lamp.")),
		["self.lamp.blink"],
	);
	await second.stop();

	const throwing = await start(otherMod(t, THROWING));
	await callTool(throwing.device, "self.lamp.fail");
	const logged = "error 1 since the start: Error: thrown on purpose";
	await until(() => throwing.lines.includes(logged), "the error is logged");
	assert.equal(text(await callTool(throwing.device, "self.lamp.fail")), "true");
	await throwing.stop();

	const broken = await start(otherMod(t, 'throw new Error("no lamp here");\n'));
	assert.ok(broken.lines.includes("mod skipped: no lamp here"), broken.lines.join("\n"));
	assert.equal(text(await callTool(broken.device, "self.audio_speaker.set_volume", { volume: 30 })), '{"volume":30}');
	await broken.stop();
	assert.ok(firmware.equals(readFileSync(library)), "the firmware stayed as it was");
});
