import type { TestContext } from "node:test";
import { ENGINE, startDevice as startOn } from "../fixtures.js";

export async function startDevice(test: TestContext, config: Readonly<Record<string, unknown>>, macAddress?: string) {
	return await startOn(test, ENGINE, { config, ...(macAddress !== undefined && { macAddress }) });
}
