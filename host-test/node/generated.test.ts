import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { bundle, chooseEngine, type Engine } from "xs-mcp-virtual-device";
import { IS_FULL } from "../support/scope.js";
import { skipIf } from "../support/testing.js";

// Generated messages against the server: an answer exactly where one is due, whatever comes.

const MESSAGES = IS_FULL ? 20_000 : 2_000;
const WINDOW = 100;
const SEED = 20_261_121;

/** Any JSON, its names from a list: XS keeps every property name it has ever met (docs/sdk.md). */
const json = fc.letrec((tie) => ({
	value: fc.oneof(
		{ maxDepth: 4, withCrossShrink: true },
		fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
		fc.array(tie("value"), { maxLength: 3 }),
		fc.dictionary(fc.constantFrom("volume", "name", "a", "__proto__", "constructor", "日本"), tie("value"), {
			maxKeys: 3,
		}),
	),
})).value;

const id = fc.oneof(fc.integer(), fc.string(), fc.constantFrom<unknown>(null, true, 1.5, [], {}, 1e300, 2 ** 53));
const method = fc.oneof(
	{ weight: 6, arbitrary: fc.constantFrom("initialize", "ping", "tools/list", "tools/call") },
	{ weight: 2, arbitrary: fc.constantFrom("notifications/initialized", "notifications/cancelled", "resources/list") },
	{ weight: 1, arbitrary: fc.oneof(fc.string(), fc.integer()) },
);
const params = fc.oneof(
	fc.record({
		name: fc.constantFrom("set", "later", "fail", "gone"),
		arguments: fc.oneof(fc.record({ volume: fc.integer({ min: -1, max: 101 }) }), json),
	}),
	fc.record({ protocolVersion: fc.constantFrom("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "x") }),
	fc.record({ cursor: fc.oneof(fc.constantFrom("", "set", "later"), json), requestId: id }),
	json,
);
const message = fc.record(
	{ jsonrpc: fc.constantFrom("2.0", "2.0", "2.0", "1.0"), id, method, params, result: json },
	{ requiredKeys: [] },
);
const request = fc.record({ jsonrpc: fc.constant("2.0"), id, method, params });
const whole = fc.oneof(
	{ weight: 5, arbitrary: request },
	{ weight: 3, arbitrary: message },
	{ weight: 1, arbitrary: json },
	{ weight: 1, arbitrary: fc.array(fc.oneof(message, request), { maxLength: 4 }) },
);
const text = fc.oneof(
	{ weight: 8, arbitrary: whole.map((value) => JSON.stringify(value)) },
	{
		weight: 1,
		arbitrary: fc
			.tuple(whole, fc.nat(), fc.nat(20), fc.string())
			.map(([value, at, removed, added]) => mutate(JSON.stringify(value), at, removed, added)),
	},
	{ weight: 1, arbitrary: fc.string() },
	{ weight: 1, arbitrary: fc.nat(200).map((depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`) },
);

function mutate(json: string, at: number, removed: number, added: string): string {
	const place = at % (json.length + 1);
	return json.slice(0, place) + added + json.slice(place + removed);
}

/** Messages that are due in answer to a text: each the number of answers in it, 0 for a single one. */
function due(text: string, revision: string): "none" | "one" | number {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return "one";
	}
	if (depth(value) > 32 || !Array.isArray(value)) {
		return depth(value) > 32 || isDue(value) ? "one" : "none";
	}
	if (revision > "2025-03-26" || value.length === 0) {
		return "one";
	}
	return value.filter(isDue).length || "none";
}

function isDue(value: unknown): boolean {
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		return true;
	}
	const { method } = value as Record<string, unknown>;
	if (typeof method !== "string") {
		return method !== undefined || !("result" in value || "error" in value);
	}
	return Object.hasOwn(value, "id") && !method.startsWith("notifications/");
}

function depth(value: unknown): number {
	return typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
}

function check(text: string, answers: readonly string[], revision: string): void {
	const expected = due(text, revision);
	assert.equal(answers.length, expected === "none" ? 0 : 1, `${text}\nanswered with ${answers.join(" ")}`);
	if (expected === "none") {
		return;
	}
	const answer = JSON.parse(answers[0] as string);
	assert.equal(Array.isArray(answer) ? answer.length : "one", expected, text);
	for (const each of [answer].flat()) {
		assert.equal(each.jsonrpc, "2.0");
		assert.ok("result" in each !== "error" in each, text);
		assert.ok(each.error === undefined || (Number.isInteger(each.error.code) && each.error.message !== ""), text);
	}
}

async function throwAll(engine: Engine, texts: readonly string[]): Promise<void> {
	for (let at = 0; at < texts.length; at += WINDOW) {
		const window = texts.slice(at, at + WINDOW);
		const posted = await engine.deliver(window.map((each) => ({ header: ["message", each] })));
		const heard: { revision: string; answers: string[] }[] = [];
		for (const { header } of posted) {
			if (header[0] === "begin") {
				heard.push({ revision: header[1] as string, answers: [] });
			} else {
				heard.at(-1)?.answers.push(header[1] as string);
			}
		}
		for (const [place, each] of window.entries()) {
			const { answers, revision } = heard[place] as (typeof heard)[number];
			check(each, answers, revision);
		}
	}
}

describe("generated messages", async () => {
	const script = await bundle(fileURLToPath(new URL("./generated-server.ts", import.meta.url)));
	for (const [kind, count] of [
		["xs", MESSAGES],
		["v8", MESSAGES / 10],
	] as const) {
		const { start, whyNotXs } = await chooseEngine(kind);
		const skip = skipIf(kind === "xs" && whyNotXs && `XS cannot be built here: ${whyNotXs}`);
		it(`are answered exactly if an answer is due, ${count} of them on ${kind}`, { skip }, async () => {
			const engine = await start({});
			try {
				await engine.run("globalThis.hostConfig={config:{},settings:{},macAddress:''}");
				await engine.run(script);
				await throwAll(engine, fc.sample(text, { numRuns: count, seed: SEED }));
			} finally {
				engine.close();
			}
		});
	}
});
