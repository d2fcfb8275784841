import type { Board, System } from "../hardware/hardware.js";
import { FIRMWARE } from "../settings/firmware.js";

/** Who asks. */
export interface Identity {
	readonly board: Pick<Board, "name" | "screen" | "network"> & { readonly system: System };
	/** The device's UUID. */
	readonly uuid: string;
	/** Empty for none. */
	readonly serialNumber: string;
}

/** The layout version that the C++ firmware uses. */
const LAYOUT_VERSION = 2;

const LANGUAGE = "en-US";

/** The headers of both requests. The activation's version is 2 for a device that has a serial number. */
export function bootstrapHeaders({ board, uuid, serialNumber }: Identity): Map<string, string> {
	const headers = new Map([
		["Device-Id", board.system.macAddress],
		["Client-Id", uuid],
		["Activation-Version", serialNumber === "" ? "1" : "2"],
		["User-Agent", `${board.name}/${FIRMWARE.version}`],
		["Accept-Language", board.system.info().language ?? LANGUAGE],
		["Content-Type", "application/json"],
	]);
	if (serialNumber !== "") {
		headers.set("Serial-Number", serialNumber);
	}
	return headers;
}

/** What the device reports about itself, in the layout of the C++ firmware. Unknown values are omitted. */
export function bootstrapReport({ board, uuid }: Identity): object {
	const { system, screen, network } = board;
	const { language = LANGUAGE, minimum_free_heap_size: heap, ...info } = system.info();
	return {
		version: LAYOUT_VERSION,
		language,
		...(heap !== undefined && { minimum_free_heap_size: String(heap) }),
		mac_address: system.macAddress,
		uuid,
		partition_table: [],
		ota: { label: "" },
		...info,
		application: { name: FIRMWARE.name, version: FIRMWARE.version },
		...(screen && { display: { monochrome: screen.monochrome, width: screen.width, height: screen.height } }),
		board: {
			type: board.name,
			name: board.name,
			...info.board,
			...(network?.ssid !== undefined && { ssid: network.ssid }),
			...(network?.rssi !== undefined && { rssi: network.rssi }),
			mac: system.macAddress,
		},
	};
}
