import { once } from "node:events";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { type DestinationStream, pino } from "pino";
import { printable, printableLine } from "./printable.js";

/** Members that are never logged. Nothing logs a secret on purpose: this is for mistakes. */
const SECRETS = ["token", "password", "secret", "authorization", "brokerPassword"].flatMap((name) => [
	name,
	`*.${name}`,
	`*.*.${name}`,
]);

/**
 * The program's log: a JSON object a line.
 *
 * @param stream where it goes. Default: standard error, because standard output may belong to an MCP client
 */
export function makeLog(
	level: string,
	stream: DestinationStream & { onDropped?: (lines: number) => void } = makeDestination(process.stderr),
): Logger {
	const log = pino(
		{
			level,
			base: null,
			timestamp: () => `,"time":"${new Date().toISOString()}"`,
			formatters: { level: (label) => ({ level: label }) },
			redact: { paths: SECRETS, censor: "***" },
		},
		stream,
	);
	if ("onDropped" in stream) {
		stream.onDropped = (dropped) => log.warn({ dropped }, "log lines dropped: the output was not read");
	}
	return log;
}

export type Logger = pino.Logger;

/** Bytes that are buffered while the log is not read. */
const MAX_WAITING = 1024 * 1024;

/**
 * Writes log lines and never waits: if the reader stalls, it keeps 1 MiB and drops the rest. Needs an output that does
 * not block, as Node's streams for pipes do not; a file or a terminal takes everything at once.
 *
 * @param format changes a line before it is written: for people. Default: JSON, with escapes that a terminal may print
 */
export function makeDestination(output: Writable, format: (line: string) => string = printable) {
	let dropped = 0;
	const destination = {
		/** Called with the number of dropped lines, as soon as the log is read again. */
		onDropped: (_lines: number): void => {},
		write(line: string): void {
			if (output.writableLength > MAX_WAITING) {
				dropped += 1;
			} else {
				output.write(format(line));
			}
		},
		/** Waits until everything is read, but no longer than `timeout` ms. */
		async flush(timeout: number): Promise<void> {
			if (output.writableLength > 0) {
				await Promise.race([once(output, "drain"), delay(timeout)]);
			}
		},
	};
	// The gateway outlives the log's reader.
	output.on("error", () => {});
	output.on("drain", () => {
		const lines = dropped;
		dropped = 0;
		if (lines > 0) {
			destination.onDropped(lines);
		}
	});
	return destination;
}

/** Members of a line that are not details: they are shown in another way, or not at all. */
const NOT_DETAILS = ["level", "time", "msg", "err"];

/**
 * Makes log lines for people from those for programs: time, level, message and details as `name=value`.
 *
 * @param colorize whether the terminal shows colours
 */
export async function makePrettyFormat(colorize: boolean): Promise<(line: string) => string> {
	// Loaded on use: most logs go to programs.
	const { default: pretty } = await import("pino-pretty");
	return pretty.prettyFactory({
		colorize,
		translateTime: "SYS:HH:MM:ss",
		hideObject: true,
		messageFormat: (entry, messageKey) => {
			const details = Object.entries(entry)
				.filter(([name]) => !NOT_DETAILS.includes(name))
				.map(([name, value]) => `${name}=${printableLine(typeof value === "string" ? value : JSON.stringify(value))}`);
			return [printableLine(String(entry[messageKey])), ...details].join(" ");
		},
	}) as (line: string) => string;
}
