import Ethernet from "embedded:network/interface/ethernet";
import Time from "time";
import type { Board } from "../hardware.js";
import { EthernetNetwork } from "./ethernet-network.js";
import { openChip } from "./open-chip.js";
import { openClock } from "./open-wifi.js";

/**
 * Opens the parts of an ESP32 with Ethernet, which connects by cable instead of Wi-Fi, and sets its clock.
 *
 * @param setTime sets the clock, in seconds since 1970
 */
const openEthernet = (name: string, setTime = (seconds: number): void => Time.set(seconds)) => {
	const network = new EthernetNetwork({ io: Ethernet }, (message) => trace(`${message}\n`), openClock(setTime));
	return { ...openChip(name, network.macAddress, setTime), network } satisfies Omit<Board, "close">;
};

export default openEthernet;
