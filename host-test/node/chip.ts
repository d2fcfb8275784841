// The whole firmware with a chip's heap. A chip has the firmware's code and tables in flash; here they are in the heap, so
// the chip's room is counted from the started firmware.
import { bundle, chooseEngine, type HeapReport, VirtualDevice } from "xs-mcp-virtual-device";

/** The manifest's `creation`, less what is in use after boot without a backend, as the instruments of Moddable's simulator count it. */
const ROOM = { slots: 3_072 - 1_314, chunkBytes: 65_536 - 5_784, stackSlots: 1_024 };
const CONFIG = { chunkBytes: 65_536 };

/**
 * Extra memory while the script is loaded. Slots and chunks are taken away afterwards. The stack's part stays: the names at
 * the top of the script, which are in no stack on a chip, take it. In the simulator the firmware has a chip's stack.
 */
const FOR_LOADING = { slots: 8_192, chunkBytes: 262_144, stackSlots: 512 };

/** A script that takes slots and chunks away: an object with one property has two slots. */
const BALLAST =
	`{let chain;for(let made=0;made<${FOR_LOADING.slots / 2};made+=1)chain={chain};globalThis.slotBallast=chain}` +
	`globalThis.ballast=new ArrayBuffer(${FOR_LOADING.chunkBytes - ROOM.chunkBytes})`;

const { start, whyNotXs } = await chooseEngine("xs", { bits: 32 });

export { whyNotXs };

async function measure(firmware: string): Promise<HeapReport> {
	const device = new VirtualDevice({
		firmware,
		startEngine: () => start({}),
		config: { ...CONFIG, backend: "ws://127.0.0.1:1/" },
	});
	await device.start();
	const heap = await device.heap();
	device.stop();
	return heap as HeapReport;
}

async function prepare() {
	const firmware = await bundle(undefined, true);
	return { firmware, ...(await measure(firmware)) };
}

let prepared: ReturnType<typeof prepare> | undefined;

/** A device with a chip's room, which is not started yet. */
export async function makeChip(backend: string, photo?: Uint8Array): Promise<VirtualDevice> {
	prepared ??= prepare();
	const { firmware, slots, chunkBytes } = await prepared;
	const limits = {
		slots: slots + ROOM.slots + FOR_LOADING.slots,
		chunkBytes: chunkBytes + FOR_LOADING.chunkBytes,
		stackSlots: ROOM.stackSlots + FOR_LOADING.stackSlots,
	};
	const device = new VirtualDevice({
		firmware: `${firmware};${BALLAST}`,
		startEngine: () => start({ limits }),
		config: { ...CONFIG, backend },
	});
	device.environment.photo = photo;
	return device;
}
