// A face in an engine beside the server of the benchmarks, on a canvas that only counts. Node says what it shows, and for how long.
import "../../tools/bench/server.js";
import { receive, send } from "../../packages/virtual-device/platform/bridge.js";
import { LANGUAGES } from "../../src/features/language.js";
import type { Canvas } from "../../src/screen/brush.js";
import { FaceScreen } from "../../src/screen/face-screen.js";
import { FakeTimer } from "../doubles/fake-timer.js";

let [frames, drawnAt] = [0, -1];

const timer = new FakeTimer();
const canvas: Canvas = {
	width: 320,
	height: 240,
	makeColor: (red, green, blue) => (red << 16) | (green << 8) | blue,
	getTextWidth: (text) => 8 * text.length,
	begin() {
		frames += timer.now === drawnAt ? 0 : 1;
		drawnAt = timer.now;
	},
	end() {},
	fillRectangle() {},
	blendRectangle() {},
	drawText() {},
};

const face = new FaceScreen({ canvas, font: { height: 16 }, timer });
face.show({ words: LANGUAGES.en });

receive("face", ([change, time]) => {
	frames = 0;
	face.show(change as object);
	timer.pass(time as number);
	send(["face.done", frames]);
});
