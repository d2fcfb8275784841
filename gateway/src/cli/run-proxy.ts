import { type ProxyFlags, type ProxyOptions, readProxyOptions } from "../proxy/proxy-options.js";
import { serveProxy } from "../proxy/serve-proxy.js";
import { EXIT, UsageError } from "./exit.js";

/** Serves the upstream that flags and environment name to the host that started this process, until the host disconnects. */
export async function runProxy(flags: ProxyFlags): Promise<void> {
	const options = optionsOf(flags);
	const report = ({ message }: Error): void => console.error(`xs-mcp-gateway: ${message}`);
	if (options.init !== undefined && options.skill === "") {
		report(new Error("--init-script has no effect without --skill: activate runs it"));
	}
	await serveProxy(options, report);
	process.exit(EXIT.ok);
}

function optionsOf(flags: ProxyFlags): ProxyOptions {
	try {
		return readProxyOptions(flags, process.env);
	} catch (error) {
		throw new UsageError((error as Error).message, { cause: error });
	}
}
