import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import { catalogFrom } from "./client-commands.js";
import { EXIT } from "./exit.js";
import { type CatalogOptions, type ClientOptions, clientFor, UnreachableError } from "./gateway-client.js";
import { rejectStdio } from "./reject-stdio.js";
import { bridgeStdio } from "./stdio-bridge.js";

/** Milliseconds between attempts to reach a gateway. */
const RETRY_DELAY = 1_000;

/** Milliseconds for the first attempt, so that the client's first tool list is complete if a gateway is running. */
const FIRST_ATTEMPT = 5_000;

/**
 * Connects the client that started this process to the gateway that the options name, until the client disconnects. The
 * gateway may start later. If it does not accept the token, or does not know the device, requests of the client are
 * answered with that error, because hosts show nothing of a process that just ends.
 */
export async function runBridge(device: string | undefined, options: ClientOptions & CatalogOptions): Promise<void> {
	const gateway = clientFor(options);
	const report = (error: Error): void => console.error(`xs-mcp-gateway: ${error.message}`);
	const connecting = connect(() => gateway.connect(device, catalogFrom(options)), report);
	try {
		await Promise.race([connecting.first, delay(FIRST_ATTEMPT)]);
	} catch (error) {
		report(error as Error);
		await rejectStdio(error as Error);
		process.exit(EXIT.failed);
	}
	await bridgeStdio(connecting.client, report);
	process.exit(EXIT.ok);
}

/** Tries until a gateway answers. `first` settles after the first attempt; both reject if it answers with an error. */
export function connect(open: () => Promise<Client>, report: (error: Error) => void) {
	let reported = false;
	const attempt = async (): Promise<Client | undefined> => {
		try {
			return await open();
		} catch (error) {
			if (!(error instanceof UnreachableError)) {
				throw error;
			}
			if (!reported) {
				report(new Error(`${error.message}. Retrying`));
				reported = true;
			}
			return undefined;
		}
	};
	const first = attempt();
	const repeat = async (): Promise<Client> => {
		let client = await first;
		while (client === undefined) {
			await delay(RETRY_DELAY);
			client = await attempt();
		}
		return client;
	};
	const client = repeat();
	// If the first attempt fails, nobody awaits this one.
	client.catch(() => {});
	return { first, client };
}
