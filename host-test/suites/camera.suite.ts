import {
	type Frame,
	type ImageCameraOptions,
	type ImageInput,
	imageCamera,
} from "../../src/hardware/drivers/image-camera.js";
import { type ByteSource, readWhole } from "../../src/hardware/pictures.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, given, matches, outcomeOf, settled, suite } from "../harness.js";

interface ImageInputOptions {
	readonly imageType: "jpeg" | number;
	readonly format: string;
}

class FakeInput implements ImageInput {
	static last: FakeInput | undefined;
	readonly options: ImageInputOptions;
	readonly width = 32;
	readonly height = 16;
	started = false;
	held = 0;
	#waiting: Frame[] = [];

	constructor(options: object) {
		FakeInput.last = this;
		this.options = options as ImageInputOptions;
	}

	start(): void {
		this.started = true;
	}

	read(): Frame | undefined {
		const frame = this.#waiting.shift();
		this.held += frame === undefined ? 0 : 1;
		return frame;
	}

	see(pixel: number): void {
		const pixels = new Uint16Array(this.width * this.height).fill(pixel);
		const close = (): void => {
			this.held -= 1;
		};
		this.#waiting.push(Object.assign(pixels.buffer, { close }));
	}
}

function open({ encode }: Pick<ImageCameraOptions, "encode"> = {}) {
	const timer = new FakeTimer();
	FakeInput.last = undefined;
	const camera = imageCamera({
		io: FakeInput,
		width: 32,
		height: 16,
		timer,
		...(encode && { encode }),
	});
	const ask = () => outcomeOf(camera.capture());
	return { ask, timer, input: () => FakeInput.last as FakeInput };
}

async function see(input: FakeInput, timer: FakeTimer, ...pixels: number[]): Promise<void> {
	for (const pixel of pixels) {
		input.see(pixel);
		await timer.passed(20);
	}
}

export default suite("the camera", {
	async "gives the picture after the first ones, which are too dark, and holds it until it is closed"() {
		const { ask, input, timer } = open();
		const end = ask();
		equal([input().started, input().options.imageType, input().options.format], [true, "jpeg", "buffer/disposable"]);
		await see(input(), timer, 1, 2, 3, 4, 5);
		const photo = end.value as ByteSource;
		equal([input().held, timer.size, photo.byteLength], [1, 0, 1_024]);
		const piece = (await photo.read(3)) as Uint8Array;
		equal([...piece], [4, 0, 4]);
		photo.close();
		photo.close();
		equal(input().held, 0);
	},
	"takes no picture from the past": given(open, async ({ ask, input, timer }) => {
		const first = ask();
		await see(input(), timer, 1, 1, 1, 1);
		first.value?.close();
		await see(input(), timer, 2, 2);
		const second = ask();
		await see(input(), timer, 3, 4, 5, 6);
		const photo = second.value as ByteSource;
		equal([...((await photo.read(1)) as Uint8Array)], [6]);
	}),
	"takes one photo at a time": given(open, async ({ ask, input, timer }) => {
		const first = ask();
		const second = ask();
		await settled();
		matches(second.error ?? "", /the camera is busy with another photo/);
		await see(input(), timer, 1, 1, 1, 1);
		equal(first.value?.byteLength, 1_024);
		const third = ask();
		await settled();
		matches(third.error ?? "", /another photo/);
		first.value?.close();
		const fourth = ask();
		await see(input(), timer, 1, 1, 1, 1);
		equal([fourth.error, fourth.value?.byteLength], [undefined, 1_024]);
	}),
	"that gives no picture fails, and may be asked again": given(open, async ({ ask, input, timer }) => {
		const end = ask();
		await see(input(), timer, 1);
		for (let passed = 0; passed < 6_000; passed += 20) {
			await timer.passed(20);
		}
		equal([end.error, input().held], ["camera timeout: no picture within 5000 ms", 0]);
		const again = ask();
		await see(input(), timer, 1, 1, 1, 1);
		equal([again.error, timer.size], [undefined, 0]);
	}),
	async "that cannot be opened says why"() {
		class Broken extends FakeInput {
			constructor(options: object) {
				super(options);
				throw new Error("camera init failed");
			}
		}
		const options = { width: 32, height: 16, timer: new FakeTimer() };
		const camera = imageCamera({ ...options, io: Broken });
		for (const _ of [1, 2]) {
			const end = outcomeOf(camera.capture());
			await settled();
			equal(end, { error: "camera init failed" });
		}
	},
	async "that gives pixels has them encoded, and its memory back at once"() {
		const given: number[] = [];
		const encode = (pixels: ArrayBuffer, ...numbers: number[]): ArrayBuffer => {
			given.push(new Uint16Array(pixels)[0] as number, ...numbers);
			return ArrayBuffer.fromString("JPEG");
		};
		const { ask, input, timer } = open({ encode });
		const end = ask();
		equal(input().options.imageType, 8);
		await see(input(), timer, 1, 2, 3, 4);
		equal([given, input().held], [[4, 32, 16, 75], 0]);
		equal(await readWhole(end.value as ByteSource, 4), ArrayBuffer.fromString("JPEG"));
	},
	async "that gives pixels an encoder cannot take fails, and may be asked again"() {
		const encode = (): never => {
			throw new Error("no memory");
		};
		const { ask, input, timer } = open({ encode });
		for (const _ of [1, 2]) {
			const end = ask();
			await see(input(), timer, 1, 2, 3, 4);
			equal([end.error, input().held], ["no memory", 0]);
		}
	},
});
