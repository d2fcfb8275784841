import {
	array,
	boolean,
	enumeration,
	integer,
	number,
	object,
	optional,
	type Properties,
	type Schema,
	string,
} from "../../src/mcp_server/schema.js";
import { validate } from "../../src/mcp_server/validate.js";
import { equal, ok, suite, throws } from "../harness.js";

const check = (properties: Properties, value: object): unknown => validate(object(properties), value);

export default suite("schema", {
	"is plain JSON Schema"() {
		equal(object({ a: integer({ minimum: 0 }), b: optional(string()), c: boolean({ default: true }) }), {
			type: "object",
			properties: { a: { type: "integer", minimum: 0 }, b: { type: "string" }, c: { type: "boolean", default: true } },
			required: ["a"],
		});
		equal(array(enumeration(["x", "y"]), { maxItems: 2 }), {
			type: "array",
			items: { type: "string", enum: ["x", "y"] },
			maxItems: 2,
		});
		equal(object({}), { type: "object", properties: {} });
	},
	"takes what fits, limits included"() {
		const cases: [Schema, unknown[]][] = [
			[boolean(), [true, false]],
			[integer({ minimum: 0, maximum: 100 }), [0, 100, -0]],
			[number({ minimum: -1.5 }), [-1.5, 0, 1e300]],
			[string({ minLength: 1, maxLength: 3 }), ["a", "日本語"]],
			[enumeration(["light", "dark"]), ["light"]],
			[array(integer(), { minItems: 1 }), [[1], [1, 2]]],
		];
		for (const [schema, values] of cases) {
			for (const value of values) {
				equal(validate(schema, value), value);
			}
		}
	},
	"names what was expected, and what came"() {
		const cases: [Schema, unknown, RegExp][] = [
			[boolean(), 1, /^v: expected true or false, got 1$/],
			[integer(), 1.5, /^v: expected an integer, got 1\.5$/],
			[integer({ minimum: 0, maximum: 100 }), 101, /^v: expected an integer from 0 to 100, got 101$/],
			[integer({ minimum: 1 }), "5", /^v: expected an integer of at least 1, got "5"$/],
			[number({ maximum: 2 }), 3, /^v: expected a number of at most 2, got 3$/],
			[number(), Number.POSITIVE_INFINITY, /^v: expected a number, got Infinity$/],
			[string(), null, /^v: expected a string, got null$/],
			[string({ maxLength: 2 }), "abc", /^v: expected a string of at most 2 characters, got "abc"$/],
			[enumeration(["light", "dark"]), "blue", /^v: expected one of "light", "dark", got "blue"$/],
			[array(integer(), { minItems: 1 }), [], /^v: expected an array of at least 1 items, got \[\]$/],
			[object({}), [], /^v: expected an object, got \[\]$/],
		];
		for (const [schema, value, message] of cases) {
			throws(() => validate(schema, value, "v"), message);
		}
	},
	"quotes what is long only so far"() {
		ok(throws(() => validate(integer(), "x".repeat(10_000), "v"), /got "x/).message.length < 100);
	},
	"fills in defaults, nested ones too, and leaves out what was not asked for"() {
		const properties = {
			a: integer({ default: 3 }),
			b: optional(string()),
			o: object({ c: boolean({ default: true }) }),
		};
		equal(check(properties, { o: {}, extra: 1 }), { a: 3, o: { c: true } });
		equal(Object.keys(check(properties, { o: {} }) as object), ["a", "o"]);
	},
	"names the place of a fault in an array of objects"() {
		const points = array(object({ x: integer(), y: integer() }));
		throws(
			() =>
				check(
					{ points },
					{
						points: [
							{ x: 1, y: 2 },
							{ x: "1", y: 2 },
						],
					},
				),
			/^points\[1\]\.x: expected an integer/,
		);
		throws(() => check({ points }, { points: [{ x: 1 }] }), /^points\[0\]\.y: missing, expected an integer/);
	},
	"does not take for an argument what every object has"() {
		for (const name of ["constructor", "toString", "hasOwnProperty"]) {
			throws(() => check({ [name]: optional(string()), need: string() }, {}), /^need: missing/);
			equal(check({ [name]: optional(string()) }, {}), {});
		}
	},
});
