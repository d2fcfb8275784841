import type { TestContext } from "node:test";
import { nextOnline } from "xs-mcp-gateway/testing/gateway";
import { startProgram } from "xs-mcp-gateway/testing/program";
import { sdk } from "../support/sdk.js";
import { buildForSimulator, Simulator } from "../support/simulator.js";
import { until } from "../support/testing.js";

interface SimulatorOptions {
	readonly isReady?: (line: string) => boolean;
	readonly devices?: string;
}

export async function startSimulator(
	t: TestContext,
	project: string,
	settings: readonly string[] = [],
	{ isReady, ...options }: SimulatorOptions = {},
) {
	const library = await buildForSimulator(sdk, project, [...settings]);
	const simulator = await Simulator.start(sdk, library, { headless: true, ...options });
	t.after(() => simulator.stop());
	const lines: string[] = [];
	simulator.on("line", (line) => lines.push(line));
	simulator.on("ended", (reason) => lines.push(`it ended: ${reason}`));
	if (isReady !== undefined) {
		await until(() => lines.some(isReady), "the firmware is ready");
	}
	return { simulator, lines };
}

export async function startSimulatorOnline(t: TestContext, project: string, options: SimulatorOptions = {}) {
	const started = await startProgram(t, { userTools: ["*"] });
	const online = nextOnline(started.gateway.servers);
	const simulated = await startSimulator(t, project, [`backend=${started.deviceUrl}`], options);
	return { ...started, ...simulated, server: await online };
}
