import Ethernet from "embedded:network/interface/ethernet";
import Instrumentation from "instrumentation";
import { EthernetNetwork } from "../../drivers/ethernet-network.js";
import { openChip } from "../../drivers/open-chip.js";
import type { Board } from "../../hardware.js";

/** Memory in use, in bytes. Undefined in a build without instrumentation. */
const memory = (): object => {
	const read = (name: Parameters<typeof Instrumentation.map>[0]): number | undefined =>
		Instrumentation.get(Instrumentation.map(name));
	return {
		free_heap_size: read("System Free Memory"),
		slots: read("XS Slot Heap Used"),
		chunks: read("XS Chunk Heap Used"),
		stack: read("XS Stack Used"),
		collections: read("XS Garbage Collection Count"),
	};
};

/** A chip in QEMU, with Ethernet instead of Wi-Fi. `self.get_system_info` reports its memory, too. */
export const openBoard = () => {
	const network = new EthernetNetwork({ io: Ethernet }, (message) => trace(`${message}\n`));
	const { system, ...chip } = openChip("qemu", network.macAddress);
	return {
		...chip,
		network,
		system: {
			...system,
			info() {
				const info = system.info();
				return { ...info, board: { ...info.board, memory: memory() } };
			},
		},
		close: () => network.close(),
	} satisfies Board;
};
