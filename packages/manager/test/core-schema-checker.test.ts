import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { after, beforeEach, describe, it } from "node:test";
import { cases } from "../../../host-test/support/scope.js";
import { makeSchemaChecker } from "../src/core/schema-checker.js";
import { EVIL_TOOLS } from "../testing/evil-schemas.js";

const warnings: string[] = [];
const checker = makeSchemaChecker((message) => warnings.push(message));

const check = async (schema: Record<string, unknown>, value: object): Promise<string | undefined> =>
	await checker.check({ tool: "t", what: "arguments", schema, value });

const VOLUME = {
	type: "object",
	properties: { volume: { type: "integer", maximum: 100 }, mode: { enum: ["dark", "light"] } },
	required: ["volume"],
	additionalProperties: false,
};

describe("the arguments of a call", () => {
	after(() => checker.close());
	beforeEach(() => {
		warnings.length = 0;
	});

	it("are rejected with the name of the one that does not fit", async () => {
		assert.equal(await check(VOLUME, { volume: 101 }), "volume: must be <= 100");
		assert.equal(await check(VOLUME, { volume: "1" }), "volume: must be integer");
		assert.equal(await check(VOLUME, {}), "volume: is missing");
		assert.equal(await check(VOLUME, { volume: 1, colour: 2 }), "colour: is unknown");
		assert.match((await check(VOLUME, { volume: 1, mode: "x" })) ?? "", /^mode: must be .*: "dark", "light"$/);
		const nested = { properties: { list: { items: { required: ["x"] } } } };
		assert.equal(await check(nested, { list: [{ x: 1 }, {}] }), "list.1.x: is missing");
	});

	it("are checked by the dialect that the schema names: 2020-12 unless it is an older one", async () => {
		assert.match(
			(await check({ properties: { a: { prefixItems: [{ type: "string" }] } } }, { a: [1] })) ?? "",
			/^a\.0: /,
		);
		const draft07 = {
			$schema: "http://json-schema.org/draft-07/schema#",
			properties: { a: { items: [{ type: "string" }] } },
		};
		assert.match((await check(draft07, { a: [1] })) ?? "", /^a\.0: /);
	});

	it("are not checked, with one warning, if the schema cannot be used", async () => {
		const malformed = [{ type: 5 }, { properties: 5 }, { required: "a" }, { minimum: "1" }, { enum: [] }, { not: 3 }];
		const unusable = [{ $ref: "http://elsewhere.example/" }, { $async: true }, { pattern: "(?=a)" }];
		for (const schema of [...malformed, ...unusable]) {
			warnings.length = 0;
			assert.equal(await check(schema, { a: 1 }), undefined);
			assert.equal(await check({ ...schema }, { a: 1 }), undefined);
			assert.equal(warnings.length, 1, warnings.join("\n"));
		}
		warnings.length = 0;
		for (const schema of [...malformed, ...unusable]) {
			await check({ ...schema }, { a: 1 });
		}
		assert.deepEqual(warnings, [], "each is remembered");
	});

	it("are checked without reading the schema again, and compiling it once for all devices that have it", async () => {
		let reads = 0;
		const schema = () => ({
			properties: {
				get rare() {
					reads += 1;
					return { type: "integer" };
				},
			},
		});
		const readsOf = async (checked: ReturnType<typeof schema>): Promise<number> => {
			reads = 0;
			assert.equal(await check(checked, { rare: "x" }), "rare: must be integer");
			return reads;
		};
		const [first, second] = [schema(), schema()];
		const compiling = await readsOf(first);
		assert.equal(await readsOf(first), 0);
		assert.ok((await readsOf(second)) < compiling);
	});

	it("may come for two devices whose schemas have the same $id", async () => {
		const schema = (type: string) => ({ $id: "volume", properties: { volume: { type } } });
		assert.equal(await check(schema("integer"), { volume: 1 }), undefined);
		assert.match((await check(schema("string"), { volume: 1 })) ?? "", /must be string/);
		assert.deepEqual(warnings, []);
	});

	it("do not stop the process when the schema takes unbounded time or memory: it is given up, and warned of once", async () => {
		for (const { inputSchema: schema, args } of cases(EVIL_TOOLS)) {
			warnings.length = 0;
			let turns = 0;
			const timer = setInterval(() => {
				turns += 1;
			}, 10);
			assert.equal(await check(schema, args), undefined);
			clearInterval(timer);
			assert.ok(turns > 1, `the event loop turned ${turns} times meanwhile`);
			assert.equal(await check(schema, args), undefined);
			assert.equal(warnings.length, 1, warnings.join("\n"));
			assert.match(warnings[0] ?? "", /takes more than|cannot be used/);
			assert.equal(await check(VOLUME, { volume: 101 }), "volume: must be <= 100", "others are checked all the time");
		}
	});

	it("are checked by a process that may end: that value passes, and the next one is checked", async () => {
		const own = makeSchemaChecker((message) => warnings.push(message));
		const kill = (message: unknown) => {
			const { process } = message as { readonly process: ChildProcess };
			process.once("message", () => setTimeout(() => process.kill("SIGABRT"), 100));
		};
		subscribe("child_process", kill);
		const [evil] = EVIL_TOOLS;
		assert.ok(evil);
		assert.equal(
			await own.check({ tool: "t", what: "arguments", schema: evil.inputSchema, value: evil.args }),
			undefined,
		);
		unsubscribe("child_process", kill);
		assert.match(warnings[0] ?? "", /takes more than 128 MB/);
		const next = { tool: "t", what: "arguments", schema: { pattern: "b", minProperties: 1 }, value: {} };
		assert.match((await own.check(next)) ?? "", /must NOT have fewer than 1 properties/);
		own.close();
	});

	it("are not checked, without a word about the schema, while the other process cannot be started", async (t) => {
		const own = makeSchemaChecker((message) => warnings.push(message));
		const { execPath } = process;
		process.execPath = "/nonexistent";
		t.after(() => {
			process.execPath = execPath;
		});
		const value = { tool: "t", what: "arguments", schema: { pattern: "c", minProperties: 1 }, value: {} };
		assert.equal(await own.check(value), undefined);
		assert.equal(await own.check(value), undefined);
		assert.equal(warnings.length, 1, warnings.join("\n"));
		assert.match(warnings[0] ?? "", /^arguments and results .* are not validated/);
		own.close();
	});

	it("are not checked after the checker was closed, and nothing is said about their schemas", async () => {
		const own = makeSchemaChecker((message) => warnings.push(message));
		const value = { tool: "t", what: "arguments", schema: { pattern: "b", minProperties: 1 }, value: {} };
		const checks = [own.check(value), own.check(value), own.check(value)];
		own.close();
		assert.deepEqual([await Promise.all(checks), warnings], [[undefined, undefined, undefined], []]);
	});

	it("are not checked if the schema has no end, which is not called a lack of memory", async () => {
		assert.equal(await check({ anyOf: [{ $ref: "#" }] }, { a: 1 }), undefined);
		assert.match(warnings[0] ?? "", /cannot be used: Maximum call stack/);
	});

	it("are not checked if a hundred others wait for the other process", async () => {
		const found = await Promise.all(Array.from({ length: 150 }, () => check({ pattern: "b", minProperties: 1 }, {})));
		const checked = found.filter((problem) => problem !== undefined);
		assert.equal(checked.length, 101);
	});

	it("are matched against patterns, each its own, in a time that an evil one cannot stretch", async () => {
		const patterns = { properties: { a: { pattern: "^x+$" }, b: { pattern: "^(a+)+$" } } };
		assert.equal(await check(patterns, { a: "xxx", b: "aaa" }), undefined);
		assert.match((await check(patterns, { a: "y" })) ?? "", /^a: must match pattern/);
		assert.match((await check(patterns, { b: `${"a".repeat(5_000)}!` })) ?? "", /^b: must match pattern/);
	});
});
