import assert from "node:assert/strict";
import type { LookupFunction } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { WireDevice } from "../testing/gateway.js";
import { connect, makeStateFolder, startProgram } from "../testing/program.js";
import { done, PLAY } from "../testing/speaker.js";

const UPGRADE = { ...PLAY, name: "self.load", annotations: { audience: ["user"] } };
const OPEN = {
	name: "self.open",
	inputSchema: { type: "object", properties: { target: { type: "string", format: "uri" } } },
};

/** Resolves names as their beginnings say. */
const resolve = ((name: string, _options: unknown, callback: (...args: unknown[]) => void) => {
	const address = name.startsWith("public") ? "93.184.215.14" : "192.168.1.4";
	callback(null, [{ address, family: 4 }], 4);
}) as LookupFunction;

async function start(t: TestContext, settings: Parameters<typeof startProgram>[1] = {}, lookup = resolve) {
	const side = await startProgram(t, { userTools: ["*"], ...settings }, makeStateFolder(), { resolve: lookup });
	const device = await WireDevice.connect(t, side, { tools: [PLAY, UPGRADE, OPEN], onCall: () => done("true") });
	const client = await connect(t, side);
	const call = async (args: object, tool = "self_audio_speaker_play") => {
		const result = await client.callTool({ name: `lamp_000001__${tool}`, arguments: { ...args } });
		return (result.content as { text: string }[])[0]?.text ?? "";
	};
	return { side, device, call };
}

describe("a URL that a client has a device fetch", () => {
	it("is of a public host or of the gateway", async (t) => {
		const { side, device, call } = await start(t);
		for (const url of ["https://public.example/a.wav", "http://93.184.215.14/a.wav", `${side.base}/speech/a.wav`]) {
			assert.equal(await call({ url }), "true", url);
		}
		assert.equal(device.calls.length, 3);
	});

	it("is rejected with its host if that is of the device's network, however it is written", async (t) => {
		const { device, call } = await start(t);
		for (const url of [
			"http://192.168.1.1/admin",
			"http://nas.local/a.wav",
			"http://3232235777/admin",
			"HTTP://[::ffff:192.168.1.1]/",
			"http://[fd00::1]/",
			"http://127.0.0.1:1/",
		]) {
			assert.match(await call({ url }), /^url: .* is not a public address, and not this gateway.*fetchHosts/, url);
		}
		for (const url of ["http://public.example\\@192.168.1.1/", "http://public.example@192.168.1.1/"]) {
			assert.match(await call({ url }), /^url: expected a URL without user name/, url);
		}
		assert.match(await call({ target: "http://192.168.1.1/" }, "self_open"), /^target: /);
		assert.equal(device.calls.length, 0);
	});

	it("is looked up after the one before: a call may have thousands", async (t) => {
		let [pending, most] = [0, 0];
		const slow = ((...args: Parameters<LookupFunction>) => {
			pending += 1;
			most = Math.max(most, pending);
			setImmediate(() => {
				pending -= 1;
				resolve(...args);
			});
		}) as LookupFunction;
		const { call } = await start(t, {}, slow);
		const urls = Array.from({ length: 50 }, (_, at) => [`url${at}Url`, `http://public${at}.example/`]);
		await call(Object.fromEntries(urls));
		assert.equal(most, 1);
	});

	it("is of a host that the settings name, or of any", async (t) => {
		const named = await start(t, { fetchHosts: ["nas.local", "192.168.1.1:8000"] });
		assert.equal(await named.call({ url: "http://nas.local:9/a.wav" }), "true");
		assert.equal(await named.call({ url: "http://192.168.1.1:8000/a.wav" }), "true");
		assert.match(await named.call({ url: "http://192.168.1.1/" }), /not a public address/);
		const any = await start(t, { fetchHosts: ["*"] });
		assert.equal(await any.call({ url: "http://192.168.1.1/" }), "true");
	});

	it("is not limited for user-only tools", async (t) => {
		const { call } = await start(t);
		assert.equal(await call({ url: "http://192.168.1.1/a.bin" }, "self_load"), "true");
	});
});
