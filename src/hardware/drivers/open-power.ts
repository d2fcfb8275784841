import type { OpenMember } from "../board-data.js";
import { writeRegisters } from "./bus-chip.js";
import { boardBus, chipClass, openOptional } from "./open-optional.js";
import { PowerChip, type SdkPower } from "./power-chip.js";

interface BoardPower extends SdkPower {
	/** The supply of an amplifier, on some boards. */
	readonly speaker?: { enable: boolean };
	writeByte(register: number, value: number): void;
}

/** Opens the power chip of a board, which has its battery and may feed its backlight. */
export default ((opening) => {
	const { power } = opening.data;
	const { driver, registers, backlight } = typeof power === "object" ? power : { backlight: true };
	const Power = chipClass<new (options: object) => BoardPower>(driver, "peripheral", "Power");
	// The SDK's classes name the bus in two ways.
	const bus = boardBus();
	const chip = new Power({ sensor: bus, peripheral: bus });
	if (registers !== undefined) {
		writeRegisters(registers, (register, value) => chip.writeByte(register, value));
	}
	const { speaker } = chip;
	if (speaker !== undefined) {
		openOptional("amplifier", () => {
			speaker.enable = true;
		});
	}
	const battery = new PowerChip(chip);
	Object.assign(opening.board, { battery });
	if (backlight) {
		opening.backlight = battery;
	}
}) satisfies OpenMember;
