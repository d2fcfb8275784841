import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { bundle } from "../../virtual-device/src/index.js";
import { freePort } from "../support/port.js";
import { cases } from "../support/scope.js";
import { until } from "../support/until.js";
import { untilClosed } from "../support/until-closed.js";
import { ENGINES, startDevice } from "./fixtures.js";

// A virtual device as an MCP server by itself: the official client, and raw sockets for what no client does.

const everything = await bundle(fileURLToPath(new URL("../fixtures/everything/main.ts", import.meta.url)));

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

const text = (result: object): unknown => (result as { content: { text?: unknown }[] }).content[0]?.text;

for (const engine of cases(ENGINES)) {
	describe(`a virtual device without a gateway, firmware on ${engine.kind}`, () => {
		async function open(t: TestContext, config: object = {}, script?: string) {
			const port = await freePort();
			const { log } = await startDevice(t, engine, { config: { http: port, ...config }, ...(script && { script }) });
			await until(() => log.some((line) => line.startsWith("serving MCP")), "the device serves MCP");
			const sockets: Socket[] = [];
			t.after(() => {
				for (const socket of sockets) {
					socket.destroy();
				}
			});
			/** Opens a connection and says something: what comes back until the device closes it. */
			const say = (words: string): { socket: Socket; heard: Promise<string> } => {
				const socket = connect(port, "127.0.0.1");
				sockets.push(socket);
				let answer = "";
				socket.on("data", (data) => {
					answer += String(data);
				});
				socket.write(words);
				return { socket, heard: untilClosed(socket).then(() => answer) };
			};
			return { url: new URL(`http://127.0.0.1:${port}/mcp`), port, say, log };
		}

		const head = (length: number, ...more: string[]): string =>
			[
				"POST /mcp HTTP/1.1",
				"Content-Type: application/json",
				"Accept: application/json, text/event-stream",
				`Content-Length: ${length}`,
				...(more.some((line) => line.startsWith("Host")) ? [] : ["Host: 127.0.0.1"]),
				...more,
				"",
				"",
			].join("\r\n");

		async function meet(
			t: TestContext,
			url: URL,
			options: object = {},
			requestInit: RequestInit = {},
		): Promise<Client> {
			const client = new Client({ name: "test", version: "1" }, options);
			t.after(() => client.close());
			await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
			return client;
		}

		it("lists and calls tools for the official client", async (t) => {
			const { url } = await open(t);
			const client = await meet(t, url);
			assert.equal(client.getServerVersion()?.name, "virtual");
			assert.ok((await client.listTools()).tools.length >= 5);
			const result = await client.callTool({ name: "self.audio_speaker.set_volume", arguments: { volume: 30 } });
			assert.equal(text(result), "true");
		});

		it("serves the official client by stateless requests", async (t) => {
			const { url } = await open(t, {}, everything);
			const client = await meet(t, url, { versionNegotiation: { mode: "auto" } });
			assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
			assert.match(String(text(await client.callTool({ name: "test_simple_text" }))), /simple text/);
		});

		it("serves calls while a client listens, and lets no other client listen", async (t) => {
			const { url } = await open(t, {}, everything);
			const options = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
			const [one, other] = [await meet(t, url, options), await meet(t, url, options)];
			await one.listen({ toolsListChanged: true });
			await assert.rejects(other.listen({ toolsListChanged: true }), /Too many subscriptions/);
			assert.match(String(text(await other.callTool({ name: "test_simple_text" }))), /simple text/);
		});

		it("streams progress, and asks the client within a call", async (t) => {
			const { url } = await open(t, {}, everything);
			const client = await meet(t, url, { capabilities: { sampling: {} } });
			client.setRequestHandler("sampling/createMessage", async () => ({
				role: "assistant",
				model: "m",
				content: { type: "text", text: "Paris" },
			}));
			const reports: number[] = [];
			const onprogress = ({ progress }: { progress: number }): number => reports.push(progress);
			await client.callTool({ name: "test_tool_with_progress" }, { onprogress });
			assert.deepEqual(reports, [0, 50, 100]);
			const sampled = await client.callTool({ name: "test_sampling", arguments: { prompt: "Capital?" } });
			assert.equal(text(sampled), "LLM response: Paris");
		});

		it("needs the token that is set", async (t) => {
			const { url, say } = await open(t, { httpToken: "secret" });
			await assert.rejects(meet(t, url), /bearer token/);
			assert.match(await say(head(PING.length, "Authorization: Bearer wrong") + PING).heard, /^HTTP\/1.1 401 /);
			const client = await meet(t, url, {}, { headers: { authorization: "Bearer secret" } });
			await client.ping();
		});

		it("does not listen on the network without a token", async (t) => {
			const { log } = await startDevice(t, engine, { config: { http: 80, httpAddress: "0.0.0.0" } });
			await until(
				() => log.some((line) => /httpToken: a device that listens on 0.0.0.0 needs a token/.test(line)),
				"the setting is named",
			);
		});

		it("rejects another host's name and another site's script", async (t) => {
			const { say } = await open(t);
			assert.match(await say(head(PING.length, "Host: evil.example") + PING).heard, /^HTTP\/1.1 403 /);
			assert.match(await say(head(PING.length, "Origin: http://evil.example") + PING).heard, /^HTTP\/1.1 403 /);
		});

		it("reads and drops a long body, and answers 413", async (t) => {
			const { say, url } = await open(t);
			assert.match(await say(head(50_000) + "x".repeat(50_000)).heard, /^HTTP\/1.1 413 [\s\S]*at most 32768/);
			await (await meet(t, url)).ping();
		});

		it("answers a request with hundreds of headers with 431, and goes on", async (t) => {
			const { say, url, log } = await open(t);
			const many = Array.from({ length: 780 }, (_, at) => `${at.toString(36)}:`);
			assert.match(await say(head(PING.length, ...many) + PING).heard, /^HTTP\/1.1 431 /);
			assert.match(await say(head(PING.length) + PING).heard, /^HTTP\/1.1 200 /, url.href);
			assert.ok(!log.join().includes("ended"));
		});

		it("serves others while a body comes slowly, and takes it when it is whole", async (t) => {
			const { say, url } = await open(t);
			const slow = say(head(PING.length) + PING.slice(0, 5));
			await (await meet(t, url)).ping();
			slow.socket.write(PING.slice(5));
			assert.match(await slow.heard, /^HTTP\/1.1 200 [\s\S]*"result":\{\}/);
		});

		it("closes a connection whose request does not begin, and one without a whole body, after 10 seconds", async (t) => {
			const { say } = await open(t);
			const [silent, partial] = [say("POST /mcp"), say(head(PING.length))];
			assert.equal(await silent.heard, "");
			assert.match(await partial.heard, /^HTTP\/1.1 408 /);
		});

		it("makes a third connection wait, and rejects it if the others do not end", async (t) => {
			const { say } = await open(t);
			const first = say(head(PING.length));
			const second = say(head(PING.length));
			const waiting = [1, 2, 3, 4].map(() => say(head(PING.length) + PING));
			const rejected = say(head(PING.length) + PING);
			assert.match(await rejected.heard, /^HTTP\/1.1 503 [\s\S]*retry-after: 1[\s\S]*too many requests in progress/);
			first.socket.write(PING);
			assert.match(await first.heard, /^HTTP\/1.1 200 /);
			for (const { heard } of waiting) {
				assert.match(await heard, /^HTTP\/1.1 200 /);
			}
			second.socket.destroy();
		});
	});
}
