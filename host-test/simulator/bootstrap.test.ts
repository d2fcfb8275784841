import assert from "node:assert/strict";
import { createServer } from "node:http";
import { text as readText } from "node:stream/consumers";
import { it } from "node:test";
import { ROOT } from "xs-mcp/root";
import { RawBackend } from "../../e2e/fixtures.js";
import { noSdk } from "../support/sdk.js";
import { listen, until } from "../support/testing.js";
import { startSimulator } from "./start-simulator.js";

it("the bootstrap in the simulator brings a device that knows only an otaUrl to a session, once it is bound", {
	skip: noSdk,
}, async (t) => {
	const backend = await RawBackend.listen(t);
	const requests: { path: string; body: Record<string, unknown> }[] = [];
	const server = createServer(async (request, response) => {
		const body = await readText(request);
		requests.push({ path: request.url ?? "", body: JSON.parse(body) });
		const unbound = { activation: { code: "246810", message: "Type in the code", challenge: "c" } };
		const bound = { websocket: { url: backend.url, token: "served" } };
		response.end(JSON.stringify(requests.length === 1 ? unbound : bound));
	});
	const otaUrl = `http://127.0.0.1:${await listen(t, server)}/ota`;
	const { lines } = await startSimulator(t, ROOT, [`otaUrl=${otaUrl}`, "otaInterval=0"]);
	await until(() => backend.headers.authorization === "Bearer served", "the device connects");
	assert.equal((await backend.greet()).type, "hello");
	const paths = requests.map(({ path }) => path);
	assert.deepEqual(paths, ["/ota", "/ota/activate", "/ota"]);
	assert.equal(requests[0]?.body.chip_model_name, "simulator");
	assert.ok(lines.includes("activation code 246810: Type in the code"));
});
