import type { AudioParams, Codec, OnRecorded } from "../../../src/hardware/sound.js";
import { receive, send } from "./bridge.js";

/** Recording format of the xiaozhi family. */
const PARAMS: AudioParams = { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 };

/**
 * Opens a codec that runs in Node, as a chip's codec runs in a separate task.
 *
 * @param loudness 0 to 1, now
 */
export function openCodec(loudness: () => number): Codec {
	let sound = 0;
	let muted = false;
	let onEnded: (() => void) | undefined;
	let onPacket: OnRecorded | undefined;
	const ended = (): void => {
		onEnded?.();
		onEnded = undefined;
	};
	receive("codec.ended", ([id]) => id === sound && ended());
	receive("codec.muted", ([isMuted]) => {
		muted = isMuted === true;
	});
	receive("codec.packet", ([echo], bytes) => bytes && onPacket?.(new Uint8Array(bytes), echo as number));
	return {
		params: PARAMS,
		isFullDuplex: true,
		get muted() {
			return muted;
		},
		begin({ sample_rate: rate, frame_duration: duration }) {
			ended();
			sound += 1;
			send(["codec.begin", sound, rate, duration]);
		},
		play: (packet, timestamp) => send(["codec.play", loudness(), timestamp], packet),
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
			send(["codec.record", take !== undefined]);
		},
	};
}
