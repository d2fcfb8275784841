import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { TestContext } from "node:test";
import { Aedes, type AedesOptions } from "aedes";

/** Starts another broker than the gateway's own, which is closed with its test. Returns its URL. */
export async function startBroker(test: TestContext, port = 0, options: AedesOptions = {}): Promise<string> {
	const aedes = await Aedes.createBroker(options);
	const server = createServer(aedes.handle);
	server.listen(port, "127.0.0.1");
	await once(server, "listening");
	test.after(() => aedes.close(() => server.close()));
	return `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
