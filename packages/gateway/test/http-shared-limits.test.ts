import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { startWithToken, statusOf } from "../testing/console.js";
import { Browser, beginSignIn, register, startSignIn } from "../testing/sign-in.js";

/** Opens streams until one is refused. Returns how many were opened. */
async function openMany(t: TestContext, url: string, token: string): Promise<number> {
	const end = new AbortController();
	t.after(() => end.abort());
	// fetch ends the stream of a response that is garbage.
	const open: Response[] = [];
	for (;;) {
		const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` }, signal: end.signal });
		if (response.status !== 200) {
			assert.equal(response.status, 503);
			assert.match(await response.text(), /too many/);
			t.after(() => open.splice(0));
			return open.length;
		}
		open.push(response);
	}
}

describe("a limit of streams", () => {
	for (const path of ["/console/stream", "/events"]) {
		it(`is a token's own: whoever uses up theirs takes ${path} from nobody else`, async (t) => {
			const gateway = await startWithToken(t, { operator: true });
			const limited = await gateway.tokens.add({ name: "wall", kind: "client", devices: ["aa:bb"], readOnly: true });
			const url = gateway.base + path;
			assert.equal(await openMany(t, url, limited), 20);
			assert.equal(await openMany(t, url, gateway.secret), 20);
		});
	}
});

it("wrong tokens of an address take neither the console's sign-in nor that of clients from the people behind it", async (t) => {
	const gateway = await startSignIn(t, { maxWrongTokensPerMinute: 3 });
	const { base, operator } = gateway;
	const { url } = await beginSignIn(base);
	const wrong = { headers: { Authorization: "Bearer wrong" } };
	const statuses = [];
	for (let count = 0; count < 4; count += 1) {
		statuses.push(await statusOf(`${base}/devices`, wrong));
	}
	assert.deepEqual(statuses, [401, 401, 401, 429]);
	assert.equal(await statusOf(`${base}/console/session`), 401, "the page asks for a token");
	const browser = new Browser(base);
	const { status, request } = await browser.open(url);
	assert.equal(status, 200);
	assert.equal(
		(await browser.submit({ request, secret: "ABCD-EFGH", answer: "go" })).status,
		429,
		"codes can be guessed",
	);
	assert.equal((await browser.submit({ request, secret: operator, answer: "go" })).status, 200);
	await register(base);
});
