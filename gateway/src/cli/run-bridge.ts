import { type ClientOptions, clientFor } from "./client-commands.js";
import { EXIT } from "./exit.js";
import { bridgeStdio } from "./stdio-bridge.js";

/** Serves the host that started this process what the gateway that the options name has, until the host is gone. */
export async function runBridge(device: string | undefined, options: ClientOptions): Promise<void> {
	const gateway = clientFor(options);
	// Also says what is wrong, when nobody is there.
	const alias = device === undefined ? void (await gateway.devices()) : (await gateway.device(device)).alias;
	await bridgeStdio(await gateway.connect(alias), (error) => console.error(`xs-mcp-gateway: ${error.message}`));
	process.exit(EXIT.ok);
}
