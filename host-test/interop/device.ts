import type { TestContext } from "node:test";
import { bundle, chooseEngine, VirtualDevice } from "../../virtual-device/src/index.js";

const firmware = await bundle();
const engine = await chooseEngine("xs");

/** A virtual device that is stopped with its test, and its log. */
export async function startDevice(
	test: TestContext,
	config: Readonly<Record<string, unknown>>,
	macAddress?: string,
): Promise<{ device: VirtualDevice; log: string[] }> {
	const device = new VirtualDevice({
		firmware,
		startEngine: (onTrace) => engine.start({ onTrace }),
		config,
		...(macAddress !== undefined && { macAddress }),
	});
	const log: string[] = [];
	device.on("trace", (line) => log.push(line));
	test.after(() => device.stop());
	await device.start();
	return { device, log };
}
