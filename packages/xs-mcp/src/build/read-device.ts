import "./xs-globals.js";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Message, type Plugin, transform } from "esbuild";
import type { Hardware } from "xs-mcp-firmware/hardware/hardware";
import { PART_KINDS } from "xs-mcp-firmware/hardware/kinds/index";
import * as PARTS from "xs-mcp-firmware/hardware/parts/index";
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
import { staticIo } from "xs-mcp-virtual-device/sensors";
import { ROOT } from "../root.js";
import { checkTarget, DeviceError, namesOnBoard } from "./check-board.js";
import { importBundle } from "./import-bundle.js";
import { bundlerErrors, readManifest, readModules, shown } from "./manifests.js";
import { didYouMean, nearest, withSuggestion } from "./suggest.js";

/** Marks what `device` and `defineTool` return while a project is read. */
const DEFINED: unique symbol = Symbol.for("xs-mcp");

/** The module that defines a device of one's own. */
const DEVICE = "device";

/** The names that the package exports. */
const EXPORTS = Object.keys(PARTS);

/** Prefix of the modules that define its tools. */
const PROJECT_TOOLS = "tools/";

/** Drivers of SDK 8.2.3 that do not work, by the names of their modules, and what to use instead. */
const BROKEN: Readonly<Record<string, string>> = {
	"embedded:sensor/Humidity-Temperature/HTU21D":
		"the SDK's driver fails in each sample(): use embedded:sensor/Humidity-Temperature/SI7020, which reads the HTU21D, too",
};

/** The functions that make the package's parts. Their names and options are recorded for a virtual device's page. */
const MAKERS = EXPORTS.filter((name) => /^[a-z]/.test(name) && !["device", "defineTool"].includes(name));

/** The package for a project's files. `device` and `defineTool` return the definitions, which are checked first. */
const PACKAGE = `import * as all from "./index.ts";
export * from "./index.ts";
const noting = (maker) => (...args) => {
	const made = all[maker](...args);
	return made?.pins === undefined ? made : { ...made, maker, options: args.at(-1) };
};
${MAKERS.map((name) => `export const ${name} = noting("${name}");`).join("\n")}
export const device = (definition) => ({ ...definition, [Symbol.for("${DEFINED.description}")]: true });
export const defineTool = device;`;

/**
 * Makes the stand-in for one of the SDK's modules, such as a driver, which only a device opens. It has every member,
 * can be called, and does nothing. A driver of a sensor says which bus it uses.
 */
const standInFor = (
	path: string,
): string => `const standIn = new Proxy(class { static io = ${JSON.stringify(staticIo(path))}; sample() {} }, {
	get(target, name) {
		const isOfLanguage = name === "__esModule" || name === "then" || name === "io";
		return target[name] ?? (isOfLanguage ? undefined : name === Symbol.toPrimitive ? () => "" : standIn);
	},
	apply: () => standIn,
});
module.exports = standIn;`;

const standIns: Plugin = {
	name: "stand-ins",
	setup(build) {
		build.onResolve({ filter: /^xs-mcp$/ }, ({ path }) => ({ path, namespace: "package" }));
		build.onLoad({ filter: /.*/, namespace: "package" }, () => ({
			contents: PACKAGE,
			resolveDir: join(ROOT, "src/hardware/parts"),
		}));
		build.onResolve({ filter: /^[a-z][^:]*(:|$)/ }, ({ path }) =>
			path in BROKEN ? { errors: [{ text: `${path}: ${BROKEN[path]}` }] } : { path, namespace: "stand-in" },
		);
		build.onLoad({ filter: /.*/, namespace: "stand-in" }, ({ path }) => ({
			contents: standInFor(path),
		}));
	},
};

/** A device of a project. */
export interface ReadDevice extends PARTS.DeviceDefinition {
	/** The file that defines it, for errors. */
	readonly file: string;
	/** Warnings about parts that its files use. */
	readonly warnings: readonly string[];
}

/**
 * Reads the device that a build defines, on this computer, and checks it together with the project's tools.
 *
 * @param manifest path of the build's manifest, from the project's folder
 * @returns undefined if the build defines none. Rejects with DeviceError if it or a tool cannot be used
 */
export async function readDevice(manifest: string, target: string): Promise<ReadDevice | undefined> {
	const modules = [...readModules(manifest, target)];
	const [, file] = modules.find(([name]) => name === DEVICE) ?? [];
	const device = file === undefined ? undefined : readDefault(file, checkDefinition);
	const tools = modules.filter(([name]) => name.startsWith(PROJECT_TOOLS));
	const names = tools.map(([, tool]) => readDefault(tool, checkTool));
	const preload = [readManifest(manifest).preload ?? []].flat();
	const preloaded = modules.filter(([name]) => preload.some((each) => isNamed(name, each)));
	const checks = [device, ...names, ...preloaded.map(([name, file]) => checkPreloaded(name, file))];
	await Promise.allSettled(checks);
	// Of several errors, always the same one is reported.
	for (const check of checks) {
		await check;
	}
	refuseTwins(modules, await Promise.all(names));
	const made = await device;
	if (file === undefined || made === undefined) {
		return undefined;
	}
	const known = modules.map(([name]) => name);
	const warnings = preload
		.filter((each) => !known.some((name) => isNamed(name, each)) && nearest(each, known))
		.map((name) => `${shown(manifest)}: "preload" names ${name}, which is no module${didYouMean(name, known)}`);
	const uses = tools.flatMap(([, tool]) => findUnknownParts(tool, made));
	return { ...made, file: shown(file), warnings: [...warnings, ...uses] };
}

/** Whether a pattern of `preload` names a module. */
const isNamed = (module: string, pattern: string): boolean =>
	pattern.includes("*") ? module.startsWith(pattern.slice(0, pattern.lastIndexOf("*"))) : module === pattern;

/** The name in the definition of a tool of the firmware. */
const TOOL_NAME = /^\tname: "([^"]+)"/m;

/** Rejects two tools of one name, with which the firmware would not start. @throws DeviceError */
function refuseTwins(modules: readonly (readonly [name: string, file: string])[], names: readonly string[]): void {
	const users = new Map<string | undefined, string>();
	for (const [, file] of modules.filter(([module]) => module.startsWith("src/tools/"))) {
		users.set(TOOL_NAME.exec(readFileSync(join(ROOT, file), "utf8"))?.[1], `the firmware (${file})`);
	}
	for (const [at, [, file]] of modules.filter(([module]) => module.startsWith(PROJECT_TOOLS)).entries()) {
		const user = users.get(names[at]);
		if (user !== undefined) {
			throw new DeviceError(`${shown(file)}: tool ${names[at]}: ${user} has a tool of this name: choose another name`);
		}
		users.set(names[at], shown(file));
	}
}

/** Uses of a part by its name, as `switches.pump.turn(true)`. A use with `?.` is for boards without the part. */
const USED = new RegExp(
	String.raw`(?<![\w./])(${PART_KINDS.map(({ plural }) => plural).join("|")})\.(?!length\b)(\w+)\b(?!\(|\?\.)`,
	"g",
);

const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//g;

/** Warns of parts in a tool's `needs` whose names neither the device nor its board has: a call would fail without naming them. */
function findUnknownParts(file: string, { board, parts }: PARTS.DeviceDefinition): readonly string[] {
	const source = readFileSync(join(ROOT, file), "utf8").replace(COMMENT, (text) => text.replace(/[^\n]/g, " "));
	const uses = [...source.matchAll(USED)].filter(([, plural]) => source.includes(`"${plural}"`));
	return uses.flatMap(({ 1: plural = "", 2: name = "", index }) => {
		const kind = PART_KINDS.find((each) => each.plural === plural)?.name;
		const own = Object.keys(parts).filter((each) => parts[each]?.makes === kind);
		const known = [...own, ...(namesOnBoard(board)[plural] ?? [])];
		const place = `${shown(file)}:${source.slice(0, index).split("\n").length}: ${plural}.${name}`;
		return known.includes(name)
			? []
			: `${place}: the device has ${known.join(", ") || "none"}${didYouMean(name, known)}`;
	});
}

/** Names and values at the top level of a module as esbuild prints it, which change or which XS cannot keep in flash. */
const NOT_IN_FLASH: readonly (readonly [what: string, pattern: RegExp])[] = [
	["a variable", /^(?:export )?(?:let|var) (\w+)/m],
	["a regular expression", /^(?:export )?const (\w+) = (?:\/[^*]|(?:\/\*.*\*\/ )?new RegExp\()/m],
	["a Map or Set", /^(?:export )?const (\w+) = (?:\/\*.*\*\/ )?new (?:Weak)?(?:Map|Set)\(/m],
];

/** Checks a module that lies in flash. Rejects with DeviceError that names its fault, see docs/sdk.md. */
async function checkPreloaded(module: string, file: string): Promise<void> {
	const source = readFileSync(join(ROOT, file), "utf8");
	const { code } = await transform(source, { loader: "ts", target: "esnext" });
	for (const [what, pattern] of NOT_IN_FLASH) {
		const [, name] = pattern.exec(code) ?? [];
		if (name !== undefined) {
			const line = source.slice(0, source.search(`\\b(?:let|var|const)\\s+${name}\\b`)).split("\n").length;
			throw new DeviceError(
				`${shown(file)}:${line}: ${name}: a preloaded module lies in flash, and has no place for ${what}; ` +
					`move it into a function, or remove ${module} from "preload" in manifest.json`,
			);
		}
	}
}

function checkDefinition(definition: Exported<PARTS.DeviceDefinition>): PARTS.DeviceDefinition {
	const needsFunction = Object.keys(definition ?? {}).some((name) => name !== "board" && name !== "parts");
	if (typeof definition?.parts !== "object" || (needsFunction && !definition[DEFINED])) {
		throw new Error('expected "export default device({ parts: { … } })"');
	}
	checkDeviceOptions(definition);
	const made = PARTS.device(definition);
	checkTarget(made.board);
	return made;
}

/**
 * Imports a module of a project.
 *
 * @param check of its default export; undefined if it has none
 * @returns the result of the check. Rejects with DeviceError that names the file, and the line if it is known
 */
async function readDefault<Definition, Result>(
	file: string,
	check: (definition: Definition | undefined) => Result,
): Promise<Result> {
	try {
		const module = await importBundle<{ readonly default?: Definition }>(join(ROOT, file), standIns, refuseDoubles);
		return check(module.default);
	} catch (error) {
		if (error instanceof DeviceError) {
			throw error;
		}
		const suggest = (text: string): string => withSuggestion(text.replace("package:", ""), EXPORTS);
		const { message, stack = "" } = error instanceof Error ? error : { message: `throws ${JSON.stringify(error)}` };
		const [, line = ""] = stack.split(join(ROOT, file), 2)[1]?.match(/^(:\d+:\d+)/) ?? [];
		const text = bundlerErrors(error, suggest)?.message ?? `${shown(file)}${line}: ${suggest(message)}`;
		throw new DeviceError(text, { cause: error });
	}
}

/** Rejects two members of one name: JavaScript keeps the last one. @throws DeviceError that names it, and its line */
function refuseDoubles(warnings: readonly Message[]): void {
	const double = warnings.find(({ id }) => id === "duplicate-object-key");
	if (double?.location) {
		const { file, line, column } = double.location;
		const [name = double.text] = /".*"/.exec(double.text) ?? [];
		throw new DeviceError(`${file}:${line}:${column + 1}: two parts or options have the name ${name}`);
	}
}

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

const DEVICE_OPTIONS = namesOf<PARTS.DeviceOptions<Record<string, PARTS.Part>>>()("board parts on every at");
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
function checkDeviceOptions(definition: object): void {
	checkNames("", definition, DEVICE_OPTIONS);
}

/** A definition, or another value that a file exports. */
type Exported<Definition> = (Definition & { readonly [DEFINED]?: true }) | undefined;

/**
 * Checks the default export of a tool's file. A type check would find most of these errors, too.
 *
 * @returns the tool's name
 * @throws Error that names the tool, its fault, and the expected value
 */
function checkTool(tool: Exported<Partial<Definition & HardwareTool>>): string {
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
