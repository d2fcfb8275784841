import { SettingError } from "../../core/read-setting.js";
import { DAYS } from "../../hardware/rules.js";

/** Milliseconds that local time is ahead of UTC, at a time in milliseconds since 1970. */
export type TimeZone = (now: number) => number;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Hour of a change without a time. */
const CHANGE_TIME = "2";

/** Functions, because a chip cannot keep regular expressions in flash. */
const zonePattern = (): RegExp =>
	/^(?:[A-Za-z]{3,}|<[\w+-]+>)([+-]?\d+(?::\d+)?)(?:([A-Za-z]{3,}|<[\w+-]+>)([+-]?\d+(?::\d+)?)?(?:,([^,]+),([^,]+))?)?$/;
const changePattern = (): RegExp => /^M(0?[1-9]|1[0-2])\.([1-5])\.([0-6])(?:\/([+-]?\d+(?::\d+)?))?$/;

/**
 * Reads the setting: a time zone in the form of POSIX (TZ, IEEE Std 1003.1 §8.3), whose changes are weekdays of a month:
 * "CET-1CEST,M3.5.0,M10.5.0/3". Summer time without dates uses those of the USA, as in the C library.
 *
 * @returns undefined without a setting
 * @throws SettingError
 */
export const readTimeZone = (text: string): TimeZone | undefined => {
	const [, standard, summerName, summer, first = "M3.2.0", second = "M11.1.0"] =
		zonePattern().exec(text === "UTC" ? "UTC0" : text) ?? [];
	const start = parseChange(first);
	const end = parseChange(second);
	if (text === "") {
		return undefined;
	}
	if (standard === undefined || start === undefined || end === undefined) {
		const expected = "expected a time zone such as CET-1CEST,M3.5.0,M10.5.0/3";
		throw new SettingError("timezone", `${expected}, got ${JSON.stringify(text)}`);
	}
	const winterOffset = -hours(standard);
	if (summerName === undefined) {
		return () => winterOffset;
	}
	const summerOffset = summer === undefined ? winterOffset + HOUR : -hours(summer);
	return (now) => {
		const year = new Date(now + winterOffset).getUTCFullYear();
		const from = start(year) - winterOffset;
		const to = end(year) - summerOffset;
		// In the south, summer starts in one year and ends in the next.
		const isSummer = from < to ? now >= from && now < to : now >= from || now < to;
		return isSummer ? summerOffset : winterOffset;
	};
};

/** Converts "-1" or "5:30" to milliseconds. */
const hours = (text: string): number => {
	const [hour = "", minute = "0"] = text.split(":");
	const time = Math.abs(Number(hour)) * HOUR + (Number(minute) / 60) * HOUR;
	return hour.startsWith("-") ? -time : time;
};

/**
 * Parses the n-th weekday of a month at which the clocks change. Week 5 is the last one.
 *
 * @returns the local time of the change in a year, as if it were UTC; undefined if the text is not valid
 */
const parseChange = (text: string): ((year: number) => number) | undefined => {
	const [matched, month, week, weekday, time = CHANGE_TIME] = changePattern().exec(text) ?? [];
	if (matched === undefined) {
		return undefined;
	}
	return (year) => {
		const first = Date.UTC(year, Number(month) - 1, 1);
		const toWeekday = (Number(weekday) - new Date(first).getUTCDay() + 7) % 7;
		const day = first + (toWeekday + (Number(week) - 1) * 7) * DAY;
		const isInMonth = new Date(day).getUTCMonth() === Number(month) - 1;
		return (isInMonth ? day : day - 7 * DAY) + hours(time);
	};
};

/** A moment in local time. */
export interface LocalTime {
	/** "07:00" */
	readonly time: string;
	/** "mon" */
	readonly day: string;
	/** "2026-11-29" */
	readonly date: string;
}

/** @param zone undefined: the machine's own */
export const localTime = (now: number, zone: TimeZone | undefined): LocalTime => {
	const offset = zone === undefined ? -new Date(now).getTimezoneOffset() * 60_000 : zone(now);
	const local = new Date(now + offset);
	const [date = "", time = ""] = local.toISOString().split("T");
	return { date, time: time.slice(0, 5), day: DAYS[local.getUTCDay()] as string };
};
