import type { Command } from "commander";
import { describeConfiguration } from "../configuration.js";
import { GatewayProgram } from "../gateway-program.js";
import { makeLog } from "../log.js";
import { localAccess } from "../request-guard.js";
import { serveOverStdio } from "../stdio.js";
import { clientFor, withAddress } from "./client-commands.js";
import { configurationFrom, withSettings } from "./configuration-options.js";
import { EXIT, UsageError } from "./exit.js";
import { bridgeStdio } from "./stdio-bridge.js";

/** Adds the commands that run until they are stopped, and `config`. */
export function addServeCommands(program: Command): void {
	withSettings(program.command("serve", { isDefault: true }))
		.description("Run the gateway (the default)")
		// A mistyped command comes here, since this is the default.
		.allowExcessArguments()
		.action(serve);
	withAddress(program.command("stdio"))
		.description("Serve one MCP host over standard input and output what a gateway that runs already has")
		.argument("[device]", "alias or id: only this device's tools")
		.action(bridge);
	withSettings(program.command("config")).description("Print the settings as they would be used").action(printSettings);
}

async function serve(settings: object, { args: [unknown], parent }: Command): Promise<void> {
	if (unknown !== undefined) {
		const names = parent?.commands.map((each) => each.name()).join(", ");
		throw new UsageError(`there is no command ${unknown}: expected one of ${names}`);
	}
	const configuration = configurationFrom(settings);
	const log = makeLog(configuration.logLevel);
	const program = await GatewayProgram.start(configuration, log);
	let stopped = false;
	const stop = async (why: string): Promise<void> => {
		if (stopped) {
			// Whoever asks twice does not want to wait.
			process.exit(EXIT.failed);
		}
		stopped = true;
		log.info(`stopping: ${why}`);
		await program.close();
		process.exit(EXIT.ok);
	};
	for (const signal of ["SIGINT", "SIGTERM"] as const) {
		process.on(signal, () => void stop(signal));
	}
	log.info({ ...program.urls, stateFolder: configuration.stateFolder }, "listening");
	if (configuration.stdio) {
		process.stdout.once("error", () => void stop("the host on standard output is gone"));
		await serveOverStdio(program.gateway, localAccess(configuration.userTools)).closed;
		if (!stopped) {
			await stop("the host on standard input is gone");
		}
	}
}

async function bridge(device: string | undefined, options: { url?: string; token?: string }): Promise<void> {
	const gateway = clientFor(options);
	// Also says what is wrong, when nobody is there.
	const alias = device === undefined ? void (await gateway.devices()) : (await gateway.device(device)).alias;
	await bridgeStdio(await gateway.connect(alias), (error) => console.error(`xs-mcp-gateway: ${error.message}`));
	process.exit(EXIT.ok);
}

function printSettings(settings: object): void {
	process.stdout.write(`${JSON.stringify(describeConfiguration(configurationFrom(settings)), undefined, "\t")}\n`);
}
