import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { it } from "node:test";
import { ROOT } from "xs-mcp/root";
import { connectOverHttp } from "../../e2e/clients.js";
import { noSdk } from "../support/sdk.js";
import { freePort } from "../support/testing.js";
import { startSimulator } from "./start-simulator.js";

it("the SDK's HTTP server in the simulator serves the official client, and outlives what no client does", {
	skip: noSdk,
}, async (t) => {
	const port = await freePort();
	const { lines } = await startSimulator(t, ROOT, [`http=${port}`, "httpToken=secret"], {
		isReady: (line) => line.startsWith("serving MCP"),
	});

	/** Sends text on a new connection, and returns the answer until the device closes it. */
	const say = async (...words: string[]): Promise<string> => {
		const socket = connect(port, "127.0.0.1");
		let answer = "";
		socket.on("data", (data) => {
			answer += String(data);
		});
		socket.on("error", () => {});
		socket.write(words.join("\r\n"));
		// A socket that is reset closes, too.
		await new Promise((resolve) => socket.on("close", resolve));
		return answer;
	};
	const head = (...more: string[]): string[] => [
		"POST /mcp HTTP/1.1",
		"Content-Type: application/json",
		"Accept: application/json, text/event-stream",
		...more,
		"",
	];
	const secret = "Authorization: Bearer secret";
	const long = "x".repeat(50_000);
	assert.match(await say(...head("Host: evil.example", "Content-Length: 2"), "{}"), /^HTTP\/1.1 403 /);
	assert.match(await say(...head("Host: 127.0.0.1", "Content-Length: 2"), "{}"), /^HTTP\/1.1 401 /);
	assert.match(await say(...head("Host: 127.0.0.1", secret, "Content-Length: 50000"), long), /^HTTP\/1.1 413 /);
	assert.match(
		await say(...head("Host: 127.0.0.1", secret, "Transfer-Encoding: chunked"), "-5", "x", ""),
		/^(HTTP\/1.1 411 .*)?/,
	);
	assert.equal(await say(...head("Host: 127.0.0.1", `X-Long: ${long}`), ""), "");
	assert.equal(await say("no request", ""), "");
	const cut = connect(port, "127.0.0.1");
	cut.write(head("Host: 127.0.0.1", secret, "Content-Length: 50").join("\r\n"));
	await once(cut, "connect");
	cut.destroy();

	const client = await connectOverHttp(`http://127.0.0.1:${port}/mcp`, "2025-11-25", "secret");
	t.after(() => client.close());
	const { tools } = await client.listTools();
	assert.ok(
		tools.some(({ name }) => name === "self.get_device_status"),
		JSON.stringify(tools),
	);
	const result = await client.callTool({ name: "self.audio_speaker.set_volume", arguments: { volume: 30 } });
	assert.deepEqual(result.content, [{ type: "text", text: '{"volume":30}' }]);
	// It serves three at a time: the others wait.
	await Promise.all(Array.from({ length: 10 }, () => client.ping()));
	assert.ok(!lines.some((line) => line.startsWith("it ended")), lines.join("\n"));
});
