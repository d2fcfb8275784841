import { type DestinationStream, type Logger, pino } from "pino";
import { LogDestination } from "./log-destination.js";

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
export function makeLog(level: string, stream: DestinationStream = new LogDestination(process.stderr)): Logger {
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
	if (stream instanceof LogDestination) {
		stream.onDropped = (dropped) => log.warn({ dropped }, "log lines dropped: the output was not read");
	}
	return log;
}

export type { Logger } from "pino";
