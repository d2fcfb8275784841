import assert from "node:assert/strict";
import { request as send } from "node:http";
import { describe, it } from "node:test";
import { makeStateFolder, startProgram, tokensIn } from "../testing/program.js";

/** Settings for a reverse proxy on this machine, as in docs/gateway/sign-in.md. */
const SETTINGS = {
	publicUrl: "https://gateway.example",
	allowedHosts: ["gateway.example"],
	trustProxy: ["127.0.0.1", "::1"],
};

/** A request as Caddy and cloudflared pass it on: fetch would set Host by itself. */
async function ask(base: string, path: string, headers: Record<string, string> = {}) {
	const forwarded = {
		Host: "gateway.example",
		"X-Forwarded-For": "203.0.113.7",
		"X-Forwarded-Proto": "https",
		...headers,
	};
	const { hostname, port } = new URL(base);
	return await new Promise<{ status: number | undefined; challenge: string | undefined; text: string }>(
		(resolve, reject) => {
			const request = send({ hostname, port, path, headers: forwarded }, (response) => {
				const chunks: Buffer[] = [];
				response.on("data", (chunk: Buffer) => chunks.push(chunk));
				response.on("end", () =>
					resolve({
						status: response.statusCode,
						challenge: response.headers["www-authenticate"],
						text: Buffer.concat(chunks).toString(),
					}),
				);
			});
			request.on("error", reject);
			request.end();
		},
	);
}

describe("a gateway behind a reverse proxy", () => {
	it("is found and signed in to at its public URL", async (t) => {
		const stateFolder = makeStateFolder();
		await tokensIn(stateFolder).add({ name: "me", kind: "client", operator: true });
		const { base, log } = await startProgram(t, SETTINGS, stateFolder);
		const { status, challenge = "" } = await ask(base, "/mcp");
		assert.equal(status, 401);
		const [, metadata = ""] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
		const resource = JSON.parse((await ask(base, new URL(metadata).pathname)).text);
		assert.equal(resource.resource, "https://gateway.example/mcp");
		const [server] = resource.authorization_servers;
		const found = JSON.parse((await ask(base, `/.well-known/oauth-authorization-server`)).text);
		assert.equal(found.issuer, server);
		for (const path of ["/mcp", "/mcp/lamp_000001"]) {
			const same = await ask(base, `/.well-known/oauth-authorization-server${path}`);
			assert.deepEqual(JSON.parse(same.text), found, path);
		}
		assert.equal((await ask(base, "/mcp", { Host: "other.example" })).status, 403);
		assert.match(log(), /"address":"203\.0\.113\.7"/);
	});

	it("does not start without a token", async (t) => {
		await assert.rejects(startProgram(t, SETTINGS), /allowedHosts/);
	});
});
