import { type DestinationStream, destination, type Logger, pino } from "pino";

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
export function makeLog(level: string, stream: DestinationStream = destination({ fd: 2, sync: true })): Logger {
	return pino(
		{
			level,
			base: null,
			timestamp: () => `,"time":"${new Date().toISOString()}"`,
			formatters: { level: (label) => ({ level: label }) },
			redact: { paths: SECRETS, censor: "***" },
		},
		stream,
	);
}

export type { Logger } from "pino";
