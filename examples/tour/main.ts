// npm start: a gateway and a virtual device, a tour as an MCP client takes it, then a prompt.
import { ProgramError, runProgram } from "../../scripts/program.js";
import { bundle, chooseEngine } from "../../virtual-device/src/index.js";
import { showNextSteps } from "./next-steps.js";
import { type TourOptions, tourProgram } from "./options.js";
import { line } from "./output.js";
import { prompt } from "./prompt.js";
import { startGateway } from "./start-gateway.js";
import { TourDevice } from "./tour-device.js";

await runProgram(tourProgram(run));

async function run(options: TourOptions): Promise<void> {
	const engine = await chooseEngine(options.engine, { onProgress: console.log });
	const firmware = await bundle().catch(failProgram);
	const gateway = await startGateway(options).catch(failProgram);
	const device = new TourDevice({ engine, firmware, gateway, verbose: options.verbose });
	const stopped = new Promise<void>((resolve) => {
		process.once("SIGINT", resolve);
		process.once("SIGTERM", resolve);
	});
	let failed = false;
	try {
		await device.show();
		showNextSteps(gateway, options, options.once ? undefined : await device.openPage());
		if (!options.once) {
			device.follow();
			failed = !(await takeCommands(device, stopped));
		}
	} finally {
		device.stop();
		await gateway.close();
	}
	// A prompt that was left by a signal still waits for a line.
	process.exit(failed || device.failed ? 1 : 0);
}

/** For an error whose message says what to fix. */
function failProgram(error: Error): never {
	throw new ProgramError(error.message, { cause: error });
}

/**
 * Until the user quits, the commands from a pipe have been carried out, or the process is told to end.
 *
 * @returns whether all that came through a pipe could be done
 */
async function takeCommands(device: TourDevice, stopped: Promise<void>): Promise<boolean> {
	const client = await device.connectClient();
	const done = await Promise.race([prompt(client, device.controls), stopped]);
	if (done?.commands === 0 && !process.stdin.isTTY) {
		// No input, as where a service starts this.
		line("Runs until it is stopped.");
		await stopped;
	}
	await client.close();
	return process.stdin.isTTY === true || (done?.failed ?? 0) === 0;
}
