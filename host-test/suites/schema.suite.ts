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
import { prepare, ValidationError, validate as validateWith } from "../../src/mcp_server/validate.js";
import { equal, ok, suite, throws } from "../harness.js";

const validate = (schema: Schema, value: unknown, path?: string): unknown => validateWith(prepare(schema), value, path);
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
			[string({ minLength: 2 }), "a", /^v: expected a string of at least 2 characters, got "a"$/],
			[string({ minLength: 2, maxLength: 3 }), "abcd", /^v: expected a string from 2 to 3 characters, got "abcd"$/],
			[array(integer(), { maxItems: 1 }), [1, 2], /^v: expected an array of at most 1 items, got \[1,2\]$/],
			[array(integer(), { minItems: 1, maxItems: 2 }), [], /^v: expected an array from 1 to 2 items, got \[\]$/],
			[object({}), [], /^v: expected an object, got \[\]$/],
		];
		for (const [schema, value, message] of cases) {
			throws(() => validate(schema, value, "v"), message);
		}
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
	"does not take for an argument what every object has"() {
		for (const name of ["constructor", "toString", "hasOwnProperty"]) {
			throws(() => check({ [name]: optional(string()), need: string() }, {}), /^need: missing/);
			equal(check({ [name]: optional(string()) }, {}), {});
		}
	},
	"keeps no argument for one that is there under an odd name"() {
		equal(check({ constructor: string(), toString: integer() }, JSON.parse('{"constructor":"c","toString":1}')), {
			constructor: "c",
			toString: 1,
		});
		const given = JSON.parse('{"__proto__":{"admin":true},"a":1}');
		const taken = check({ a: integer(), admin: optional(boolean()) }, given) as Record<string, unknown>;
		equal([Object.keys(taken), taken.admin], [["a"], undefined]);
	},
	"asks for an argument named __proto__ as for any other"() {
		const properties = { ["__proto__"]: string() };
		equal(JSON.stringify(object(properties).properties), '{"__proto__":{"type":"string"}}');
		throws(() => check(properties, {}), /^__proto__: missing, expected a string$/);
		equal(JSON.stringify(check(properties, JSON.parse('{"__proto__":"p"}'))), '{"__proto__":"p"}');
	},
	"rejects numbers that are not valid"() {
		for (const value of [JSON.parse("1e999"), JSON.parse("-1e999"), Number.NaN]) {
			throws(() => validate(integer(), value, "v"), /^v: expected an integer, got (-?Infinity|NaN)$/);
			throws(() => validate(number({ minimum: 0 }), value, "v"), /^v: expected a number of at least 0, got/);
		}
		equal(validate(number(), Number.MAX_VALUE), Number.MAX_VALUE);
		equal(validate(integer(), 2 ** 53), 2 ** 53);
	},
	"takes minus zero for zero"() {
		for (const schema of [integer({ minimum: 0, maximum: 0 }), number({ minimum: 0 })]) {
			ok(validate(schema, JSON.parse("-0")) === 0);
		}
		throws(() => validate(integer({ minimum: 1 }), -0, "v"), /got 0$/);
	},
	"names the place however deep, in the message and apart from it"() {
		const cases: [Properties, object, string][] = [
			[{ o: object({ p: object({ q: boolean() }) }) }, { o: { p: { q: 0 } } }, "o.p.q"],
			[{ o: object({ p: integer() }) }, { o: {} }, "o.p"],
			[{ o: optional(object({ p: integer() })) }, { o: {} }, "o.p"],
			[{ rows: array(array(integer())) }, { rows: [[1], [1, 2, "3"]] }, "rows[1][2]"],
			[{ o: object({ a: array(object({ x: enumeration(["y"]) })) }) }, { o: { a: [{ x: "z" }] } }, "o.a[0].x"],
			[{ a: integer(), b: integer() }, { a: 1 }, "b"],
			[
				{ points: array(object({ x: integer(), y: integer() })) },
				{
					points: [
						{ x: 1, y: 2 },
						{ x: "1", y: 2 },
					],
				},
				"points[1].x",
			],
			[{ points: array(object({ x: integer(), y: integer() })) }, { points: [{ x: 1 }] }, "points[0].y"],
		];
		for (const [properties, value, path] of cases) {
			const error = throws(() => check(properties, value), /: (expected|missing, expected) /) as ValidationError;
			ok(error instanceof ValidationError);
			equal([error.path, error.message.startsWith(`${path}: `)], [path, true], path);
		}
	},
	"takes null for left out, unless the member is required"() {
		equal(check({ a: optional(string()), b: integer({ default: 1 }) }, { a: null, b: null }), { b: 1 });
		equal(check({ a: optional(object({ x: integer() })) }, { a: null }), {});
		equal(check({ a: object({ x: optional(integer()) }) }, { a: { x: null } }), { a: {} });
		throws(() => check({ a: string() }, { a: null }), /^a: expected a string, got null$/);
		throws(() => check({ a: array(string()) }, { a: [null] }), /^a\[0\]: expected a string, got null$/);
	},
	"fills in defaults in every item, but not if the whole list is optional and left out"() {
		const item = object({ x: integer({ default: 0 }), on: boolean({ default: false }) });
		equal(check({ items: array(item) }, { items: [{}, { x: 2, on: true }] }), {
			items: [
				{ x: 0, on: false },
				{ x: 2, on: true },
			],
		});
		equal(check({ item: optional(item) }, {}), {});
		equal(check({ mode: enumeration(["a", "b"], { default: "b" }), s: string({ default: "" }) }, {}), {
			mode: "b",
			s: "",
		});
	},
	"leaves what it was given as it was"() {
		const given = Object.freeze({ o: Object.freeze({}), list: Object.freeze([Object.freeze({})]) });
		const inner = object({ a: integer({ default: 1 }) });
		equal(check({ o: inner, list: array(inner) }, given), { o: { a: 1 }, list: [{ a: 1 }] });
		equal(given, { o: {}, list: [{}] });
	},
	"quotes what is long only so far"() {
		equal(throws(() => validate(integer(), 2.5), /./).message, "expected an integer, got 2.5");
		for (const value of [
			"x".repeat(10_000),
			{ a: "x".repeat(60_000) },
			Array.from({ length: 5000 }, () => 1),
			"語".repeat(20_000),
		]) {
			ok(throws(() => validate(integer(), value, "v"), /^v: expected an integer, got .*…$/).message.length < 100);
		}
	},
});
