import { type DestinationStream, destination, type Logger, pino } from "pino";

/** Members of what is logged that are never shown. Secrets are not logged to begin with: this is for the day they are. */
const SECRETS = ["token", "password", "secret", "authorization", "brokerPassword"].flatMap((name) => [
	name,
	`*.${name}`,
	`*.*.${name}`,
]);

/**
 * The program's log: a JSON object a line.
 *
 * @param stream where it goes. Default: standard error, since standard output may belong to an MCP host
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
