// npm start: a gateway and a virtual device, a tour as an MCP client takes it, then a prompt.
import { fromProject } from "../../toolchain/manifests.js";
import { failAs, runProgram, signalled } from "../../toolchain/program.js";
import { bundle, chooseEngine, readOwnDevice } from "../../virtual-device/src/index.js";
import { line } from "../../virtual-device/src/prompt/output.js";
import { prompt } from "../../virtual-device/src/prompt/prompt.js";
import { showNextSteps } from "./next-steps.js";
import { type TourOptions, tourProgram } from "./options.js";
import { startGateway, type TourGateway } from "./start-gateway.js";
import { TourDevice } from "./tour-device.js";

await runProgram(tourProgram(run));

async function run(options: TourOptions): Promise<void> {
	const engine = await chooseEngine(options.engine, { onProgress: console.log });
	const build = options.manifest && fromProject(options.manifest);
	const own = await readOwnDevice(build).catch(failAs());
	own?.warnings.forEach((warning) => void line(`warning: ${warning}`));
	const firmware = await bundle(undefined, false, undefined, build).catch(failAs());
	const stopped = signalled();
	const gateway = await startGateway(options).catch(failAs());
	const device = new TourDevice({ engine, firmware, board: own?.profile, gateway, verbose: options.verbose });
	let done: boolean | undefined;
	try {
		done = await Promise.race([takeTour(device, gateway, options, stopped), stopped.then(() => true)]);
	} finally {
		device.stop();
		await gateway.close();
	}
	// A prompt that was left by a signal still waits for a line.
	process.exit(done && !device.failed ? 0 : 1);
}

/** @returns whether all that came through a pipe could be done */
async function takeTour(
	device: TourDevice,
	gateway: TourGateway,
	options: TourOptions,
	stopped: Promise<void>,
): Promise<boolean> {
	await device.show();
	showNextSteps(gateway, options, options.once ? undefined : await device.openPage());
	if (options.once) {
		return true;
	}
	device.follow();
	return await takeCommands(device, stopped);
}

/**
 * Until the user quits, or the commands from a pipe have been carried out. Without any, until the process is told to end.
 *
 * @returns whether all that came through a pipe could be done
 */
async function takeCommands(device: TourDevice, stopped: Promise<void>): Promise<boolean> {
	const client = await device.connectClient();
	const { commands, failed } = await prompt({
		connect: async () => client,
		device: device.virtual,
		toolNames: () => device.toolNames,
		quits: "stop the gateway and the device",
	});
	if (commands === 0 && !process.stdin.isTTY) {
		// No input, as where a service starts this.
		line("Runs until it is stopped.");
		await stopped;
	}
	await client.close();
	return process.stdin.isTTY === true || failed === 0;
}
