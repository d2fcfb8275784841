import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import getPort from "get-port";
import { knownDevices, startGateway, startVirtualDevice, untilKnown } from "../e2e/gateway-process.js";
import { Program, typeScript } from "../e2e/program.js";

const FIRMWARE = fileURLToPath(new URL("../fixtures/everything/main.ts", import.meta.url));

/** Starts what is measured, hands on the URL at which clients reach it, and stops it again. */
export type Target = <Result>(measure: (url: string) => Promise<Result>) => Promise<Result>;

/** The ways to a device, as the report names them. */
export const TARGETS = {
	WebSocket: behindGateway("websocket"),
	MQTT: behindGateway("mqtt", "--mqtt", "--mqtt-port", "0"),
	"HTTP, directly": direct,
} satisfies Readonly<Record<string, Target>>;

/**
 * The path of a device behind a gateway.
 *
 * @param listener what the gateway's log calls the URL for devices
 */
function behindGateway(listener: string, ...flags: string[]): Target {
	return async (measure) => {
		const folder = mkdtempSync(join(tmpdir(), "xs-mcp-conformance-"));
		const gateway = await startGateway(folder, "--tool-names", "own", ...flags);
		try {
			const backend = gateway.program.said(new RegExp(`"${listener}":"([^"]+)"`));
			const device = await startVirtualDevice(backend, "--new", "--firmware", FIRMWARE);
			try {
				await untilKnown(gateway, 1);
				const [known] = await knownDevices(gateway);
				return await measure(`${gateway.base}/mcp/${known?.alias}`);
			} finally {
				await device.stop();
			}
		} finally {
			await gateway.program.stop();
			rmSync(folder, { recursive: true });
		}
	};
}

/** A device that serves clients itself. */
async function direct<Result>(measure: (url: string) => Promise<Result>): Promise<Result> {
	const port = await getPort({ host: "127.0.0.1" });
	const args = typeScript("virtual-device/src/cli.ts", "--http", `${port}`, "--new", "--firmware", FIRMWARE);
	const device = await Program.start(args, (output) => output.includes("MCP is served at port"));
	try {
		return await measure(`http://127.0.0.1:${port}/mcp`);
	} finally {
		await device.stop();
	}
}
