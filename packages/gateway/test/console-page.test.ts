import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testWith, until } from "../../../host-test/support/testing.js";
import type { ListedSettings } from "../src/config/configuration.js";
import { outsideUrlAt } from "../src/config/listen-address.js";
import { startWithConsole, statusOf } from "../testing/console.js";
import { WireDevice } from "../testing/gateway.js";
import { makeStateFolder, startProgram, tokensIn } from "../testing/program.js";

const itConsole = testWith(startWithConsole);

describe("the console's page", () => {
	itConsole("is served at / with a policy that allows its own script alone", async ({ base, gateway }) => {
		assert.equal(gateway.urls.console, `${base}/`);
		const { status, headers } = await fetch(`${base}/`);
		assert.equal(status, 200);
		const policy = headers.get("content-security-policy") ?? "";
		assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
		assert.doesNotMatch(policy, /unsafe|https?:/);
		assert.equal(headers.get("cache-control"), "no-cache");
		const etag = headers.get("etag") ?? "";
		const same = await fetch(`${base}/`, { headers: { "If-None-Match": etag } });
		assert.deepEqual([same.status, same.headers.get("content-security-policy")], [304, policy]);
	});

	itConsole("has files that are kept for good, and no others", async ({ base }) => {
		const { status, headers } = await fetch(`${base}/console/console-ABC123.js`);
		assert.deepEqual([status, headers.get("content-type")], [200, "text/javascript; charset=utf-8"]);
		assert.match(headers.get("cache-control") ?? "", /immutable/);
		for (const path of ["console/console-XYZ.js", "console/index.html", "console/..%2findex.html"]) {
			assert.equal(await statusOf(`${base}/${path}`), 404, path);
		}
	});

	it("is absent in sources that were not bundled", async (t) => {
		const { base, gateway } = await startProgram(t);
		assert.equal(gateway.urls.console, undefined);
		assert.equal(await statusOf(`${base}/`), 404);
	});

	it("names the addresses at which devices on other machines reach the gateway", async (t) => {
		const flags = { websocketAddress: "0.0.0.0", bootstrap: "approve" };
		const { base, deviceUrl } = await startWithConsole(t, flags);
		const { urls, isLoopback } = await (await fetch(`${base}/console/session`)).json();
		const outside = outsideUrlAt("ws", "0.0.0.0", Number(new URL(deviceUrl).port)) ?? deviceUrl.slice(0, -1);
		assert.deepEqual([urls.websocket, isLoopback], [`${outside}/`, false]);
		assert.equal(urls.bootstrap, `${outside.replace("ws:", "http:")}/xiaozhi/ota/`);
		assert.equal((await (await fetch(`${(await startWithConsole(t)).base}/console/session`)).json()).isLoopback, true);
	});

	itConsole("opens at once on loopback without tokens, for the gateway's own page as operator", async ({ base }) => {
		const own = await (await fetch(`${base}/console/session`)).json();
		assert.deepEqual([own.principal, own.signedIn, own.operator, own.needsToken], ["local", false, true, false]);
		const other = await fetch(`${base}/console/session`, { headers: { Origin: "http://localhost:1" } });
		assert.equal((await other.json()).operator, false);
	});
});

it("the console lists the settings and their sources to operators alone, without secrets", async (t) => {
	const stateFolder = makeStateFolder();
	const secret = await tokensIn(stateFolder).add({ name: "me", kind: "client", operator: true });
	const guest = await tokensIn(stateFolder).add({ name: "guest", kind: "client" });
	const flags = {
		speechUrl: "http://127.0.0.1:9/v1?key=hunter2",
		speechModel: "m",
		speechKey: "hunter2",
		transcriptionCommand: `${process.execPath} --key=hunter2`,
		websocketUrl: "wss://gateway.example/?token=hunter2",
	};
	const { base } = await startWithConsole(t, flags, stateFolder);
	const response = await fetch(`${base}/settings`, { headers: { Authorization: `Bearer ${secret}` } });
	const text = await response.text();
	assert.doesNotMatch(text, /hunter2/);
	const { groups } = JSON.parse(text) as { groups: ListedSettings };
	const { settings = [] } = groups.find(({ group }) => group === "Speech") ?? {};
	const picked = ["speechModel", "speechKey", "speechUrl", "transcriptionCommand", "quietHours"].map((name) => {
		const { flag, value, source } = settings.find((each) => each.name === name) ?? {};
		return [flag, value, source];
	});
	assert.deepEqual(picked, [
		["--speech-model", "m", "--speech-model"],
		["XS_MCP_GATEWAY_SPEECH_KEY", "***", "--speech-key"],
		["--speech-url", "http://127.0.0.1:9/v1?key=***", "--speech-url"],
		["--transcription-command", `${process.execPath} ***`, "--transcription-command"],
		["--quiet-hours", undefined, undefined],
	]);
	assert.equal(await statusOf(`${base}/settings`, { headers: { Authorization: `Bearer ${guest}` } }), 403);
});

it("a device in the console is disconnected by the operator", async (t) => {
	const gateway = await startWithConsole(t);
	await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:00:01" });
	const path = `${gateway.base}/devices/aa:bb:cc:00:00:01/session`;
	assert.equal(await statusOf(path, { method: "DELETE" }), 204);
	await until(() => gateway.gateway.servers.find("aa:bb:cc:00:00:01")?.online === false, "it is offline");
});
