import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Gateway, listenForWebSocket } from "xs-mcp-gateway";
import { type TokenRecord, tokenKey } from "xs-mcp-gateway/access";
import { FileStore } from "xs-mcp-gateway/file-store";
import { digest } from "xs-mcp-manager/core";
import { type RunningGateway, startGateway, startVirtualDevice } from "../../e2e/gateway-process.js";
import { Program, typeScript } from "../../host-test/support/program.js";
import { temporaryFolder } from "../../host-test/support/testing.js";
import type { LightDevices } from "./light-devices.js";

const CLIENT_TOKEN = "xsmcp_client";

/** The token of a client for the same devices, each of them listed. */
export const LISTING_TOKEN = "xsmcp_listing";

/** The devices of a fleet: addresses that are locally administered. */
function lightDevices(count: number): LightDevices["devices"] {
	return Array.from({ length: count }, (_, at) => {
		const id = `02:00:00${at.toString(16).padStart(6, "0").replace(/../g, ":$&")}`;
		return { id, token: `xsmcp_${id}` };
	});
}

/** Starts a gateway to which that many light devices are bound, and whose clients need a token. */
export async function startBoundGateway(
	stateFolder: string,
	count: number,
	...flags: string[]
): Promise<RunningGateway> {
	const created = new Date().toISOString();
	const bound = lightDevices(count).map(
		({ id, token }): TokenRecord => ({
			name: `device:${id}`,
			kind: "device",
			created,
			devices: [id],
			sha256: digest(token),
		}),
	);
	const client: TokenRecord = { name: "bench", kind: "client", created, sha256: digest(CLIENT_TOKEN) };
	const devices = bound.flatMap((token) => token.devices ?? []);
	const listing: TokenRecord = { ...client, name: "listing", sha256: digest(LISTING_TOKEN), devices };
	const store = FileStore.open(join(stateFolder, "store"));
	for (const record of [...bound, client, listing]) {
		store.later(tokenKey(record), record);
	}
	await store.close();
	return { ...(await startGateway(stateFolder, ...flags)), token: CLIENT_TOKEN };
}

/** Reads the firmware's tools, user-only ones included, from a virtual device. */
async function readTools(): Promise<unknown> {
	const gateway = await Gateway.open();
	const sockets = await listenForWebSocket(gateway.servers, { port: 0 });
	const online = once(gateway.servers, "online");
	const program = await startVirtualDevice(`ws://127.0.0.1:${sockets.port}/`);
	const [{ tools }] = await online;
	await program.stop();
	await gateway.close();
	await sockets.close();
	return tools;
}

/** Starts a process with that many devices without firmware: see light-devices.ts. They connect one after the other. */
export async function startLightDevices(url: string, count: number): Promise<Program> {
	const file = join(temporaryFolder(), "devices.json");
	writeFileSync(file, JSON.stringify({ devices: lightDevices(count), tools: await readTools() }));
	const args = typeScript("tools/bench/light-devices.ts", url, file);
	return await Program.start(args, (output) => output.includes("connecting"));
}
