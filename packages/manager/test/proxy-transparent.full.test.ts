import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { call, echo, NOT_RECONNECTED, startBoth, startUpstream, textOf } from "../testing/proxy.js";

describe("the proxy without a gate", () => {
	it("passes resources and prompts on, and says why it cannot", async (t) => {
		const { upstream, client } = await startBoth(t);
		const [resource] = (await client.listResources()).resources;
		assert.ok(resource);
		assert.equal((await client.readResource({ uri: resource.uri })).contents.length, 1);
		await upstream.kill();
		await assert.rejects(client.readResource({ uri: resource.uri }), { message: new RegExp(NOT_RECONNECTED) });
	});

	it("connects again by itself when the connection was lost, and then makes the call", async (t) => {
		const { upstream, client } = await startBoth(t);
		await echo(client, "connected");
		await upstream.kill();
		await startUpstream(t, upstream.port);
		await echo(client, "connected again");
	});

	it("says that reconnecting failed if the upstream is down, and tries again at the next call", async (t) => {
		const { upstream, client } = await startBoth(t);
		await echo(client, "connected");
		await upstream.kill();
		for (const message of ["first", "second"]) {
			const text = textOf(await call(client, "echo", { message }), true);
			assert.ok(text.includes(NOT_RECONNECTED), text);
		}
		await startUpstream(t, upstream.port);
		await echo(client, "connected again");
	});

	it("does not repeat a call that was under way when the upstream was killed", async (t) => {
		const { upstream, client } = await startBoth(t);
		await echo(client, "connected");
		const long = call(client, "trigger-long-running-operation", { duration: 60, steps: 1 });
		// The call is under way when an answer to a later one has come.
		await echo(client, "meanwhile");
		await delay(100);
		await upstream.kill();
		const text = textOf(await long, true);
		assert.ok(text.includes(NOT_RECONNECTED), text);
	});
});
