import { ROOT } from "../../toolchain/root.js";
import { readParts, toolsOf } from "./board-parts.js";
import { BoardTrace } from "./board-trace.js";
import { type BoardLog, type BuildPlan, type FlashPlan, LOG_SPEED } from "./flash.js";
import { checkTypes, linkForChip, mcconfig } from "./mcconfig.js";
import { describePlan, planMemory } from "./memory-plan.js";
import { checkPort, choosePort, PortError } from "./ports.js";
import { type Sdk, sdkEnvironment } from "./sdk.js";
import { SerialLog } from "./serial-log.js";
import type { Target } from "./targets.js";

const NO_LOG = "The board runs. A release build writes no log: build with --log or --debug to see one.";

/**
 * Builds, flashes and monitors as the options say.
 *
 * @param folder the manifest's
 * @throws PortError, SdkError with the problem and its fix
 */
export async function runPlan(plan: FlashPlan, folder: string = ROOT): Promise<void> {
	switch (plan.kind) {
		case "link":
			await prepare(plan, folder);
			console.log("Compiling and linking …");
			await linkForChip(plan.sdk, folder, plan.target.name, plan.args);
			console.log(`The firmware links for ${plan.target.name}.`);
			break;
		case "build":
			await build(plan, folder);
			break;
		case "flash":
			await flash(plan, folder);
			break;
		case "monitor":
			await showLog(findPort(plan.port), plan.log);
			break;
	}
}

async function flash(plan: FlashPlan & { kind: "flash" }, folder: string): Promise<void> {
	const port = findPort(plan.port);
	// Reports a port in use before a build that takes minutes.
	(await SerialLog.open(port, LOG_SPEED)).close();
	await build(plan, folder);
	console.log(`Flashing ${plan.target.name} at ${port} …`);
	await make(plan, folder, "deploy", { ...sdkEnvironment(plan.sdk), UPLOAD_PORT: port });
	if (plan.log === undefined) {
		console.log(NO_LOG);
	} else {
		await showLog(port, plan.log);
	}
}

function findPort(wanted: string | undefined): string {
	const port = choosePort(wanted);
	checkPort(port);
	return port;
}

/** Prints a summary of the build, after the type check. */
async function prepare({ sdk, target, settings }: BuildPlan, folder: string): Promise<void> {
	checkTypes(folder);
	console.log(await describeBuild(sdk, folder, target, settings));
}

async function build(plan: BuildPlan, folder: string): Promise<void> {
	await prepare(plan, folder);
	console.log(`Building the firmware for ${plan.target.name} …`);
	await make(plan, folder, "build");
}

function make(
	{ sdk, args }: BuildPlan,
	folder: string,
	what: "build" | "deploy",
	env?: NodeJS.ProcessEnv,
): Promise<void> {
	return mcconfig(sdk, folder, [...args, "-t", what], { show: true, ...(env && { env }) });
}

/** Shows the board's output until Ctrl-C. @throws PortError if the board is disconnected */
async function showLog(port: string, log: BoardLog): Promise<void> {
	console.log(`The log of ${port}. Ctrl-C ends it.`);
	const source = await openLog(port, log);
	for (const signal of ["SIGINT", "SIGTERM"] as const) {
		process.once(signal, () => source.close());
	}
	source.on("line", (line) => console.log(line));
	const reason = await new Promise<string | undefined>((resolve) => source.on("closed", resolve));
	if (reason !== undefined) {
		throw new PortError(`${port}: ${reason}`);
	}
}

function openLog(port: string, log: BoardLog): Promise<SerialLog | BoardTrace> {
	return log.kind === "text" ? SerialLog.open(port, log.baud) : BoardTrace.open(log.sdk, port);
}

/**
 * A summary before a build: its memory, and the parts missing on a target without its own board.
 *
 * @param folder the manifest's
 * @param settings of the firmware: "ssid=…"
 * @throws SdkError when mcconfig fails
 */
async function describeBuild(sdk: Sdk, folder: string, target: Target, settings: readonly string[]): Promise<string> {
	const plan = describePlan(await planMemory(sdk, folder, target, settings));
	return target.bare ? `${describeBareChip(target)}\n${plan}` : plan;
}

function describeBareChip({ name, chip, board }: Target): string {
	const { parts = [] } = readParts([board]).get(board) ?? {};
	return [
		`${name} is built as a bare ${chip} (src/boards/${board}), without what else may be on the board.`,
		`Absent tools: ${toolsOf(parts).absent.join(", ")}.`,
	].join("\n");
}
