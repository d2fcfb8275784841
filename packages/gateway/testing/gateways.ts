import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import { until } from "../../../host-test/support/testing.js";
import { NatsStore } from "../src/cluster/nats-store.js";
import { LAMP, VOLUME, WireDevice, type WireDeviceOptions } from "./gateway.js";
import { NatsServer } from "./nats-server.js";
import { makeStateFolder, type StartedProgram, startProgram } from "./program.js";

export { LAMP, VOLUME };

/**
 * Starts gateways with these names in one cluster.
 *
 * @param keys a hexadecimal digit for each gateway, repeated as its device key. Default: a generated key
 */
export async function startCluster(
	t: TestContext,
	nats: NatsServer,
	names: readonly string[] = ["a", "b"],
	settings: Parameters<typeof startProgram>[1] = {},
	keys: readonly string[] = [],
): Promise<StartedProgram[]> {
	const started: StartedProgram[] = [];
	for (const [index, clusterName] of names.entries()) {
		const stateFolder = makeStateFolder();
		const key = keys[index];
		if (key !== undefined) {
			writeFileSync(join(stateFolder, "device-key"), key.repeat(64));
		}
		const flags = { cluster: nats.url, clusterName, offlineWait: 100, ...settings };
		started.push(await startProgram(t, flags, stateFolder));
	}
	return started;
}

/** Opens a store of a cluster, as another gateway does. */
export async function openClusterStore(
	t: TestContext,
	nats: NatsServer,
	name: "store" | "short_lived",
): Promise<NatsStore> {
	const storage = name === "store" ? "file" : "memory";
	const max_bytes = (name === "store" ? 512 : 32) * 1024 * 1024;
	return await NatsStore.open(await nats.connect(t), `xsmcp_${name}`, { storage, max_bytes });
}

/** Starts two gateways of one cluster, on a NATS of their own. */
export async function startTwo(t: TestContext): Promise<{ nats: NatsServer; a: StartedProgram; b: StartedProgram }> {
	const nats = await NatsServer.start(t);
	const [a, b] = (await startCluster(t, nats)) as [StartedProgram, StartedProgram];
	return { nats, a, b };
}

/** The same, with the lamp at the first one, which the second one knows. */
export async function startTwoWithLamp(t: TestContext, options: WireDeviceOptions = {}) {
	const cluster = await startTwo(t);
	const device = await WireDevice.connect(t, cluster.a, options);
	await untilAt(cluster.b, "a");
	return { ...cluster, device };
}

/**
 * Calls a tool, again while the call is refused before the device has it: a busy computer stalls a gateway, which then answers no
 * calls of others for a moment.
 */
export async function callUntilArrived<Result>(
	device: Pick<WireDevice, "calls">,
	call: () => Promise<Result>,
): Promise<{ readonly result: Promise<Result> }> {
	const before = device.calls.length;
	for (;;) {
		let isSettled = false;
		const settled = (): void => {
			isSettled = true;
		};
		const result = call();
		result.then(settled, settled);
		await until(() => isSettled || device.calls.length > before, "the call has arrived");
		if (device.calls.length > before) {
			return { result };
		}
	}
}

/** Waits until a gateway has the lamp online or offline. */
export async function untilOnline({ gateway }: StartedProgram, isOnline = true): Promise<void> {
	await until(
		() => (gateway.servers.find(LAMP)?.online ?? false) === isOnline,
		`the lamp is ${isOnline ? "online" : "offline"}`,
	);
}

/** Waits until a gateway has the lamp in a session with that gateway; undefined: with itself. */
export async function untilAt({ gateway }: StartedProgram, name: string | undefined): Promise<void> {
	await until(() => {
		const server = gateway.servers.find(LAMP);
		return server?.online === true && server.connection?.identity.gateway === name;
	}, `the lamp is at ${name}`);
}

/** Whether a gateway knows a device, and is in no session with it. */
export function isKnownOffline({ gateway }: StartedProgram, id = LAMP): boolean {
	const server = gateway.servers.find(id);
	return server !== undefined && server.connection === undefined;
}

/** Calls the lamp. Resolves with the result's text. */
export async function setVolume(client: Client, volume: number): Promise<string> {
	const { content } = (await client.callTool({ name: VOLUME, arguments: { volume } })) as CallToolResult;
	return content.map((each) => (each.type === "text" ? each.text : each.type)).join(" ");
}
