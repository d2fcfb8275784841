// The face in an engine beside the server, on a canvas that only counts: Node says what the device does, and for how long.
import "./server.js";
import { ENGLISH } from "../src/language/en.js";
import type { Canvas } from "../src/pictures/face/brush.js";
import { FaceScreen } from "../src/pictures/face/face-screen.js";
import { receive, send } from "../virtual-device/platform/bridge.js";

/** Counts what Poco would draw. */
class CountedCanvas implements Canvas {
	readonly width = 320;
	readonly height = 240;
	pixels = 0;
	shapes = 0;

	makeColor = (red: number, green: number, blue: number): number => (red << 16) | (green << 8) | blue;
	getTextWidth = (text: string): number => 8 * text.length;
	begin(_x = 0, _y = 0, width = this.width, height = this.height): void {
		this.pixels += width * height;
	}
	end(): void {}
	fillRectangle(): void {
		this.shapes += 1;
	}
	blendRectangle(): void {
		this.shapes += 1;
	}
	drawText(): void {
		this.shapes += 1;
	}
}

/** A timer: time passes only when it is told to. */
interface Entry {
	readonly callback: () => void;
	readonly due: number;
}
let now = 0;
let frames = 0;
const entries: Entry[] = [];
const timer = {
	set(callback: () => void, delay: number): Entry {
		const entry = { callback, due: now + delay };
		entries.push(entry);
		return entry;
	},
	repeat: (): undefined => undefined,
	clear(entry: unknown): void {
		const at = entries.indexOf(entry as Entry);
		if (at >= 0) {
			entries.splice(at, 1);
		}
	},
};

const canvas = new CountedCanvas();
const face = new FaceScreen({ canvas, font: { height: 16 }, timer: timer as never });
face.show({ words: ENGLISH });

function pass(time: number): void {
	const end = now + time;
	for (;;) {
		let next = entries[0];
		for (const entry of entries) {
			next = next === undefined || entry.due < next.due ? entry : next;
		}
		if (next === undefined || next.due > end) {
			break;
		}
		now = next.due;
		timer.clear(next);
		const before = canvas.pixels;
		next.callback();
		frames += canvas.pixels === before ? 0 : 1;
	}
	now = end;
}

/** Shows a change, lets time pass, and counts from then on for as long again as the seconds say. */
receive("face", ([change, settle, time]) => {
	face.show(change as object);
	pass(settle as number);
	frames = 0;
	canvas.pixels = 0;
	canvas.shapes = 0;
	pass(time as number);
	send(["face.done", frames, canvas.pixels, canvas.shapes]);
});

/** Draws everything, this many times. */
receive("whole", ([times]) => {
	canvas.pixels = 0;
	canvas.shapes = 0;
	for (let done = 0; done < (times as number); done += 1) {
		face.uncover();
		pass(30);
	}
	send(["face.done", times, canvas.pixels, canvas.shapes]);
});
