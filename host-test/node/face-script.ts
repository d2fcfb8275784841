// A face in an engine beside the server of the benchmarks, on a canvas that only counts. Node says what it shows, and for how long.
import "../../tools/bench/server.js";
import { receive, send } from "../../packages/virtual-device/platform/bridge.js";
import { ENGLISH } from "../../src/core/language/en.js";
import type { Canvas } from "../../src/screen/face/brush.js";
import { FaceScreen } from "../../src/screen/face/face-screen.js";

let isDrawn = false;

const canvas: Canvas = {
	width: 320,
	height: 240,
	makeColor: (red, green, blue) => (red << 16) | (green << 8) | blue,
	getTextWidth: (text) => 8 * text.length,
	begin() {
		isDrawn = true;
	},
	end() {},
	fillRectangle() {},
	blendRectangle() {},
	drawText() {},
};

interface Entry {
	readonly callback: () => void;
	readonly due: number;
}
let now = 0;
const entries = new Set<Entry>();

const timer = {
	set(callback: () => void, delay: number): Entry {
		const entry = { callback, due: now + delay };
		entries.add(entry);
		return entry;
	},
	repeat: (): undefined => undefined,
	clear: (entry: unknown): void => void entries.delete(entry as Entry),
};

const face = new FaceScreen({ canvas, font: { height: 16 }, timer: timer as never });
face.show({ words: ENGLISH });

receive("face", ([change, time]) => {
	let frames = 0;
	face.show(change as object);
	const end = now + (time as number);
	for (;;) {
		const [next] = [...entries].sort((one, other) => one.due - other.due);
		if (next === undefined || next.due > end) {
			break;
		}
		now = next.due;
		entries.delete(next);
		isDrawn = false;
		next.callback();
		frames += Number(isDrawn);
	}
	now = end;
	send(["face.done", frames]);
});
