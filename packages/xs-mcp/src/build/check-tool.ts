import "./xs-globals.js";
import type { Hardware } from "xs-mcp-firmware/hardware/hardware";
import type { DeviceOptions, Part } from "xs-mcp-firmware/hardware/parts/index";
import type {
	ArrayOptions,
	Described,
	NumberOptions,
	OptionalProperty,
	Properties,
	Schema,
	StringOptions,
} from "xs-mcp-firmware/mcp_server/schema";
import type { ToolAnnotations, ToolDefinition } from "xs-mcp-firmware/mcp_server/tool";
import { defineTool, type HardwareTool } from "xs-mcp-firmware/tools/define-tool";

type Words<Text> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** The names in a text that are not members of a type, and its members that the text lacks. */
type Difference<Type, Text> = Exclude<keyof Type & string, Words<Text>> | Exclude<Words<Text>, keyof Type>;

/** Lists the names of a type's members, which exist only at compile time. The compiler compares both. */
const namesOf =
	<Type>() =>
	<const Text extends string>(
		text: [Difference<Type, Text>] extends [never] ? Text : Difference<Type, Text>,
	): readonly string[] =>
		text.split(" ");

/** A tool as its file defines it. */
type Definition = ToolDefinition<Hardware, Properties, Properties> & Pick<HardwareTool, "needs">;

const DEVICE_OPTIONS = namesOf<DeviceOptions<Record<string, Part>>>()("board parts on every at");
const TOOL_OPTIONS = namesOf<Definition>()(
	"name title description audience annotations execution needs input inputSchema output check takesCalls run",
);
const ANNOTATIONS = namesOf<ToolAnnotations>()("title readOnlyHint destructiveHint idempotentHint openWorldHint");
const HARDWARE = namesOf<Hardware>()(
	"buttons lights sensors switches servos lines sirens device log speaker player codec playOpusFile screen snapshot preview camera battery network accessPoint wifiSetup thermometer system updater installer settings http clock chat assistant questions reminders head rules ruleBook",
);

const NUMBER_OPTIONS = namesOf<NumberOptions>()("title description default minimum maximum");
const DESCRIBED = namesOf<Described<unknown>>()("title description default");
const SCHEMA_OPTIONS: Readonly<Record<Schema["type"], readonly string[]>> = {
	boolean: DESCRIBED,
	integer: NUMBER_OPTIONS,
	number: NUMBER_OPTIONS,
	string: namesOf<StringOptions>()("title description default minLength maxLength x-mcp-header"),
	array: namesOf<ArrayOptions<unknown>>()("title description default minItems maxItems"),
	object: DESCRIBED,
};

/** Options that are the lowest and the highest value of something. */
const LIMITS = [
	["minimum", "maximum"],
	["minLength", "maxLength"],
	["minItems", "maxItems"],
] as const;

/** Members that the functions for schemas make. */
const MADE = ["type", "enum", "oneOf", "pattern", "format", "check", "items", "properties", "required"];

/** @throws TypeError that names a member which is not known, and those that are */
function checkNames(place: string, value: object, known: readonly string[]): void {
	const unknown = Object.keys(value).find((name) => !known.includes(name));
	if (unknown !== undefined) {
		throw new TypeError(`${place}unknown option ${unknown}, expected ${known.join(", ")}`);
	}
}

/** @throws TypeError that names an unknown option of `device()` */
export function checkDeviceOptions(definition: object): void {
	checkNames("", definition, DEVICE_OPTIONS);
}

/** Marks what `device` and `defineTool` return while a project is read. */
export const DEFINED: unique symbol = Symbol.for("xs-mcp");

/** A definition, or another value that a file exports. */
export type Exported<Definition> = (Definition & { readonly [DEFINED]?: true }) | undefined;

/**
 * Checks the default export of a tool's file. A type check would find most of these errors, too.
 *
 * @returns the tool's name
 * @throws Error that names the tool, its fault, and the expected value
 */
export function checkTool(tool: Exported<Partial<Definition & HardwareTool>>): string {
	// The firmware's own function may have been called.
	const isTool = tool?.plain !== undefined;
	if (typeof tool?.name !== "string" || !(isTool || tool[DEFINED])) {
		throw new TypeError('expected "export default defineTool({ … })", with a name');
	}
	if (isTool) {
		return tool.name;
	}
	const place = `tool ${tool.name}: `;
	checkNames(place, tool, TOOL_OPTIONS);
	for (const [option, type] of [
		["description", "string"],
		["run", "function"],
	] as const) {
		if (typeof tool[option] !== type) {
			throw new TypeError(`${place}${option}: expected a ${type}`);
		}
	}
	for (const part of Array.isArray(tool.needs) ? tool.needs : []) {
		checkNames(`${place}needs: `, { [part]: true }, HARDWARE);
	}
	checkNames(`${place}annotations: `, tool.annotations ?? {}, ANNOTATIONS);
	checkProperties(`${place}input`, tool.input);
	checkProperties(`${place}output`, tool.output);
	return defineTool(tool as Definition).name;
}

function checkProperties(place: string, properties: Properties = {}): void {
	for (const [name, property] of Object.entries(properties)) {
		checkSchema(`${place}.${name}`, (property as OptionalProperty).optional ?? property);
	}
}

function checkSchema(place: string, schema: Schema): void {
	if (typeof schema?.type !== "string") {
		throw new TypeError(`${place}: expected what string(), integer() or another function for values returns`);
	}
	const options = Object.fromEntries(Object.entries(schema).filter(([name]) => !MADE.includes(name)));
	checkNames(`${place}: `, options, SCHEMA_OPTIONS[schema.type]);
	for (const [low, high] of LIMITS) {
		const { [low]: least = Number.NEGATIVE_INFINITY, [high]: most = Number.POSITIVE_INFINITY } = schema;
		if (least > most) {
			throw new TypeError(`${place}: ${low}: expected at most ${high}, ${most}, got ${least}`);
		}
	}
	checkProperties(place, schema.properties);
	if (schema.items !== undefined) {
		checkSchema(`${place}[]`, schema.items);
	}
}
