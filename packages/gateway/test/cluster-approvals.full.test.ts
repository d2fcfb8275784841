import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { makeSignInCode } from "../src/config/token-store.js";
import { activate, BOARD, bootstrap } from "../testing/bootstrap.js";
import { FREE_PORTS, startListening } from "../testing/command-line.js";
import { startCluster } from "../testing/gateways.js";
import { NatsServer, whyNoNats } from "../testing/nats-server.js";
import { makeStateFolder, openStoreFor, type StartedProgram, startProgram } from "../testing/program.js";
import { askTokens, Browser, beginSignIn, type Page, startSignIn, statusOf } from "../testing/sign-in.js";

/** Starts two gateways with one device-key, as the guide says. */
const startTwo = async (t: TestContext): Promise<StartedProgram[]> =>
	await startCluster(t, await NatsServer.start(t), ["a", "b"], { bootstrap: "approve" }, ["1", "1"]);

async function codesAt({ base }: StartedProgram): Promise<string[]> {
	const { pending } = (await (await fetch(`${base}/bindings`)).json()) as { pending: { code: string }[] };
	return pending.map(({ code }) => code);
}

describe("a device that waits for approval in a cluster", { skip: whyNoNats }, () => {
	it("is approved at any gateway, and has the same token at all", async (t) => {
		const [a, b] = (await startTwo(t)) as [StartedProgram, StartedProgram];
		const { code } = (await bootstrap(a, BOARD)).body.activation;
		await until(async () => (await codesAt(b)).includes(code), "b has the code");
		assert.equal((await bootstrap(b, BOARD)).body.activation.code, code);
		assert.equal((await fetch(`${b.base}/bindings/${code}`, { method: "POST" })).status, 200);
		await until(async () => (await activate(a, BOARD)) === 200, "a has it bound");
		const tokens = await Promise.all([a, b].map(async (each) => (await bootstrap(each, BOARD)).body.websocket.token));
		assert.match(tokens[0], /^xsmcp_/);
		assert.equal(tokens[0], tokens[1]);
		await until(async () => (await codesAt(a)).length === 0, "nothing waits at a");
	});

	it("is rejected at any gateway", async (t) => {
		const [a, b] = (await startTwo(t)) as [StartedProgram, StartedProgram];
		const { code } = (await bootstrap(a, BOARD)).body.activation;
		await until(async () => (await codesAt(b)).includes(code), "b has the code");
		assert.equal((await fetch(`${b.base}/bindings/${code}`, { method: "DELETE" })).status, 204);
		await until(async () => (await codesAt(a)).length === 0, "nothing waits at a");
	});

	it("needs gateways with the same key, which they say", async (t) => {
		const [a, b] = (await startCluster(t, await NatsServer.start(t))) as [StartedProgram, StartedProgram];
		for (const { log } of [a, b]) {
			await until(() => log().includes("has another device-key"), "it warns");
		}
	});
});

/** Two gateways at one public URL. */
async function startTwoWithSignIn(t: TestContext) {
	const nats = await NatsServer.start(t);
	const a = await startSignIn(t, { cluster: nats.url, clusterName: "a" });
	const stateFolder = makeStateFolder();
	copyFileSync(join(a.stateFolder, "device-key"), join(stateFolder, "device-key"));
	const b = await startProgram(t, { cluster: nats.url, clusterName: "b", publicUrl: a.base }, stateFolder);
	return { nats, a, b };
}

/** Two gateways, and a client that a person has allowed at the first one. */
async function startSignedIn(t: TestContext) {
	const { nats, a, b } = await startTwoWithSignIn(t);
	const { clientId, url, exchange: exchangeFor } = await beginSignIn(a.base, {}, b.base);
	const exchange = exchangeFor(await new Browser(a.base).approve(url, a.operator));
	const refreshAt = (gateway: StartedProgram, token: string) =>
		askTokens(gateway.base, { grant_type: "refresh_token", client_id: clientId, refresh_token: token });
	const grantsAt = ({ tokens }: StartedProgram): number => {
		tokens.refresh();
		return tokens.records.filter(({ grant }) => grant !== undefined).length;
	};
	return { nats, a, b, exchange, refreshAt, grantsAt };
}

describe("a sign-in at a cluster", { skip: whyNoNats }, () => {
	it("is approved at one gateway, exchanged and renewed at others, valid at all, and ended at all", async (t) => {
		const { a, b, exchange, refreshAt, grantsAt } = await startSignedIn(t);
		const { status, body } = await askTokens(b.base, exchange);
		assert.equal(status, 200, JSON.stringify(body));
		assert.notEqual(await statusOf(b.base, body.access_token), 401);
		await until(async () => (await statusOf(a.base, body.access_token)) !== 401, "a has the sign-in");
		const renewed = await refreshAt(a, body.refresh_token);
		assert.equal(renewed.status, 200);
		const again = await refreshAt(b, body.refresh_token);
		assert.equal(again.body.refresh_token, renewed.body.refresh_token, "an answer may be lost");
		const next = await refreshAt(b, renewed.body.refresh_token);
		assert.equal(next.status, 200);
		await until(async () => (await refreshAt(a, body.refresh_token)).status === 400, "it was replaced twice");
		await until(() => grantsAt(a) === 0, "the sign-in has ended");
		for (const { base } of [a, b]) {
			await until(async () => (await statusOf(base, next.body.access_token)) === 401, "the gateway knows that");
		}
	});

	it("gives tokens once, at whichever gateways the code or the refresh token is used at the same time", async (t) => {
		const { a, b, exchange, refreshAt } = await startSignedIn(t);
		const exchanged = await Promise.all([a, b].map(({ base }) => askTokens(base, exchange)));
		assert.equal(exchanged.filter(({ status }) => status === 200).length, 1);
		const { body } = exchanged.find(({ status }) => status === 200) as (typeof exchanged)[0];
		const renewed = await Promise.all([a, b].map((gateway) => refreshAt(gateway, body.refresh_token)));
		const given = renewed.filter(({ status }) => status === 200).map(({ body }) => body.refresh_token);
		assert.ok(new Set(given).size <= 1);
	});

	it("is not renewed while NATS is away, which is said; its tokens stay valid", async (t) => {
		const { nats, a, exchange, refreshAt } = await startSignedIn(t);
		const { body } = await askTokens(a.base, exchange);
		await nats.kill();
		await until(() => a.log().includes("the connection to NATS is lost"), "a has noticed");
		const { status, body: failure } = await refreshAt(a, body.refresh_token);
		assert.deepEqual([status, failure.error], [503, "temporarily_unavailable"]);
		assert.notEqual(await statusOf(a.base, body.access_token), 401);
		await nats.run();
		await until(() => a.log().includes("the connection to NATS is back"), "a is back");
		assert.equal((await refreshAt(a, body.refresh_token)).status, 200);
	});
});

/** A browser at the gateways' public URL, behind which a load balancer chooses the gateway of each request. */
class BalancedBrowser extends Browser {
	readonly #publicUrl: string;

	constructor(publicUrl: string) {
		super(publicUrl);
		this.#publicUrl = publicUrl;
	}

	async submitAt({ base }: Pick<StartedProgram, "base">, fields: Record<string, string>): Promise<Page> {
		const body = new URLSearchParams(fields);
		return await this.open(`${base}/oauth/authorize`, { method: "POST", body, headers: { Origin: this.#publicUrl } });
	}
}

/** Milliseconds by which the clock of a process is ahead. */
const AHEAD = 600_000;

/** A module that sets the clock. */
const OTHER_CLOCK = `data:text/javascript,${encodeURIComponent(`
	const Right = Date;
	globalThis.Date = class extends Right {
		constructor(...args) { args.length > 0 ? super(...args) : super(Right.now() + ${AHEAD}); }
		static now() { return Right.now() + ${AHEAD}; }
	};`)}`;

describe("gateways of a cluster whose clocks differ by ten minutes", { skip: whyNoNats }, () => {
	it("take each other's codes, tokens and pages, and say by how much the clock is wrong", async (t) => {
		const nats = await NatsServer.start(t);
		const a = await startSignIn(t, { cluster: nats.url, clusterName: "a" });
		const stateFolder = makeStateFolder();
		copyFileSync(join(a.stateFolder, "device-key"), join(stateFolder, "device-key"));
		const flags = ["--cluster", nats.url, "--cluster-name", "b", "--public-url", a.base, "--state-folder", stateFolder];
		const environment = { NODE_OPTIONS: `--import ${OTHER_CLOCK}` };
		const { output, base } = await startListening(t, ["serve", "--no-announce", ...FREE_PORTS, ...flags], environment);
		assert.match(output.stderr, /this computer's clock is 600\.\d s ahead of that of NATS/);
		const { url, exchange } = await beginSignIn(a.base);
		const browser = new BalancedBrowser(a.base);
		const { request } = await browser.open(url);
		const second = await browser.submitAt({ base }, { request, secret: a.operator, answer: "go" });
		assert.equal(second.status, 200, second.html);
		const third = await browser.submitAt(a, { request: second.request, answer: "go", tools: "control" });
		const { status, body } = await askTokens(base, exchange(third.location));
		assert.equal(status, 200, JSON.stringify(body));
		await until(async () => (await statusOf(a.base, body.access_token)) !== 401, "a has the sign-in");
		const [record] = a.tokens.records.filter(({ grant }) => grant !== undefined);
		const left = Date.parse(record?.grant?.accessExpires as string) - Date.now();
		assert.ok(left < 3_600_000 + AHEAD / 2, "the token lasts for an hour by the clock of the cluster");
	});
});

describe("the page of a sign-in at a cluster", { skip: whyNoNats }, () => {
	/** Opens the page at the first gateway. */
	async function openPage(t: TestContext) {
		const { nats, a, b } = await startTwoWithSignIn(t);
		const { url } = await beginSignIn(a.base, {}, b.base);
		const browser = new BalancedBrowser(a.base);
		const { request } = await browser.open(url);
		const enter = (gateway: StartedProgram, secret: string): Promise<Page> =>
			browser.submitAt(gateway, { request, secret, answer: "go" });
		return { nats, a, b, enter };
	}

	it("takes the newest code of the command line, at any gateway, once", async (t) => {
		const { nats, a, b, enter } = await openPage(t);
		const store = await openStoreFor(t, { cluster: nats.url, clusterName: "command-line" });
		const old = await makeSignInCode(store);
		const code = await makeSignInCode(store);
		assert.deepEqual([(await enter(b, "2222-2222")).status, (await enter(a, old)).status], [401, 401]);
		const pages = await Promise.all([a, b, a, b].map((gateway) => enter(gateway, code.toLowerCase())));
		assert.deepEqual(pages.map(({ status }) => status).sort(), [200, 401, 401, 401]);
		assert.deepEqual([(await enter(a, code)).status, (await enter(b, code)).status], [401, 401]);
	});

	it("says that a code cannot be used without NATS, which then is still valid", async (t) => {
		const { nats, b, enter } = await openPage(t);
		const code = await makeSignInCode(await openStoreFor(t, { cluster: nats.url, clusterName: "command-line" }));
		assert.equal((await enter(b, "2222-2222")).status, 401);
		await nats.kill();
		await until(() => b.log().includes("the connection to NATS is lost"), "b has noticed");
		const { status, html } = await enter(b, code);
		assert.equal(status, 503);
		assert.match(html, /the cluster(?:'|&#39;)s store is unreachable/);
		await nats.run();
		await until(async () => (await enter(b, code)).status === 200, "b takes it");
	});
});
