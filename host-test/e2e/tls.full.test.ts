import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { type WebSocket, WebSocketServer } from "ws";
import { MqttDevices, WebSocketDevices } from "../../gateway/src/index.js";
import { nextSession, openGateway } from "../../gateway/test/support/gateway.js";
import { openChannels } from "../../gateway/test/support/udp-channels.js";
import { callTool } from "../support/call-tool.js";
import { whyMissing } from "../support/optional-program.js";
import { skipIf } from "../support/skip-if.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { until } from "../support/until.js";
import { typeScript } from "./program.js";

const skip = skipIf(whyMissing("openssl", "openssl"));

/** A self-signed key and certificate for localhost. */
function makeCertificate(): { key: Buffer; cert: Buffer; file: string } {
	const folder = temporaryFolder("xs-mcp-tls-");
	const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
	const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
	execFileSync("openssl", [...request, "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert], {
		stdio: "ignore",
	});
	return { key: readFileSync(key), cert: readFileSync(cert), file: cert };
}

/** A virtual device in its own process, which trusts a certificate or does not. */
function startProcess(t: TestContext, url: string, trusted?: string): { output: string } {
	const option = url.startsWith("https:") ? "--ota-url" : "--url";
	const child = spawn(process.execPath, typeScript("virtual-device/src/cli.ts", "--engine", "v8", option, url), {
		stdio: ["ignore", "pipe", "pipe"],
		env: { ...process.env, ...(trusted !== undefined && { NODE_EXTRA_CA_CERTS: trusted }) },
	});
	t.after(() => child.kill());
	const said = { output: "" };
	for (const stream of [child.stdout, child.stderr]) {
		stream.on("data", (chunk) => {
			said.output += chunk;
		});
	}
	return said;
}

describe("MQTT over TLS", { skip }, () => {
	it("admits a device that trusts the certificate; a device that does not trust it rejects the broker", async (t) => {
		const certificate = makeCertificate();
		const gateway = await openGateway(t);
		const { devices, port } = await MqttDevices.listen(
			gateway.servers,
			{
				host: "localhost",
				port: 0,
				tls: certificate,
			},
			await openChannels(t, gateway.servers),
		);
		t.after(() => devices.close());
		const distrustful = startProcess(t, `mqtts://localhost:${port}`);
		await until(() => distrustful.output.includes("connection-failed"), "the device rejects the certificate");
		assert.match(distrustful.output, /self.signed certificate/);
		assert.equal(gateway.servers.sessions.length, 0);
		const connected = nextSession(gateway.servers);
		startProcess(t, `mqtts://localhost:${port}`, certificate.file);
		assert.equal((await callTool((await connected).session, "self.get_device_status")).isError, false);
	});
});

describe("WebSocket over TLS", { skip }, () => {
	it("says hello only to a backend with a trusted certificate", async (t) => {
		const certificate = makeCertificate();
		const https = createServer(certificate).listen(0, "localhost");
		await once(https, "listening");
		const sockets = new WebSocketServer({ server: https });
		t.after(() => {
			for (const socket of sockets.clients) {
				socket.terminate();
			}
			https.close();
		});
		const url = `wss://localhost:${(https.address() as AddressInfo).port}/`;
		const distrustful = startProcess(t, url);
		await until(() => distrustful.output.includes("connection-failed"), "the device rejects the certificate");
		assert.equal(sockets.clients.size, 0);
		const connected = once(sockets, "connection");
		startProcess(t, url, certificate.file);
		const [socket] = (await connected) as [WebSocket];
		const [hello] = (await once(socket, "message")) as [Buffer];
		assert.equal(JSON.parse(hello.toString()).transport, "websocket");
	});

	it("is used by the gateway if it has a certificate", async (t) => {
		const certificate = makeCertificate();
		const gateway = await openGateway(t);
		const devices = new WebSocketDevices(gateway.servers, { host: "localhost", port: 0, tls: certificate });
		const port = await devices.listen();
		t.after(() => devices.close());
		const connected = nextSession(gateway.servers);
		startProcess(t, `wss://localhost:${port}/`, certificate.file);
		assert.equal((await callTool((await connected).session, "self.get_device_status")).isError, false);
	});
});

describe("the bootstrap over TLS", { skip }, () => {
	it("asks a server whose certificate the device trusts, and no other", async (t) => {
		const certificate = makeCertificate();
		let requests = 0;
		const https = createServer(certificate, (request, response) => {
			requests += 1;
			request.resume();
			response.end('{"websocket":{"url":"ws://127.0.0.1:1/"}}');
		}).listen(0, "localhost");
		await once(https, "listening");
		t.after(() => https.close());
		const url = `https://localhost:${(https.address() as AddressInfo).port}/ota/`;
		const distrustful = startProcess(t, url);
		await until(() => distrustful.output.includes("bootstrap failed"), "the device rejects the certificate");
		assert.equal(requests, 0);
		const trustful = startProcess(t, url, certificate.file);
		await until(() => trustful.output.includes("the backend is ws://127.0.0.1:1/"), "the device has its backend");
	});
});
