// A mod that is linked into the firmware: a tool that has a face drawn, and tells what its frames take. The screen keeps nothing,
// and time passes for the face as fast as it draws. For host-test/esp32/face.test.ts.
import Resource from "Resource";
import Bitmap from "commodetto/Bitmap";
import Poco from "commodetto/Poco";
import parseBMF from "commodetto/parseBMF";
import Time from "time";
import type { TimerModule } from "../../src/hardware/timer.js";
import { integer, string } from "../../src/mcp_server/schema.js";
import { FaceScreen } from "../../src/screen/face/face-screen.js";
import { defineTool } from "../../src/tools/define-tool.js";

/** Bytes of Poco's display list: as src/screen/face/open-face.ts has it. */
const DISPLAY_LIST = 5120;

const PIXEL = 2;

interface Entry {
	readonly callback: () => void;
	readonly due: number;
}

function makePixels() {
	return {
		width: 320,
		height: 240,
		pixelFormat: Bitmap.RGB565LE,
		count: 0,
		begin() {},
		send(_pixels: unknown, _at: number, bytes: number) {
			this.count += bytes / PIXEL;
		},
		continue() {},
		end() {},
	};
}

function makeTimer() {
	const entries: Entry[] = [];
	let now = 0;
	const timer: TimerModule = {
		set(callback, delay) {
			const entry = { callback, due: now + delay };
			entries.push(entry);
			entries.sort((one, other) => one.due - other.due);
			return entry;
		},
		repeat: () => ({}),
		clear(entry) {
			const at = entries.indexOf(entry as Entry);
			if (at >= 0) {
				entries.splice(at, 1);
			}
		},
	};
	/** Runs the next timer. @returns the time then, in milliseconds */
	const next = (): number => {
		const entry = entries.shift();
		now = entry?.due ?? now;
		entry?.callback();
		return now;
	};
	return { timer, next };
}

export default [
	defineTool({
		name: "self.test.draw_face",
		description: "Have a face drawn, and tell how many milliseconds and pixels that took.",
		needs: [],
		input: {
			state: string({ description: "As the device's state machine names it" }),
			emotion: string({ description: "As a backend names it" }),
			frames: integer({ minimum: 1, maximum: 1_000, description: "Drawings to measure" }),
		},
		run: ({ state, emotion, frames }) => {
			const pixels = makePixels();
			const { timer, next } = makeTimer();
			const screen = new FaceScreen({
				canvas: new Poco(pixels, { displayListLength: DISPLAY_LIST, rotation: 0 }),
				font: parseBMF(new Resource("glyphs-latin.bf4")),
				timer,
			});
			screen.show({ state, emotion } as object);
			// The first drawing is of the whole screen.
			const shown = next();
			pixels.count = 0;
			const begin = Time.ticks;
			let now = shown;
			for (let drawn = 0; drawn < frames; ) {
				const before = pixels.count;
				now = next();
				drawn += pixels.count > before ? 1 : 0;
			}
			const took = Time.ticks - begin;
			screen.close();
			return { took, pixels: pixels.count, passed: now - shown };
		},
	}),
];
