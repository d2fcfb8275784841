import assert from "node:assert/strict";
import { it } from "node:test";
import { readTimeZone } from "../../src/features/rules/time-zone.js";
import { SETUP_PAGE } from "../../src/features/setup/setup-page.js";

// The page's function runs in a phone's browser. Node has its time zones.

const [, source] =
	/(const zone=[\s\S]*?)const ask=/.exec(SETUP_PAGE.map((part) => Buffer.from(part).toString()).join("")) ?? [];
const findZone = new Function("Date", `${source}return zone();`) as (clock: typeof Date) => string;

/** Zones whose changes are no weekdays of a month: those of Ramadan, and of a calendar that the phone knows for some years. */
const IRREGULAR = ["Africa/Casablanca", "Africa/El_Aaiun", "Asia/Gaza", "Asia/Hebron"];

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function withZone<Result>(name: string, use: () => Result): Result {
	const { TZ } = process.env;
	try {
		process.env.TZ = name;
		return use();
	} finally {
		process.env.TZ = TZ;
	}
}

/** Returns a class of dates whose clock has a time. */
const clockAt = (now: number): typeof Date => {
	class Clock extends Date {
		static override now(): number {
			return now;
		}
	}
	return Clock as unknown as typeof Date;
};

const offsetOf = (time: number): number => -new Date(time).getTimezoneOffset() * 60_000;

/** Returns a time of each day of six years, and each hour of the days on which clocks change. */
const timesFrom = (start: number): number[] =>
	Array.from({ length: 6 * 366 }, (_, day) => start + day * DAY).flatMap((day) =>
		offsetOf(day) === offsetOf(day + DAY) ? [day] : Array.from({ length: 24 }, (_, hour) => day + hour * HOUR),
	);

it("the set-up page finds the time zone of a phone, wherever it is and whenever it is asked", () => {
	const starts = [1, 4, 7, 10].map((month) => Date.UTC(2026, month, 27));
	for (const name of Intl.supportedValuesOf("timeZone").filter((each) => !IRREGULAR.includes(each))) {
		withZone(name, () => {
			const [zone = "", ...others] = starts.map((start) => findZone(clockAt(start)));
			assert.ok(zone.length <= 64 && others.every((other) => other === zone), `${name}: ${[zone, ...others]}`);
			const offset = readTimeZone(zone);
			const wrong = timesFrom(starts[0] as number).filter((time) => offset?.(time) !== offsetOf(time));
			assert.deepEqual(
				wrong.map((time) => new Date(time).toISOString()),
				[],
				`${name}: ${zone}`,
			);
		});
	}
});

it("the set-up page sends today's offset from a zone whose changes follow no rule", () => {
	assert.equal(
		withZone("Africa/Casablanca", () => findZone(clockAt(Date.UTC(2026, 10, 29)))),
		"<+01>-1",
	);
});
