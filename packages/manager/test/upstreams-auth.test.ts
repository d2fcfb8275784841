import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { describe, it, type TestContext } from "node:test";
import type { McpAuthProvider } from "../src/manager/index.js";
import { readServers } from "../src/upstreams/read-servers.js";
import { serverConfig } from "../src/upstreams/server-config.js";
import { makeOAuthClient } from "../src/upstreams/sign-ins.js";
import { openManager } from "../testing/manager.js";
import { serveHttp } from "../testing/upstreams.js";

/** Headers of the first request to a server that rejects everything. */
async function firstHeaders(t: TestContext, auth: McpAuthProvider): Promise<IncomingHttpHeaders> {
	const heard: IncomingHttpHeaders[] = [];
	const url = await serveHttp(t, ({ headers }, response) => {
		heard.push(headers);
		response.writeHead(401).end();
	});
	await openManager(t, { servers: [{ id: "one", url, auth }] });
	return heard[0] ?? {};
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
		assert.throws(() => serverConfig({ id: "a", command: "node", auth: bearer }), { message: /^auth: / });
		assert.throws(() => serverConfig({ id: "a", url: "ws://localhost/", auth: oauth }), { message: /^auth\.type: / });
		const machine = { ...oauth, grant: "client_credentials", clientId: "x" } as const;
		assert.throws(() => serverConfig({ id: "a", url: "http://localhost/", auth: machine }), {
			message: /^auth\.clientSecret: /,
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
		const client = makeOAuthClient(undefined, ({ href }) => opened.push(href));
		for (const page of ["file:///etc/passwd", "ms-settings:about", "javascript:alert(1)"]) {
			assert.throws(() => client.redirectToAuthorization(new URL(page)), { message: /not on the web/ });
		}
		void client.redirectToAuthorization(new URL("https://example.com/authorize"));
		assert.deepEqual(opened, ["https://example.com/authorize"]);
	});
});
