import { createServer } from "node:net";
import type { TestContext } from "node:test";
import { Aedes, type AedesOptions } from "aedes";
import { listen } from "../../../host-test/support/testing.js";

/** Starts another broker than the gateway's own, which is closed with its test. Returns its URL. */
export async function startBroker(test: TestContext, port = 0, options: AedesOptions = {}): Promise<string> {
	const aedes = await Aedes.createBroker(options);
	test.after(() => aedes.close());
	return `mqtt://127.0.0.1:${await listen(test, createServer(aedes.handle), port)}`;
}
