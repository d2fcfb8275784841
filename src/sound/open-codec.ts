import AudioIn from "embedded:io/audio/in";
import Timer from "timer";
import type { Codec, Player } from "../hardware/sound.js";
import { OpusCodec } from "./opus-codec.js";
import { OpusThread } from "./opus-threads.js";
import type { CodecParts } from "./recording.js";

/**
 * A codec that plays with the board's player and records with the SDK's audio in, by libopus.
 *
 * @param channels setting of the audio in for the samples of one microphone. Undefined on a board without one
 * @param hasOwnPort whether the microphone has an I2S port that the player does not use
 */
export default function openCodec(player: Player, log: CodecParts["log"], channels?: 1 | 2, hasOwnPort = false): Codec {
	return new OpusCodec({
		player,
		channels,
		hasOwnPort,
		AudioIn: AudioIn as unknown as CodecParts["AudioIn"],
		OpusThread,
		timer: Timer,
		log,
	});
}
