import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { countInstructions, FEW, hasCallgrind, MANY } from "./instructions.js";
import { list, OPERATIONS, type Operation } from "./operations.js";
import type { Report } from "./report.js";

const SOURCES = fileURLToPath(new URL("cpp-core/", import.meta.url));
const OUTPUT = fileURLToPath(new URL("../.cache/cpp-core/", import.meta.url));

/** Rounds that are timed. */
const TIMED = 2_000;

/** Where cJSON's header may be, from the checkout; and that of the system. */
const CJSON_FOLDERS = ["managed_components/espressif__cjson/cJSON", "/usr/include/cjson"];

/** Cost of an operation on the C++ core. */
export interface CppCost {
	readonly microseconds: number;
	/** Undefined if callgrind is not installed. */
	readonly instructions: number | undefined;
}

/**
 * Measures the core of the C++ firmware, compiled from its own `main/mcp_server.cc`.
 *
 * @returns by the name of the operation; or why it cannot be measured here, in a line
 */
export function measureCppCore(): Map<string, CppCost> | string {
	const checkout = process.env.XIAOZHI_ESP32;
	if (checkout === undefined) {
		return "No C++ core: XIAOZHI_ESP32 does not name a checkout of 78/xiaozhi-esp32.";
	}
	const program = compile(checkout);
	if (program.fault !== undefined) {
		return `No C++ core: ${program.fault}`;
	}
	return new Map(OPERATIONS.map((operation) => [operation.name, measure(program.path, operation)]));
}

function compile(checkout: string): { path: string; fault?: string } {
	const path = join(OUTPUT, "core");
	const source = join(checkout, "main", "mcp_server.cc");
	if (!existsSync(source)) {
		return { path, fault: `${source} not found` };
	}
	const named = process.env.CJSON === undefined ? [] : [process.env.CJSON];
	const folders = [...named, ...CJSON_FOLDERS.map((folder) => join(folder.startsWith("/") ? "/" : checkout, folder))];
	const cJson = folders.find((folder) => existsSync(join(folder, "cJSON.h")));
	if (cJson === undefined) {
		return { path, fault: `cJSON.h not found in ${folders.join(", ")}; CJSON may name its folder` };
	}
	mkdirSync(OUTPUT, { recursive: true });
	const text = readFileSync(source, "utf8");
	for (const [, name = ""] of text.matchAll(/^#include ["<]([a-z_]+\.h)[">]/gm)) {
		writeFileSync(join(OUTPUT, name), '#include "device.h"\n');
	}
	const header = readFileSync(join(checkout, "main", "mcp_server.h"), "utf8");
	writeFileSync(join(OUTPUT, "mcp_server.h"), header.replace("<mbedtls/base64.h>", '"device.h"'));
	// A copy: beside the original it would find the firmware's own headers.
	writeFileSync(join(OUTPUT, "mcp_server.cc"), text);
	const flags = ["-std=c++17", "-O2", "-w", `-I${OUTPUT}`, `-I${SOURCES}`, `-I${cJson}`];
	const files = [join(OUTPUT, "mcp_server.cc"), join(SOURCES, "main.cc")];
	// The system's is a library. From sources it is compiled as C++, so that one command compiles all.
	const library = existsSync(join(cJson, "cJSON.c")) ? [join(cJson, "cJSON.c")] : ["-lcjson"];
	const args = [...flags, ...files, ...library, "-o", path];
	const { status, stderr, error } = spawnSync("g++", args, { encoding: "utf8" });
	return status === 0 ? { path } : { path, fault: `g++: ${error?.message ?? stderr.split("\n")[0]}` };
}

function measure(program: string, operation: Operation): CppCost {
	const { tools } = operation;
	const texts = messages(program, operation);
	const instructions = (rounds: number): number => countInstructions([program, `${tools}`, `${rounds}`], texts);
	return {
		microseconds: Math.min(...[1, 2, 3].map(() => Number(run(program, tools, TIMED, texts)[0]) / 1_000)),
		instructions: hasCallgrind() ? Math.round((instructions(MANY) - instructions(FEW)) / (MANY - FEW)) : undefined,
	};
}

/** All messages of an operation, a line each: a list takes as many as its answers have cursors. */
function messages(program: string, { tools, texts }: Operation): string {
	const all = [...texts];
	if (texts[0] === list("")) {
		for (;;) {
			const { nextCursor } = JSON.parse(run(program, tools, 1, all.at(-1) as string)[1] as string).payload.result;
			if (nextCursor === undefined) {
				break;
			}
			all.push(list(nextCursor));
		}
	}
	return all.join("\n");
}

function run(program: string, tools: number, rounds: number, input: string): string[] {
	const { stdout, status } = spawnSync(program, [`${tools}`, `${rounds}`], { input, encoding: "utf8" });
	if (status !== 0) {
		throw new Error(`the C++ core ended with ${status}`);
	}
	return stdout.split("\n");
}

/** Writes the table of both cores. */
export function reportCppCore(
	ours: { readonly times: ReadonlyMap<string, number>; readonly instructions: ReadonlyMap<string, number> },
	{ say, row, header }: Report,
): void {
	say("## Beside the core of the C++ firmware");
	say();
	const measured = measureCppCore();
	if (typeof measured === "string") {
		say(measured);
		return;
	}
	header("operation", "C++: µs", "XS takes", "C++: instructions", "XS takes");
	for (const [name, { microseconds, instructions }] of measured) {
		const [time = 0, count] = [ours.times.get(name), ours.instructions.get(name)];
		row(
			name,
			microseconds.toFixed(2),
			times(time / microseconds),
			instructions?.toLocaleString("en-US") ?? "–",
			instructions === undefined || count === undefined ? "–" : times(count / instructions),
		);
	}
	say();
	say(
		"Its own `main/mcp_server.cc` and cJSON, compiled by g++ -O2 with stand-ins for its board and application. It has no `ping`, drops malformed JSON without an answer, and makes the list anew each time.",
	);
}

function times(ratio: number): string {
	return `${ratio.toFixed(2)}x`;
}
