import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { freePort, temporaryFolder, until } from "../../../host-test/support/testing.js";
import { startPlainUpstream } from "../testing/plain-upstream.js";
import { call, echo, startBoth, startProxy, textOf } from "../testing/proxy.js";

const GATE = ["--skill", "/penpot"];

describe("the proxy with a gate, in every state", () => {
	it("stays locked if activate cannot connect", async (t) => {
		const port = await freePort();
		const { client, changes } = await startProxy(t, ["--upstream", `http://127.0.0.1:${port}/mcp`, ...GATE]);
		assert.match(textOf(await call(client, "activate"), true), /接続失敗/);
		assert.match(textOf(await call(client, "echo"), true), /未ロード/);
		assert.equal(changes.tools, 0);
	});

	it("passes resources and prompts through the gate: none while it is locked, all after activate", async (t) => {
		const { client, changes } = await startBoth(t, GATE);
		assert.deepEqual((await client.listResources()).resources, []);
		assert.deepEqual((await client.listResourceTemplates()).resourceTemplates, []);
		assert.deepEqual((await client.listPrompts()).prompts, []);
		const uri = "demo://resource/static/document/features.md";
		await assert.rejects(client.readResource({ uri }), { message: /\/penpot.*未ロード/ });
		await assert.rejects(client.getPrompt({ name: "simple-prompt" }), { message: /\/penpot.*未ロード/ });
		textOf(await call(client, "activate"), false);
		await until(
			() => changes.resources === 1 && changes.prompts === 1,
			"the host is told that the lists are different",
		);
		assert.ok((await client.listResources()).resources.some((resource) => resource.uri === uri));
		assert.ok((await client.listResourceTemplates()).resourceTemplates.length > 0);
		assert.ok((await client.listPrompts()).prompts.some(({ name }) => name === "simple-prompt"));
		assert.equal((await client.readResource({ uri })).contents[0]?.uri, uri);
		assert.equal((await client.getPrompt({ name: "simple-prompt" })).messages.length, 1);
	});

	it("activates as often as it is called, and runs the init script each time", async (t) => {
		const script = join(temporaryFolder(), "init.js");
		writeFileSync(script, "the script");
		const init = ["--init-script", script, "--init-tool", "echo"];
		const { client, changes } = await startBoth(t, [...GATE, ...init]);
		for (const count of [1, 2]) {
			assert.match(textOf(await call(client, "activate"), false), /init\.js was run by echo/);
			await until(() => changes.tools === count, "the host is told each time");
		}
		await echo(client, "hello");
	});

	it("stays locked if the init script fails, and --no-init leaves it out", async (t) => {
		const init = ["--init-script", "/no/such/script.js", "--init-tool", "echo"];
		const { upstream, client } = await startBoth(t, [...GATE, ...init]);
		assert.match(textOf(await call(client, "activate"), true), /activate failed: .*script\.js/);
		assert.match(textOf(await call(client, "echo"), true), /未ロード/);
		const other = await startProxy(t, ["--upstream", upstream.url, ...GATE, ...init, "--no-init"]);
		textOf(await call(other.client, "activate"), false);
		await echo(other.client, "hello");
	});
});

it("the proxy before an upstream without streams asks nothing of the upstream while the gate is locked, except the list of tools for the host", async (t) => {
	const { url, methods } = await startPlainUpstream(t);
	const { client } = await startProxy(t, ["--upstream", url, "--skill", "/s"]);
	textOf(await call(client, "count"), true);
	assert.equal(methods.length, 0);
	await client.listTools();
	assert.equal(methods.join(), "server/discover,initialize,notifications/initialized,tools/list");
	textOf(await call(client, "count"), true);
	assert.ok(!methods.includes("tools/call"));
});
