import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { findSdk, NO_SDK } from "../../scripts/moddable/sdk.js";
import { RawBackend } from "../e2e/fixtures.js";
import { startSimulator } from "../support/start-simulator.js";
import { until } from "../support/until.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const sdk = findSdk();

describe("the bootstrap in the simulator", { skip: sdk === undefined && NO_SDK }, () => {
	it("brings a device that knows only an otaUrl to a session, once it is bound", async (t) => {
		const backend = await RawBackend.listen(t);
		const requests: { path: string; body: Record<string, unknown> }[] = [];
		const server = createServer(async (request, response) => {
			let body = "";
			for await (const chunk of request) {
				body += chunk;
			}
			requests.push({ path: request.url ?? "", body: JSON.parse(body) });
			const unbound = { activation: { code: "246810", message: "Type in the code", challenge: "c" } };
			const bound = { websocket: { url: backend.url, token: "served" } };
			response.end(JSON.stringify(requests.length === 1 ? unbound : bound));
		}).listen(0, "127.0.0.1");
		await once(server, "listening");
		t.after(() => server.close());
		const otaUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ota`;
		const lines = await startSimulator(t, sdk, ROOT, [`otaUrl=${otaUrl}`, "otaInterval=0"]);
		await until(() => backend.headers.authorization === "Bearer served", "the device connects");
		assert.equal((await backend.greet()).type, "hello");
		assert.deepEqual(
			requests.map(({ path }) => path),
			["/ota", "/ota/activate", "/ota"],
		);
		assert.equal(requests[0]?.body.chip_model_name, "simulator");
		assert.ok(lines.includes("activation code 246810: Type in the code"));
	});
});
