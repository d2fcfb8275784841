import assert from "node:assert/strict";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import pino from "pino";
import { MemoryStore } from "xs-mcp-manager/core";
import { makeBindings, type PendingBinding } from "../src/devices/bootstrap/device-bindings.js";
import { openDeviceKey } from "../src/devices/device-key.js";
import { makeStateFolder, startProgram, tokensIn } from "../testing/program.js";

const LAMP = { deviceId: "lamp", clientId: "uuid", board: "lamp", version: "1.0.0", address: "192.168.1.9" };

function open(
	mode: "open" | "approve" | "closed",
	{ maxDevices = 100, folder = makeStateFolder(), store = new MemoryStore() } = {},
) {
	const tokens = tokensIn(folder);
	const settings = { bootstrap: mode, maxDevices };
	const log = pino({ enabled: false });
	const bindings = makeBindings({ settings, tokens, key: openDeviceKey(folder), shortLived: store, log });
	const wait = async (request = LAMP): Promise<PendingBinding> => (await bindings.request(request)) as PendingBinding;
	return { bindings, tokens, folder, wait };
}

describe("the bindings of devices", () => {
	it("forget a code after ten minutes", async (t) => {
		t.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
		const { bindings, wait } = open("approve");
		const { code } = await wait();
		t.mock.timers.tick(599_999);
		assert.equal(bindings.pendingOf(LAMP)?.code, code);
		t.mock.timers.tick(1);
		assert.deepEqual(bindings.pending, []);
		assert.equal(await bindings.approve(code), undefined);
		assert.equal(bindings.tokenOf(LAMP), undefined);
	});

	it("have a bound for devices that wait, in all", async (_t) => {
		const { bindings, wait } = open("approve");
		const ask = (index: number) => wait({ ...LAMP, deviceId: `lamp-${index}`, address: `192.168.1.${index % 50}` });
		await assert.rejects(Promise.all(Array.from({ length: 200 }, (_, index) => ask(index))), { status: 503 });
		assert.equal(bindings.pending.length, 128);
	});

	it("remove an expired code when another device starts to wait", async (t) => {
		t.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
		const store = new MemoryStore();
		const { wait } = open("approve", { store });
		await wait();
		t.mock.timers.tick(600_000);
		const { code } = await wait({ ...LAMP, deviceId: "fan" });
		assert.deepEqual(
			store.list("pending/").map(({ key }) => key),
			[`pending/${code}`],
		);
	});

	it("are approved or rejected once, although two gateways that share a store are asked at once", async () => {
		const store = new MemoryStore();
		const folder = makeStateFolder();
		const gateways = [open("approve", { folder, store }), open("approve", { folder, store })] as const;
		const { code } = await gateways[0].wait();
		assert.deepEqual(
			gateways[1].bindings.pending.map((each) => each.code),
			[code],
		);
		const approved = await Promise.all([...gateways, ...gateways].map(({ bindings }) => bindings.approve(code)));
		assert.equal(approved.filter((each) => each !== undefined).length, 1);
		assert.equal(await gateways[0].bindings.reject(code), false);
	});

	it("keep a device waiting whose approval could not be stored", async () => {
		const { bindings, wait } = open("approve", { maxDevices: 0 });
		const { code } = await wait();
		await assert.rejects(bindings.approve(code), { status: 503 });
		assert.equal(bindings.pendingOf(LAMP)?.code, code);
	});

	it("have a bound for devices that are bound without the operator in a second", async (t) => {
		t.mock.method(performance, "now", () => 5_000);
		const { bindings, tokens } = open("open");
		const ask = (index: number) => bindings.request({ ...LAMP, deviceId: `lamp-${index}` });
		const asked = await Promise.allSettled(Array.from({ length: 50 }, (_, index) => ask(index)));
		const rejected = asked.filter(({ status }) => status === "rejected");
		assert.equal(rejected.length, 40);
		assert.ok(rejected.every((each) => each.status === "rejected" && each.reason.status === 503));
		assert.equal(tokens.records.length, 10);
	});

	it("have a bound for devices that are bound, but a device that is bound may be bound again", async (_t) => {
		const { bindings, tokens } = open("open", { maxDevices: 2 });
		const first = await bindings.request(LAMP);
		await bindings.request({ ...LAMP, deviceId: "fan" });
		await assert.rejects(bindings.request({ ...LAMP, deviceId: "heater" }), { status: 503 });
		await tokens.remove("device:lamp");
		assert.notEqual(await bindings.request({ ...LAMP, clientId: "other" }), first);
	});

	it("keep the place of a bound device from another with its id, unless the operator approves that one", async (_t) => {
		const { bindings, wait } = open("open");
		const first = await bindings.request(LAMP);
		const thief = { ...LAMP, clientId: "other" };
		const { code } = await wait(thief);
		assert.match(code, /^[0-9]{6}$/);
		assert.equal(bindings.tokenOf(LAMP), first, "first come, first served");
		assert.equal(bindings.tokenOf(thief), undefined);
		assert.equal((await wait(thief)).code, code);
		await bindings.approve(code);
		assert.equal(bindings.tokenOf(LAMP), undefined);
		assert.notEqual(bindings.tokenOf(thief), undefined);
	});

	it("let one of two requests with the same id that come at once have its place", async (_t) => {
		const { bindings } = open("open");
		const clients = [LAMP, { ...LAMP, clientId: "other" }];
		const answers = await Promise.all(clients.map((each) => bindings.request(each)));
		assert.equal(answers.filter((answer) => typeof answer === "string").length, 1);
		assert.equal(clients.filter((each) => bindings.tokenOf(each) !== undefined).length, 1);
	});

	it("are not made with a key that is damaged, which could be guessed", async (_t) => {
		const { bindings, folder } = open("open");
		for (const damaged of ["", "00", "no key at all"]) {
			writeFileSync(join(folder, "device-key"), damaged);
			await assert.rejects(bindings.request(LAMP), /device-key is damaged/);
		}
	});

	it("are not made by a gateway whose key is damaged: it does not start", async (t) => {
		const stateFolder = makeStateFolder();
		writeFileSync(join(stateFolder, "device-key"), "00");
		await assert.rejects(startProgram(t, {}, stateFolder), {
			name: "ConfigurationError",
			message: /device-key is damaged: delete it/,
		});
	});

	it("cannot be made up from the stored tokens without the key, which only this user may read", async (_t) => {
		const { bindings, tokens, folder } = open("open");
		const token = (await bindings.request(LAMP)) as string;
		const key = join(folder, "device-key");
		assert.ok(!JSON.stringify(tokens.records).includes(readFileSync(key, "utf8")));
		if (process.platform !== "win32") {
			assert.equal(statSync(key).mode & 0o777, 0o600);
		}
		assert.equal(open("closed", { folder }).bindings.tokenOf(LAMP), token);
		rmSync(key);
		assert.equal(open("closed", { folder }).bindings.tokenOf(LAMP), undefined);
	});
});
