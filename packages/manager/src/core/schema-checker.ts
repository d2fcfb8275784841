import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import pLimit from "p-limit";
import { isObject } from "xs-mcp-firmware/core/text/json";
import type { CheckResult, Schema, Validators, ValueCheck } from "./schema-validator.js";

/** A check for a tool of a device. */
interface ToolCheck extends ValueCheck {
	readonly tool: string;
}

/** The process that checks a schema: this one, the child process, or none for an unusable schema. */
type Place = "here" | "process" | "nowhere";

/** Milliseconds for a check in the other process: on a busy machine a simple one may take a second. */
const CHECK_TIMEOUT = 3_000;

/** Milliseconds for the start of the other process, and until the next attempt after one that failed. */
const START_TIMEOUT = 30_000;

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
	const validators: Validators = new WeakMap();
	/** JSON of unusable schemas: devices of one kind share theirs. */
	const unusable = new Set<string>();
	/** One check at a time, so that each has its full time-out. */
	const turns = pLimit(1);
	let child: ChildProcess | undefined;
	let idle: NodeJS.Timeout | undefined;
	/** Time before which the other process is not started again. */
	let nextStart = 0;
	let isClosed = false;
	/** Undefined until Ajv and RE2 are loaded: on demand. Later checks are made at once, so that calls keep their order. */
	let validation: typeof import("./schema-validator.js") | undefined;

	/** The other process. Undefined if it does not start. */
	const runningProcess = async (): Promise<ChildProcess | undefined> => {
		if (child !== undefined && isRunning(child)) {
			return child;
		}
		if (performance.now() < nextStart) {
			return undefined;
		}
		child = openProcess();
		const { schemaError } = await nextResult(child, START_TIMEOUT);
		if (schemaError === undefined && isRunning(child)) {
			return child;
		}
		child.kill("SIGKILL");
		nextStart = performance.now() + START_TIMEOUT;
		warn("arguments and results with complicated schemas are not validated: the process for that could not be started");
		return undefined;
	};

	const checkInProcess = async (check: ValueCheck): Promise<CheckResult> => {
		if (isClosed || places.get(check.schema) === "nowhere") {
			return {};
		}
		clearTimeout(idle);
		const running = await runningProcess();
		if (running === undefined || isClosed) {
			return {};
		}
		running.channel?.ref();
		running.send(check);
		const result = await nextResult(running, CHECK_TIMEOUT);
		running.channel?.unref();
		idle = setTimeout(() => running.kill(), IDLE_TIME).unref();
		return isClosed ? {} : result;
	};

	const giveUp = ({ tool, what, schema }: ToolCheck, schemaError: string): void => {
		const text = JSON.stringify(schema);
		places.set(schema, "nowhere");
		if (!unusable.has(text)) {
			if (unusable.size >= MAX_UNUSABLE) {
				unusable.clear();
			}
			unusable.add(text);
			warn(`${tool}: its ${what} cannot be validated: the schema ${schemaError}`);
		}
	};

	return {
		/** Validators of the schemas compiled in this process. Most values are valid, and need no further check. */
		validators,
		/** Resolves to the error, with the path of the member; undefined if the value is valid, or could not be checked. */
		async check(check: ToolCheck): Promise<string | undefined> {
			const { schema, value } = check;
			if (validators.get(schema)?.(value)) {
				return undefined;
			}
			let place = places.get(schema);
			if (place === undefined) {
				place = unusable.has(JSON.stringify(schema)) ? "nowhere" : isCheap(schema) ? "here" : "process";
				places.set(schema, place);
			}
			if (place === "nowhere" || (place === "process" && turns.pendingCount >= MAX_WAITING)) {
				return undefined;
			}
			let result: CheckResult;
			if (place === "process") {
				result = await turns(() => checkInProcess(check));
			} else {
				validation ??= await import("./schema-validator.js");
				result = validation.checkValue(check, validators);
			}
			if (result.schemaError !== undefined) {
				giveUp(check, result.schemaError);
			}
			return result.problem;
		},
		/** Ends the other process. Values that wait for it are not checked. */
		close(): void {
			isClosed = true;
			clearTimeout(idle);
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
	// An unhandled error event of an idle child process would end this process.
	return child.on("error", () => {});
}

function isRunning({ connected, killed, exitCode, signalCode }: ChildProcess): boolean {
	return connected && !killed && exitCode === null && signalCode === null;
}

/** Waits for the next message of the process. If it exits first or times out, the schema cannot be used. */
function nextResult(child: ChildProcess, limit: number): Promise<CheckResult> {
	return new Promise((resolve) => {
		const finish = (result: CheckResult): void => {
			clearTimeout(timeout);
			child.off("message", finish).off("exit", onExit).off("error", onError);
			resolve(result);
		};
		const timeout = setTimeout(() => {
			child.kill("SIGKILL");
			finish({ schemaError: `takes more than ${limit} ms to check` });
		}, limit);
		const onExit = () => finish({ schemaError: `takes more than ${MAX_HEAP} MB to check` });
		const onError = ({ message }: Error) => finish({ schemaError: `cannot be checked: ${message}` });
		child.once("message", finish).once("exit", onExit).once("error", onError);
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

/** Maximum number of subschemas, `enum` values and `required` names in a cheap schema. */
const MAX_PARTS = 500;

/** Maximum depth of a cheap schema. */
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

/** Adds the defaults of missing required members to arguments, at any depth of objects. */
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
