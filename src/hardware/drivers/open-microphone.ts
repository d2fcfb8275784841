import { inBuild } from "../../platform/in-build.js";
import openCodec from "../../sound/open-codec.js";
import type { OpenMember } from "../board-data.js";
import { boardBus, openOptional } from "./open-optional.js";

/** Opens the microphone of a board with a speaker, as its codec of speech. */
const openMicrophone: OpenMember = ({ data, board }) => {
	const { codec, address, channels = 2 } = typeof data.microphone === "object" ? data.microphone : {};
	// A chip for both directions was set up with the speaker.
	const isShared = typeof data.speaker === "object" && data.speaker.codec === codec;
	const start =
		codec === undefined || isShared
			? undefined
			: inBuild<(bus: object, address?: number) => void>(`src/hardware/drivers/${codec}`);
	openOptional("microphone's chip", () => start?.(boardBus(), address));
	if (board.player !== undefined) {
		// The build takes one channel of audio in. With one set here, SDK 8.2.3 would drop every second sample.
		Object.assign(board, { codec: openCodec(board.player, channels) });
	}
};

export default openMicrophone;
