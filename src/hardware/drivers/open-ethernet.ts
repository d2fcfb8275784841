import Ethernet from "embedded:network/interface/ethernet";
import type { OpeningBoard } from "../board-data.js";
import type { Board } from "../hardware.js";
import { InterfaceNetwork } from "./interface-network.js";
import { openChip } from "./open-chip.js";
import { openClock } from "./open-esp32.js";

/** Opens the parts of an ESP32 with Ethernet, which connects by cable instead of Wi-Fi, and sets its clock. */
const openEthernet = (name: string, opening: OpeningBoard) => {
	const network = new InterfaceNetwork("ethernet", "Ethernet", Ethernet, openClock(opening));
	network.interface.connect();
	return { ...openChip(name, network.macAddress, opening), network } satisfies Board;
};

export default openEthernet;
