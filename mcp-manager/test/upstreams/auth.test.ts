import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { listen } from "../../../host-test/support/listen.js";
import type { McpAuthProvider } from "../../src/manager/index.js";
import { McpManager } from "../../src/manager/index.js";
import { OAuthClient } from "../../src/upstreams/auth/oauth-client.js";
import { readServers } from "../../src/upstreams/read-servers.js";
import { serverConfig } from "../../src/upstreams/server-config.js";

/** Headers of the first request to a server that rejects everything. */
async function firstHeaders(t: TestContext, auth: McpAuthProvider): Promise<IncomingHttpHeaders> {
	const server = createServer((request, response) => {
		server.emit("heard", request.headers);
		response.writeHead(401).end();
	});
	const heard = once(server, "heard") as Promise<[IncomingHttpHeaders]>;
	const url = `http://127.0.0.1:${await listen(t, server)}/mcp`;
	const manager = new McpManager({ servers: [{ id: "one", url, auth }] });
	t.after(() => manager.close());
	await Promise.all([heard, manager.initialize()]);
	const [headers] = await heard;
	return headers;
}

describe("the authentication of a server", () => {
	const kinds: readonly [McpAuthProvider, string, string][] = [
		[{ type: "bearer", token: "s3cret" }, "authorization", "Bearer s3cret"],
		[{ type: "basic", username: "me", password: "pass:word" }, "authorization", "Basic bWU6cGFzczp3b3Jk"],
		[{ type: "api-key", key: "k" }, "x-api-key", "k"],
		[{ type: "api-key", key: "k", header: "X-Token" }, "x-token", "k"],
		[{ type: "custom", token: async () => "of a program" }, "authorization", "Bearer of a program"],
	];
	for (const [auth, header, value] of kinds) {
		it(`of type ${auth.type} is the header ${header}: ${value}`, async (t) => {
			assert.equal((await firstHeaders(t, auth))[header], value);
		});
	}

	it("is rejected with the field where the transport cannot use it", () => {
		const bearer = { type: "bearer", token: "x" } as const;
		const oauth = { type: "oauth2" } as const;
		assert.throws(() => serverConfig({ id: "a", command: "node", auth: bearer }), { field: "auth" });
		assert.throws(() => serverConfig({ id: "a", url: "ws://localhost/", auth: oauth }), { field: "auth.type" });
		const machine = { ...oauth, grant: "client_credentials", clientId: "x" } as const;
		assert.throws(() => serverConfig({ id: "a", url: "http://localhost/", auth: machine }), {
			field: "auth.clientSecret",
		});
	});

	it("is read from a file, with its variables, and as Cursor writes it", () => {
		const file = {
			mcpServers: {
				// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the file
				one: { url: "https://example.com/", auth: { type: "bearer", token: "${TOKEN}" } },
				two: { url: "https://example.com/", auth: { CLIENT_ID: "c", CLIENT_SECRET: "s", scopes: ["read", "write"] } },
				three: { url: "https://example.com/", auth: { type: "bearer" } },
			},
		};
		const { configs, problems } = readServers(JSON.stringify(file), "f.json", { TOKEN: "t" });
		assert.equal(configs[0]?.headers.Authorization, "Bearer t");
		const { clientId, clientSecret, scope } = configs[1]?.oauth ?? {};
		assert.deepEqual([clientId, clientSecret, scope], ["c", "s", "read write"]);
		const fields = problems.map(({ field }) => field);
		assert.deepEqual(fields, ["mcpServers.three.auth.token"]);
	});

	it("sends a person to pages on the web only", () => {
		const opened: string[] = [];
		const client = new OAuthClient({ settings: undefined, onAuthorize: ({ href }) => opened.push(href) });
		for (const page of ["file:///etc/passwd", "ms-settings:about", "javascript:alert(1)"]) {
			assert.throws(() => client.redirectToAuthorization(new URL(page)), { message: /not on the web/ });
		}
		client.redirectToAuthorization(new URL("https://example.com/authorize"));
		assert.deepEqual(opened, ["https://example.com/authorize"]);
	});
});
