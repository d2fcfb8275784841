import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TokenRecord, writeTokens } from "../../gateway/src/config/token-file.js";
import { Gateway, WebSocketDevices } from "../../gateway/src/index.js";
import { type RunningGateway, startGateway, startVirtualDevice } from "../../host-test/e2e/gateway-process.js";
import { Program, typeScript } from "../../host-test/e2e/program.js";
import { temporaryFolder } from "../../host-test/support/temporary-folder.js";
import { macAddress, tokenOf } from "./light-device.js";

const CLIENT_TOKEN = "xsmcp_client";

/** Starts a gateway to which that many light devices, and others by their ids, are bound, and whose clients need a token. */
export async function startBoundGateway(
	stateFolder: string,
	count: number,
	others: readonly string[] = [],
	...flags: string[]
): Promise<RunningGateway> {
	const ids = [...Array.from({ length: count }, (_, at) => macAddress(at)), ...others];
	const created = new Date().toISOString();
	const bound = ids.map(
		(id): TokenRecord => ({
			name: `device:${id}`,
			kind: "device",
			created,
			devices: [id],
			sha256: sha256(tokenOf(id)),
		}),
	);
	const client: TokenRecord = { name: "bench", kind: "client", created, sha256: sha256(CLIENT_TOKEN) };
	await writeTokens(join(stateFolder, "tokens.json"), [...bound, client]);
	return { ...(await startGateway(stateFolder, ...flags)), token: CLIENT_TOKEN };
}

function sha256(token: string): string {
	return createHash("sha256").update(token).digest("hex");
}

/** Writes the firmware's tools, user-only ones included, to a file for the devices that are not the firmware to have. */
async function writeTools(path: string): Promise<void> {
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
export async function startLightDevices(url: string, count: number): Promise<Program> {
	const toolsFile = join(temporaryFolder(), "tools.json");
	await writeTools(toolsFile);
	const args = typeScript("bench/gateway/light-devices.ts", url, String(count), toolsFile);
	return await Program.start(args, (output) => output.includes("connecting"));
}
