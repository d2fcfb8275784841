import { date, dateTime, email, matching, titledEnumeration, uri } from "../../src/mcp_server/features/schemas.js";
import { type Schema, string } from "../../src/mcp_server/schema.js";
import { createTool } from "../../src/mcp_server/tool.js";
import { prepare, validate } from "../../src/mcp_server/validate.js";
import { clientWith } from "../doubles/client.js";
import { equal, suite, throws } from "../harness.js";

const check = (schema: Schema, value: unknown): unknown => validate(prepare(schema), value, "v");

export default suite("schemas of strings", {
	"are listed as JSON Schema, without their checks"() {
		const tool = createTool<undefined, { readonly [name: string]: Schema<string> }, Record<never, never>>({
			name: "t",
			description: "",
			input: {
				size: titledEnumeration({ s: "Small", l: "Large" }, { title: "Size", default: "s" }),
				plate: matching("^[A-Z]+$", { maxLength: 8 }),
				mail: email(),
				region: string({ "x-mcp-header": "Region" }),
			},
			run: () => true,
		});
		equal(clientWith(tool).ask("tools/list").result.tools[0].inputSchema.properties, {
			size: {
				type: "string",
				title: "Size",
				oneOf: [
					{ const: "s", title: "Small" },
					{ const: "l", title: "Large" },
				],
				default: "s",
			},
			plate: { type: "string", pattern: "^[A-Z]+$", maxLength: 8 },
			mail: { type: "string", format: "email" },
			region: { type: "string", "x-mcp-header": "Region" },
		});
	},
	"take what fits"() {
		const cases: [Schema, string[]][] = [
			[titledEnumeration({ s: "Small" }), ["s"]],
			[matching("^[A-Z]{1,3}-\\d{1,4}$"), ["AB-12"]],
			[matching("^v\\d+\\.x$"), ["v12.x"]],
			[email(), ["a@b", "ann.b@example.org"]],
			[uri(), ["https://example.org/a?b", "device://self/state"]],
			[date(), ["2026-01-31"]],
			[dateTime(), ["2026-01-31T12:00:00Z", "2026-12-01T12:00:00.5+02:00"]],
		];
		for (const [schema, values] of cases) {
			for (const value of values) {
				equal(check(schema, value), value);
			}
		}
	},
	"say what they expected"() {
		const cases: [Schema, unknown, RegExp][] = [
			[titledEnumeration({ s: "Small", l: "Large" }), "toString", /^v: expected one of "s", "l", got "toString"$/],
			[matching("^a+$"), "b", /^v: expected text that matches \^a\+\$, got "b"$/],
			[email(), "nobody", /^v: expected an e-mail address, got/],
			[uri(), "example.org", /^v: expected a URI, got/],
			[date(), "2026-13-01", /^v: expected a date such as 2026-01-31, got/],
			[dateTime(), "2026-01-31", /^v: expected a date and time such as 2026-01-31T12:00:00Z, got/],
			[date(), 7, /^v: expected a date such as 2026-01-31, got 7$/],
		];
		for (const [schema, value, message] of cases) {
			throws(() => check(schema, value), message);
		}
	},
	"take only patterns that are checked in time in proportion to the text"() {
		const slow = [
			"a+",
			"^a+b*$",
			"^(a+)+$",
			"^a|b$",
			"^a{2,}b+$",
			"^(?=a)$",
			"^\\1$",
			"^a{0,9}b{0,9}c{0,9}$",
			"^[a-$",
			"^a++$",
		];
		for (const pattern of slow) {
			throws(() => matching(pattern), /^pattern .* expected \^…\$ without groups/);
		}
		const long = "a".repeat(20_000);
		throws(() => check(matching("^a*b$"), long), /expected text that matches/);
	},
	"reject a pattern that can match in more than a hundred ways"() {
		equal(check(matching("^a{1,10}b{0,9}$"), "ab"), "ab");
		equal(check(matching("^a{5}b{0,99}$"), "aaaaab"), "aaaaab");
		equal(check(matching("^a?b?c?d?e?f?$"), "af"), "af");
		for (const pattern of ["^a{1,11}b{0,9}$", "^a{0,100}$", "^a{0,49}b?c?$", "^a?b?c?d?e?f?g?$"]) {
			throws(() => matching(pattern), /^pattern .* expected/);
		}
	},
	"give way to any JSON Schema that a tool lists in their place"() {
		const inputSchema = { type: "object", $defs: { a: { $anchor: "a" } }, allOf: [{ required: ["x"] }] } as const;
		const tool = createTool<undefined, { readonly x: Schema<string> }, Record<never, never>>({
			name: "t",
			description: "",
			input: { x: string() },
			inputSchema,
			run: ({ x }) => x,
		});
		const client = clientWith(tool);
		client.initialize("2025-11-25");
		equal(client.ask("tools/list").result.tools[0].inputSchema, inputSchema);
		equal(client.call("t", { x: 1 }).result.isError, true);
		equal(client.call("t", { x: "y" }).result.content[0].text, "y");
	},
});
