import { createHash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import {
	ACTION_NAMES,
	type Action,
	FieldError,
	fields,
	oneOf,
	type Path,
	read,
	readAction,
	record,
	wholeNumber,
} from "./actions.js";
import { BOARD_PROFILES, profileNameOf } from "./boards.js";
import { isLit, isOn, isSwitched, readPinName } from "./services/pins.js";
import type { VirtualDevice } from "./virtual-device.js";

/** A scenario that cannot be used: it names the file, the line and the field. */
class ScenarioError extends Error {
	override readonly name = "ScenarioError";
}

/** Kind of an expectation: a sent message, a received one, the content of the screen, or the pins. */
export type Expected = "sent" | "received" | "screen" | "pins";

/** Waits until something happens that has these members. */
export interface Expectation {
	readonly kind: Expected;
	readonly members: Readonly<Record<string, unknown>>;
	/** Milliseconds that it may take. */
	readonly within: number;
}

/** One step: a pause, an action on the device, or an expectation. */
export interface Step {
	/** Line of the file. */
	readonly line: number;
	/** Shortest and longest pause before it, ms. */
	readonly wait: readonly [number, number];
	readonly action?: Action;
	readonly expectation?: Expectation;
	/** Text for the report. */
	readonly text: string;
}

/** Actions on a device, and expectations. */
export interface Scenario {
	/** Seed of all random numbers, in the scenario and in the device. */
	readonly seed: number;
	/** One of {@link BOARD_PROFILES}. */
	readonly board?: string | undefined;
	readonly steps: readonly Step[];
}

const EXPECTED: readonly Expected[] = ["sent", "received", "screen"];

const MAX_SEED = 999_999_999;

/** Longest pause, and longest time for what is expected: ms. */
const MAX_TIME = 3_600_000;
const DEFAULT_TIME = 30_000;

/**
 * Reads a scenario from a YAML file.
 *
 * Rejects with ScenarioError if it cannot be used. YAML's library is loaded here, so that other devices do without it.
 */
export async function readScenario(file: string): Promise<Scenario> {
	const { LineCounter, parseDocument } = await import("yaml");
	const lines = new LineCounter();
	const document = parseDocument(readFileSync(file, "utf8"), { lineCounter: lines, prettyErrors: false });
	const fail = (offset: number, message: string): never => {
		throw new ScenarioError(`${basename(file)}:${lines.linePos(offset).line}: ${message}`);
	};
	const [error] = document.errors;
	if (error !== undefined) {
		return fail(error.pos[0], error.message);
	}
	const offsetOf = (path: Path): number => {
		const node = path.length === 0 ? document.contents : document.getIn(path, true);
		const offset = (node as { readonly range?: readonly number[] | null } | null | undefined)?.range?.[0];
		// A missing field is reported at the place of its parent.
		return offset ?? (path.length === 0 ? 0 : offsetOf(path.slice(0, -1)));
	};
	try {
		return readFields(document.toJS(), dirname(file), (path) => lines.linePos(offsetOf(path)).line);
	} catch (error) {
		if (error instanceof FieldError) {
			return fail(offsetOf(error.path), error.message);
		}
		throw error;
	}
}

const NO_STEPS = "expected a list of steps";

const document = fields({
	seed: wholeNumber(1, MAX_SEED).default(1),
	board: z
		.preprocess((name) => (typeof name === "string" ? profileNameOf(name) : name), oneOf([...BOARD_PROFILES.keys()]))
		.optional(),
	steps: z.array(z.unknown(), NO_STEPS).min(1, NO_STEPS),
});

function readFields(value: unknown, folder: string, lineOf: (path: Path) => number): Scenario {
	const { steps, ...rest } = read(document, value, []);
	return { ...rest, steps: steps.map((step, index) => readStep(step, ["steps", index], folder, lineOf)) };
}

/** Members of a step. */
const VERBS = fields(
	Object.fromEntries(["wait", ...ACTION_NAMES, "photo", "expect"].map((name) => [name, z.unknown().optional()])),
);

function readStep(value: unknown, path: Path, folder: string, lineOf: (path: Path) => number): Step {
	const { wait = 0, ...rest } = read(VERBS, value, path);
	const [verb, ...more] = Object.keys(rest);
	if (more[0] !== undefined) {
		throw new FieldError([...path, more[0]], `a step has one action, and this one already has ${verb}`);
	}
	const step = { line: lineOf(path), wait: readWait(wait, [...path, "wait"]) };
	if (verb === undefined) {
		return { ...step, text: "wait" };
	}
	const at = [...path, verb];
	const text = `${verb} ${JSON.stringify(rest[verb]) ?? ""}`;
	if (verb === "expect") {
		return { ...step, text, expectation: readExpectation(rest.expect, at) };
	}
	const action = verb === "photo" ? readPhoto(rest.photo, at, folder) : readAction(verb, rest[verb], at);
	return { ...step, text, action };
}

const anyFields = record(z.unknown());

function readExpectation(value: unknown, path: Path): Expectation {
	const { within = DEFAULT_TIME, ...rest } = read(anyFields, value, path);
	const time = readTime(within, [...path, "within"]);
	const names = Object.keys(rest);
	const [first] = names;
	const kind = EXPECTED.find((each) => each === first);
	if (first === undefined || (kind !== undefined && names.length > 1)) {
		throw new FieldError(path, `expected one of ${EXPECTED.join(", ")}, or pins: { pump: on }`);
	}
	return kind === undefined
		? { kind: "pins", members: readPins(rest, path), within: time }
		: { kind, members: read(anyFields, rest[kind], [...path, kind]), within: time };
}

/** `{ pump: on, pin 2: 40 }`: what each pin has, by the name of its part or its number. */
function readPins(pins: Readonly<Record<string, unknown>>, path: Path): Readonly<Record<string, object>> {
	return Object.fromEntries(
		Object.entries(pins).map(([name, value]) => {
			if (!isSwitched(value) && typeof value !== "number") {
				const known = [...EXPECTED, "within"].join(", ");
				throw new FieldError([...path, name], `expected on, off or a number of a pin; other fields are ${known}`);
			}
			const which = readPinName(name);
			const key = typeof which === "number" ? `pin ${which}` : which;
			return [key, isSwitched(value) ? { on: isOn(value) } : { value }];
		}),
	);
}

/** Reads the camera's next picture: a JPEG file, named from the scenario's folder. */
function readPhoto(value: unknown, path: Path, folder: string): Action {
	let photo: Buffer;
	try {
		photo = readFileSync(resolve(folder, String(value)));
	} catch (error) {
		throw new FieldError(path, (error as Error).message);
	}
	return (device) => {
		device.environment.photo = photo;
	};
}

/** A time, or the shortest and the longest of a random one. */
function readWait(value: unknown, path: Path): readonly [number, number] {
	const [from, to = from] = Array.isArray(value) ? value : [value];
	const times = [readTime(from, path), readTime(to, path)] as const;
	if (times[1] < times[0]) {
		throw new FieldError(path, "the longest time is shorter than the shortest");
	}
	return times;
}

/** Milliseconds: `500`, `500ms`, `2.5s` or `1min`. */
function readTime(value: unknown, path: Path): number {
	const [, number, unit = "ms"] = /^([0-9]{1,7}(?:\.[0-9]{1,3})?)(ms|s|min)?$/.exec(String(value)) ?? [];
	const time = Number(number) * ({ ms: 1, s: 1_000, min: 60_000 }[unit] ?? 1);
	if (!(time <= MAX_TIME)) {
		throw new FieldError(path, "expected a time of at most an hour: 500ms, 2s, 1min");
	}
	return time;
}

/** Events of a kind. An expectation considers only events after the one that met the previous expectation. */
interface Happenings {
	readonly seen: unknown[];
	met: number;
}

/** Characters of a message in a report. */
const MAX_SHOWN = 300;

/**
 * Makes a function that runs the steps of a scenario, one after another, with a device that has started. It calls
 * `report` before each step, and rejects with an Error that names the unmet expectation and its line.
 *
 * @param device not started yet, so that nothing of it is missed
 */
export function prepareScenario(
	device: VirtualDevice,
	scenario: Scenario,
): (report: (step: Step) => void) => Promise<void> {
	const none = (): Happenings => ({ seen: [], met: 0 });
	const happenings = { sent: none(), received: none(), screen: none(), pins: none() };
	const changes = new EventEmitter<{ added: [] }>();
	const add = (kind: Expected, event: unknown): void => {
		happenings[kind].seen.push(event);
		changes.emit("added");
	};
	const random = randomNumbers(scenario.seed);

	const expect = async ({ kind, members, within }: Expectation): Promise<void> => {
		const happened = happenings[kind];
		const end = performance.now() + within;
		let next = happened.met;
		for (;;) {
			const at = happened.seen.findIndex((each, index) => index >= next && matches(each, members));
			if (at >= 0) {
				happened.met = at + 1;
				return;
			}
			next = happened.seen.length;
			const left = end - performance.now();
			if (left <= 0) {
				throw new Error(
					`not ${kind === "pins" ? "at the pins" : kind} within ${within} ms: ${shorten(members)}\n${describe(kind, happened)}`,
				);
			}
			const timer = setTimeout(() => changes.emit("added"), Math.ceil(left));
			await once(changes, "added");
			clearTimeout(timer);
		}
	};

	device.on("screen", (picture) => add("screen", picture));
	device.on("pin", () => add("pins", pinsOf(device)));
	device.on("message", ({ from, bytes, arrived }) => {
		const message = parseMessage(bytes);
		if (message !== undefined && arrived) {
			add(from === "device" ? "sent" : "received", message);
		}
	});
	return async (report) => {
		for (const step of scenario.steps) {
			const [shortest, longest] = step.wait;
			await delay(shortest + random() * (longest - shortest));
			report(step);
			try {
				await step.action?.(device);
				await (step.expectation && expect(step.expectation));
			} catch (error) {
				throw new Error(`line ${step.line}: ${(error as Error).message}`, { cause: error });
			}
		}
	};
}

/** Values of all pins, by number and by the name of their part. */
function pinsOf({ pins }: VirtualDevice): object {
	return Object.fromEntries(
		pins.flatMap((each) => {
			const { pin, part, value } = each;
			const state = { on: typeof value === "object" ? isLit(value) : Boolean(value), value };
			return [[`pin ${pin}`, state] as const, ...(part === undefined ? [] : [[part, state] as const])];
		}),
	);
}

/** Describes the last event of this kind that met no expectation. */
function describe(kind: Expected, { seen, met }: Happenings): string {
	const others = seen.slice(met).slice(-5);
	return others.length === 0
		? `nothing more was ${{ screen: "shown", pins: "changed", sent: "sent", received: "received" }[kind]}`
		: `last ${kind}:\n${others.map((each) => `  ${shorten(each)}`).join("\n")}`;
}

/** Whether a value matches: objects have at least the expected members, lists exactly the expected items. */
function matches(value: unknown, expected: unknown): boolean {
	if (typeof expected !== "object" || expected === null) {
		return value === expected;
	}
	if (typeof value !== "object" || value === null || Array.isArray(value) !== Array.isArray(expected)) {
		return false;
	}
	const isWhole = !Array.isArray(expected) || (value as unknown[]).length === expected.length;
	return (
		isWhole && Object.entries(expected).every(([name, each]) => matches((value as Record<string, unknown>)[name], each))
	);
}

function parseMessage(bytes: Uint8Array): unknown {
	try {
		return JSON.parse(Buffer.from(bytes).toString());
	} catch {
		// Sound, or a message that is not JSON.
		return undefined;
	}
}

function shorten(value: unknown): string {
	const text = JSON.stringify(value);
	return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** Makes random numbers from 0 to 1, which are the same for the same seed. */
function randomNumbers(seed: number): () => number {
	let count = 0;
	return () => {
		count += 1;
		return createHash("sha256").update(`${seed} ${count}`).digest().readUInt32LE() / 2 ** 32;
	};
}
