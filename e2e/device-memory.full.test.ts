import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { Program } from "../host-test/support/program.js";

const RUN = fileURLToPath(new URL("../tools/run.mjs", import.meta.url));

/** Memory that one device may add to the machine, MB: 45 on Node 20. */
const MAX_MEGABYTES = 70;

/**
 * A process and those that it has started: their commands, and their own memory. Pages of program files do not count:
 * all devices share them, and how many are in RAM depends on the machine.
 */
function family(pid: string): { command: string; kilobytes: number }[] {
	const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ");
	const kilobytes = Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
	const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
		readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
	);
	return [{ command, kilobytes }, ...children.flatMap(family)];
}

it(`a virtual device adds ${MAX_MEGABYTES} MB at most, and does not keep the bundler running`, {
	skip: process.platform !== "linux" && "/proc is Linux's",
}, async (t) => {
	const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
	const [, , ...run] = scripts.device.split(" ");
	const args = [RUN, ...run, "--url", "ws://127.0.0.1:1/"];
	const isUp = (output: string): boolean => /^UUID /m.test(output);
	// The first start may have to make the bundle.
	await (await Program.start(args, isUp)).stop();
	// Coverage is measured in memory, which is not the device's.
	const device = await Program.start(args, isUp, { env: { NODE_V8_COVERAGE: "" } });
	t.after(() => device.stop());
	const processes = family(String(device.pid));
	assert.deepEqual(
		processes.filter(({ command }) => command.includes("esbuild")),
		[],
	);
	const megabytes = processes.reduce((total, { kilobytes }) => total + kilobytes, 0) / 1024;
	t.diagnostic(`${Math.round(megabytes)} MB`);
	assert.ok(megabytes <= MAX_MEGABYTES, JSON.stringify(processes));
});
