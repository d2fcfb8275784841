import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/until.js";
import { outsideUrlAt } from "../../src/config/listen-address.js";
import type { TokenRecord } from "../../src/config/token-store.js";
import { TokenStore } from "../../src/config/token-store.js";
import type { FleetMessage, FleetView } from "../../src/http/console/messages.js";
import { WireDevice } from "../support/gateway.js";
import { makeStateFolder, type StartedProgram, startProgram } from "../support/program.js";

/** A page in place of the bundled one. */
function makeFiles(t: TestContext): string {
	const folder = join(makeStateFolder(t), "console");
	mkdirSync(folder);
	writeFileSync(join(folder, "index.html"), "<title>page</title>");
	writeFileSync(join(folder, "console-ABC123.js"), "let it;");
	return folder;
}

async function start(t: TestContext, flags = {}, stateFolder = makeStateFolder(t)): Promise<StartedProgram> {
	return await startProgram(t, flags, stateFolder, { consoleFolder: makeFiles(t) });
}

/** A gateway that needs tokens, and one of them. */
async function startWithToken(t: TestContext, token: Partial<TokenRecord> = {}) {
	const stateFolder = makeStateFolder(t);
	const secret = await new TokenStore(stateFolder).add({ name: "me", kind: "client", ...token });
	return { ...(await start(t, {}, stateFolder)), secret };
}

/** Signs in as the page does. Returns the headers that its browser sends from then on. */
async function signIn({ base }: { readonly base: string }, token: string) {
	const response = await fetch(`${base}/console/session`, {
		method: "POST",
		headers: { "Content-Type": "application/json", Origin: base },
		body: JSON.stringify({ token }),
	});
	assert.equal(response.status, 204);
	const cookie = response.headers.get("set-cookie") ?? "";
	return { set: cookie, headers: { Cookie: cookie.split(";")[0] as string, "Sec-Fetch-Site": "same-origin" } };
}

const statusOf = async (url: string, init: RequestInit = {}): Promise<number> => {
	const { status, body } = await fetch(url, init);
	await body?.cancel();
	return status;
};

const WHOLE_LIST: FleetView = { list: { search: "", filter: "all", tag: "", offset: 0, count: 200 } };

/** Follows the stream of a page that looks at this; what has come so far is in the list. */
async function follow(
	t: TestContext,
	{ base }: { readonly base: string },
	headers: Record<string, string> = {},
	view = WHOLE_LIST,
) {
	const end = new AbortController();
	t.after(() => end.abort());
	const response = await fetch(`${base}/console/stream`, { headers, signal: end.signal });
	assert.equal(response.status, 200);
	const messages: FleetMessage[] = [];
	const look = async (next: FleetView): Promise<number> =>
		await statusOf(`${base}/console/stream/${messages[0]?.stream}`, {
			method: "PUT",
			headers: { "Content-Type": "application/json", Origin: base, ...headers },
			body: JSON.stringify(next),
		});
	const stream = { messages, look, ended: false };
	const read = async (): Promise<void> => {
		let text = "";
		for await (const chunk of response.body ?? []) {
			text += Buffer.from(chunk).toString();
			const events = text.split("\n\n");
			text = events.pop() ?? "";
			messages.push(...events.filter((each) => each.startsWith("data: ")).map((each) => JSON.parse(each.slice(6))));
		}
	};
	void read()
		.catch(() => {})
		.then(() => {
			stream.ended = true;
		});
	await until(() => messages.length > 0, "the stream has begun");
	assert.equal(await look(view), 204);
	await until(() => messages.some(({ list, device }) => list ?? device !== undefined), "it shows what was asked for");
	return stream;
}

const listIn = (messages: readonly FleetMessage[]) => messages.filter(({ list }) => list).at(-1)?.list;
const detailIn = (messages: readonly FleetMessage[]) => messages.filter(({ device }) => device).at(-1)?.device;

describe("the console's page", () => {
	it("is served at / with a policy that allows its own script alone", async (t) => {
		const { base, program } = await start(t);
		assert.equal(program.urls.console, `${base}/`);
		const { status, headers } = await fetch(`${base}/`);
		assert.equal(status, 200);
		const policy = headers.get("content-security-policy") ?? "";
		assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
		assert.doesNotMatch(policy, /unsafe|https?:/);
		assert.equal(headers.get("cache-control"), "no-cache");
		const etag = headers.get("etag") ?? "";
		assert.equal(await statusOf(`${base}/`, { headers: { "If-None-Match": etag } }), 304);
	});

	it("has files that are kept for good, and no others", async (t) => {
		const { base } = await start(t);
		const { status, headers } = await fetch(`${base}/console/console-ABC123.js`);
		assert.deepEqual([status, headers.get("content-type")], [200, "text/javascript; charset=utf-8"]);
		assert.match(headers.get("cache-control") ?? "", /immutable/);
		for (const path of ["console/console-XYZ.js", "console/index.html", "console/..%2findex.html"]) {
			assert.equal(await statusOf(`${base}/${path}`), 404, path);
		}
	});

	it("is absent in sources that were not bundled", async (t) => {
		const { base, program } = await startProgram(t);
		assert.equal(program.urls.console, undefined);
		assert.equal(await statusOf(`${base}/`), 404);
	});

	it("names the addresses at which devices on other machines reach the gateway", async (t) => {
		const flags = { websocketAddress: "0.0.0.0", bootstrap: "approve" };
		const { base, deviceUrl } = await start(t, flags);
		const { urls, isLoopback } = await (await fetch(`${base}/console/session`)).json();
		const outside = outsideUrlAt("ws", "0.0.0.0", Number(new URL(deviceUrl).port)) ?? deviceUrl.slice(0, -1);
		assert.deepEqual([urls.websocket, isLoopback], [`${outside}/`, false]);
		assert.equal(urls.bootstrap, `${outside.replace("ws:", "http:")}/xiaozhi/ota/`);
		assert.equal((await (await fetch(`${(await start(t)).base}/console/session`)).json()).isLoopback, true);
	});

	it("opens at once on loopback without tokens, for the gateway's own page as operator", async (t) => {
		const { base } = await start(t);
		const own = await (await fetch(`${base}/console/session`)).json();
		assert.deepEqual([own.principal, own.signedIn, own.operator, own.needsToken], ["local", false, true, false]);
		const other = await fetch(`${base}/console/session`, { headers: { Origin: "http://localhost:1" } });
		assert.equal((await other.json()).operator, false);
	});
});

describe("signing in to the console", () => {
	it("exchanges a token for a cookie that no script and no other site gets", async (t) => {
		const gateway = await startWithToken(t);
		assert.equal(await statusOf(`${gateway.base}/console/session`), 401);
		const { set, headers } = await signIn(gateway, gateway.secret);
		assert.match(set, /^xs_mcp_console_[0-9]+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
		assert.doesNotMatch(set, /xsmcp_/);
		const session = await (await fetch(`${gateway.base}/console/session`, { headers })).json();
		assert.deepEqual([session.principal, session.signedIn, session.operator], ["me", true, false]);
	});

	it("sets a Secure cookie behind a trusted proxy that speaks TLS", async (t) => {
		const stateFolder = makeStateFolder(t);
		const secret = await new TokenStore(stateFolder).add({ name: "me", kind: "client" });
		const { base } = await start(t, { trustProxy: ["127.0.0.1"] }, stateFolder);
		const response = await fetch(`${base}/console/session`, {
			method: "POST",
			headers: {
				"Content-Type": "application/json",
				"X-Forwarded-Proto": "https",
				Origin: base.replace("http:", "https:"),
			},
			body: JSON.stringify({ token: secret }),
		});
		assert.match(response.headers.get("set-cookie") ?? "", /; Secure$/);
	});

	it("takes the cookie from the gateway's own page alone", async (t) => {
		const gateway = await startWithToken(t);
		const { headers } = await signIn(gateway, gateway.secret);
		const { base } = gateway;
		const forget = (more: Record<string, string>) =>
			statusOf(`${base}/devices?offlineSeconds=1`, { method: "DELETE", headers: { ...headers, ...more } });
		assert.equal(await forget({ Origin: base }), 200);
		assert.equal(await forget({}), 401, "without an Origin");
		assert.equal(await forget({ Origin: "http://localhost:1" }), 401, "another page of this machine");
		assert.equal(await forget({ Origin: "https://evil.example" }), 403);
		const read = (more: Record<string, string>) => statusOf(`${base}/devices`, { headers: { ...headers, ...more } });
		assert.equal(await read({}), 200);
		assert.equal(await read({ "Sec-Fetch-Site": "same-site" }), 401);
		const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
		const post = (more: Record<string, string>) =>
			statusOf(`${base}/mcp`, {
				method: "POST",
				headers: {
					"Content-Type": "application/json",
					Accept: "application/json, text/event-stream",
					...headers,
					...more,
				},
				body: JSON.stringify(ping),
			});
		assert.equal(await post({}), 401);
		assert.notEqual(await post({ Origin: base }), 401);
	});

	it("rejects wrong tokens, tokens of devices, other sites, and too many attempts", async (t) => {
		const gateway = await startWithToken(t);
		const device = await gateway.tokens.add({ name: "lamp", kind: "device" });
		const attempt = (token: string, Origin = gateway.base) =>
			statusOf(`${gateway.base}/console/session`, {
				method: "POST",
				headers: { "Content-Type": "application/json", Origin },
				body: JSON.stringify({ token }),
			});
		assert.equal(await attempt("xsmcp_wrong"), 401);
		assert.equal(await attempt(device), 401);
		assert.equal(await attempt(gateway.secret, "http://localhost:1"), 403);
		for (let count = 0; count < 18; count += 1) {
			await attempt("xsmcp_wrong");
		}
		assert.equal(await attempt("xsmcp_wrong"), 429);
		assert.equal(await attempt(gateway.secret), 204, "the right one is still accepted");
	});

	it("ends with the token, and with signing out, streams included", async (t) => {
		const gateway = await startWithToken(t);
		const one = await signIn(gateway, gateway.secret);
		const other = await signIn(gateway, gateway.secret);
		const [first, second] = [await follow(t, gateway, one.headers), await follow(t, gateway, other.headers)];
		const out = { method: "DELETE", headers: { ...one.headers, Origin: gateway.base } };
		assert.equal(await statusOf(`${gateway.base}/console/session`, out), 204);
		await until(() => first.ended, "the stream has ended");
		assert.equal(await statusOf(`${gateway.base}/console/session`, { headers: one.headers }), 401);
		assert.equal(second.ended, false);
		await gateway.tokens.remove("me");
		await until(() => second.ended, "the other one ends with the token");
		assert.equal(await statusOf(`${gateway.base}/console/session`, { headers: other.headers }), 401);
	});

	it("ends when the token expires", async (t) => {
		const expires = new Date(Date.now() + 86_400_000).toISOString();
		const gateway = await startWithToken(t, { expires });
		const { headers } = await signIn(gateway, gateway.secret);
		assert.equal(await statusOf(`${gateway.base}/devices`, { headers }), 200);
		t.mock.timers.enable({ apis: ["Date"], now: Date.parse(expires) + 1 });
		assert.equal(await statusOf(`${gateway.base}/devices`, { headers }), 401);
		const Authorization = `Bearer ${gateway.secret}`;
		assert.equal(await statusOf(`${gateway.base}/devices`, { headers: { Authorization } }), 401);
	});
});

describe("the console's stream", () => {
	it("has the part of the table that the page looks at, and then what changes", async (t) => {
		const gateway = await start(t);
		await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:00:01" });
		const { messages } = await follow(t, gateway);
		const [row] = listIn(messages)?.rows ?? [];
		assert.deepEqual([row?.id, row?.online, row?.tools, row?.kind], ["aa:bb:cc:00:00:01", true, 2, "device"]);
		assert.deepEqual(messages[0]?.approvals, []);
		gateway.gateway.servers.sessions[0]?.close("test");
		await until(() => listIn(messages)?.rows[0]?.problem === "offline", "the device is offline");
		await gateway.gateway.servers.forget("aa:bb:cc:00:00:01");
		await until(() => listIn(messages)?.found === 0, "the device is gone");
	});

	it("has one device with its states and calls", async (t) => {
		const gateway = await start(t);
		const onCall = () => ({ content: [{ type: "text", text: "ok" }], isError: false });
		const id = "aa:bb:cc:00:00:01";
		await WireDevice.connect(t, gateway, { id, onCall });
		const { messages, look } = await follow(t, gateway, {}, { device: id });
		const server = gateway.gateway.servers.find(id);
		const [setVolume, reboot] = server?.tools ?? [];
		assert.ok(server && setVolume && reboot);
		const options = { clientName: "host" };
		await server.call("me", setVolume, { volume: 7 }, options);
		await server.call("me", reboot, {}, options);
		await until(() => detailIn(messages)?.calls.length === 2, "both calls are there");
		const [second, first] = detailIn(messages)?.calls ?? [];
		const { tool, principal, client, args, answer, outcome } = first ?? {};
		assert.deepEqual(
			[tool, principal, client, args, answer, outcome],
			["self.audio_speaker.set_volume", "me", "host", '{"volume":7}', "ok", "ok"],
		);
		assert.deepEqual([second?.tool, second?.args, second?.answer], ["self.reboot", undefined, undefined], "user-only");
		assert.deepEqual(
			detailIn(messages)?.states.map(({ state }) => state),
			["online"],
		);
		assert.equal(await look({ device: "nobody" }), 204);
		await until(() => messages.some(({ device }) => device === null), "it is not known");
	});

	it("has what was rejected, and who is connected", async (t) => {
		const gateway = await start(t);
		gateway.gateway.servers.reject("aa:bb: unknown token");
		const { messages } = await follow(t, gateway);
		assert.equal(messages[0]?.rejections?.[0]?.description, "aa:bb: unknown token");
		gateway.gateway.servers.reject("later");
		await until(() => messages.slice(1).some(({ rejections = [] }) => rejections.length === 2), "the second one");
	});

	it("shows a token for one device that device, and no other clients", async (t) => {
		const gateway = await startWithToken(t, { devices: ["aa:bb:cc:00:00:02"], name: "kiosk" });
		const { headers } = await signIn(gateway, gateway.secret);
		await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:00:01" });
		const { messages, look } = await follow(t, gateway, headers);
		await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:00:02" });
		await until(() => listIn(messages)?.found === 1, "its device is there");
		assert.deepEqual(
			[listIn(messages)?.rows.map(({ id }) => id), messages.filter(({ totals }) => totals).at(-1)?.totals?.all],
			[["aa:bb:cc:00:00:02"], 1],
		);
		await look({ device: "aa:bb:cc:00:00:01" });
		await until(() => messages.some(({ device }) => device === null), "the other one is not known");
		assert.ok(messages.every(({ clients, approvals, rejections }) => !clients && !approvals && !rejections));
		assert.equal(await statusOf(`${gateway.base}/tokens`, { headers }), 403);
		const answer = await fetch(`${gateway.base}/console/devices`, { headers });
		assert.equal((await answer.json()).found, 1);
	});

	it("is looked through by its own page alone, and by views that make sense", async (t) => {
		const gateway = await startWithToken(t);
		const other = await gateway.tokens.add({ name: "other", kind: "client" });
		const { headers } = await signIn(gateway, gateway.secret);
		const { messages, look } = await follow(t, gateway, headers);
		const path = `${gateway.base}/console/stream/${messages[0]?.stream}`;
		const Authorization = `Bearer ${other}`;
		const request = { method: "PUT", headers: { Authorization, "Content-Type": "application/json" }, body: "{}" };
		assert.equal(await statusOf(path, request), 404);
		const list = { ...WHOLE_LIST.list, count: 201 };
		assert.equal(await look({ list } as FleetView), 400);
		assert.equal(await look({ more: 1 } as FleetView), 400);
		const filter = `${gateway.base}/console/devices?filter=some`;
		assert.equal(await statusOf(filter, { headers }), 400);
	});

	it("finds some of many devices, and sends a part of them", async (t) => {
		const stateFolder = makeStateFolder(t);
		makeKnownDevices(stateFolder, 1_500);
		const gateway = await start(t, {}, stateFolder);
		const { messages, look } = await follow(t, gateway);
		assert.deepEqual([listIn(messages)?.found, listIn(messages)?.rows.length], [1_500, 200]);
		assert.equal(messages[0]?.totals?.problems.offline, 1_500);
		const list = { search: "LAMP_14 aa:bb", filter: "problems", tag: "", offset: 110, count: 40 } as const;
		await look({ list });
		await until(() => listIn(messages)?.found === 111, "lamp_14, lamp_140, lamp_1400 and so on are found");
		assert.deepEqual(
			listIn(messages)?.rows.map(({ alias }) => alias),
			["lamp_1499"],
		);
		await look({ list: { ...list, filter: "online" } });
		await until(() => listIn(messages)?.found === 0, "none of them is online");
		const answer = await (await fetch(`${gateway.base}/console/devices?search=lamp_149`)).json();
		assert.equal(answer.found, 11);
		const all = await (await fetch(`${gateway.base}/console/devices`)).json();
		assert.deepEqual([all.found, all.devices.length], [1_500, 1_000]);
	});

	it("sends a storm as a few messages", async (t) => {
		const gateway = await start(t);
		const { servers } = gateway.gateway;
		const ids = Array.from({ length: 30 }, (_, index) => `aa:bb:cc:00:01:${index + 10}`);
		await Promise.all(ids.map((id) => WireDevice.connect(t, gateway, { id })));
		const { messages } = await follow(t, gateway);
		const before = messages.length;
		for (const session of servers.sessions) {
			session.close("test");
		}
		await until(() => listIn(messages)?.rows.filter(({ online }) => !online).length === 30, "the page knows");
		assert.ok(messages.length - before < 15, `${messages.length - before} messages`);
	});
});

/** Files of devices that were known before, as the gateway writes them. */
function makeKnownDevices(stateFolder: string, count: number): void {
	mkdirSync(join(stateFolder, "devices"));
	for (let index = 0; index < count; index += 1) {
		const id = `aa:bb:${index}`;
		const board = { name: "lamp", version: "1.0.0" };
		const record = {
			id,
			alias: `lamp_${index}`,
			board,
			lastSeen: 1,
			tools: [],
			resources: [],
			resourceTemplates: [],
			prompts: [],
		};
		writeFileSync(join(stateFolder, "devices", `${index}.json`), JSON.stringify(record));
	}
}

describe("the tokens in the console", () => {
	const asOperator = async (t: TestContext) => {
		const gateway = await startWithToken(t, { operator: true });
		const { headers } = await signIn(gateway, gateway.secret);
		const send = (method: string, path: string, json?: object) =>
			fetch(`${gateway.base}${path}`, {
				method,
				headers: { ...headers, Origin: gateway.base, "Content-Type": "application/json" },
				...(json && { body: JSON.stringify(json) }),
			});
		return { ...gateway, headers, send };
	};

	it("are created, shown once, listed without their secret, and revoked", async (t) => {
		const { base, send } = await asOperator(t);
		const created = await send("POST", "/tokens", { name: "kiosk", kind: "client", devices: ["aa:bb"] });
		const { token } = await created.json();
		assert.equal(created.status, 201);
		const headers = { Authorization: `Bearer ${token}` };
		assert.equal(await statusOf(`${base}/devices`, { headers }), 200);
		const list = await (await send("GET", "/tokens")).json();
		const kiosk = list.tokens.find(({ name }: { name: string }) => name === "kiosk");
		assert.deepEqual([kiosk.kind, kiosk.devices, typeof kiosk.lastUsed], ["client", ["aa:bb"], "number"]);
		assert.doesNotMatch(JSON.stringify(list), /xsmcp_|sha256|salt/);
		assert.equal((await send("DELETE", "/tokens/kiosk")).status, 204);
		assert.equal(await statusOf(`${base}/devices`, { headers }), 401);
	});

	it("cannot be changed with a token that is not an operator's", async (t) => {
		const gateway = await startWithToken(t, { userTools: true });
		const Authorization = `Bearer ${gateway.secret}`;
		for (const method of ["GET", "POST"]) {
			assert.equal(await statusOf(`${gateway.base}/tokens`, { method, headers: { Authorization } }), 403);
		}
		const remove = { method: "DELETE", headers: { Authorization } };
		assert.equal(await statusOf(`${gateway.base}/tokens/me`, remove), 403);
		assert.equal(await statusOf(`${gateway.base}/servers/x/restart`, { ...remove, method: "POST" }), 403);
	});

	it("have to make sense", async (t) => {
		const { send } = await asOperator(t);
		for (const wrong of [
			{},
			{ name: "a b", kind: "client" },
			{ name: "me", kind: "client" },
			{ name: "x", kind: "device", userTools: true },
			{ name: "x", kind: "client", operator: true, devices: ["a"] },
			{ name: "x", kind: "client", expires: "tomorrow" },
		]) {
			assert.equal((await send("POST", "/tokens", wrong)).status, 400, JSON.stringify(wrong));
		}
		assert.equal((await send("DELETE", "/tokens/nobody")).status, 400);
	});
});

describe("a device in the console", () => {
	it("is disconnected by the operator", async (t) => {
		const gateway = await start(t);
		await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:00:01" });
		const path = `${gateway.base}/devices/aa:bb:cc:00:00:01/session`;
		assert.equal(await statusOf(path, { method: "DELETE" }), 204);
		await until(() => gateway.gateway.servers.find("aa:bb:cc:00:00:01")?.online === false, "it is offline");
	});
});
