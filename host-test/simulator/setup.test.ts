import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { it } from "node:test";
import { ROOT } from "xs-mcp/root";
import { noSdk } from "../support/sdk.js";
import { freePort, until } from "../support/testing.js";
import { startSimulator } from "./start-simulator.js";

it("the set-up page in the simulator is served by the SDK's HTTP server, to phones that ask by HTTP/1.0 too", {
	skip: noSdk,
}, async (t) => {
	const port = await freePort();
	const { lines } = await startSimulator(t, ROOT, [`setupPort=${port}`], {
		isReady: (line) => line.startsWith("set-up: join"),
	});
	const url = `http://127.0.0.1:${port}/`;

	const probe = connect(port, "127.0.0.1");
	let heard = "";
	probe.on("data", (data) => {
		heard += String(data);
	});
	probe.write("GET /hotspot-detect.html HTTP/1.0\r\nHost: captive.apple.com\r\nConnection: close\r\n\r\n");
	await once(probe, "close");
	assert.match(heard, /^HTTP\/1.1 302 Found\r\n/);
	assert.ok(heard.includes(`location: ${url}\r\n`), heard);

	const page = await fetch(`${url}generate_204`);
	assert.equal(page.url, url);
	assert.match(await page.text(), /^<!DOCTYPE html>[\s\S]*<\/html>\n$/);
	const { networks } = (await (await fetch(`${url}networks`)).json()) as { networks: { ssid: string }[] };
	const ssids = networks.map(({ ssid }) => ssid);
	assert.deepEqual(ssids, ["Workshop", "Café Gräf", "Upstairs 5", "a network whose name is 32 bytes"]);

	const { formToken } = (await (await fetch(`${url}settings`)).json()) as { formToken: string };
	const submit = (values: object): Promise<Response> =>
		fetch(`${url}settings`, {
			method: "POST",
			headers: { "x-form-token": formToken },
			body: JSON.stringify({ backend: "ws://127.0.0.1:1/", ...values }),
		});
	const wrong = await submit({ ssid: "Workshop", backend: "htp:/x" });
	assert.deepEqual(
		[wrong.status, Object.keys(((await wrong.json()) as { errors: object }).errors)],
		[400, ["backend"]],
	);
	// Nothing is stored: the simulator's settings are those of everything that this person runs in it.
	assert.equal((await submit({ ssid: "Upstairs 5", password: "a wrong password" })).status, 202);
	await until(() => lines.some((line) => line === 'set-up: could not join "Upstairs 5"'), "the attempt fails");
	assert.equal(((await (await fetch(`${url}status`)).json()) as { state: string }).state, "failed");
	assert.ok(!lines.some((line) => line.startsWith("it ended")), lines.join("\n"));
});
