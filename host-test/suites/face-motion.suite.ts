import { makeFace } from "../doubles/fake-canvas.js";
import { equal, ok, suite } from "../harness.js";

const WHOLE = 320 * 240;

function face(change: object, backlight?: { brightness: number }) {
	const { canvas, timer, screen, draw } = makeFace({ font: { height: 16 }, ...(backlight && { backlight }) });
	screen.show({ state: "idle", ...change });
	draw();
	canvas.forget();
	const drawnIn = (time: number): number[] => {
		const drawn: number[] = [];
		for (let passed = 0; passed < time; passed += 10) {
			canvas.forget();
			timer.pass(10);
			if (canvas.pixels > 0) {
				drawn.push(canvas.pixels);
			}
		}
		return drawn;
	};
	const wait = (seconds: number): void => {
		for (let passed = 0; passed < seconds; passed += 1) {
			canvas.forget();
			timer.pass(1_000);
		}
	};
	return { canvas, screen, drawnIn, wait };
}

const most = (drawn: readonly number[]): number => Math.max(...drawn);

export default suite("a face that moves", {
	"blinks, looks aside and breathes: a few small drawings a second, and none in between"() {
		const drawn = face({}).drawnIn(8_000);
		ok(drawn.length > 8 && drawn.length < 50, `${drawn.length} drawings`);
		ok(most(drawn) < WHOLE / 2, `${most(drawn)} pixels`);
	},
	"moves its mouth at least 15 times a second while it speaks, and draws little else"() {
		const drawn = face({ state: "speaking" }).drawnIn(2_000);
		ok(drawn.length >= 30 && drawn.length <= 44, `${drawn.length} drawings`);
		const sum = drawn.reduce((all, pixels) => all + pixels, 0);
		ok(sum / drawn.length < WHOLE / 5, `${sum / drawn.length} pixels each`);
	},
	"closes its mouth when it has spoken"() {
		const { screen, drawnIn, canvas } = face({ state: "speaking", emotion: "sleepy" });
		drawnIn(1_000);
		screen.show({ state: "idle" });
		drawnIn(1_000);
		canvas.forget();
		screen.uncover();
		drawnIn(40);
		const still = face({ emotion: "sleepy" });
		equal(drawnIn(300).length <= 1, true);
		ok(still.drawnIn(300).length <= 1);
	},
	"draws only what drips"() {
		const drawn = face({ emotion: "sad" }).drawnIn(900);
		ok(drawn.length >= 1 && drawn.some((pixels) => pixels < WHOLE / 50), drawn.join());
	},
	"does not move while it is covered, in the dark, or replaced by a code"() {
		const covered = face({});
		covered.screen.cover();
		const dark = face({}, { brightness: 0 });
		dark.screen.light = 0;
		const code = face({});
		code.screen.show({ code: "123456" });
		code.drawnIn(40);
		equal([covered.drawnIn(4_000), dark.drawnIn(4_000), code.drawnIn(4_000)], [[], [], []]);
		covered.screen.uncover();
		dark.screen.light = 100;
		code.screen.show({ code: "" });
		for (const { drawnIn } of [covered, dark, code]) {
			ok(drawnIn(4_000).length > 1);
		}
	},
	"falls asleep when it is idle for two minutes, and wakes when there is something to tell"() {
		const { screen, drawnIn, wait } = face({});
		wait(119);
		const asleep = drawnIn(2_000);
		ok(asleep.includes(320 * 218), "the sleeping face is drawn once");
		screen.show({ battery: { level: 50, charging: false } });
		ok(most(drawnIn(100)) === 320 * 22, "an icon does not wake it");
		screen.show({ message: "Good morning" });
		ok(most(drawnIn(100)) === WHOLE);
	},
	"stays awake while it listens"() {
		const { drawnIn, wait } = face({ state: "listening" });
		wait(121);
		ok(most(drawnIn(2_000)) < WHOLE / 2);
	},
});
