import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { connect } from "node:tls";
import { whyMissing } from "../../../host-test/support/optional-program.js";
import { skipIf, temporaryFolder, until } from "../../../host-test/support/testing.js";
import { startProgram } from "../testing/program.js";

/** Makes certificates for localhost, each with its key, in the files that a gateway reads. */
function makeFiles() {
	const folder = temporaryFolder("xs-mcp-tls-");
	const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
	const make = (name: string): void => {
		const [newCert, newKey] = [join(folder, `${name}-cert.pem`), join(folder, `${name}-key.pem`)];
		const request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" ");
		const names = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost"];
		execFileSync("openssl", [...request, ...names, "-keyout", newKey, "-out", newCert], { stdio: "ignore" });
	};
	const use = (name: string): void => {
		copyFileSync(join(folder, `${name}-cert.pem`), cert);
		copyFileSync(join(folder, `${name}-key.pem`), key);
	};
	make("first");
	make("second");
	use("first");
	return { cert, key, use, damage: () => writeFileSync(cert, readFileSync(cert).subarray(0, 100)) };
}

async function shownAt(url: string): Promise<string> {
	const { hostname, port } = new URL(url);
	const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
	await once(socket, "secureConnect");
	const { subject } = socket.getPeerCertificate();
	socket.destroy();
	return String(subject.CN);
}

describe("a certificate that is renewed", { skip: skipIf(whyMissing("openssl", "openssl")) }, () => {
	it("is used without a restart by HTTPS, wss and MQTT over TLS; a damaged one is not, and is logged once", async (t) => {
		const files = makeFiles();
		const { cert, key } = files;
		const { gateway, log } = await startProgram(t, {
			mqtt: true,
			httpCert: cert,
			httpKey: key,
			websocketCert: cert,
			websocketKey: key,
			mqttCert: cert,
			mqttKey: key,
		});
		const { clients = "", websocket = "", mqtt = "" } = gateway.urls;
		const shown = (): Promise<string[]> => Promise.all([clients, websocket, mqtt].map(shownAt));
		const errors = () => log().match(/certificate: the one before stays in use/g)?.length ?? 0;
		assert.deepEqual(await shown(), ["first", "first", "first"]);
		files.damage();
		await until(() => errors() === 3, "the damage is logged");
		assert.match(log(), /"level":"?(?:50|error)"?[^\n]*httpCert, httpKey: /);
		assert.deepEqual(await shown(), ["first", "first", "first"]);
		files.use("second");
		await until(async () => (await shown()).every((name) => name === "second"), "the new one is used");
		assert.equal(errors(), 3);
		assert.equal(log().match(/new certificate/g)?.length, 3);
	});

	it("is not used while its file cannot be reached, which is logged once", async (t) => {
		const { cert, key } = makeFiles();
		const { gateway, log } = await startProgram(t, { httpCert: cert, httpKey: key });
		rmSync(cert);
		symlinkSync(cert, cert);
		await until(() => /ELOOP.*the one before stays in use/.test(log()), "the error is logged");
		assert.equal(await shownAt(gateway.urls.clients ?? ""), "first");
	});

	it("is rejected with its settings when the gateway starts, if it is damaged", async (t) => {
		const files = makeFiles();
		files.damage();
		const started = startProgram(t, { httpCert: files.cert, httpKey: files.key });
		await assert.rejects(started, { name: "ConfigurationError", message: /^httpCert, httpKey: / });
	});
});
