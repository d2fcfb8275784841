// npm start: a gateway and a virtual device, a tour as an MCP client takes it, then a prompt.

import { fromProject } from "xs-mcp/build/manifests";
import { failAs, runProgram, signalled } from "xs-mcp/build/program";
import { bundle, chooseEngine, readOwnDevice } from "xs-mcp-virtual-device";
import { prompt } from "xs-mcp-virtual-device/prompt";
import { heading, line, paint, verbatim } from "xs-mcp-virtual-device/prompt-output";
import { type TourOptions, tourProgram } from "./options.js";
import { findVoice, HTTP_PORT, startGateway, type TourGateway } from "./start-gateway.js";
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
	const device = new TourDevice(gateway, engine, firmware, own?.profile, options.verbose);
	/** @returns false if a command from a pipe failed */
	const takeTour = async (): Promise<boolean> => {
		await device.show();
		showNextSteps(gateway, options, options.once ? undefined : await device.openPage());
		if (options.once) {
			return true;
		}
		device.follow();
		return await takeCommands(device, stopped);
	};
	let done: boolean | undefined;
	try {
		done = await Promise.race([takeTour(), stopped.then(() => true)]);
	} finally {
		device.stop();
		await gateway.close();
	}
	// A prompt that was left by a signal still waits for a line.
	process.exit(done && !device.failed ? 0 : 1);
}

/**
 * Runs commands until the user quits or the pipe ends. If the pipe has none, waits for a signal.
 *
 * @returns false if a command from a pipe failed
 */
async function takeCommands(device: TourDevice, stopped: Promise<void>): Promise<boolean> {
	const client = await device.connectClient();
	const { commands, failed } = await prompt(
		async () => client,
		device.virtual,
		() => device.toolNames,
		"stop the gateway and the device",
	);
	if (commands === 0 && !process.stdin.isTTY) {
		// No input, as where a service starts this.
		line("Runs until it is stopped.");
		await stopped;
	}
	await client.close();
	return process.stdin.isTTY === true || failed === 0;
}

/**
 * Says what can be done now: see the device, connect a client, write a tool.
 *
 * @param page of the device; undefined if the tour ends here
 */
function showNextSteps({ gateway, clientUrl }: TourGateway, { transport, httpPort }: TourOptions, page?: string): void {
	heading("Next");
	if (page !== undefined) {
		line(`See the device in your browser: ${paint("green", gateway.urls.console ?? "")}`);
		line(`Press its button, set its sensors, see its messages: ${paint("green", page)}`);
		line(`Connect your MCP client to ${paint("green", clientUrl)}, for example Claude Code:`);
		verbatim(`  claude mcp add --transport http devices "${clientUrl}?catalog=full"`);
		if (httpPort === undefined && new URL(clientUrl).port !== String(HTTP_PORT)) {
			line(`  Port ${HTTP_PORT} is in use: this address is gone after "quit".`);
		}
		line("  Claude Desktop, Cursor, VS Code and others: docs/gateway/connect-a-client.md, or the page in your browser");
		const voice = findVoice() === undefined ? " Install espeak-ng first." : "";
		line(`Have it speak: the tool say, or the device's page in the console.${voice} docs/talk.md`);
	} else {
		line("Try it: npm start");
	}
	line("Write a tool: docs/add-a-tool.md. Put the firmware on a board: docs/first-board.md");
	if (transport === "websocket") {
		line("The same tour over MQTT: npm start -- --transport mqtt");
	}
}
