import type { Tool } from "@modelcontextprotocol/client";
import { ALL_KINDS } from "xs-mcp-firmware/hardware/vocabulary";
import { controlOf, isPercent, parametersOf, type Schema } from "../views/schema.js";
import { isLeaf, isObject, type Leaf, leavesIn, PICTURE_TOOL, plain } from "./device.js";

/** Most controls of one device: others are used by their forms. */
const MAX_CONTROLS = 24;

/** One value that a person sets. */
export interface ControlInput {
	/** The name of the parameter: "on", "brightness". */
	readonly name: string;
	readonly schema: Schema;
	/** Value in the device's status; undefined if the status has none. */
	readonly value: Leaf | undefined;
	readonly unit?: string | undefined;
	readonly path?: string | undefined;
	/** The call that sets a value; undefined if no tool does. */
	readonly callFor: ((value: unknown) => ToolCall) | undefined;
}

export interface ToolCall {
	readonly tool: string;
	readonly args: Record<string, unknown>;
}

/** A part of a device as a person uses it: a light, a switch, its volume, a button that does something. */
export interface Control {
	readonly key: string;
	readonly kind: PartKind["name"] | "setting" | "action";
	/** Its own name for people; undefined: its name in the code, in `name`. */
	readonly title: string | undefined;
	readonly name: string;
	/** None: pressing it makes {@link press}. */
	readonly inputs: readonly ControlInput[];
	readonly press?: ToolCall;
	/** Seconds until it switches itself off. */
	readonly secondsLeft?: number;
	readonly error?: string | undefined;
}

/** The controls of a device, from its tools and its status: parts first. */
export function controlsOf(tools: readonly Tool[], status: object): readonly Control[] {
	// Clients assume the worst of a tool without hints; the gateway adds the hints that it knows.
	const harmless = tools.filter(
		({ annotations }) => annotations?.destructiveHint === false && annotations.readOnlyHint !== true,
	);
	const found = [
		...SET_KINDS.flatMap((kind) => partControls(harmless, status, kind)),
		...pairControls(harmless),
		...settingControls(harmless, status),
		...actionControls(harmless),
	];
	return found.slice(0, MAX_CONTROLS);
}

type PartKind = (typeof ALL_KINDS)[number];

/** The kinds of parts that a tool sets. */
const SET_KINDS = ALL_KINDS.filter(({ tool }) => tool?.sets !== undefined);

/** Members of the status that {@link controlsOf} shows, with any tools. */
const CONTROLLED: ReadonlySet<string> = new Set(SET_KINDS.map(({ plural }) => plural));

/** Schemas of values by their types, if no tool has them. */
const SCHEMAS: Readonly<Record<string, Schema>> = { color: { type: "string", description: "#rrggbb" } };

/** Whether a tool, which may have a prefix, is the one that sets the parts of a kind. */
function isToolOf({ tool: own }: PartKind, { name }: Tool): boolean {
	const known = plain(own?.name ?? "");
	return plain(name) === known || plain(name).endsWith(`_${known}`);
}

function partControls(tools: readonly Tool[], status: object, kind: PartKind): readonly Control[] {
	const tool = tools.find((each) => isToolOf(kind, each));
	const schemas = new Map((tool ? parametersOf(tool) : []).map((each) => [each.name, each.schema]));
	const { name: kindName, plural, tool: { part: argument = "name", sets = [] } = {} } = kind;
	return partsIn(status, plural).map(([part, state]) => {
		// The first value may be unknown, as an angle before the first move. Others are absent if the part cannot do it.
		const known = kind.status.filter(({ name }) => sets.includes(name) && (name === sets[0] || name in state));
		return {
			key: `${kindName} ${part}`,
			kind: kindName,
			title: textIn(state.title),
			name: part,
			inputs: known.map(({ name, type, unit, range = [] }) => {
				const [minimum, maximum] = range.map((limit) => (typeof limit === "number" ? limit : state[limit]));
				const schema = schemas.get(name) ?? SCHEMAS[type] ?? { type };
				return {
					name,
					// A part's own range may be smaller than that of its tool.
					schema: range.length === 0 ? schema : { ...schema, minimum, maximum },
					value: isLeaf(state[name]) ? state[name] : undefined,
					unit,
					path: `${plural}.${part}.${name}`,
					callFor: tool && ((value: unknown) => ({ tool: tool.name, args: { [argument]: part, [name]: value } })),
				};
			}),
			...(typeof state.seconds_left === "number" && { secondsLeft: state.seconds_left }),
			error: textIn(state.error),
		};
	});
}

/** Two tools of the family that switch one thing on and off. */
function pairControls(tools: readonly Tool[]): readonly Control[] {
	return tools.flatMap((on): Control[] => {
		const [, path] = /^(.*)_turn_on$/.exec(plain(on.name)) ?? [];
		const off = tools.find(({ name }) => path !== undefined && plain(name) === `${path}_turn_off`);
		if (path === undefined || off === undefined || [on, off].some((each) => parametersOf(each).length > 0)) {
			return [];
		}
		const callFor = (value: unknown): ToolCall => ({ tool: (value ? on : off).name, args: {} });
		const input: ControlInput = { name: "on", schema: { type: "boolean" }, value: undefined, callFor };
		return [{ key: on.name, kind: "switch", title: undefined, name: partName(path), inputs: [input] }];
	});
}

/** The controls whose changes are sent at once. */
const TAPPED: ReadonlySet<string> = new Set(["slider", "switch", "radio", "color"]);

/** Tools that set one value: setting it again does no harm. */
function settingControls(tools: readonly Tool[], status: object): readonly Control[] {
	return tools.flatMap((tool): Control[] => {
		const [only, ...others] = parametersOf(tool);
		const isSetting = only !== undefined && others.length === 0 && tool.annotations?.idempotentHint === true;
		const isPart = SET_KINDS.some((kind) => isToolOf(kind, tool));
		if (!isSetting || isPart || !TAPPED.has(controlOf(only.name, only.schema))) {
			return [];
		}
		const [path, value] = leafFor(leavesIn(status), tool.name, only.name) ?? [];
		const callFor = (next: unknown): ToolCall => ({ tool: tool.name, args: { [only.name]: next } });
		const title = titleOf(tool)?.replace(/^set (the )?(?=.)/i, "");
		const input = { name: only.name, schema: only.schema, value, path, callFor };
		return [{ key: tool.name, kind: "setting", title, name: partName(plain(tool.name)), inputs: [input] }];
	});
}

/** Tools that do something without being told anything: "Play chime". */
function actionControls(tools: readonly Tool[]): readonly Control[] {
	const isAction = (tool: Tool): boolean => {
		const name = plain(tool.name);
		return parametersOf(tool).length === 0 && !PICTURE_TOOL.test(name) && !/_turn_(on|off)$/.test(name);
	};
	return tools.filter(isAction).map((tool) => ({
		key: tool.name,
		kind: "action",
		title: titleOf(tool),
		name: partName(plain(tool.name)),
		inputs: [],
		press: { tool: tool.name, args: {} },
	}));
}

/** The value of a tool's parameter in the status, by the same name, with its path. */
export function leafFor(
	leaves: ReadonlyMap<string, Leaf>,
	tool: string,
	parameter: string,
): readonly [path: string, leaf: Leaf] | undefined {
	const alike = [...leaves].filter(([path]) => path === parameter || path.endsWith(`.${parameter}`));
	// A screen and a light have a brightness each: the tool's name says which.
	const meant = alike.filter(([path]) => tool.includes(path.split(".")[0] ?? ""));
	const [only, ...others] = alike.length > 1 ? meant : alike;
	return others.length === 0 ? only : undefined;
}

/** A tool's name for people. */
export function titleOf({ title, annotations }: Partial<Tool>): string | undefined {
	return title ?? annotations?.title;
}

/** "kitchen__self_lamp" is "lamp". */
function partName(tool: string): string {
	return tool.replace(/^.*self_/, "");
}

/** The parts of one kind in a status. */
function partsIn(status: object, member: string): readonly [string, Readonly<Record<string, unknown>>][] {
	const parts = (status as Record<string, unknown>)[member];
	const all = isObject(parts) ? Object.entries(parts).slice(0, MAX_CONTROLS) : [];
	return all.filter((entry): entry is [string, Record<string, unknown>] => isObject(entry[1]));
}

function textIn(value: unknown): string | undefined {
	return typeof value === "string" && value !== "" ? value : undefined;
}

/** The unit of a value that is set. */
export function unitOfInput({ name, schema, unit }: ControlInput): string {
	return unit ?? (isPercent(name, schema) ? "%" : "");
}

/** Something that a device measures. */
export interface Reading {
	/** Its path in the status: the name of its series. */
	readonly path: string;
	/** The measured quantity, such as "temperature"; empty if unknown. */
	readonly kind: string;
	/** The sensor's name for people; undefined: its name in the code, in `name`. */
	readonly title?: string | undefined;
	readonly name: string;
	/** Which of several values: "x". */
	readonly member?: string;
	readonly value: number | boolean | undefined;
	readonly unit: string;
	readonly error?: string;
}

/** The members of a status whose kinds and units are known. */
const KNOWN: Readonly<Record<string, { readonly kind: string; readonly unit: string }>> = {
	"battery.level": { kind: "battery", unit: "%" },
	"chip.temperature": { kind: "chip", unit: "°C" },
};

/** The kind of a sensor that measures several things: the members of its values are their kinds. */
const COMBINED = "combined";

/**
 * The values of a status that no control shows: sensors, then other numbers; and words.
 *
 * @param shown the paths that controls show
 */
export function readingsIn(status: object, shown: ReadonlySet<string>) {
	const leaves = leavesIn(status);
	const isSaid = (path: string): boolean => shown.has(path) || (path === "network.type" && leaves.has("network.ssid"));
	const isPart = (path: string): boolean => ["sensors", ...CONTROLLED].includes(path.split(".")[0] as string);
	const others = [...leaves].filter(([path]) => !isPart(path) && !isSaid(path));
	const isNumber = (entry: readonly [string, Leaf]): entry is [string, number] => typeof entry[1] === "number";
	const numbers = others.filter(isNumber).map(([path, value]): Reading => {
		const { kind = "", unit = "" } = KNOWN[path] ?? {};
		return { path, kind, name: kind || path, value, unit };
	});
	return {
		readings: [...partsIn(status, "sensors").flatMap(([name, sensor]) => ofSensor(name, sensor)), ...numbers],
		facts: others.filter((entry) => !isNumber(entry)),
	};
}

function ofSensor(name: string, { kind, title, value, unit, error }: Readonly<Record<string, unknown>>): Reading[] {
	const known = { kind: String(kind ?? ""), name, title: typeof title === "string" ? title : undefined };
	const path = `sensors.${name}.value`;
	if (!isObject(value)) {
		const failed = typeof error === "string" && { error };
		return [{ ...known, path, value: measured(value), unit: typeof unit === "string" ? unit : "", ...failed }];
	}
	return Object.entries(value).map(([member, each]) => {
		const own = isObject(unit) ? unit[member] : unit;
		return {
			...known,
			...(kind === COMBINED && { kind: member }),
			member,
			path: `${path}.${member}`,
			value: measured(each),
			unit: typeof own === "string" ? own : "",
		};
	});
}

function measured(value: unknown): number | boolean | undefined {
	return typeof value === "number" || typeof value === "boolean" ? value : undefined;
}
