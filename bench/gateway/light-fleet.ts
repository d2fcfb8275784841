import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Gateway, WebSocketDevices } from "../../gateway/src/index.js";
import { startVirtualDevice } from "../../host-test/e2e/gateway-process.js";
import { Program, typeScript } from "../../host-test/e2e/program.js";

/** Writes the firmware's tools, user-only ones included, to a file for the devices that are not the firmware to have. */
export async function writeTools(path: string): Promise<void> {
	const gateway = await Gateway.open();
	const sockets = new WebSocketDevices(gateway.servers, { port: 0 });
	const online = once(gateway.servers, "online");
	const program = await startVirtualDevice(`ws://127.0.0.1:${await sockets.listen()}/`);
	const [{ tools }] = await online;
	writeFileSync(path, JSON.stringify(tools));
	await program.stop();
	await gateway.close();
	await sockets.close();
}

/** Starts a process with that many devices without firmware: see light-devices.ts. They connect one after the other. */
export async function startLightDevices(url: string, count: number, toolsFile: string): Promise<Program> {
	const args = typeScript("bench/gateway/light-devices.ts", url, String(count), toolsFile);
	return await Program.start(args, (output) => output.includes("connecting"));
}
