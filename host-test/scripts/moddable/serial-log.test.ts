import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { BoardTrace } from "../../../scripts/moddable/board-trace.js";
import { SerialLog } from "../../../scripts/moddable/serial-log.js";
import { typeScript } from "../../e2e/program.js";
import { noSdk, sdk } from "../../support/sdk.js";
import { NO_SERIAL, SerialPair } from "../../support/serial-pair.js";
import { until } from "../../support/until.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

async function openLog(test: TestContext): Promise<{ board: SerialPair; log: SerialLog; lines: string[] }> {
	const board = await SerialPair.open(test);
	const log = await SerialLog.open(board.path, 115_200);
	test.after(() => log.close());
	const lines: string[] = [];
	log.on("line", (line) => lines.push(line));
	return { board, log, lines };
}

/** Without the rights of an administrator, who may open everything. */
async function asUser<T>(run: () => Promise<T>): Promise<T> {
	const isAdministrator = process.geteuid?.() === 0;
	if (isAdministrator) {
		process.seteuid?.(65_534);
	}
	try {
		return await run();
	} finally {
		if (isAdministrator) {
			process.seteuid?.(0);
		}
	}
}

describe("a board's log on its serial port", { skip: NO_SERIAL }, () => {
	it("is read line by line, however it arrives", async (t) => {
		const { board, lines } = await openLog(t);
		for (const byte of Buffer.from("Wi-Fi: „daheim“ joined\r\nstate idle -> connecting\n\r\n")) {
			board.write(Uint8Array.of(byte));
		}
		await until(() => lines.length === 3, "three lines");
		assert.deepEqual(lines, ["Wi-Fi: „daheim“ joined", "state idle -> connecting", ""]);
	});

	it("loses colours and control characters, which would upset a terminal", async (t) => {
		const { board, lines } = await openLog(t);
		board.write("\u001b[0;32mI (27) boot: ESP-IDF\u001b[0m\r\n\u0007a\u0000b\u009bc\tend\n");
		await until(() => lines.length === 2, "two lines");
		assert.deepEqual(lines, ["I (27) boot: ESP-IDF", "ab\tend"]);
	});

	it("is cut into lines that have no end", async (t) => {
		const { board, lines } = await openLog(t);
		board.write("x".repeat(10_000));
		await until(() => lines.length === 2, "two pieces");
		const lengths = lines.map((line) => line.length);
		assert.deepEqual(lengths, [4_096, 4_096]);
	});

	it("ends when the board is disconnected, with the rest of a line", async (t) => {
		const { board, log, lines } = await openLog(t);
		board.write("line\nno end");
		await until(() => lines.length === 1, "the line, and with it what follows it");
		const closed = once(log, "closed");
		board.disconnect();
		assert.deepEqual(await closed, ["the board was disconnected"]);
		assert.deepEqual(lines, ["line", "no end"]);
	});

	it("ends without a reason when it is closed, and the port is free again", async (t) => {
		const { board, log } = await openLog(t);
		const closed = once(log, "closed");
		log.close();
		assert.deepEqual(await closed, [undefined]);
		(await SerialLog.open(board.path, 9_600)).close();
	});

	it("reports that the port is in use", async (t) => {
		const { board } = await openLog(t);
		await assert.rejects(SerialLog.open(board.path, 115_200), /is in use by another program/);
	});

	it("reports that the port was not found", async () => {
		await assert.rejects(SerialLog.open("/dev/xs-mcp-none", 115_200), /\/dev\/xs-mcp-none does not exist/);
	});

	it("names the command that gives the permission to use the port", async (t) => {
		const board = await SerialPair.open(t);
		chmodSync(board.path, 0o000);
		await asUser(() =>
			assert.rejects(SerialLog.open(board.path, 115_200), /no permission to use .*: sudo usermod -aG \w+ \$USER$/),
		);
	});
});

describe("npm run flash -- --monitor", { skip: NO_SERIAL }, () => {
	function monitor(...args: string[]) {
		const command = typeScript("scripts/moddable/flash-cli.ts", "--monitor", ...args);
		return spawn(process.execPath, command, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
	}

	it("shows the board's output until Ctrl-C", async (t) => {
		const board = await SerialPair.open(t);
		const program = monitor("--port", board.path);
		let shown = "";
		program.stdout.on("data", (bytes) => {
			shown += bytes;
		});
		await until(() => shown.includes("Ctrl-C"), "the monitor runs");
		// The port is open a moment later.
		const writing = setInterval(() => board.write("state idle\r\n"), 50);
		t.after(() => clearInterval(writing));
		await until(() => shown.includes("\nstate idle\n"), "a line of the board");
		program.kill("SIGINT");
		assert.deepEqual(await once(program, "exit"), [0, null]);
	});

	it("ends with an error when the board is disconnected", async (t) => {
		const board = await SerialPair.open(t);
		const program = monitor("--port", board.path);
		await once(program.stdout, "data");
		const writing = setInterval(() => board.write("x\n"), 50);
		await once(program.stdout, "data");
		clearInterval(writing);
		board.disconnect();
		const [[message], [code]] = await Promise.all([once(program.stderr, "data"), once(program, "exit")]);
		assert.match(String(message), /error: .*: the board was disconnected/);
		assert.equal(code, 1);
	});
});

describe("a board's trace, decoded by the SDK", {
	skip: NO_SERIAL || noSdk,
}, () => {
	const say = (board: SerialPair, message: string): void =>
		board.write(`\r\n<?xs.20001000?>\r\n<xsbug>${message}</xsbug>\r\n`);

	it("is read from a build for debugging", async (t) => {
		const board = await SerialPair.open(t);
		const trace = await BoardTrace.open(sdk, board.path);
		t.after(() => trace.close());
		const lines: string[] = [];
		trace.on("line", (line) => lines.push(line));
		const isTold = async (): Promise<boolean> => {
			// As after a restart. The bridge throws away what comes before it has set the port up.
			board.write("ESP-ROM:esp32c3\r\n<?xs-00000000?>\r\n");
			say(board, '<login name="xs-mcp" value="XS 17.7.0"/>');
			await new Promise((resolve) => setTimeout(resolve, 100));
			return board.received.includes("<go/>");
		};
		await until(isTold, "the board is told to run");
		say(board, "<log>state idle -&#62; connecting&#10;</log>");
		await until(() => lines.includes("state idle -> connecting"), "a line of the trace");
	});

	it("ends with the SDK's error for a missing port", async () => {
		const trace = await BoardTrace.open(sdk, "/dev/xs-mcp-none");
		assert.match(String(await once(trace, "closed")), /serial2xsbug ended with exit code 1: .*No such file/);
	});
});
