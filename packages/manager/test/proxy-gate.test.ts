import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { call, DISCONNECTED, echo, startBoth, startUpstream, textOf } from "../testing/proxy.js";

const GATE = ["--skill", "/penpot"];

describe("the proxy with a gate", () => {
	it("starts locked: until activate, every tool answers with an error that names the skill", async (t) => {
		const { client } = await startBoth(t, GATE);
		assert.match(client.getInstructions() ?? "", /\/penpot.*activate/);
		for (const name of ["echo", "get-sum", "no-such-tool"]) {
			assert.match(textOf(await call(client, name, { message: "hello" }), true), /\/penpot.*未ロード.*activate/);
		}
	});

	it("goes through every state: locked, activate, connected, disconnected, activate, connected", async (t) => {
		const { upstream, client, changes } = await startBoth(t, GATE);
		textOf(await call(client, "echo", { message: "locked" }), true);
		assert.match(textOf(await call(client, "activate"), false), /Tools \([0-9]+\): .*echo/);
		await until(() => changes.tools === 1, "the host is told that the list is different");
		await echo(client, "connected");
		await upstream.kill();
		const lost = textOf(await call(client, "echo", { message: "disconnected" }), true);
		assert.ok(lost.includes(DISCONNECTED), lost);
		assert.match(textOf(await call(client, "activate"), true), /接続失敗.*ECONNREFUSED/);
		await startUpstream(t, upstream.port);
		const still = textOf(await call(client, "echo", { message: "not activated again" }), true);
		assert.ok(still.includes(DISCONNECTED), still);
		textOf(await call(client, "activate"), false);
		await echo(client, "connected again");
	});
});
