import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder, until } from "../../../host-test/support/testing.js";
import { runProgram } from "../src/speech/voice.js";

const LEAVER = `${process.execPath} "${fileURLToPath(new URL("../testing/leaver.mjs", import.meta.url))}"`;

function start(t: TestContext, how: "child" | "daemon" | "stay", signal = new AbortController().signal) {
	const pidFile = join(temporaryFolder(), "pid");
	const fill = (argument: string): string => argument.replace("{pid}", pidFile);
	const output = runProgram(`${LEAVER} ${how} {pid}`, fill, "", signal, { what: "the output", maxBytes: 100 });
	/** Undefined until it is written whole: `kill` takes 0 for the group of this process. */
	const pid = (): number | undefined => {
		const text = existsSync(pidFile) ? readFileSync(pidFile, "utf8") : "";
		return /^[1-9][0-9]*\n$/.test(text) ? Number(text) : undefined;
	};
	const runs = (): boolean => {
		const child = pid();
		try {
			return child !== undefined && process.kill(child, 0);
		} catch {
			return false;
		}
	};
	t.after(() => {
		const child = pid();
		if (child !== undefined && runs()) {
			process.kill(child, "SIGKILL");
		}
	});
	return { output, runs };
}

describe("a program of this machine", { skip: process.platform === "win32" }, () => {
	it("may have spaces in its arguments, in quotes", async () => {
		const command = `${process.execPath} -e "process.stdout.write(process.argv[1])" 'my voice' `;
		const fill = (argument: string): string => argument;
		const signal = new AbortController().signal;
		assert.equal(`${await runProgram(command, fill, "", signal, { what: "the output", maxBytes: 100 })}`, "my voice");
	});

	it("has its output read to the end, and what it leaves running killed", async (t) => {
		const { output, runs } = start(t, "child");
		assert.equal(`${await output}`, "hello");
		await until(() => !runs(), "the child is killed");
	});

	it("does not wait for a daemon that holds its output open", async (t) => {
		assert.equal(`${await start(t, "daemon").output}`, "hello");
	});

	it("is killed with its children when the call is cancelled", async (t) => {
		const controller = new AbortController();
		const { output, runs } = start(t, "stay", controller.signal);
		await until(runs, "the child runs");
		controller.abort();
		await assert.rejects(output, { name: "AbortError" });
		await until(() => !runs(), "the child is killed");
	});
});
