import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { LookupFunction } from "node:net";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { listen } from "../../../host-test/support/testing.js";
import { GatewayError } from "../src/gateway-error.js";
import { MetadataDocuments } from "../src/oauth/metadata-document.js";
import { makeStateFolder, toLoopback } from "../testing/program.js";
import { authorizeUrl, Browser, makePkce, REDIRECT, startSignIn } from "../testing/sign-in.js";

/** A resolver that has one answer to every question: an address, an error, or none at all. Counts the questions. */
function makeResolver(answer: string | Error | undefined) {
	const resolver = { asked: 0, resolve: undefined as unknown as LookupFunction };
	resolver.resolve = (_hostname, _options, callback) => {
		resolver.asked += 1;
		if (answer !== undefined) {
			callback(answer instanceof Error ? answer : null, typeof answer === "string" ? answer : "", 4);
		}
	};
	return resolver;
}

/** Whether the authorization server's metadata offers metadata documents. */
async function offers(base: string): Promise<unknown> {
	const response = await fetch(`${base}/.well-known/oauth-authorization-server`);
	const metadata = (await response.json()) as Record<string, unknown>;
	assert.equal(metadata.registration_endpoint, `${base}/oauth/register`);
	return metadata.client_id_metadata_document_supported;
}

type Answer = (request: IncomingMessage, response: ServerResponse, url: string) => void;

/** A site with a certificate for client.example, and what fetches documents from it. */
async function startSite(t: TestContext, answer: Answer) {
	const folder = makeStateFolder();
	const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
	const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
	const names = ["-subj", "/CN=client.example", "-addext", "subjectAltName=DNS:client.example"];
	const command = ["req", "-x509", ...curve, "-days", "2", ...names, "-keyout", key, "-out", cert];
	execFileSync("openssl", command, { stdio: "ignore" });
	const files = { key: readFileSync(key), cert: readFileSync(cert) };
	const asked: string[] = [];
	const server = createServer(files, (request, response) => {
		asked.push(request.url as string);
		answer(request, response, url);
	});
	const url = `https://client.example:${await listen(t, server)}/client.json`;
	const ca = files.cert.toString();
	const documents = new MetadataDocuments({ resolve: toLoopback, mayConnect: () => true, ca });
	return { url, asked, documents, ca };
}

function send(document: object): Answer {
	return (_request, response) => response.end(JSON.stringify(document));
}

const DOCUMENT = { client_name: "Claude", redirect_uris: [REDIRECT] };

describe("a client whose id is the URL of its metadata", () => {
	it("is what the document says, which is not fetched again for a while", async (t) => {
		const answer: Answer = (request, response, url) => send({ ...DOCUMENT, client_id: url })(request, response, url);
		const { url, documents, asked } = await startSite(t, answer);
		const client = { id: url, name: "Claude", redirectUris: [REDIRECT] };
		assert.deepEqual(await documents.find(url, "192.0.2.1"), client);
		assert.deepEqual(await documents.find(url, "192.0.2.1"), client);
		assert.deepEqual(asked, ["/client.json"]);
	});

	it("is asked for once by everybody who needs it at the same time", async (t) => {
		const answer: Answer = (request, response, url) => send({ ...DOCUMENT, client_id: url })(request, response, url);
		const { url, documents, asked } = await startSite(t, answer);
		await Promise.all(Array.from({ length: 50 }, () => documents.find(url, "192.0.2.1")));
		assert.deepEqual(asked, ["/client.json"]);
	});

	it("is rejected if the document belongs to another client, has a secret, is too large, redirects or is not JSON", async (t) => {
		for (const [why, answer] of [
			[/client_id: not the URL/, send({ ...DOCUMENT, client_id: "https://other.example/client.json" })],
			[/client_id/, send(DOCUMENT)],
			[
				/token_endpoint_auth_method/,
				send({ ...DOCUMENT, client_id: "x", token_endpoint_auth_method: "client_secret_post" }),
			],
			[/redirect_uris/, send({ client_id: "x", redirect_uris: ["javascript:alert(1)"] })],
			[/too long \(limit 65536 bytes\)/, send({ ...DOCUMENT, more: "x".repeat(70_000) })],
			[/not JSON/, (_request, response) => response.end("<html>")],
			[/HTTP status 404/, (_request, response) => response.writeHead(404).end()],
			[/HTTP status 302/, (_request, response) => response.writeHead(302, { Location: "http://127.0.0.1/" }).end()],
		] as [RegExp, Answer][]) {
			const { url, documents } = await startSite(t, answer);
			await assert.rejects(
				documents.find(url, "192.0.2.1"),
				(error: Error) => error instanceof GatewayError && why.test(error.message),
				`${why}`,
			);
		}
	});

	it("is not asked for at an address inside, whatever the name", async (t) => {
		const { url, ca, asked } = await startSite(t, send(DOCUMENT));
		const { port } = new URL(url);
		const inside = new MetadataDocuments({ resolve: toLoopback, ca });
		await assert.rejects(inside.find(url, "192.0.2.1"), /no public address/);
		for (const host of [
			"127.0.0.1",
			"[::1]",
			"[::ffff:127.0.0.1]",
			"0.0.0.0",
			"10.0.0.1",
			"172.16.0.1",
			"192.168.1.1",
			"169.254.169.254",
			"100.64.0.1",
			"[fd00::1]",
			"[fe80::1]",
			"[64:ff9b::7f00:1]",
			"[2002:7f00:1::]",
			"2130706433",
			"0x7f.1",
		]) {
			const inner = new URL(`https://${host}:${port}/client.json`).href;
			await assert.rejects(new MetadataDocuments({ ca }).find(inner, "192.0.2.1"), /not a public address/, host);
		}
		assert.deepEqual(asked, []);
	});

	it("is refused while many others of the same address are waited for, which keep nobody else's away", async (t) => {
		const { url, documents } = await startSite(t, (request, response, own) => {
			if (request.url?.endsWith("?fast")) {
				send({ ...DOCUMENT, client_id: `${own}?fast` })(request, response, own);
			}
		});
		const all = Array.from({ length: 36 }, (_, index) => documents.find(`${url}?${index}`, "192.0.2.1"));
		// The site never answers: those that are not refused end with it.
		void Promise.allSettled(all);
		await assert.rejects(documents.find(`${url}?fast`, "192.0.2.1"), /too many clients/);
		assert.equal((await documents.find(`${url}?fast`, "192.0.2.2")).name, "Claude");
	});

	it("is offered where a public name resolves, which is looked up once a minute at most", async (t) => {
		const resolver = makeResolver("203.0.114.1");
		const { base } = await startSignIn(t, {}, resolver);
		assert.deepEqual([await offers(base), await offers(base)], [true, true]);
		assert.equal(resolver.asked, 1);
	});

	it("is not offered without Internet, where no document can be fetched: clients register instead", async (t) => {
		for (const answer of [new Error("getaddrinfo ENOTFOUND"), "192.168.1.1"]) {
			const { base } = await startSignIn(t, {}, makeResolver(answer));
			assert.equal(await offers(base), false, `${answer}`);
		}
	});

	it("is not offered while the resolver does not answer, and is once it does, a minute later", async (t) => {
		t.mock.timers.enable({ apis: ["Date", "setTimeout"] });
		let answer: (() => void) | undefined;
		const resolve: LookupFunction = (_hostname, _options, callback) => {
			answer = () => callback(null, "203.0.114.1", 4);
		};
		const documents = new MetadataDocuments({ resolve });
		const first = documents.canBeFetched();
		t.mock.timers.tick(2_000);
		assert.equal(await first, false);
		answer?.();
		assert.equal(await documents.canBeFetched(), false);
		t.mock.timers.tick(60_000);
		const second = documents.canBeFetched();
		answer?.();
		assert.equal(await second, true);
	});

	it("is refused on the wire: the person is told, and nothing is fetched", async (t) => {
		const { url, asked } = await startSite(t, send(DOCUMENT));
		const { base } = await startSignIn(t);
		const { port } = new URL(url);
		for (const id of [`https://127.0.0.1:${port}/client.json`, `https://localhost:${port}/client.json`]) {
			const { status, html } = await new Browser(base).open(authorizeUrl(base, id, makePkce().challenge));
			assert.equal(status, 400);
			assert.match(html, /public address/);
		}
		for (const id of [
			`http://127.0.0.1:${port}/client.json`,
			"https://client.example",
			"https://user@client.example/x",
		]) {
			assert.equal((await new Browser(base).open(authorizeUrl(base, id, makePkce().challenge))).status, 400);
		}
		assert.deepEqual(asked, []);
	});
});
