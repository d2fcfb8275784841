import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import mqtt from "mqtt";
import { startPlainUpstream } from "xs-mcp-manager/testing/plain-upstream";
import { listen, until } from "../../../host-test/support/testing.js";
import type { DeviceSummary } from "../src/console/operator-routes.js";
import { connectClient, SET_VOLUME, WireDevice } from "../testing/gateway.js";
import {
	makeServersFile,
	makeStateFolder,
	type StartedProgram,
	sendJson,
	startProgram,
	startProgramWithDevice,
	tokensIn,
} from "../testing/program.js";

const [LAMP, FAN] = ["aa:bb:cc:00:00:01", "aa:bb:cc:00:00:02"];
const HELLO = { type: "hello", version: 3, transport: "mqtt", features: { mcp: true } };

function withToken(token: string): { headers: Record<string, string> } {
	return { headers: { Authorization: `Bearer ${token}` } };
}

async function devicesSeenBy({ base }: StartedProgram, init: RequestInit = {}): Promise<DeviceSummary[]> {
	const response = await fetch(`${base}/devices`, init);
	assert.equal(response.status, 200);
	return ((await response.json()) as { devices: DeviceSummary[] }).devices;
}

/** The events that a token's holder is told of, as they come. */
async function watch(t: TestContext, { base }: StartedProgram, init: RequestInit = {}): Promise<() => string> {
	const controller = new AbortController();
	t.after(() => controller.abort());
	const { body } = await fetch(`${base}/events`, { ...init, signal: controller.signal });
	let seen = "";
	void (async () => {
		for await (const chunk of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as never)) {
			seen += chunk;
		}
	})().catch(() => {});
	return () => seen;
}

async function callAs(principal: string, { gateway }: StartedProgram, args: object): Promise<void> {
	const found = gateway.catalog({ principal, userTools: false }, LAMP).findTool(SET_VOLUME.name);
	assert(found);
	await found.server.call(found.tool, args, { principal });
}

/** A broker's answer to these credentials: "accepted" or the reason. */
async function tryMqtt(url: string, clientId: string, password: string): Promise<string> {
	try {
		const client = await mqtt.connectAsync(url, { clientId, username: "any", password, reconnectPeriod: 0 }, false);
		client.publish(`xs-mcp/${clientId}/up`, JSON.stringify(HELLO));
		await client.endAsync();
		return "accepted";
	} catch (error) {
		return (error as Error).message;
	}
}

describe("the gateway as a program", () => {
	it("lets any device in until there is a token for devices, and then only those with a token", async (t) => {
		const { started } = await startProgramWithDevice(t, { id: LAMP });
		const token = await started.tokens.add({ name: "fans", kind: "device", devices: [FAN] });
		await assert.rejects(WireDevice.connect(t, started, { id: FAN }), /401/);
		await assert.rejects(WireDevice.connect(t, started, { id: FAN, token: "wrong-secret" }), /401/);
		await assert.rejects(WireDevice.connect(t, started, { id: "aa:bb:cc:00:00:03", token }), /401/, "not its token");
		await WireDevice.connect(t, started, { id: FAN, token });
		for (const [id, reason] of [
			[FAN, "no token"],
			[FAN, "unknown token"],
			["aa:bb:cc:00:00:03", "token of another device"],
		]) {
			assert.match(started.log(), new RegExp(`${id} from 127\\.0\\.0\\.1: ${reason} \\(401\\)`));
		}
		assert.ok(!started.log().includes("wrong-secret") && !started.log().includes(token));
	});

	it("starts without the tokens that it had only if it is told to be open, and remembers that", async (t) => {
		const stateFolder = makeStateFolder();
		await tokensIn(stateFolder).add({ name: "laptop", kind: "client" });
		await tokensIn(stateFolder).add({ name: "lamp", kind: "device" });
		rmSync(join(stateFolder, "store", "token"), { recursive: true });
		await assert.rejects(startProgram(t, {}, stateFolder), {
			name: "ConfigurationError",
			message: /^no token for clients is left.*token add NAME --for client.*--open.*\nno token for devices is left/,
		});
		const opened = await startProgram(t, { open: true }, stateFolder);
		assert.equal((await fetch(`${opened.base}/devices`)).status, 200);
		await opened.gateway.close();
		const later = await startProgram(t, {}, stateFolder);
		assert.equal((await fetch(`${later.base}/devices`)).status, 200);
	});

	it("needs tokens if other machines may reach it by a hostname or through a proxy", async (t) => {
		for (const flags of [{ allowedHosts: ["gateway.example"] }, { trustProxy: ["10.0.0.1"] }]) {
			await assert.rejects(startProgram(t, flags), {
				name: "ConfigurationError",
				message: /^(allowedHosts|trustProxy): other machines .*token add NAME --for client/,
			});
		}
	});

	it("takes a device's token as its MQTT password", async (t) => {
		const started = await startProgram(t, { mqtt: true });
		const url = started.gateway.urls.mqtt as string;
		const token = await started.tokens.add({ name: "lamp", kind: "device", devices: [LAMP] });
		assert.match(await tryMqtt(url, LAMP, "wrong-secret"), /bad user ?name or password/i);
		assert.match(await tryMqtt(url, FAN, token), /bad user ?name or password/i);
		assert.match(await tryMqtt(url, FAN, ""), /bad user ?name or password/i);
		for (const line of [`${LAMP}: unknown token`, `${FAN}: token of another device`, `${FAN}: no token`]) {
			await until(() => started.log().includes(line), `the log says "${line}"`);
		}
		assert.equal(await tryMqtt(url, LAMP, token), "accepted");
		assert.ok(!started.log().includes("wrong-secret") && !started.log().includes(token));
	});

	it("shows a client only the devices that its token is good for", async (t) => {
		const { started } = await startProgramWithDevice(t, { id: LAMP });
		await WireDevice.connect(t, started, { id: FAN });
		const all = withToken(await started.tokens.add({ name: "operator", kind: "client" }));
		const lampOnly = withToken(await started.tokens.add({ name: "lamp-client", kind: "client", devices: [LAMP] }));
		const ids = (devices: readonly DeviceSummary[]): string[] => devices.map(({ id }) => id);
		assert.deepEqual(ids(await devicesSeenBy(started, all)), [LAMP, FAN]);
		assert.deepEqual(ids(await devicesSeenBy(started, lampOnly)), [LAMP]);
		const fan = started.gateway.servers.find(FAN)?.alias;
		assert.equal((await fetch(`${started.base}/mcp/${fan}`, lampOnly)).status, 404);
		const forget = await fetch(`${started.base}/devices/${fan}`, { ...lampOnly, method: "DELETE" });
		assert.equal(forget.status, 404);
	});

	it("streams events about devices and calls, to each client about its devices only", async (t) => {
		const started = await startProgram(t);
		const all = withToken(await started.tokens.add({ name: "operator", kind: "client" }));
		const fanOnly = withToken(await started.tokens.add({ name: "fan-client", kind: "client", devices: [FAN] }));
		const [seen, seenByFan] = [await watch(t, started, all), await watch(t, started, fanOnly)];
		const device = await WireDevice.connect(t, started, { id: LAMP });
		device.notify("notifications/state_changed", { oldState: "idle", newState: "speaking" });
		await callAs("test", started, { volume: 5 });
		await device.unplug();
		await until(() => seen().includes("event: disconnected"), "the end is told");
		assert.match(seen(), /event: connected\ndata: \{"time":"[^"]+","device":"aa:bb:cc:00:00:01"/);
		assert.match(seen(), /event: notification\n.*"newState":"speaking"/);
		assert.match(seen(), /event: call\n.*"principal":"test","tool":"self\.audio_speaker\.set_volume".*"outcome":"ok"/);
		assert.equal(seenByFan(), ": connected\n\n");
	});

	it("counts devices, configured servers and calls", async (t) => {
		const { url } = await startPlainUpstream(t);
		const started = await startProgram(t, { serversFile: makeServersFile({ plain: { url } }) });
		await until(() => started.gateway.servers.find("plain")?.online === true, "the server is connected");
		await WireDevice.connect(t, started, { id: LAMP });
		await callAs("test", started, { volume: 5 });
		await assert.rejects(callAs("test", started, { volume: 500 }));
		const metrics = await (await fetch(`${started.base}/metrics`)).text();
		assert.match(metrics, /^xs_mcp_gateway_devices_connected 1$/m);
		assert.match(metrics, /^xs_mcp_gateway_devices_known 1$/m);
		assert.match(metrics, /^xs_mcp_gateway_servers_connected 1$/m);
		assert.match(metrics, /^xs_mcp_gateway_call_duration_seconds_count\{outcome="ok"\} 1$/m);
		assert.match(metrics, /^xs_mcp_gateway_call_duration_seconds_count\{outcome="invalid-arguments"\} 1$/m);
		assert.doesNotMatch(metrics, /aa:bb:cc/, "no label holds a device");
	});

	it("shows user-only tools only if the token or a setting allows them", async (t) => {
		const { started } = await startProgramWithDevice(t, { id: LAMP }, { userTools: [FAN] });
		await WireDevice.connect(t, started, { id: FAN });
		const toolsFor = async (token: string): Promise<string[]> => {
			const client = await connectClient(t, new URL(`${started.base}/mcp`), "2025-11-25", { token });
			return (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.endsWith("reboot"));
		};
		const plain = await started.tokens.add({ name: "plain", kind: "client" });
		const trusted = await started.tokens.add({ name: "trusted", kind: "client", userTools: true });
		assert.deepEqual(await toolsFor(plain), ["lamp_000002__self_reboot"]);
		assert.deepEqual(await toolsFor(trusted), ["lamp_000001__self_reboot", "lamp_000002__self_reboot"]);
	});

	it("forgets an offline device, but not an online one", async (t) => {
		const { started, device } = await startProgramWithDevice(t, { id: LAMP });
		const forget = async (): Promise<number> =>
			(await fetch(`${started.base}/devices/${LAMP}`, { method: "DELETE" })).status;
		assert.equal(await forget(), 409);
		await device.unplug();
		assert.equal(await forget(), 204);
		assert.deepEqual(await devicesSeenBy(started), []);
		assert.equal(await forget(), 404);
	});

	it("forgets every device that has been offline for some time, but only those that the token is good for", async (t) => {
		const started = await startProgram(t);
		await (await WireDevice.connect(t, started, { id: LAMP })).unplug();
		await (await WireDevice.connect(t, started, { id: FAN })).unplug();
		await WireDevice.connect(t, started, { id: "aa:bb:cc:00:00:03" });
		const lampOnly = withToken(await started.tokens.add({ name: "lamp-client", kind: "client", devices: [LAMP] }));
		const all = withToken(await started.tokens.add({ name: "operator", kind: "client" }));
		const forget = async (query: string, init: RequestInit) => {
			const response = await fetch(`${started.base}/devices${query}`, { ...init, method: "DELETE" });
			return [response.status, ((await response.json()) as { forgotten?: string[] }).forgotten];
		};
		assert.deepEqual(await forget("", all), [400, undefined], "all at once is never meant");
		assert.deepEqual(await forget("?offlineSeconds=soon", all), [400, undefined]);
		assert.deepEqual(await forget("?offlineSeconds=3600", all), [200, []]);
		assert.deepEqual(await forget("?offlineSeconds=0", lampOnly), [200, ["lamp_000001"]]);
		assert.deepEqual(await forget("?offlineSeconds=0", all), [200, ["lamp_000002"]]);
		assert.equal((await devicesSeenBy(started, all)).length, 1);
	});

	it("is one device, however its MAC address is written", async (t) => {
		const started = await startProgram(t);
		const token = await started.tokens.add({ name: "lamp", kind: "client", devices: [LAMP.toUpperCase()] });
		const first = await WireDevice.connect(t, started, { id: LAMP });
		await first.unplug();
		await WireDevice.connectTo(t, started.deviceUrl, { id: LAMP.toUpperCase() });
		await until(() => started.gateway.servers.find(LAMP)?.online === true, "it is online again");
		assert.deepEqual(
			started.gateway.servers.all.map(({ id }) => id),
			[LAMP],
		);
		assert.equal(started.gateway.servers.find(LAMP.toUpperCase())?.id, LAMP);
		assert.equal((await devicesSeenBy(started, withToken(token))).length, 1);
	});

	it("is renamed by operators, not by any client: an alias is the same for everybody", async (t) => {
		const { started } = await startProgramWithDevice(t, { id: LAMP });
		await WireDevice.connect(t, started, { id: FAN });
		const tokens = {
			one: await started.tokens.add({ name: "one", kind: "client", devices: [LAMP] }),
			all: await started.tokens.add({ name: "all", kind: "client" }),
			operator: await started.tokens.add({ name: "me", kind: "client", operator: true }),
		};
		const rename = async (token: string, alias: string): Promise<[number, boolean]> => {
			const response = await fetch(`${started.base}/devices/${encodeURIComponent(LAMP)}`, {
				method: "PATCH",
				headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
				body: JSON.stringify({ alias }),
			});
			return [response.status, (await response.text()).includes(FAN)];
		};
		// It would name the device that has this alias, which the client may not see.
		assert.deepEqual(await rename(tokens.one, "lamp_000002"), [403, false]);
		assert.deepEqual(await rename(tokens.all, "kitchen"), [403, false]);
		assert.deepEqual(await rename(tokens.operator, "kitchen"), [200, false]);
	});

	it("renames a device", async (t) => {
		const { started } = await startProgramWithDevice(t, { id: LAMP }, { aliases: { [FAN]: "hall" } });
		await WireDevice.connect(t, started, { id: FAN });
		const rename = async (device: string, body: object): Promise<[number, string]> => {
			const response = await sendJson("PATCH", `${started.base}/devices/${device}`, body);
			return [response.status, await response.text()];
		};
		const [status, text] = await rename(LAMP, { alias: "kitchen" });
		assert.deepEqual([status, (JSON.parse(text) as DeviceSummary).alias], [200, "kitchen"]);
		assert.equal((JSON.parse((await rename("kitchen", { title: "厨房" }))[1]) as DeviceSummary).title, "厨房");
		assert.equal((await rename("nobody", { alias: "x" }))[0], 404);
		for (const [device, body, message] of [
			["kitchen", {}, /expected alias, title or tags/],
			["kitchen", { alias: "hall" }, /alias hall: already assigned to/],
			["kitchen", { alias: "a__b" }, /expected 1 to 24/],
			["kitchen", { title: "a\nb" }, /title: expected at most 64 visible/],
			["hall", { alias: "cellar" }, /the setting aliases fixes it to hall/],
		] as const) {
			const [status, text] = await rename(device, body);
			assert.equal(status, 400);
			assert.match(text, message);
		}
	});

	it("names every port that is in use at once, and the flag to choose another, and leaves nothing running", async (t) => {
		const port = await listen(t, createServer());
		for (const taken of [{ httpPort: "--http-port", websocketPort: "--websocket-port" }, { mqttPort: "--mqtt-port" }]) {
			const lines = Object.entries(taken).map(([setting, flag]) => `${setting}: port ${port} is in use.*${flag}.*`);
			const flags = Object.fromEntries(Object.keys(taken).map((setting) => [setting, port]));
			await assert.rejects(startProgram(t, { mqtt: true, ...flags }), {
				name: "ConfigurationError",
				message: new RegExp(`^${lines.join("\n")}$`),
			});
		}
	});

	it("says when it cannot listen at an address", async (t) => {
		const tokens = { stateFolder: makeStateFolder() };
		await tokensIn(tokens.stateFolder).add({ name: "laptop", kind: "client" });
		await assert.rejects(startProgram(t, { ...tokens, httpAddress: "192.0.2.1" }), {
			name: "ConfigurationError",
			message: /^httpAddress, httpPort: .*EADDRNOTAVAIL/,
		});
	});

	it("says when it cannot reach the broker, without its password", async (t) => {
		const flags = { brokerUrl: "mqtt://127.0.0.1:1", brokerPassword: "hunter2", brokerUsername: "gateway" };
		await assert.rejects(startProgram(t, flags), (error: Error) => {
			assert.match(error.message, /^brokerUrl: mqtt:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/);
			assert.doesNotMatch(error.message, /hunter2/);
			return true;
		});
		await assert.rejects(startProgram(t, { brokerUrl: "mqtt://gateway:hunter2@127.0.0.1:1" }), {
			message: /^brokerUrl: mqtt:\/\/gateway:\*\*\*@127\.0\.0\.1:1: .*ECONNREFUSED/,
		});
	});

	it("says which alias cannot be used, and which state folder", async (t) => {
		const aliases = { [LAMP]: "My Lamp!" };
		await assert.rejects(startProgram(t, { aliases }), { name: "ConfigurationError", message: /^aliases: .*My Lamp!/ });
		const stateFolder = makeStateFolder();
		writeFileSync(join(stateFolder, "store"), "no folder");
		await assert.rejects(startProgram(t, {}, stateFolder), {
			name: "ConfigurationError",
			message: /^stateFolder .*EEXIST/,
		});
		const noFolder = join(stateFolder, "store");
		await assert.rejects(startProgram(t, {}, noFolder), {
			name: "ConfigurationError",
			message: /^stateFolder .*cannot be written/,
		});
	});

	it("says which certificate it cannot read", async (t) => {
		const flags = { httpCert: "no-such-cert.pem", httpKey: "no-such-key.pem" };
		await assert.rejects(startProgram(t, flags), {
			name: "ConfigurationError",
			message: /^httpCert: ENOENT.*no-such-cert\.pem/,
		});
	});
});
