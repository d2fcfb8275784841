import { describe, it } from "node:test";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import { until } from "../../../host-test/support/until.js";
import { keyOf } from "../../src/cluster/messages.js";
import { WireDevice } from "../support/gateway.js";
import type { StartedProgram } from "../support/program.js";
import { LAMP, startCluster, untilAt } from "./support/gateways.js";
import { NatsServer, whyNoNats } from "./support/nats-server.js";

const OTHER = "aa:bb:cc:00:00:02";

describe("the lists of a device of another gateway", { skip: whyNoNats }, () => {
	it("are requested again after a request has failed, without a change of the device", async (t) => {
		const nats = await NatsServer.start(t);
		const [a, b] = (await startCluster(t, nats)) as [StartedProgram, StartedProgram];
		await WireDevice.connect(t, a);
		await untilAt(b, "a");
		const connection = await connect({ servers: nats.url });
		t.after(() => connection.close());
		const kvm = new Kvm(connection);
		const devices = await kvm.open("xsmcp_devices");
		const entry = (await devices.get(keyOf(LAMP)))?.json<Record<string, unknown>>();
		const before = await kvm.open("xsmcp_lists");
		const lists = (await before.get(String(entry?.offers)))?.string() ?? "";
		await before.destroy();
		const other = { ...entry, id: OTHER, alias: "other", online: false, gateway: "c", offers: "another" };
		await devices.put(keyOf(OTHER), JSON.stringify(other));
		await until(() => b.log().includes(`${OTHER}: its lists cannot be read`), "the request has failed");
		const bucket = await kvm.create("xsmcp_lists", { history: 1, allow_direct: false });
		await bucket.put("another", lists);
		await until(() => b.gateway.servers.find(OTHER)?.tools.length === 2, "b has read them");
	});
});
