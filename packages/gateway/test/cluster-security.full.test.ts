import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeAuthority } from "../../../host-test/support/certificate-authority.js";
import { until } from "../../../host-test/support/testing.js";
import type { SettingName } from "../src/config/settings.js";
import { connectClient, WireDevice } from "../testing/gateway.js";
import { setVolume, startCluster, untilAt } from "../testing/gateways.js";
import { NatsServer, whyNoNats } from "../testing/nats-server.js";
import { makeStateFolder, type StartedProgram, startProgram } from "../testing/program.js";

const GUIDE = readFileSync(new URL("../../../docs/gateway/cluster.md", import.meta.url), "utf8");

/** The lines of the guide for the configuration of NATS that begin with a word. */
function blockOf(word: string): string {
	return GUIDE.split("```\n").find((each) => each.startsWith(word)) ?? "";
}

/** The permissions that the guide shows, for gateways with these names. */
function permissions(names: readonly string[]): string {
	const block = blockOf("authorization");
	const user = block.slice(block.indexOf("{ user"), block.lastIndexOf("} }") + 3);
	const users = names.map((name) =>
		user
			.replace("user: a", `user: ${name}`)
			.replaceAll('.a"', `.${name}"`)
			.replace("xsmcp.to.a.>", `xsmcp.to.${name}.>`),
	);
	return block.replace(user, users.join("\n"));
}

describe("the security of a cluster", { skip: whyNoNats }, () => {
	it("needs no more permissions than the guide's", async (t) => {
		const nats = await NatsServer.start(t, permissions(["a", "b"]));
		const startOne = (name: string) =>
			startProgram(t, {
				cluster: nats.url.replace("//", `//${name}@`),
				clusterName: name,
				clusterPassword: "change me",
			});
		const [a, b] = [await startOne("a"), await startOne("b")];
		const device = await WireDevice.connect(t, a);
		await untilAt(b, "a");
		const client = await connectClient(t, new URL(`${b.base}/mcp`), "2026-07-28");
		assert.equal(await setVolume(client, 1), "true");
		assert.equal(device.calls.length, 1);
		const wrong = { cluster: nats.url, clusterName: "c", clusterPassword: "wrong" };
		await assert.rejects(startProgram(t, wrong), /cluster: nats:.*authorization/i);
	});

	it("works over TLS, and names what is wrong: certificate, password, a permission that is missing", async (t) => {
		const folder = makeStateFolder();
		makeAuthority(folder);
		const file = (name: string): string => join(folder, name);
		const tls = blockOf("tls").replace(/"[^"]*\.(crt|key)"/g, (_, end) => `"${file(`leaf.${end}`)}"`);
		const nats = await NatsServer.start(t, `${tls}\n${permissions(["a", "b"])}`);
		const start = (name: string, more: Partial<Record<SettingName, unknown>> = {}) =>
			startProgram(t, {
				cluster: nats.url.replace("nats://", `tls://${name}@`),
				clusterName: name,
				clusterPassword: "change me",
				clusterCa: file("ca.crt"),
				...more,
			});
		const [a, b] = [await start("a"), await start("b")];
		await WireDevice.connect(t, a);
		await untilAt(b, "a");
		const client = await connectClient(t, new URL(`${b.base}/mcp`), "2026-07-28");
		assert.equal(await setVolume(client, 1), "true");

		await assert.rejects(start("b", { clusterPassword: "wrong" }), /cluster: tls:.*Authorization Violation/);
		await assert.rejects(start("b", { clusterCa: undefined }), /cluster: tls:.*certificate/);
		await assert.rejects(start("b", { clusterCa: file("missing.crt") }), /missing\.crt/);
		const other = { cluster: nats.url.replace("nats://", "tls://b@"), clusterName: "c" };
		await assert.rejects(start("b", other), /Permissions Violation for Subscription to "xsmcp\.to\.c\.>"/);
	});

	it("names a permission that is missing", async (t) => {
		for (const [subject, said] of [
			["$JS.API.>", /Permissions Violation for Publish to "\$JS\.API\./],
			["$KV.xsmcp_short_lived.>", /Permissions Violation for Publish to "\$KV\.xsmcp_short_lived\./],
		] as const) {
			const nats = await NatsServer.start(t, permissions(["a"]).replace(`"${subject}", `, ""));
			const settings = { cluster: nats.url.replace("//", "//a@"), clusterName: "a", clusterPassword: "change me" };
			await assert.rejects(startProgram(t, settings), said);
		}
		const nats = await NatsServer.start(t, permissions(["a"]).replace('"xsmcp.event.a", ', ""));
		const settings = { cluster: nats.url.replace("//", "//a@"), clusterName: "a", clusterPassword: "change me" };
		const a = await startProgram(t, settings);
		const device = await WireDevice.connect(t, a);
		device.notify("notifications/state_changed", { newState: "speaking" });
		await until(() => /Permissions Violation for Publish to .*xsmcp\.event\.a/.test(a.log()), "the log names it");
		assert.match(a.log(), /cluster\.md lists the permissions/);
	});

	it("keeps a gateway from taking another one's calls", async (t) => {
		const nats = await NatsServer.start(t, permissions(["a", "b"]));
		const thief = await nats.connect(t, { user: "b", pass: "change me" });
		const refused = new Promise((resolve) => {
			thief.subscribe("xsmcp.to.a.call", { callback: (error) => resolve(error) });
		});
		assert.match(String(await refused), /permission/i);
	});

	it("stores no secrets", async (t) => {
		const nats = await NatsServer.start(t);
		const [a] = (await startCluster(t, nats, ["a"])) as [StartedProgram];
		const token = await a.tokens.add({ name: "lamp", kind: "device" });
		await WireDevice.connect(t, a, { token });
		const kvm = await nats.openBuckets(t);
		const read = async (): Promise<string[]> => {
			const stored: string[] = [];
			for (const name of ["xsmcp_store", "xsmcp_short_lived"]) {
				const bucket = await kvm.open(name);
				for await (const key of await bucket.keys()) {
					stored.push((await bucket.get(key))?.string() ?? "");
				}
			}
			return stored;
		};
		await until(async () => (await read()).length >= 4, "a gateway, a device, its lists and its token are stored");
		const stored = (await read()).join();
		assert.match(stored, /set_volume/);
		assert.match(stored, /"name":"lamp"/);
		assert.ok(!stored.includes(token));
	});
});
