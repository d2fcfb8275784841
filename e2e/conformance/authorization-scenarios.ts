import { readdirSync, readFileSync } from "node:fs";
import type { LookupFunction } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createGateway, makeLog, readConfiguration } from "xs-mcp-gateway";
import { tokensIn } from "xs-mcp-gateway/testing/program";
import { Browser, register } from "xs-mcp-gateway/testing/sign-in";
import { Program } from "../../host-test/support/program.js";
import { freePort, temporaryFolder } from "../../host-test/support/testing.js";
import { type Check, resultOf, type ScenarioResult } from "./suites.js";

const PROGRAM = fileURLToPath(
	new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const GLOB = new URL("glob.mjs", import.meta.url);

/** Resolves every name to a public address, so that metadata documents are offered without Internet, too. None is fetched. */
const toPublic = ((_hostname, _options, callback) => callback(null, "1.1.1.1", 4)) as LookupFunction;

const PAGE = /^http\S+\/oauth\/authorize\?\S+$/m;

export async function runAuthorizationScenarios(): Promise<readonly ScenarioResult[]> {
	const [stateFolder, results] = [temporaryFolder(), temporaryFolder()];
	const operator = await tokensIn(stateFolder).add({ name: "operator", kind: "client", operator: true });
	const [port, callback] = [await freePort(), await freePort()];
	const base = `http://127.0.0.1:${port}`;
	const settings = {
		httpPort: port,
		websocketPort: 0,
		announce: false,
		stateFolder,
		publicUrl: base,
		maxRequestsPerMinute: 0,
	};
	const gateway = await createGateway({
		settings: readConfiguration({ flags: settings }),
		log: makeLog("silent"),
		resolve: toPublic,
	});
	try {
		// The port is not among the redirect URIs: an app on this machine listens on whatever is free.
		const client = await register(base, { redirect_uris: ["http://127.0.0.1/callback"] });
		const flags = { url: base, "client-id": client, resource: `${base}/mcp`, port: callback, "output-dir": results };
		const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
		const run = await Program.start(["--import", GLOB.href, PROGRAM, "authorization", ...args], (said) =>
			PAGE.test(said),
		);
		const location = await new Browser(base).approve(PAGE.exec(run.output)?.[0] as string, operator);
		await (await fetch(location)).text();
		await run.ended();
		return readdirSync(results)
			.sort()
			.map((folder) => readResult(join(results, folder)));
	} finally {
		await gateway.close();
	}
}

function readResult(folder: string): ScenarioResult {
	const checks = JSON.parse(readFileSync(join(folder, "checks.json"), "utf8")) as Check[];
	const name = /authorization-server-([a-z-]*[a-z])/.exec(folder.slice(folder.lastIndexOf("/")))?.[1] ?? folder;
	return resultOf(name, checks, undefined);
}
