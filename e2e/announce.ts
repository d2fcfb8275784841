import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { announce as announceServices, describeServices } from "xs-mcp-gateway/announcement";
import type { GatewaySide } from "./fixtures.js";

export const LOOPBACK = "127.0.0.1";

export async function announce(test: TestContext, { config }: GatewaySide, host: string): Promise<() => Promise<void>> {
	const address = "0.0.0.0";
	const listener = { scheme: "ws", address, port: Number(new URL(config.backend).port) };
	// The broker comes first: it must not take the hostname.
	const services = describeServices([{ scheme: "mqtt", address, port: 1883 }, listener], host).map((each) => ({
		...each,
		restrictedAddresses: [LOOPBACK],
	}));
	const { prepareStackTrace } = Error;
	const close = await announceServices(services, ({ message }) => test.diagnostic(message), [LOOPBACK]);
	test.after(close);
	assert.equal(Error.prepareStackTrace, prepareStackTrace, "errors of this process have other stacks now");
	return close;
}
