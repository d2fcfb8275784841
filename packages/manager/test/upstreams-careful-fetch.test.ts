import assert from "node:assert/strict";
import { getMaxListeners } from "node:events";
import { it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { makeCarefulFetch } from "../src/upstreams/careful-fetch.js";

/** More than the 10 listeners that Node expects of a signal. */
const REQUESTS = 100;

it("any number of requests have one signal, and Node warns of no leak", async (t) => {
	const warnings: Error[] = [];
	const keep = (warning: Error): void => {
		if (warning.name === "MaxListenersExceededWarning") {
			warnings.push(warning);
		}
	};
	process.on("warning", keep);
	t.after(() => process.off("warning", keep));
	// As Node's does until the request is collected as garbage.
	t.mock.method(globalThis, "fetch", async (_url: string, { signal }: { signal: AbortSignal }) => {
		// As that of undici does, by which programs like pi replace Node's: on Node 20 it throws if the maximum is 0.
		assert.ok(getMaxListeners(signal) > REQUESTS);
		signal.addEventListener("abort", () => {});
		return new Response("{}");
	});
	const carefulFetch = makeCarefulFetch(0, assert.fail);
	const { signal } = new AbortController();
	for (let at = 0; at < REQUESTS; at += 1) {
		await (await carefulFetch("http://127.0.0.1/", { signal })).text();
	}
	await turn();
	assert.deepEqual(warnings, []);
});
