import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import pLimit from "p-limit";
import { isObject } from "xs-mcp-firmware/core/text/json";
import type { Checked, checkValue, Finding, Schema } from "./schema-validator.js";

/** A check for a tool of a device. */
interface ToolCheck extends Checked {
	readonly tool: string;
}

/** Where a schema is checked: in this process, in the other one, or nowhere, because it is not usable. */
type Place = "here" | "process" | "nowhere";

/** Milliseconds for a check in the other process: on a busy machine a simple one may take a second. */
const CHECK_TIMEOUT = 3_000;

/** Megabytes of heap for the other process. */
const MAX_HEAP = 128;

/** Milliseconds after which the other process ends if there is nothing to check. */
const IDLE_TIME = 60_000;

/** Most checks waiting for the other process. Beyond that, values are not checked. */
const MAX_WAITING = 100;

/** Most remembered unusable schemas. */
const MAX_UNUSABLE = 1_000;

/**
 * Checks a call's arguments before they are sent, and its structured result. Schemas come from devices, and some take unbounded
 * time: all but the simple ones are checked in another process, with a limit of time and memory.
 */
export type SchemaChecker = ReturnType<typeof makeSchemaChecker>;

/** @param warn called once for each unusable schema */
export function makeSchemaChecker(warn: (message: string) => void) {
	const places = new WeakMap<Schema, Place>();
	/** JSON of unusable schemas: devices of one kind share theirs. */
	const unusable = new Set<string>();
	/** One check at a time, so that each has its full time-out. */
	const turns = pLimit(1);
	let child: ChildProcess | undefined;
	let idle: NodeJS.Timeout | undefined;
	/** Undefined until Ajv and RE2 are loaded: on demand. */
	let checkHere: typeof checkValue | undefined;

	const checkInProcess = async (checked: Checked): Promise<Finding> => {
		if (places.get(checked.schema) === "nowhere") {
			return {};
		}
		clearTimeout(idle);
		if (child === undefined || child.killed || !child.connected) {
			child = openProcess();
			// Its start does not count towards the time-out.
			await findingOf(child);
		}
		const process = child;
		process.channel?.ref();
		process.send(checked);
		const timeout = setTimeout(() => process.kill("SIGKILL"), CHECK_TIMEOUT);
		const finding = await findingOf(process);
		clearTimeout(timeout);
		process.channel?.unref();
		idle = setTimeout(() => process.kill(), IDLE_TIME).unref();
		return finding;
	};

	const giveUp = ({ tool, what, schema }: ToolCheck, fault: string): void => {
		const text = JSON.stringify(schema);
		places.set(schema, "nowhere");
		if (!unusable.has(text)) {
			if (unusable.size >= MAX_UNUSABLE) {
				unusable.clear();
			}
			unusable.add(text);
			warn(`${tool}: its ${what} cannot be validated: the schema ${fault}`);
		}
	};

	return {
		/** @returns the error, with the path of the member; undefined if the value is valid, or could not be checked */
		async check(checked: ToolCheck): Promise<string | undefined> {
			const { schema } = checked;
			let place = places.get(schema);
			if (place === undefined) {
				place = unusable.has(JSON.stringify(schema)) ? "nowhere" : isCheap(schema) ? "here" : "process";
				places.set(schema, place);
			}
			if (place === "nowhere" || (place === "process" && turns.pendingCount >= MAX_WAITING)) {
				return undefined;
			}
			let finding: Finding;
			if (place === "process") {
				finding = await turns(() => checkInProcess(checked));
			} else {
				checkHere ??= (await import("./schema-validator.js")).checkValue;
				finding = checkHere(checked);
			}
			if (finding.fault !== undefined) {
				giveUp(checked, finding.fault);
			}
			return finding.problem;
		},
		close(): void {
			child?.kill();
		},
	};
}

/** Starts the process that checks schemas. Its first message says that it is ready. */
function openProcess(): ChildProcess {
	// Its program is in the folder of this file, or of the bundle that contains it.
	const isSource = import.meta.url.endsWith(".ts");
	const child = fork(fileURLToPath(new URL(`schema-process.${isSource ? "ts" : "js"}`, import.meta.url)), {
		execArgv: [...(isSource ? process.execArgv : []), `--max-old-space-size=${MAX_HEAP}`],
		stdio: ["ignore", "ignore", "ignore", "ipc"],
	});
	child.unref();
	// Without a listener, an error between two checks would end this process.
	return child.on("error", () => {});
}

/** The next message of the process: what a check found. If the process ends first, the schema cannot be used. */
function findingOf(child: ChildProcess): Promise<Finding> {
	return new Promise((resolve) => {
		const finish = (finding: Finding): void => {
			child.off("message", finish).off("disconnect", onEnd).off("error", onError);
			resolve(finding);
		};
		const onEnd = () =>
			finish({ fault: `takes more than ${child.killed ? `${CHECK_TIMEOUT} ms` : `${MAX_HEAP} MB`} to check` });
		const onError = ({ message }: Error) => finish({ fault: `cannot be checked: ${message}` });
		child.once("message", finish).once("disconnect", onEnd).once("error", onError);
	});
}

/**
 * Keywords that visit each part of a value once, so that checking takes linear time. Any other keyword makes a schema
 * expensive.
 */
const CHEAP_KEYWORDS: ReadonlySet<string> = new Set(
	(
		"$schema $comment title description default examples deprecated readOnly writeOnly " +
		"type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf " +
		"minLength maxLength minItems maxItems minProperties maxProperties format required " +
		"properties additionalProperties items"
	).split(" "),
);

/** Schemas and the values that they name, in a schema that is cheap. */
const MAX_PARTS = 500;

/** Levels of schemas in a schema that is cheap. */
const MAX_DEPTH = 16;

/** Whether a value can be checked against a schema in time that is bounded by their sizes. */
function isCheap(schema: unknown, budget = { parts: MAX_PARTS }, depth = MAX_DEPTH): boolean {
	budget.parts -= 1;
	if (typeof schema === "boolean") {
		return true;
	}
	if (!isObject(schema) || budget.parts < 0 || depth === 0) {
		return false;
	}
	for (const list of [schema.enum, schema.required]) {
		budget.parts -= Array.isArray(list) ? list.length : 0;
	}
	const { properties = {}, items, additionalProperties } = schema;
	return (
		Object.keys(schema).every((keyword) => CHEAP_KEYWORDS.has(keyword)) &&
		isObject(properties) &&
		[...Object.values(properties), items, additionalProperties]
			.filter((part) => part !== undefined)
			.every((part) => isCheap(part, budget, depth - 1))
	);
}

/** The arguments, at any depth of objects, with the defaults of required members that are missing. */
export function withDefaults<Value>(schema: unknown, value: Value): Value {
	if (!isObject(schema) || !isObject(schema.properties) || !isObject(value)) {
		return value;
	}
	const required: unknown = schema.required;
	const members = Object.entries(schema.properties).flatMap(([name, property]) => {
		const isMissing = isObject(property) && value[name] === undefined && "default" in property;
		if (isMissing) {
			return Array.isArray(required) && required.includes(name) ? [[name, property.default] as const] : [];
		}
		const member = withDefaults(property, value[name]);
		return member === value[name] ? [] : [[name, member] as const];
	});
	return members.length === 0 ? value : { ...value, ...Object.fromEntries(members) };
}
