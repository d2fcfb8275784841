import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { text as readText } from "node:stream/consumers";
import { it, type TestContext } from "node:test";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { cases } from "../host-test/support/scope.js";
import { listen, until } from "../host-test/support/testing.js";
import { ENGINES, RawBackend, startDevice } from "./fixtures.js";

interface Request {
	readonly path: string;
	readonly headers: IncomingHttpHeaders;
	// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
	readonly body: any;
}

type Reply = (path: string, count: number) => readonly [status: number, value?: object | string];

async function listenForDevices(test: TestContext, reply: Reply) {
	const requests: Request[] = [];
	const server: Server = createServer(async (request, response) => {
		const body = await readText(request);
		const path = request.url ?? "";
		const count = requests.filter((each) => each.path === path).length;
		requests.push({ path, headers: request.headers, body: JSON.parse(body) });
		const [status, value = ""] = reply(path, count);
		response.writeHead(status, { "Content-Type": "application/json" });
		response.end(typeof value === "string" ? value : JSON.stringify(value));
	});
	const port = await listen(test, server);
	return { otaUrl: `http://127.0.0.1:${port}/xiaozhi/ota/`, requests, server };
}

for (const engine of cases(ENGINES)) {
	it(`the bootstrap, firmware on ${engine.kind}, shows and traces the code, proves its serial number, and connects once it is bound`, async (t) => {
		const backend = await RawBackend.listen(t);
		const activation = { message: "Bind it", code: "246810", challenge: "c-1", timeout_ms: 1_000 };
		const { otaUrl, requests } = await listenForDevices(t, (path, count) => {
			if (path.endsWith("/activate")) {
				return [200];
			}
			return [200, count === 0 ? { activation } : { websocket: { url: backend.url, token: "" } }];
		});
		const hmacKey = "00112233";
		const codes = new Set<string>();
		const { device, log } = await startDevice(t, engine, { config: { otaUrl, serialNumber: "SN-7", hmacKey } });
		device.on("screen", ({ code }) => codes.add(code));
		await until(() => requests.length === 3, "device bound and asks again");
		const hmac = createHmac("sha256", Buffer.from(hmacKey, "hex")).update("c-1").digest("hex");
		const proof = { algorithm: "hmac-sha256", serial_number: "SN-7", challenge: "c-1", hmac };
		assert.deepEqual(requests[1]?.body, proof);
		assert.equal(requests[0]?.headers["user-agent"], `virtual/${FIRMWARE.version}`);
		assert.deepEqual([requests[0]?.body.mac_address, requests[0]?.body.board.type], [device.macAddress, "virtual"]);
		assert.deepEqual(
			requests.map(({ path, headers }) => [path, headers["activation-version"], headers["serial-number"]]),
			[
				["/xiaozhi/ota/", "2", "SN-7"],
				["/xiaozhi/ota/activate", "2", "SN-7"],
				["/xiaozhi/ota/", "2", "SN-7"],
			],
		);
		assert.ok(log.includes("activation code 246810: Bind it"));
		assert.equal((await backend.greet()).type, "hello");
	});
}
