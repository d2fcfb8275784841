import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import { until } from "../../../host-test/support/until.js";
import { connectClient, WireDevice } from "../support/gateway.js";
import { type StartedProgram, startProgram } from "../support/program.js";
import { LAMP, setVolume, startCluster, untilAt } from "./support/gateways.js";
import { NatsServer, whyNoNats } from "./support/nats-server.js";

const GUIDE = readFileSync(new URL("../../../docs/gateway/cluster.md", import.meta.url), "utf8");

/** The permissions that the guide shows, for gateways a and b. */
function permissions(): string {
	const block = GUIDE.split("```\n").find((each) => each.startsWith("authorization")) ?? "";
	const user = block.slice(block.indexOf("{ user"), block.lastIndexOf("} }") + 3);
	const ofB = user.replace("user: a", "user: b").replaceAll('.a"', '.b"').replace("xsmcp.to.a.>", "xsmcp.to.b.>");
	return block.replace(user, `${user}\n${ofB}`);
}

describe("the security of a cluster", { skip: whyNoNats }, () => {
	it("needs no more permissions than the guide's", async (t) => {
		const nats = await NatsServer.start(t, permissions());
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

	it("keeps a gateway from taking another one's calls", async (t) => {
		const nats = await NatsServer.start(t, permissions());
		const thief = await connect({ servers: `127.0.0.1:${nats.port}`, user: "b", pass: "change me" });
		t.after(() => thief.close());
		const refused = new Promise((resolve) => {
			thief.subscribe("xsmcp.to.a.call", { callback: (error) => resolve(error) });
		});
		assert.match(String(await refused), /permission/i);
	});

	it("has the tokens of one gateway at the others, once their file is copied", async (t) => {
		const nats = await NatsServer.start(t);
		const [a, b] = (await startCluster(t, nats)) as [StartedProgram, StartedProgram];
		const token = await a.tokens.add({ name: "desk", kind: "client" });
		const ask = async () =>
			(await fetch(`${b.base}/devices`, { headers: { Authorization: `Bearer ${token}` } })).status;
		for (const name of ["tokens.json", "tokens-needed.json"]) {
			copyFileSync(join(a.stateFolder, name), join(b.stateFolder, name));
		}
		assert.equal(await ask(), 200);
		assert.equal((await fetch(`${b.base}/devices`)).status, 401);
	});

	it("stores no secrets", async (t) => {
		const nats = await NatsServer.start(t);
		const [a] = (await startCluster(t, nats, ["a"])) as [StartedProgram];
		const token = await a.tokens.add({ name: "lamp", kind: "device" });
		await WireDevice.connect(t, a, { token });
		const connection = await connect({ servers: `127.0.0.1:${nats.port}` });
		t.after(() => connection.close());
		const kvm = new Kvm(connection);
		const read = async (): Promise<string[]> => {
			const stored: string[] = [];
			for (const name of ["xsmcp_gateways", "xsmcp_devices", "xsmcp_lists"]) {
				const bucket = await kvm.open(name);
				for await (const key of await bucket.keys()) {
					stored.push((await bucket.get(key))?.string() ?? "");
				}
			}
			return stored;
		};
		await until(async () => (await read()).length >= 3, "a gateway, a device and its lists are stored");
		const stored = (await read()).join();
		assert.match(stored, /set_volume/);
		assert.ok(!stored.includes(token));
	});
});

describe("another version in the cluster", { skip: whyNoNats }, () => {
	it("may send members that this one does not know, and entries that it cannot read", async (t) => {
		const nats = await NatsServer.start(t);
		const [a, b] = (await startCluster(t, nats)) as [StartedProgram, StartedProgram];
		await WireDevice.connect(t, a);
		await untilAt(b, "a");
		const connection = await connect({ servers: `127.0.0.1:${nats.port}` });
		t.after(() => connection.close());
		const devices = await new Kvm(connection).open("xsmcp_devices");
		const key = Buffer.from(LAMP).toString("base64url");
		const entry = (await devices.get(key))?.json<Record<string, unknown>>();
		await devices.put("bm90aGluZw", JSON.stringify({ v: 9, colour: "red" }));
		await devices.put("bm9KU09O", "{");
		await devices.put(key, JSON.stringify({ ...entry, v: 2, colour: "red", alias: "later" }));
		for (const { gateway } of [a, b]) {
			await until(() => gateway.servers.find("later")?.online === true, "the known members are read");
		}
		connection.publish("xsmcp.to.a.call", JSON.stringify({ v: 9 }));
		connection.publish("xsmcp.to.a.later", "{");
		connection.publish("xsmcp.event.b", "{");
		const client = await connectClient(t, new URL(`${b.base}/mcp/later`), "2026-07-28");
		const result = await client.callTool({ name: "self_audio_speaker_set_volume", arguments: { volume: 1 } });
		assert.equal(JSON.stringify(result.content).includes("true"), true);
	});
});
