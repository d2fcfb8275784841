import Timer from "timer";
import type { Codec, Player } from "../../hardware/sound.js";
import { OpusCodec } from "./opus-codec.js";
import { OpusDecoder } from "./opus-decoder.js";

/** A codec that plays with the board's player, decoding with libopus. */
export default function openCodec(player: Player): Codec {
	return new OpusCodec({
		player,
		openDecoder: (...parameters) => new OpusDecoder(...parameters),
		timer: Timer,
		log: (message) => trace(`${message}\n`),
	});
}
