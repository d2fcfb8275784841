import { setTimeout as delay } from "node:timers/promises";
import type { Expectation, Expected, Scenario, Step } from "./read-scenario.js";
import { isLit } from "./services/pins.js";
import type { VirtualDevice } from "./virtual-device.js";

/** Something that happened to a device, and who waits for it. */
interface Happenings {
	readonly seen: unknown[];
	/** Up to where expectations were met: each looks at what came after the one before. */
	met: number;
	wake: (() => void) | undefined;
}

/** Characters of a message in a report. */
const MAX_SHOWN = 300;

/**
 * Makes a function that runs the steps of a scenario, one after another, with a device that has started. It calls `report` before each
 * step, and rejects with an Error that says what did not happen, and its line.
 *
 * @param device not started yet, so that nothing of it is missed
 */
export function prepareScenario(
	device: VirtualDevice,
	scenario: Scenario,
): (report: (step: Step) => void) => Promise<void> {
	const happenings: Readonly<Record<Expected, Happenings>> = {
		sent: { seen: [], met: 0, wake: undefined },
		received: { seen: [], met: 0, wake: undefined },
		screen: { seen: [], met: 0, wake: undefined },
		pins: { seen: [], met: 0, wake: undefined },
	};
	const random = randomNumbers(scenario.seed);

	const add = (kind: Expected, what: unknown): void => {
		const happened = happenings[kind];
		happened.seen.push(what);
		happened.wake?.();
	};

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
			await sleep(happened, left);
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

/** Waits until something more happens, or the time has passed. */
async function sleep(happened: Happenings, time: number): Promise<void> {
	const timer = new AbortController();
	const woken = new Promise<void>((resolve) => {
		happened.wake = resolve;
	});
	await Promise.race([woken, delay(time, undefined, { signal: timer.signal }).catch(() => {})]);
	happened.wake = undefined;
	timer.abort();
}

/** Describes the last event of this kind that met no expectation. */
function describe(kind: Expected, { seen, met }: Happenings): string {
	const others = seen.slice(met).slice(-5);
	return others.length === 0
		? `nothing more was ${{ screen: "shown", pins: "changed", sent: "sent", received: "received" }[kind]}`
		: `last ${kind}:\n${others.map((each) => `  ${shorten(each)}`).join("\n")}`;
}

/** Whether a value has what is expected: objects at least these members, lists these items. */
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
		// Sound, or a message that is not for this.
		return undefined;
	}
}

function shorten(value: unknown): string {
	const text = JSON.stringify(value);
	return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** The same numbers from 0 to 1 for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}
