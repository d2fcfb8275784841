import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GatewayProgram, makeLog, readConfiguration } from "../../gateway/src/index.js";
import { FIRMWARE } from "../../src/settings/firmware.js";
import { bundleConsole } from "../../toolchain/page-bundles.js";
import { bundle, chooseEngine, VirtualDevice } from "../../virtual-device/src/index.js";

/** The devices as the pictures show them. */
const HOUSE: readonly { readonly alias: string; readonly tags: readonly string[] }[] = [
	{ alias: "bedroom", tags: ["upstairs"] },
	{ alias: "garage", tags: ["outside"] },
	{ alias: "kitchen", tags: ["downstairs"] },
	{ alias: "living_room", tags: ["downstairs"] },
	{ alias: "porch", tags: ["outside"] },
	{ alias: "workshop", tags: ["downstairs", "sensors"] },
];

/** A gateway with a console and virtual devices. */
export interface ConsoleFleet {
	readonly program: GatewayProgram;
	/** The console's address. */
	readonly url: string;
	/** By alias. */
	readonly devices: ReadonlyMap<string, VirtualDevice>;
	stop(): Promise<void>;
}

/** Starts them on free ports of this machine. */
export async function startFleet(): Promise<ConsoleFleet> {
	const stateFolder = await mkdtemp(join(tmpdir(), "xs-mcp-"));
	const flags = { httpPort: 0, websocketPort: 0, bootstrap: "approve", stateFolder, userTools: "*", logLevel: "error" };
	const consoleFolder = await bundleConsole();
	const program = await GatewayProgram.start(readConfiguration({ flags }), makeLog("error"), { consoleFolder });
	const devices = new Map<string, VirtualDevice>();
	const engine = await chooseEngine("xs");
	const { clients = "", bootstrap = "" } = program.urls;
	for (const [index, { alias, tags }] of HOUSE.entries()) {
		const device = new VirtualDevice({
			firmware: await bundle(),
			startEngine: (onTrace) => engine.start({ onTrace }),
			config: { otaUrl: bootstrap, name: alias },
			macAddress: `02:5e:00:00:10:0${index + 1}`,
		});
		device.on("trace", (line) => {
			const code = /\b[0-9]{6}\b/.exec(line)?.[0];
			if (code !== undefined) {
				void fetch(clients.replace(/mcp$/, `bindings/${code}`), { method: "POST" });
			}
		});
		const online = once(program.gateway.servers, "online");
		await device.start();
		await online;
		await program.gateway.servers.edit(device.macAddress, { alias, tags });
		devices.set(alias, device);
	}
	return {
		program,
		url: program.urls.console ?? "",
		devices,
		async stop() {
			for (const device of devices.values()) {
				device.stop();
			}
			await program.close();
			await rm(stateFolder, { recursive: true });
		},
	};
}

/** Starts a device that waits for approval. */
export async function startWaitingDevice({ program }: ConsoleFleet): Promise<void> {
	const { bootstrap = "" } = program.urls;
	const { ok, status } = await fetch(bootstrap, {
		method: "POST",
		headers: {
			"Content-Type": "application/json",
			"Device-Id": "02:5e:00:00:10:09",
			"Client-Id": "8c3e5a2e-4ab4-4c5f-9a57-0d1f6a1c2b3d",
		},
		body: JSON.stringify({ application: FIRMWARE, board: { type: "m5stack_cores3", name: "m5stack_cores3" } }),
	});
	if (!ok) {
		throw new Error(`the bootstrap answers ${status}`);
	}
}
