import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { describe, it } from "node:test";
import { moduleUrl } from "../e2e/program.js";
import { ChildGroup } from "./child-group.js";

/** A program that starts another one, which holds its output open, and waits for it. */
const PARENT = ["-c", "sleep 600 & echo started; wait"];

/** A program of Node's that has such a group, and ends of itself only when it is told to. */
const OWNER = `
	import { ChildGroup } from ${JSON.stringify(moduleUrl("host-test/support/child-group.ts"))};
	new ChildGroup("sh", ${JSON.stringify(PARENT)}, ["inherit", "inherit"]);
	process.stdin.on("data", () => process.exit(0));
`;

function startOwner() {
	return spawn(process.execPath, ["--input-type=module", "--eval", OWNER], {
		stdio: ["pipe", "pipe", "inherit"],
	});
}

/** The end of an output comes when the last that holds it has ended. */
async function endOf(output: Readable): Promise<void> {
	await once(output.resume(), "close");
}

describe("what a program started", {
	skip: process.platform === "win32" && "there are no process groups on Windows",
}, () => {
	it("ends with the program when that is stopped", async () => {
		const group = new ChildGroup("sh", PARENT, ["pipe", "inherit"]);
		const output = group.process.stdout as Readable;
		await once(output, "data");
		await Promise.all([group.stop(), endOf(output)]);
		assert.equal(await group.ended, "sh ended with SIGTERM");
	});

	it("ends when it is deaf, too", async () => {
		const deaf = ["-c", "trap '' TERM; echo started; while true; do sleep 1; done"];
		const group = new ChildGroup("sh", deaf, ["pipe", "inherit"]);
		const output = group.process.stdout as Readable;
		await once(output, "data");
		await Promise.all([group.stop(), endOf(output)]);
		assert.equal(await group.ended, "sh ended with SIGKILL");
	});

	it("ends with this process, whether that exits, is terminated or killed", async () => {
		for (const end of [
			(owner: ReturnType<typeof startOwner>) => owner.stdin.write("\n"),
			(owner: ReturnType<typeof startOwner>) => owner.kill("SIGTERM"),
			(owner: ReturnType<typeof startOwner>) => owner.kill("SIGINT"),
			(owner: ReturnType<typeof startOwner>) => owner.kill("SIGKILL"),
		]) {
			const owner = startOwner();
			await once(owner.stdout, "data");
			end(owner);
			await endOf(owner.stdout);
		}
	});

	it("reports why it ended, and what is not installed", async () => {
		assert.equal(await new ChildGroup("sh", ["-c", "exit 3"], []).ended, "sh ended with exit code 3");
		const nothing = new ChildGroup("xs-mcp-no-such-program", [], ["ignore", "ignore"]);
		assert.equal(await nothing.ended, "xs-mcp-no-such-program is not installed");
		await nothing.stop();
	});
});
