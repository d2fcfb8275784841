import { signal } from "@preact/signals";
import type { ShownDevice } from "../src/page-messages.js";

/** Milliseconds that a curve shows. */
export const SPAN = 60_000;

/** Milliseconds between two drawings of the curves while nothing changes. */
const STEP = 1_000;

/** Values of a curve: more come only from a slider that is dragged. */
const MAX_VALUES = 600;

/** A value, and since when it is: milliseconds since 1970. */
export type Point = readonly [time: number, value: number];

/** Current time, for the curves. */
export const now = signal(Date.now());
setInterval(() => {
	now.value = Date.now();
}, STEP);

const histories = new Map<string, Point[]>();

/** The values of the last minute, the oldest first. The first one may be older: it is that of the minute's begin. */
export function historyOf(key: string): readonly Point[] {
	return histories.get(key) ?? [];
}

/** Remembers what a device measures. */
export function remember({ pins, chips }: ShownDevice): void {
	for (const { pin, value } of pins) {
		if (typeof value === "number") {
			add(pinKey(pin), value);
		}
	}
	for (const { address, values } of chips) {
		for (const [name, value] of Object.entries(values)) {
			add(chipKey(address, name), value);
		}
	}
	now.value = Date.now();
}

export const pinKey = (pin: number): string => `pin ${pin}`;
export const chipKey = (address: number | string, name: string): string => `${address} ${name}`;

function add(key: string, value: number): void {
	const points = histories.get(key) ?? [];
	histories.set(key, points);
	if (points.at(-1)?.[1] !== value) {
		points.push([Date.now(), value]);
	}
	const begin = Date.now() - SPAN;
	const isOld = ([, next]: readonly [Point, Point | undefined]): boolean => next !== undefined && next[0] <= begin;
	while (points.length > MAX_VALUES || (points[0] !== undefined && isOld([points[0], points[1]]))) {
		points.shift();
	}
}
