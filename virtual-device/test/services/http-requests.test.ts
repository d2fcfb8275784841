import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Connections } from "../../src/services/connections.js";
import { openHttpRequest } from "../../src/services/http-requests.js";

/** Messages to the firmware about its request. */
function open(options: object, headers: readonly (readonly [string, string])[] = []): unknown[] {
	const told: unknown[] = [];
	const requests = new Connections("http", openHttpRequest, ({ header }) => told.push(header));
	const target = { host: "127.0.0.1", port: 1, secure: false, method: "GET", path: "/", bodyBytes: 0 };
	requests.take("open", [7, { ...target, ...options }, headers], undefined);
	requests.close();
	return told;
}

describe("HTTP requests of a virtual device", () => {
	it("fail if Node rejects the path", () => {
		assert.deepEqual(open({ path: "/日本" }), [["http.error", 7, "Request path contains unescaped characters"]]);
	});

	it("fail if Node rejects the header", () => {
		const told = open({}, [["Authorization", "Bearer ключ"]]);
		assert.deepEqual(told, [["http.error", 7, 'Invalid character in header content ["Authorization"]']]);
	});
});
