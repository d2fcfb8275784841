import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { connectOverHttp } from "../e2e/clients.js";
import { knownDevices, startGateway, untilKnown } from "../e2e/gateway-process.js";
import { Program } from "../e2e/program.js";
import { startDevice } from "./device.js";
import { findPeer } from "./peers.js";
import { makeFolder } from "./python.js";
import { ScriptedApi } from "./scripted-api.js";

const hosts = findPeer("MCP_HOSTS");
const VOLUME = 32;

/** The package's name and version, for the table. */
function titleOf(name: string): string {
	if (hosts.folder === undefined) {
		return name;
	}
	const { version } = JSON.parse(readFileSync(join(hosts.folder, "node_modules", name, "package.json"), "utf8"));
	return `${name} ${version}`;
}

/** Has a host, whose model sets the volume, run to its end; the device must have done so, and the host must not see an error. */
async function setVolumeBy(
	t: TestContext,
	program: string,
	hostOf: (urls: { readonly mcp: string; readonly model: string; readonly home: string }) => {
		readonly args: readonly string[];
		readonly env: Record<string, string>;
	},
): Promise<void> {
	const gateway = await startGateway(makeFolder(t));
	t.after(() => gateway.program.stop());
	await startDevice(t, { backend: gateway.deviceUrl });
	await untilKnown(gateway, 1);
	const model = await ScriptedApi.listen(t, "set_volume", { volume: VOLUME });
	const home = makeFolder(t);
	const { args, env } = hostOf({ mcp: `${gateway.base}/mcp`, model: model.url, home });
	const command = join(hosts.folder ?? "", "node_modules/.bin", program);
	const host = await Program.start(args, () => true, { command, cwd: home, env: { HOME: home, ...env } });
	t.after(() => host.stop("SIGKILL"));
	host.endInput();
	await host.ended();
	assert.equal(model.results.length, 1, host.output);
	assert.match(model.results[0] ?? "", /true/);
	assert.doesNotMatch(model.results[0] ?? "", /error|rejected|cancelled/i);
	const [{ alias = "" } = {}] = await knownDevices(gateway);
	const client = await connectOverHttp(`${gateway.base}/mcp/${alias}`, "2025-11-25");
	t.after(() => client.close());
	const { content } = await client.callTool({ name: "self_get_device_status" });
	assert.match((content as { text: string }[])[0]?.text ?? "", new RegExp(`"volume":${VOLUME}\\b`));
}

describe(titleOf("@openai/codex"), { skip: hosts.skip }, () => {
	it("`codex exec`, which asks for no approval: a scripted model sets a device's volume", async (t) => {
		await setVolumeBy(t, "codex", ({ mcp, model, home }) => {
			const settings = [
				`model_providers.scripted={name="scripted",base_url="${model}/v1",wire_api="responses"}`,
				'model_provider="scripted"',
				'model="scripted"',
				`mcp_servers.devices.url="${mcp}"`,
			];
			const args = settings.flatMap((setting) => ["-c", setting]);
			return { args: ["exec", "--skip-git-repo-check", ...args, "Set the volume"], env: { CODEX_HOME: home } };
		});
	});
});

describe(titleOf("@google/gemini-cli"), { skip: hosts.skip }, () => {
	it("`gemini -p` with `trust`: a scripted model sets a device's volume", async (t) => {
		await setVolumeBy(t, "gemini", ({ mcp, model, home }) => {
			mkdirSync(join(home, ".gemini"));
			const settings = {
				mcpServers: { devices: { httpUrl: mcp, trust: true } },
				security: { auth: { selectedType: "gemini-api-key" } },
				privacy: { usageStatisticsEnabled: false },
			};
			writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
			const env = {
				GEMINI_API_KEY: "none",
				GOOGLE_GEMINI_BASE_URL: model,
				GEMINI_CLI_TRUST_WORKSPACE: "true",
			};
			return { args: ["-m", "gemini-2.5-flash", "-p", "Set the volume"], env };
		});
	});
});
