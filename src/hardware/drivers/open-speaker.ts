import { inBuild } from "../../platform/in-build.js";
import { openPlayer } from "../../sound/open-player.js";
import type { OpenMember } from "../board-data.js";
import { boardBus, openOptional } from "./open-optional.js";
import type { OpenCodecChip } from "./register-speaker.js";

/** Opens the speaker of a board. A codec chip sets the volume, else the player does, as it does if the chip does not answer. */
export default (({ data, board, log }) => {
	const { codec, address, i2s, volume = 70 } = typeof data.speaker === "object" ? data.speaker : {};
	const open = codec === undefined ? undefined : inBuild<OpenCodecChip>(`src/hardware/drivers/${codec}`);
	const chip = openOptional(log, "codec chip", () => open?.(boardBus(), address, i2s?.main !== undefined, volume));
	const player = openPlayer(chip ? 100 : volume);
	Object.assign(board, { speaker: chip ?? player, player });
}) satisfies OpenMember;
