import assert from "node:assert/strict";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { jetstream } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { until } from "../../../host-test/support/until.js";
import { SharedApprovals } from "../../src/cluster/shared-approvals.js";
import { SharedClock } from "../../src/cluster/shared-clock.js";
import { withLock } from "../../src/config/file-lock.js";
import { makeSignInCode } from "../../src/config/sign-in-code.js";
import { TokenStore } from "../../src/config/token-store.js";
import { activate, BOARD, bootstrap } from "../support/bootstrap.js";
import { FREE_PORTS, startListening } from "../support/command-line.js";
import { Gate } from "../support/gate.js";
import { makeStateFolder, type StartedProgram, startProgram } from "../support/program.js";
import { askTokens, Browser, beginSignIn, type Page, startSignIn, statusOf } from "../support/sign-in.js";
import { startCluster } from "./support/gateways.js";
import { NatsServer, whyNoNats } from "./support/nats-server.js";

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
		await until(() => grantsAt(a) === 1, "a has the sign-in");
		assert.notEqual(await statusOf(a.base, body.access_token), 401);
		const renewed = await refreshAt(a, body.refresh_token);
		assert.equal(renewed.status, 200);
		const again = await refreshAt(b, body.refresh_token);
		assert.equal(again.body.refresh_token, renewed.body.refresh_token, "an answer may be lost");
		const next = await refreshAt(b, renewed.body.refresh_token);
		assert.equal(next.status, 200);
		assert.equal((await refreshAt(a, body.refresh_token)).status, 400, "it was replaced twice");
		for (const gateway of [a, b]) {
			await until(() => grantsAt(gateway) === 0, "the sign-in has ended");
			assert.equal(await statusOf(gateway.base, next.body.access_token), 401);
		}
	});

	it("gives tokens once, at whichever gateways the code or the refresh token is used at the same time", async (t) => {
		const { a, b, exchange, refreshAt, grantsAt } = await startSignedIn(t);
		const exchanged = await Promise.all([a, b].map(({ base }) => askTokens(base, exchange)));
		assert.equal(exchanged.filter(({ status }) => status === 200).length, 1);
		const { body } = exchanged.find(({ status }) => status === 200) as (typeof exchanged)[0];
		await until(() => grantsAt(a) === grantsAt(b), "both have the same");
		const renewed = await Promise.all([a, b].map((gateway) => refreshAt(gateway, body.refresh_token)));
		const given = renewed.filter(({ status }) => status === 200).map(({ body }) => body.refresh_token);
		assert.ok(new Set(given).size <= 1);
	});

	it("ends if its code is used again at a gateway that does not have the sign-in yet", async (t) => {
		const { a, b, exchange, grantsAt } = await startSignedIn(t);
		const replayed = await withLock(join(b.stateFolder, "tokens.json"), async () => {
			assert.equal((await askTokens(a.base, exchange)).status, 200);
			const waiting = askTokens(b.base, exchange);
			await delay(300);
			return { waiting };
		});
		assert.equal((await replayed.waiting).status, 400);
		await until(() => grantsAt(a) === 0 && grantsAt(b) === 0, "the sign-in has ended");
	});

	it("is renewed once, although a gateway has not stored another one's renewal yet", async (t) => {
		const { a, b, exchange, refreshAt, grantsAt } = await startSignedIn(t);
		const { body } = await askTokens(a.base, exchange);
		await until(() => grantsAt(b) === 1, "b has the sign-in");
		const late = await withLock(join(b.stateFolder, "tokens.json"), async () => {
			const waiting = refreshAt(b, body.refresh_token);
			await delay(300);
			const renewed = await refreshAt(a, body.refresh_token);
			assert.equal(renewed.status, 200);
			await delay(300);
			return { waiting, renewed };
		});
		assert.equal((await late.waiting).body.refresh_token, late.renewed.body.refresh_token);
		assert.equal(grantsAt(a), 1);
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
		const [record] = new TokenStore(a.stateFolder).records.filter(({ grant }) => grant !== undefined);
		const left = Date.parse(record?.grant?.accessExpires as string) - Date.now();
		assert.ok(left < 3_600_000 + AHEAD / 2, "the token lasts for an hour by the clock of the cluster");
	});
});

describe("the page of a sign-in at a cluster", { skip: whyNoNats }, () => {
	/** Opens the page at the first gateway. */
	async function openPage(t: TestContext) {
		const { nats, a, b } = await startTwoWithSignIn(t);
		const { url, exchange } = await beginSignIn(a.base, {}, b.base);
		const browser = new BalancedBrowser(a.base);
		const { request } = await browser.open(url);
		const enter = (gateway: StartedProgram, secret: string): Promise<Page> =>
			browser.submitAt(gateway, { request, secret, answer: "go" });
		return { nats, a, b, exchange, browser, enter };
	}

	it("is shown, filled in and answered at different gateways", async (t) => {
		const { a, b, exchange, browser, enter } = await openPage(t);
		const { request } = await enter(b, a.operator);
		const { location } = await browser.submitAt(a, { request, answer: "go", tools: "control" });
		assert.equal((await askTokens(b.base, exchange(location))).status, 200);
	});

	it("takes a code of the command line at any gateway, once", async (t) => {
		const { a, b, enter } = await openPage(t);
		const code = makeSignInCode(a.stateFolder);
		await until(() => !existsSync(join(a.stateFolder, "sign-in-code.json")), "the cluster has the code");
		const pages = await Promise.all([a, b, a, b].map((gateway) => enter(gateway, code.toLowerCase())));
		assert.deepEqual(pages.map(({ status }) => status).sort(), [200, 401, 401, 401]);
		assert.deepEqual([(await enter(a, code)).status, (await enter(b, code)).status], [401, 401]);
	});

	it("takes the newest code of the command line only", async (t) => {
		const { a, b, enter } = await openPage(t);
		const old = makeSignInCode(a.stateFolder);
		await until(() => !existsSync(join(a.stateFolder, "sign-in-code.json")), "the cluster has the code");
		await delay(2);
		const code = makeSignInCode(b.stateFolder);
		assert.equal((await enter(b, "2222-2222")).status, 401);
		assert.deepEqual([(await enter(a, old)).status, (await enter(a, code)).status], [401, 200]);
	});

	it("takes a code at the gateway where it was made at once, and says that it cannot without NATS", async (t) => {
		const { nats, a, b, enter } = await openPage(t);
		await nats.kill();
		await until(() => b.log().includes("the connection to NATS is lost"), "b has noticed");
		const code = makeSignInCode(b.stateFolder);
		const { status, html } = await enter(b, code);
		assert.equal(status, 503);
		assert.match(html, /the cluster cannot be reached/);
		await nats.run();
		for (const { log } of [a, b]) {
			await until(() => log().includes("the connection to NATS is back"), "both are back");
		}
		assert.deepEqual([(await enter(b, code)).status, (await enter(a, code)).status], [200, 401]);
	});
});

describe("codes of the command line", { skip: whyNoNats }, () => {
	it("that two gateways make at the same moment: only the newest is taken", async (t) => {
		const bucket = await (await (await NatsServer.start(t)).openBuckets(t)).create("approvals");
		const open = () => {
			const folder = makeStateFolder();
			const approvals = new SharedApprovals(folder, new SharedClock(assert.fail), assert.fail);
			approvals.use(bucket);
			return { folder, approvals };
		};
		const [a, b] = [open(), open()];
		const old = makeSignInCode(a.folder);
		await delay(2);
		const code = makeSignInCode(b.folder);
		await Promise.all([a.approvals.flush(), b.approvals.flush()]);
		assert.equal(await a.approvals.takeSignInCode(old), false);
		assert.equal(await a.approvals.takeSignInCode(code), true);
	});

	it("that NATS may have are not written again: NATS may have forgotten that they were used", async (t) => {
		const nats = await NatsServer.start(t);
		const gate = await Gate.open(t, nats.port);
		const openBucket = async (servers: string) => {
			const connection = await nats.connect(t, { servers, reconnect: false });
			return await new Kvm(jetstream(connection, { timeout: 500 })).create("approvals", { storage: "memory" });
		};
		const folder = makeStateFolder();
		const open = () => new SharedApprovals(folder, new SharedClock(assert.fail), assert.fail);
		const [a, b] = [open(), open()];
		b.use(await openBucket(nats.url));
		const bucket = await openBucket(gate.url);
		const create = bucket.create.bind(bucket);
		bucket.create = (...entry) => {
			gate.mute();
			return create(...entry);
		};
		a.use(bucket);
		const code = makeSignInCode(folder);
		await assert.rejects(a.flush(), "the reply of NATS does not arrive");
		assert.equal(await b.takeSignInCode(code), true);
		await nats.kill();
		await nats.run();
		for (const each of [a, b]) {
			each.use(await openBucket(nats.url));
		}
		await a.flush();
		assert.equal(await b.takeSignInCode(code), false);
	});
});
