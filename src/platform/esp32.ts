import type { WiFiNetwork } from "../drivers/wifi-network.js";
import type { Board, System } from "../hardware/hardware.js";
import { openChip } from "./chip.js";
import { openWiFi } from "./wifi.js";

/** What every board with an ESP32 and Wi-Fi has: the network, and what `openChip` opens. */
export function openEsp32(
	name: string,
): Omit<Board, "close"> & { readonly network: WiFiNetwork; readonly system: System } {
	const network = openWiFi();
	return { ...openChip(name, network.macAddress), network };
}
