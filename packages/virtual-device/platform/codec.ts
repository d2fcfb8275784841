import type { AudioParams, Codec, OnRecorded, Player } from "src/hardware/sound";
import { receive, send } from "./bridge.js";

/** Recording format of the xiaozhi family. */
const PARAMS: AudioParams = { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 };

/** Packets that may wait to be played, as on a chip. */
const MAX_PACKETS = 40;

/**
 * Opens a codec that runs in Node, as a chip's codec runs in a separate task.
 *
 * @param loudness 0 to 1, now
 * @param player held while a half-duplex codec records, as on a chip
 */
export function openCodec(loudness: () => number, isFullDuplex = false, player?: Player): Codec {
	let sound = 0;
	let muted = false;
	let onEnded: (() => void) | undefined;
	let onPacket: OnRecorded | undefined;
	/** Packets that wait to be played. */
	let waiting = 0;
	const ended = (): void => {
		onEnded?.();
		onEnded = undefined;
	};
	receive("codec.ended", ([id]) => id === sound && ended());
	receive("codec.taken", ([id]) => {
		waiting -= id === sound ? 1 : 0;
	});
	receive("codec.muted", ([isMuted]) => {
		muted = isMuted === true;
	});
	receive("codec.packet", ([echo], bytes) => bytes && onPacket?.(new Uint8Array(bytes), echo as number));
	return {
		params: PARAMS,
		isFullDuplex,
		get muted() {
			return muted;
		},
		begin({ sample_rate: rate, frame_duration: duration }) {
			ended();
			sound += 1;
			waiting = 0;
			send(["codec.begin", sound, rate, duration]);
		},
		play(packet, timestamp) {
			const hasRoom = waiting < MAX_PACKETS;
			if (hasRoom) {
				waiting += 1;
				send(["codec.play", loudness(), timestamp], packet);
			}
			return hasRoom;
		},
		end: () => {
			send(["codec.end"]);
			return new Promise((resolve) => {
				onEnded = resolve;
			});
		},
		stop() {
			ended();
			send(["codec.stop"]);
		},
		record(take) {
			onPacket = take;
			if (player !== undefined && !isFullDuplex) {
				player.stop();
				player.isHeld = take !== undefined;
			}
			send(["codec.record", take !== undefined]);
		},
	};
}
