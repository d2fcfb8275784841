import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { after, describe, test } from "node:test";
import { buildXsHost } from "../src/engine/build-xs.js";
import type { EngineExitCode, HeapLimits } from "../src/engine/engine.js";
import { encodeCommand, startXsEngine } from "../src/engine/xs-engine.js";
import { closeEngines, ECHO, ends, noXs, startXs } from "./test-engines.js";

describe("XS: heap", { skip: noXs }, () => {
	after(closeEngines);

	test("reports plausible figures", async () => {
		const heap = await (await startXs()).heap();
		assert.ok(heap);
		assert.equal(heap.slotBytes, 32);
		assert.ok(heap.slots > 3000 && heap.slots <= heap.peakSlots);
		assert.ok(heap.chunkBytes > 10_000 && heap.chunkBytes <= heap.peakChunkBytes);
		assert.ok(heap.peakStackSlots >= 0);
	});

	test("does not grow over 10,000 deliveries", async () => {
		const engine = await startXs();
		await engine.run(ECHO);
		const batch = Array.from({ length: 100 }, (_, i) => ({ header: ["n", i], bytes: new Uint8Array(20) }));
		await engine.deliver(batch);
		const before = await engine.heap();
		for (let i = 0; i < 100; i++) {
			await engine.deliver(batch);
		}
		const { slots, chunkBytes } = (await engine.heap()) ?? assert.fail();
		assert.deepEqual({ slots, chunkBytes }, { slots: before?.slots, chunkBytes: before?.chunkBytes });
	});

	const LIMITS: HeapLimits = { slots: 6000, chunkBytes: 64 * 1024, stackSlots: 512 };
	const HUNGRY: [title: string, script: string, code: EngineExitCode, detail: RegExp][] = [
		["slots", "const a = []; for (;;) a.push({})", "out-of-memory", /^out of memory: .* of 6000 slots/],
		["chunks", "let s = 'x'; for (;;) s += s", "out-of-memory", /of 65536 chunk bytes/],
		["one large buffer", "new ArrayBuffer(100000)", "out-of-memory", /of 65536 chunk bytes/],
		["stack", "function f() { f() } f()", "stack-overflow", /of 512 slots/],
	];
	for (const [title, script, code, detail] of HUNGRY) {
		test(`a limit of ${title} is hard`, async () => {
			const engine = await startXs({ limits: LIMITS });
			await ends(engine.run(script), engine, code, detail);
		});
	}

	test("does not start if the built-ins do not fit", async () => {
		await assert.rejects(startXs({ limits: { slots: 1000 } }), { code: "out-of-memory" });
	});

	test("a machine without limits may not take all memory", async () => {
		const engine = await startXs();
		await ends(
			engine.run("const a = []; for (;;) a.push(new ArrayBuffer(1_000_000))"),
			engine,
			"out-of-memory",
			/out of memory/,
		);
	});
});

describe("XS: deep recursion of native code ends it or throws, and is no crash", { skip: noXs }, () => {
	after(closeEngines);

	const nested = "let a = []; for (let i = 0; i < 100000; i++) a = [a];";
	const SCRIPTS: [script: string, code: EngineExitCode | undefined][] = [
		["JSON.parse('['.repeat(100000))", "stack-overflow"],
		[`${nested} JSON.stringify(a)`, "stack-overflow"],
		["let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); p.x", "stack-overflow"],
		["new RegExp('('.repeat(100000))", "exception"],
		["try { eval('('.repeat(100000)) } catch (error) { if (!(error instanceof RangeError)) throw error }", undefined],
		[
			"try { eval('1' + '+1'.repeat(100000)) } catch (error) { if (!(error instanceof RangeError)) throw error }",
			undefined,
		],
	];
	for (const [script, code] of SCRIPTS) {
		test(script, async () => {
			const engine = await startXs();
			if (code) {
				await ends(engine.run(script), engine, code, /stack/);
			} else {
				await engine.run(script);
			}
		});
	}
});

describe("XS: its process", { skip: noXs }, () => {
	after(closeEngines);

	test("does not start if the host is missing", async () => {
		await assert.rejects(startXsEngine("/nowhere/xs-host"), { code: "start-failed" });
	});

	test("does not start from another program", async () => {
		await assert.rejects(startXsEngine(process.execPath, { timeoutMs: 5000 }), { name: "EngineError" });
	});

	test("ends with its parent", async () => {
		const host = JSON.stringify(await buildXsHost(64));
		// The machine's standard error is its parent's standard output, which therefore ends only when both have ended.
		const program = `require("node:child_process").spawn(${host}, { stdio: ["pipe", "ignore", 1] }); console.log("ready")`;
		const parent = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
		parent.stdout.once("data", () => parent.kill("SIGKILL"));
		await once(parent.stdout, "end");
	});

	test("ends an endless loop by its own alarm, should its parent be gone", async () => {
		const input = encodeCommand({ kind: "run", script: "for (;;);" });
		const run = async () =>
			execFileSync(await buildXsHost(64), ["--seconds", "1"], { input, stdio: ["pipe", "ignore", "ignore"] });
		await assert.rejects(run, { signal: "SIGALRM" });
	});
});
