import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { it } from "node:test";
import { makeCarefulFetch } from "../../src/upstreams/careful-fetch.js";

/** More than the 1,500 for which Node's `fetch` allows by itself. */
const REQUESTS = 1_600;
const AT_ONCE = 50;

it("any number of requests have one signal, and Node warns of no leak", async (t) => {
	const server = createServer((_request, response) => response.end("{}")).listen(0, "127.0.0.1");
	t.after(() => server.close().closeAllConnections());
	await once(server, "listening");
	const carefulFetch = makeCarefulFetch();
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
	const warnings: Error[] = [];
	const keep = (warning: Error): void => {
		if (warning.name === "MaxListenersExceededWarning") {
			warnings.push(warning);
		}
	};
	process.on("warning", keep);
	t.after(() => process.off("warning", keep));
	const { signal } = new AbortController();
	// They are not read, so that none is collected as garbage.
	const responses: Response[] = [];
	while (responses.length < REQUESTS) {
		responses.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => carefulFetch(url, { signal })))));
	}
	await Promise.all(responses.map((response) => response.text()));
	assert.deepEqual(warnings, []);
});
