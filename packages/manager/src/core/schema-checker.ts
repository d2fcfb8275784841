import { fileURLToPath } from "node:url";
import pLimit from "p-limit";
import type { Piscina } from "piscina";
import { isObject } from "xs-mcp-firmware/core/text/json";
import type { Schema } from "./schema-validator.js";

/** A value, and the tool's schema for it, which is not trusted. */
interface Checked {
	readonly tool: string;
	/** The value's name in messages: "arguments". */
	readonly what: string;
	readonly schema: Schema;
	readonly value: unknown;
}

/** Thread that checks a schema: this one, the worker, or none, because the schema is not usable. */
type Place = "here" | "thread" | "nowhere";

/** Milliseconds for a check in the other thread: on a busy machine a simple one may take a second. */
const CHECK_TIMEOUT = 3_000;

/** Megabytes of heap for the other thread. */
const MAX_HEAP = 128;

/** Most checks waiting for the worker. Beyond that, values are not checked. */
const MAX_WAITING = 100;

/** Most remembered unusable schemas. */
const MAX_UNUSABLE = 1_000;

/**
 * Checks a call's arguments before they are sent, and its structured result. Schemas come from devices, and some take unbounded
 * time: all but the simple ones are checked in another thread, with a limit of time and memory.
 */
export type SchemaChecker = ReturnType<typeof makeSchemaChecker>;

/** @param warn called once for each unusable schema */
export function makeSchemaChecker(warn: (message: string) => void) {
	const places = new WeakMap<Schema, Place>();
	/** JSON of unusable schemas: devices of one kind share theirs. */
	const unusable = new Set<string>();
	/** One check at a time, so that each has its full time-out. */
	const turns = pLimit(1);
	let thread: Piscina | undefined;

	const checkInThread = async ({ what, schema, value }: Checked): Promise<string | undefined> => {
		if (places.get(schema) === "nowhere") {
			return undefined;
		}
		thread ??= await openThread();
		if (thread.threads.length === 0) {
			// The worker's start does not count towards the time-out.
			await thread.run({ what, schema: {}, value: undefined });
		}
		const timer = new AbortController();
		const timeout = setTimeout(() => timer.abort(), CHECK_TIMEOUT);
		try {
			return await thread.run({ what, schema, value }, { signal: timer.signal });
		} finally {
			clearTimeout(timeout);
		}
	};

	const giveUp = ({ tool, what, schema }: Checked, error: Error): void => {
		const text = JSON.stringify(schema);
		places.set(schema, "nowhere");
		if (!unusable.has(text)) {
			if (unusable.size >= MAX_UNUSABLE) {
				unusable.clear();
			}
			unusable.add(text);
			const isLarge = (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
			const limit = error.name === "AbortError" ? `${CHECK_TIMEOUT} ms` : isLarge ? `${MAX_HEAP} MB` : undefined;
			const reason = limit === undefined ? `cannot be used: ${error.message}` : `takes more than ${limit} to check`;
			warn(`${tool}: its ${what} cannot be validated: the schema ${reason}`);
		}
	};

	return {
		/** @returns the error, with the path of the member; undefined if the value is valid, or could not be checked */
		async check(checked: Checked): Promise<string | undefined> {
			const { schema } = checked;
			let place = places.get(schema);
			if (place === undefined) {
				place = unusable.has(JSON.stringify(schema)) ? "nowhere" : isCheap(schema) ? "here" : "thread";
				places.set(schema, place);
			}
			if (place === "nowhere" || (place === "thread" && turns.pendingCount >= MAX_WAITING)) {
				return undefined;
			}
			try {
				if (place === "thread") {
					return await turns(() => checkInThread(checked));
				}
				// Ajv and RE2 are loaded on demand.
				const { validate } = await import("./schema-validator.js");
				return validate(checked);
			} catch (error) {
				giveUp(checked, error as Error);
				return undefined;
			}
		},
		async close(): Promise<void> {
			await thread?.destroy();
		},
	};
}

/** Milliseconds after which the other thread ends if there is nothing to check. */
const THREAD_IDLE_TIME = 60_000;

/** Opens the pool of one worker that checks schemas. The worker starts with the first check. */
async function openThread(): Promise<Piscina> {
	const { Piscina } = await import("piscina");
	// The worker is in the folder of this file, or of the bundle that contains it.
	const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
	const pool = new Piscina({
		filename: fileURLToPath(new URL(`schema-validator.${extension}`, import.meta.url)),
		name: "validate",
		minThreads: 0,
		maxThreads: 1,
		idleTimeout: THREAD_IDLE_TIME,
		resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP },
	});
	// A worker may run out of memory while it is being terminated because of its time-out: the check has failed already,
	// so the pool emits the error. Without a listener that would end the process.
	return pool.on("error", () => {});
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
