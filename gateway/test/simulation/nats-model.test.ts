import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { describe, test } from "node:test";
import { connect } from "@nats-io/transport-node";
import { NatsServer, whyNoNats } from "../cluster/support/nats-server.js";
import { NatsModel } from "./nats/nats-model.js";
import { runScript } from "./nats/script.js";

/** Serves the model at a port of this machine. Returns its address, and what closes it. */
async function serve(model: NatsModel): Promise<{ readonly url: string; readonly close: () => void }> {
	const sockets = new Set<Socket>();
	const server: Server = createServer((socket) => {
		sockets.add(socket);
		const { received, ended } = model.connect({ write: (bytes) => socket.write(bytes) });
		socket.on("data", received);
		socket.on("close", ended);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const ticks = setInterval(() => model.tick(), 100);
	const { port } = server.address() as { port: number };
	return {
		url: `127.0.0.1:${port}`,
		close: () => {
			clearInterval(ticks);
			for (const socket of sockets) {
				socket.destroy();
			}
			server.close();
		},
	};
}

async function seenAt(url: string): Promise<string[]> {
	const connection = await connect({ servers: url });
	try {
		return await runScript(connection);
	} finally {
		await connection.close();
	}
}

describe("the model of NATS", { skip: whyNoNats }, () => {
	test("gives the client of NATS the same answers as the server", async (t) => {
		const nats = await NatsServer.start(t);
		const model = await serve(new NatsModel(() => Date.now()));
		t.after(model.close);
		const [expected, actual] = [await seenAt(nats.url), await seenAt(model.url)];
		assert.deepEqual(actual, expected);
		assert.ok(expected.length > 60, `${expected.length} answers`);
	});
});
