import Ethernet from "embedded:network/interface/ethernet";
import Time from "time";
import type { Board } from "../hardware.js";
import { InterfaceNetwork } from "./interface-network.js";
import { openChip } from "./open-chip.js";
import { log, openClock } from "./open-esp32.js";

/**
 * Opens the parts of an ESP32 with Ethernet, which connects by cable instead of Wi-Fi, and sets its clock.
 *
 * @param setTime sets the clock, in seconds since 1970
 */
const openEthernet = (name: string, setTime = (seconds: number): void => Time.set(seconds)) => {
	const time = { clock: openClock(setTime), needsTime: true, log };
	const network = new InterfaceNetwork("ethernet", "Ethernet", Ethernet, time);
	network.interface.connect();
	return { ...openChip(name, network.macAddress, setTime), network } satisfies Board;
};

export default openEthernet;
