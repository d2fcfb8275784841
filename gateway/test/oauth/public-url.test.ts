import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request as send } from "node:http";
import { describe, it } from "node:test";
import { TokenStore } from "../../src/config/token-store.js";
import { makeStateFolder, startProgram } from "../support/program.js";

const GUIDE = readFileSync(new URL("../../../docs/gateway/sign-in.md", import.meta.url), "utf8");

/** The settings that the guide has for a proxy. */
const SETTINGS = JSON.parse(/```json\n(\{[^`]*"trustProxy"[^`]*)```/.exec(GUIDE)?.[1] ?? "");

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

describe("the guide to a public URL", () => {
	it("has settings with which a gateway behind a proxy is found and signed in to", async (t) => {
		const stateFolder = makeStateFolder();
		await new TokenStore(stateFolder).add({ name: "me", kind: "client", operator: true });
		const { base, log } = await startProgram(t, SETTINGS, stateFolder);
		const { status, challenge = "" } = await ask(base, "/mcp");
		assert.equal(status, 401);
		const [, metadata = ""] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
		const resource = JSON.parse((await ask(base, new URL(metadata).pathname)).text);
		assert.equal(resource.resource, "https://gateway.example/mcp");
		const [server] = resource.authorization_servers;
		const found = JSON.parse((await ask(base, `/.well-known/oauth-authorization-server`)).text);
		assert.equal(found.issuer, server);
		assert.equal((await ask(base, "/mcp", { Host: "other.example" })).status, 403);
		assert.match(log(), /"address":"203\.0\.113\.7"/);
	});

	it("does not start for other machines without a token", async (t) => {
		await assert.rejects(startProgram(t, SETTINGS), /allowedHosts/);
	});

	it("has proxies pass on every path of signing in, and none of the operator's", () => {
		const caddy = /@clients path (.+)/.exec(GUIDE)?.[1]?.split(" ") ?? [];
		const patterns = caddy.map((path) => new RegExp(`^${path.replace(/\./g, "\\.").replace("*", ".*")}$`));
		const cloudflared = new RegExp(/path: (\^.+)/.exec(GUIDE)?.[1] ?? "^$");
		for (const passes of [
			(path: string) => patterns.some((each) => each.test(path)),
			(path: string) => cloudflared.test(path),
		]) {
			for (const path of [
				"/mcp",
				"/mcp/lamp",
				"/oauth/authorize",
				"/oauth/token",
				"/.well-known/oauth-protected-resource/mcp",
				"/.well-known/oauth-authorization-server",
			]) {
				assert.ok(passes(path), path);
			}
			for (const path of ["/", "/tokens", "/devices", "/metrics", "/console/session", "/bindings/123456"]) {
				assert.ok(!passes(path), path);
			}
		}
	});
});
