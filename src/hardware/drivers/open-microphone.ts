import { inBuild } from "../../platform/in-build.js";
import openCodec from "../../sound/open-codec.js";
import type { OpenMember } from "../board-data.js";
import { boardBus, openOptional } from "./open-optional.js";

/** Starts a microphone's chip on the bus of the board. */
type StartChip = (bus: object, address?: number, hasMasterClock?: boolean) => unknown;

/** Opens the microphone of a board with a speaker, as its codec of speech. */
export default (({ data, board, log }) => {
	const { codec, address, i2s, channels = 2, hasOwnPort } = typeof data.microphone === "object" ? data.microphone : {};
	// A chip for both directions was set up with the speaker.
	const isShared = typeof data.speaker === "object" && data.speaker.codec === codec;
	const start = codec === undefined || isShared ? undefined : inBuild<StartChip>(`src/hardware/drivers/${codec}`);
	openOptional(log, "microphone's chip", () => start?.(boardBus(), address, i2s?.main !== undefined));
	if (board.player !== undefined) {
		// The build takes one channel of audio in. With one set here, SDK 8.2.3 would drop every second sample.
		Object.assign(board, { codec: openCodec(board.player, log, channels, hasOwnPort) });
	}
}) satisfies OpenMember;
