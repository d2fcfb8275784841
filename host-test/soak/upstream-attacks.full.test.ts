import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createConnection } from "node:net";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { bootstrap } from "../../gateway/test/support/bootstrap.js";
import { WireDevice } from "../../gateway/test/support/gateway.js";
import { makeStateFolder } from "../../gateway/test/support/program.js";
import { nodeServer, ODD_SERVER } from "../../mcp-manager/test/support/upstreams.js";
import { connectOverHttp } from "../e2e/clients.js";
import { knownDevices, startDirectDevice, startGateway } from "../e2e/gateway-process.js";
import { listen } from "../support/listen.js";
import { freePort } from "../support/port.js";
import { until } from "../support/until.js";
import { untilClosed } from "../support/until-closed.js";
import { ATTACK_TIME } from "./limits.js";

// Servers behind the gateway that attack it, a gateway that is killed while it binds devices, and strangers who attack a
// device that serves clients itself. `npm run soak -- attacks` repeats each attack for longer.

const LAMP = "02:00:00:00:01:01";

/** A gateway with these servers and a device. */
async function startWith(t: TestContext, servers: readonly object[]) {
	const folder = makeStateFolder();
	const serversFile = join(folder, "servers.json");
	writeFileSync(serversFile, JSON.stringify({ servers: servers.map((server) => ({ ...server, enabled: true })) }));
	const gateway = await startGateway(folder, "--servers-file", serversFile);
	t.after(() => gateway.program.stop("SIGKILL"));
	const device = await WireDevice.connectTo(t, gateway.deviceUrl, { id: LAMP });
	await until(async () => (await knownDevices(gateway)).some(({ id }) => id === LAMP), "the device is known");
	/** A session and a call, again and again: each is answered, or this never ends. */
	const use = async (): Promise<void> => {
		const end = Date.now() + ATTACK_TIME;
		do {
			const client = await connectOverHttp(`${gateway.base}/mcp/${LAMP}`, "2025-11-25");
			await client.callTool({ name: "self.audio_speaker.set_volume", arguments: { volume: 1 } });
			await client.close();
			assert.equal((await fetch(`${gateway.base}/healthz`)).status, 200);
		} while (Date.now() < end);
	};
	return { gateway, device, use };
}

/** Sends text to a port of this machine. */
function say(port: number, text: string) {
	const socket = createConnection(port, "127.0.0.1");
	socket.write(text);
	let heard = "";
	socket.setEncoding("utf8").on("data", (data) => {
		heard += data;
	});
	return { closed: untilClosed(socket).then(() => heard) };
}

describe("a gateway with servers that attack it", () => {
	for (const flood of ["flood-garbage", "flood-lists", "flood-logs"]) {
		it(`serves clients and devices while a server over stdio sends without end (${flood}), and stops`, async (t) => {
			const { gateway, use } = await startWith(t, [nodeServer("flood", ODD_SERVER, flood)]);
			await until(() => gateway.program.output.includes('"server":"flood"'), "the server is connected to");
			await use();
			await gateway.program.stop();
			assert.equal(gateway.program.runs, false);
		});
	}

	it("serves clients and devices while a server over HTTP sends an event without end", async (t) => {
		const server = createServer((request, response) => {
			request.resume();
			response.on("error", () => {});
			response.writeHead(200, { "Content-Type": "text/event-stream" });
			const piece = "x".repeat(1_000_000);
			const write = (): void => {
				while (response.write(piece)) {}
			};
			response.write("data: ");
			response.on("drain", write);
			write();
		});
		const port = await listen(t, server);
		const { gateway, use } = await startWith(t, [{ id: "endless", url: `http://127.0.0.1:${port}/mcp` }]);
		await until(() => gateway.program.output.includes("event too large"), "the event is cut");
		await use();
		assert.ok(gateway.program.runs);
	});
});

describe("a gateway that is killed while it binds devices", () => {
	it("binds others at once when it is back, and keeps those that it has told of their token", async (t) => {
		const folder = makeStateFolder();
		const flags = ["--bootstrap", "open", "--mqtt", "--mqtt-address", "0.0.0.0", "--mqtt-port", "0", "--no-announce"];
		const end = Date.now() + ATTACK_TIME;
		const bound = new Map<string, string>();
		let round = 0;
		const inputClient = (id: string) => ({ id, clientId: `00000000-0000-4000-8000-${id.replaceAll(":", "")}` });
		const idOf = (at: number) =>
			`02:00:00:${[round >> 8, round & 255, at].map((byte) => byte.toString(16).padStart(2, "0")).join(":")}`;
		do {
			round += 1;
			const gateway = await startGateway(folder, ...flags);
			t.after(() => gateway.program.stop("SIGKILL"));
			for (const [id, token] of bound) {
				const { body } = await bootstrap(gateway, inputClient(id));
				assert.equal(body.mqtt.password, token, "a bound device has its token again");
			}
			const first = await bootstrap(gateway, inputClient(idOf(0)));
			assert.equal(first.status, 200, "a new device is bound although the gateway was killed");
			bound.set(idOf(0), first.body.mqtt.password);
			const others = Array.from({ length: 8 }, async (_, at) => {
				const { status, body } = await bootstrap(gateway, inputClient(idOf(at + 1)));
				if (status === 200) {
					bound.set(idOf(at + 1), body.mqtt.password);
				}
			});
			await Promise.any(others);
			await gateway.program.stop("SIGKILL");
			await Promise.allSettled(others);
		} while (round < 3 || Date.now() < end);
	});
});

describe("a device that serves clients itself", () => {
	it("goes on after requests with 780 headers, and closes silent connections", async (t) => {
		const port = await freePort();
		const device = await startDirectDevice(port, "--new");
		t.after(() => device.stop());
		const headers = Array.from({ length: 780 }, (_, at) => `${at.toString(36)}:`);
		const request = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers.join("\r\n")}\r\n\r\n`;
		const end = Date.now() + ATTACK_TIME;
		do {
			assert.match(await say(port, request).closed, /^HTTP\/1.1 431 /);
			const silent = Array.from({ length: 8 }, () => say(port, "POST /mcp"));
			await Promise.all(silent.map(({ closed }) => closed));
			const client = await connectOverHttp(`http://127.0.0.1:${port}/mcp`, "2025-11-25");
			await client.ping();
			await client.close();
		} while (Date.now() < end);
		assert.ok(device.runs);
	});
});
