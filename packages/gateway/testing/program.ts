// The gateway as a program, for tests.

import { mkdirSync, writeFileSync } from "node:fs";
import type { LookupFunction } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import type { Store } from "xs-mcp-manager/core";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { readConfiguration } from "../src/config/configuration.js";
import type { SettingName } from "../src/config/settings.js";
import { TokenStore } from "../src/config/token-store.js";
import { type CreateGatewayOptions, createGateway, type RunningGateway } from "../src/gateway.js";
import { makeLog } from "../src/log.js";
import { FileStore } from "../src/store/file-store.js";
import { openStores } from "../src/store/open-stores.js";
import { connectClient, type ERAS, WireDevice, type WireDeviceOptions } from "./gateway.js";

export interface StartedProgram {
	readonly gateway: RunningGateway;
	readonly stateFolder: string;
	readonly base: string;
	readonly deviceUrl: string;
	/** The store as another process would have it: the command line's. */
	readonly tokens: TokenStore;
	readonly log: () => string;
}

export const toLoopback = ((_hostname, { all }, callback) => {
	callback(null, all ? [{ address: "127.0.0.1", family: 4 }] : "127.0.0.1", 4);
}) as LookupFunction;

/** A state folder. The gateway may write records into it while its test ends, so it stays longer than the test. */
export function makeStateFolder(): string {
	return temporaryFolder("xs-mcp-gateway-");
}

/** Opens the store of a state folder as another process would. */
export const storeIn = (stateFolder: string): FileStore => FileStore.open(join(stateFolder, "store"));

export const tokensIn = (stateFolder: string): TokenStore => new TokenStore(storeIn(stateFolder));

/** Opens the store of a gateway with these settings, which may name a cluster, as the command line does. */
export async function openStoreFor(
	t: Pick<TestContext, "after">,
	flags: Partial<Record<SettingName, unknown>>,
): Promise<Store> {
	const { store, close } = await openStores(readConfiguration({ flags }), () => {});
	t.after(close);
	return store;
}

export function makeServersFile(mcpServers: object, folder = makeStateFolder()): string {
	const file = join(folder, "servers.json");
	writeFileSync(file, JSON.stringify({ mcpServers }));
	return file;
}

export function makeFirmwareFolder(files: Readonly<Record<string, string>>): string {
	const folder = join(makeStateFolder(), "firmware");
	mkdirSync(folder);
	for (const [name, content] of Object.entries(files)) {
		writeFileSync(join(folder, name), content);
	}
	return folder;
}

export const connect = (
	test: TestContext,
	{ base }: Pick<StartedProgram, "base">,
	token?: string,
	era: keyof typeof ERAS = "2025-11-25",
): Promise<Client> => connectClient(test, new URL(`${base}/mcp`), era, { token });

export const sendJson = (
	method: string,
	url: string,
	json?: object,
	headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
	fetch(url, {
		method,
		headers: { "Content-Type": "application/json", ...headers },
		...(json && { body: JSON.stringify(json) }),
	});

export async function startProgramWithDevice(
	test: TestContext,
	options: WireDeviceOptions = {},
	flags: Partial<Record<SettingName, unknown>> = {},
) {
	const started = await startProgram(test, flags);
	return { started, device: await WireDevice.connect(test, started, options) };
}

export async function startProgram(
	test: TestContext,
	flags: Partial<Record<SettingName, unknown>> = {},
	stateFolder = makeStateFolder(),
	options: Partial<CreateGatewayOptions> = {},
): Promise<StartedProgram> {
	const lines: string[] = [];
	// Tests stay on this machine: whatever listens on every address is not announced.
	const broker = flags.mqtt === true ? { mqttPort: 0 } : {};
	const settings = { httpPort: 0, websocketPort: 0, udpPort: 0, ...broker, announce: false, stateFolder, ...flags };
	const gateway = await createGateway({
		settings: readConfiguration({ flags: settings }),
		log: makeLog("trace", { write: (line) => lines.push(line) }),
		// Nor is any name looked up elsewhere. A lost folder must not end the process of the tests.
		resolve: toLoopback,
		onFolderLost: () => {},
		...options,
	});
	test.after(() => gateway.close());
	return {
		gateway,
		stateFolder,
		base: new URL(gateway.urls.clients as string).origin,
		deviceUrl: gateway.urls.websocket as string,
		tokens: new TokenStore(await openStoreFor(test, { ...settings, clusterName: "command-line" })),
		log: () => lines.join(""),
	};
}
