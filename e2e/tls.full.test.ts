import assert from "node:assert/strict";
import { createServer } from "node:https";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { type Gateway, listenForMqtt, listenForWebSocket } from "xs-mcp-gateway";
import { nextSession, openGateway } from "xs-mcp-gateway/testing/gateway";
import { openChannels } from "xs-mcp-gateway/testing/udp-channels";
import { callTool } from "../host-test/support/call-tool.js";
import { makeAuthority, type ServerCertificate } from "../host-test/support/certificate-authority.js";
import { whyMissing } from "../host-test/support/optional-program.js";
import { Program, typeScript } from "../host-test/support/program.js";
import { listen, skipIf, temporaryFolder, until } from "../host-test/support/testing.js";

const skip = skipIf(whyMissing("openssl", "openssl"));

function makeCertificate(): { tls: ServerCertificate; authority: string } {
	const folder = temporaryFolder("xs-mcp-tls-");
	return { tls: makeAuthority(folder), authority: join(folder, "ca.crt") };
}

async function startProcess(t: TestContext, url: string, trusted?: string): Promise<Program> {
	const option = url.startsWith("https:") ? "--ota-url" : "--url";
	const args = typeScript("packages/virtual-device/src/cli.ts", "--engine", "v8", option, url);
	const env = trusted === undefined ? {} : { NODE_EXTRA_CA_CERTS: trusted };
	const program = await Program.start(args, () => true, { env });
	t.after(() => program.stop());
	return program;
}

const SCHEMES: Readonly<Record<string, (t: TestContext, gateway: Gateway, tls: ServerCertificate) => Promise<number>>> =
	{
		async mqtts(t, { servers }, tls) {
			const devices = await listenForMqtt(servers, { port: 0, tls }, await openChannels(t, servers));
			t.after(() => devices.close());
			return devices.port;
		},
		async wss(t, { servers }, tls) {
			const devices = await listenForWebSocket(servers, { port: 0, tls });
			t.after(() => devices.close());
			return devices.port;
		},
	};

describe("a gateway over TLS", { skip }, () => {
	for (const [scheme, open] of Object.entries(SCHEMES)) {
		it(`admits a device over ${scheme} that trusts its certificate; one that does not trust it rejects the gateway`, async (t) => {
			const { tls, authority } = makeCertificate();
			const gateway = await openGateway(t);
			const url = `${scheme}://127.0.0.1:${await open(t, gateway, tls)}/`;
			const distrustful = await startProcess(t, url);
			await until(() => distrustful.output.includes("connection-failed"), "the device rejects the certificate");
			assert.match(distrustful.output, /self.signed certificate/);
			assert.equal(gateway.servers.connections.length, 0);
			const connected = nextSession(gateway.servers);
			await startProcess(t, url, authority);
			assert.equal((await callTool((await connected).connection, "self.get_device_status")).isError, false);
		});
	}
});

it("the bootstrap over TLS asks a server whose certificate the device trusts, and no other", { skip }, async (t) => {
	const { tls, authority } = makeCertificate();
	let requests = 0;
	const https = createServer(tls, (request, response) => {
		requests += 1;
		request.resume();
		response.end('{"websocket":{"url":"ws://127.0.0.1:1/"}}');
	});
	const url = `https://127.0.0.1:${await listen(t, https)}/ota/`;
	const distrustful = await startProcess(t, url);
	await until(() => distrustful.output.includes("bootstrap failed"), "the device rejects the certificate");
	assert.equal(requests, 0);
	const trustful = await startProcess(t, url, authority);
	await until(() => trustful.output.includes("the backend is ws://127.0.0.1:1/"), "the device has its backend");
});
