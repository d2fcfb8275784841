import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Program, typeScript } from "../host-test/support/program.js";
import { until } from "../host-test/support/testing.js";

const DISCOVERY_LIMIT = 120_000;

const PROGRAM = fileURLToPath(new URL("../packages/gateway/xs-mcp-gateway.mjs", import.meta.url));

export interface RunningGateway {
	readonly program: Program;
	readonly base: string;
	readonly deviceUrl: string;
	readonly token?: string;
}

export function gatewayArgs(...args: string[]): string[] {
	return [PROGRAM, ...args];
}

export function gatewayFlags(stateFolder: string): string[] {
	const ports = ["--http-port", "0", "--websocket-port", "0", "--udp-port", "0"];
	return [...ports, "--state-folder", stateFolder, "--max-requests-per-minute", "0"];
}

/** @param flags more of them; they win over {@link gatewayFlags} */
export async function startGateway(stateFolder: string, ...flags: string[]): Promise<RunningGateway> {
	const args = gatewayArgs(...gatewayFlags(stateFolder), ...flags);
	const program = await Program.start(args, (output) => output.includes('"listening"'));
	try {
		const base = program.said(/"clients":"([^"]+)\/mcp"/);
		return { program, base, deviceUrl: program.said(/"websocket":"([^"]+)"/) };
	} catch (error) {
		await program.stop();
		throw error;
	}
}

export async function startVirtualDevice(backend: string, ...args: string[]): Promise<Program> {
	return await startDeviceProgram("--url", backend, ...args);
}

export async function startDirectDevice(port: number, ...args: string[]): Promise<Program> {
	const device = await startDeviceProgram("--http", String(port), ...args);
	// Its port may be open later than the program tells of its device.
	await until(() => !device.runs || device.output.includes("serving MCP at"), "the device serves clients");
	return device;
}

export async function startNewDevice(port: number, ...args: string[]): Promise<Program> {
	const device = await startDeviceProgram("--setup", String(port), ...args);
	await until(() => !device.runs || device.output.includes("set-up: join"), "the page is served");
	return device;
}

async function startDeviceProgram(...args: string[]): Promise<Program> {
	const device = typeScript("packages/virtual-device/src/cli.ts", ...args);
	return await Program.start(device, (output) => /^device .* on /m.test(output));
}

export async function knownDevices({ base, token }: RunningGateway): Promise<{ id: string; alias: string }[]> {
	const response = await fetch(`${base}/devices`, { headers: bearer(token) });
	return ((await response.json()) as { devices: { id: string; alias: string }[] }).devices;
}

export async function untilKnown({ base, token }: RunningGateway, count: number): Promise<void> {
	const deadline = performance.now() + DISCOVERY_LIMIT;
	const known = new RegExp(`^xs_mcp_gateway_devices_known ${count}$`, "m");
	while (!known.test(await metricsOf(base, token))) {
		if (performance.now() > deadline) {
			throw new Error(`${count} devices are not known within ${DISCOVERY_LIMIT / 1000} s`);
		}
		await delay(100);
	}
}

/** A gateway's metrics, over a connection of their own: a busy process may find an idle one closed. */
export async function metricsOf(base: string, token?: string): Promise<string> {
	return await (await fetch(`${base}/metrics`, { headers: { Connection: "close", ...bearer(token) } })).text();
}

export function bearer(token: string | undefined): Record<string, string> {
	return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}

export async function runVirtualDevice(...args: string[]): Promise<{ code: number | null; output: string }> {
	const program = await Program.start(typeScript("packages/virtual-device/src/cli.ts", ...args), () => true);
	program.endInput();
	return { code: await program.ended(), output: program.output };
}
