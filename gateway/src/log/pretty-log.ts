import { prettyFactory } from "pino-pretty";
import { printableLine } from "./printable.js";

/** Members of a line that are not details: they are shown in another way, or not at all. */
const NOT_DETAILS = ["level", "time", "msg", "err"];

/**
 * Makes log lines for people from those for programs: time, level, message and details as `name=value`.
 *
 * @param colorize whether the terminal shows colours
 */
export function makePrettyFormat(colorize: boolean): (line: string) => string {
	return prettyFactory({
		colorize,
		translateTime: "SYS:HH:MM:ss",
		hideObject: true,
		messageFormat: (entry, messageKey) => [printableLine(String(entry[messageKey])), ...detailsOf(entry)].join(" "),
	}) as (line: string) => string;
}

function detailsOf(entry: Readonly<Record<string, unknown>>): string[] {
	return Object.entries(entry)
		.filter(([name]) => !NOT_DETAILS.includes(name))
		.map(([name, value]) => `${name}=${printableLine(typeof value === "string" ? value : JSON.stringify(value))}`);
}
