import type { TestContext } from "node:test";
import type { ServerRegistry } from "xs-mcp-manager/core";

import { openUdpChannels, type UdpChannels } from "../src/devices/udp-channels.js";

export async function openChannels(test: TestContext, servers: ServerRegistry): Promise<UdpChannels> {
	const channels = await openUdpChannels(servers);
	test.after(() => channels.close());
	return channels;
}
