import type { Command } from "commander";
import { serveOverStdio } from "../clients/stdio.js";
import { localAccess } from "../http/auth.js";
import { makeLog } from "../log.js";
import { GatewayProgram } from "../program.js";
import { configurationFrom } from "./configuration-options.js";
import { EXIT, UsageError } from "./exit.js";

/** Milliseconds in which a signal is the same one: at Ctrl+C the terminal sends it, and npm and npx send it on. */
const SAME_SIGNAL = 500;

/**
 * Runs the gateway until it is told to stop.
 *
 * Rejects with UsageError, ConfigurationError or TokenError when it cannot start.
 */
export async function runGateway(settings: object, { args: [unknown], parent }: Command): Promise<void> {
	if (unknown !== undefined) {
		const names = parent?.commands.map((each) => each.name()).join(", ");
		throw new UsageError(`there is no command ${unknown}: expected one of ${names}`);
	}
	const configuration = configurationFrom(settings);
	const log = makeLog(configuration.logLevel);
	const stop = signalled();
	const program = await GatewayProgram.start(configuration, log);
	log.info({ ...program.urls, stateFolder: configuration.stateFolder }, "listening");
	const why = await Promise.race([
		stop,
		...(configuration.stdio ? [servedOverStdio(program, configuration.userTools)] : []),
	]);
	log.info(`stopping: ${why}`);
	await program.close();
	process.exit(EXIT.ok);
}

/** Settles at the first signal to stop. Another one ends the process at once: who asks twice does not want to wait. */
function signalled(): Promise<string> {
	return new Promise((resolve) => {
		let first: number | undefined;
		for (const signal of ["SIGINT", "SIGTERM"] as const) {
			process.on(signal, () => {
				first ??= performance.now();
				resolve(signal);
				if (performance.now() - first > SAME_SIGNAL) {
					process.exit(EXIT.failed);
				}
			});
		}
	});
}

/** Settles when the host that started this process is gone. */
async function servedOverStdio(program: GatewayProgram, userTools: readonly string[]): Promise<string> {
	const host = serveOverStdio(program.gateway, localAccess(userTools));
	process.stdout.on("error", () => void host.close());
	await host.closed;
	return "the host is gone";
}
