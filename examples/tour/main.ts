// npm start: a gateway and virtual devices, a tour as an MCP client takes it, and what to paste into a client of one's own.
import { ProgramError, runProgram } from "../../scripts/program.js";
import { bundle, chooseEngine } from "../../virtual-device/src/index.js";
import { showPages, showSnippets } from "./client-snippets.js";
import { type TourOptions, tourProgram } from "./options.js";
import { line } from "./output.js";
import { prompt } from "./prompt.js";
import { startGateway } from "./start-gateway.js";
import { TourDevices } from "./tour-devices.js";

await runProgram(tourProgram(run));

async function run(options: TourOptions): Promise<void> {
	const engine = await chooseEngine(options.engine, { onProgress: console.log });
	const firmware = await bundle();
	const gateway = await startGateway(options).catch((error: Error) => {
		throw new ProgramError(error.message);
	});
	const devices = new TourDevices({ engine, firmware, gateway, verbose: options.verbose });
	const stopped = new Promise<void>((resolve) => {
		process.once("SIGINT", resolve);
		process.once("SIGTERM", resolve);
	});
	let failed = false;
	try {
		for (const transport of options.transports) {
			await devices.show(transport);
		}
		if (!options.once) {
			showPages(gateway.program.urls.console, await devices.openPages());
			showSnippets(gateway.clientUrl);
			devices.follow();
			failed = !(await takeCommands(devices, stopped));
		}
	} finally {
		devices.stop();
		await gateway.close();
	}
	// A prompt that was left by a signal still waits for a line.
	process.exit(failed || devices.failed ? 1 : 0);
}

/**
 * Until the person quits, the commands from a pipe have been carried out, or the process is told to end.
 *
 * @returns whether all that came through a pipe could be done
 */
async function takeCommands(devices: TourDevices, stopped: Promise<void>): Promise<boolean> {
	const client = await devices.connectClient();
	const done = await Promise.race([prompt(client, devices.controls), stopped]);
	if (done?.commands === 0 && !process.stdin.isTTY) {
		// Nobody is there to give any, as where a service starts this.
		line("Runs until it is stopped.");
		await stopped;
	}
	await client.close();
	return process.stdin.isTTY === true || (done?.failed ?? 0) === 0;
}
