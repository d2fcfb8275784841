import { FittedPicture } from "../../src/screen/fitted-picture.js";
import { JpegHeader } from "../../src/screen/jpeg-header.js";
import { picturePreview } from "../../src/screen/picture-preview.js";
import { makeFace } from "../doubles/fake-canvas.js";
import { FakeJpeg, FakePictureScreen } from "../doubles/fake-picture-screen.js";
import { equal, failureOf, given, suite, throws } from "../harness.js";

const BLOCK = 8;

/** Bytes of a segment: a marker, the length and the content. */
const segment = (marker: number, ...body: number[]): number[] => [
	0xff,
	marker,
	(body.length + 2) >> 8,
	(body.length + 2) & 0xff,
	...body,
];

function frame(width: number, height: number, { kind = 0xc0, samples = [0x11, 0x11, 0x11] } = {}): number[] {
	const size = [8, height >> 8, height & 0xff, width >> 8, width & 0xff, samples.length];
	return segment(kind, ...size, ...samples.flatMap((sample, at) => [at + 1, sample, 0]));
}

const SCAN = segment(0xda, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0);

const header = (...segments: number[][]): Uint8Array =>
	Uint8Array.from(segments.reduce((file, each) => file.concat(each), [0xff, 0xd8]));

function read(file: Uint8Array, pieceBytes = file.byteLength) {
	const reader = new JpegHeader();
	for (let at = 0; at < file.byteLength; at += pieceBytes) {
		const rest = reader.take(file.subarray(at, at + pieceBytes));
		if (rest !== undefined) {
			return { frame: reader.frame, bytes: [...reader.bytes], rest: [...rest] };
		}
	}
	return undefined;
}

function draw(screen: FakePictureScreen, picture: readonly (readonly number[])[]): number[][] {
	const [height, width] = [picture.length, picture[0]?.length ?? 0];
	const fitted = new FittedPicture(screen, width, height, 2);
	for (let y = 0; y < height; y += 2) {
		for (let x = 0; x < width; x += 2) {
			const rows = picture.slice(y, y + 2).map((row) => row.slice(x, x + 2));
			const pixels = Uint16Array.from(rows.flat());
			fitted.add({ x, y, width: Math.min(2, width - x), height: rows.length }, pixels);
		}
	}
	return screen.rows;
}

function preview() {
	const { timer, canvas, screen: face } = makeFace();
	timer.pass(100);
	const screen = new FakePictureScreen(16, 8);
	const head = header(segment(0xe1, 1, 2, 3), frame(16, 8), SCAN);
	const openJpeg = (): FakeJpeg => new FakeJpeg(head.byteLength - 7, 2, BLOCK);
	const file = Uint8Array.from([...head, 5, 6]);
	const openInflater = (): never => {
		throw new Error("this is no PNG");
	};
	const preview = picturePreview({ screen, face, openJpeg, openInflater, timer });
	return { timer, canvas, face, screen, file, preview };
}

const buffer = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;

export default suite("previews", {
	"of small pictures are in the middle of the screen"() {
		const rows = draw(new FakePictureScreen(6, 4), [
			[1, 2, 3],
			[4, 5, 6],
		]);
		equal(rows, [
			[0, 0, 0, 0, 0, 0],
			[0, 1, 2, 3, 0, 0],
			[0, 4, 5, 6, 0, 0],
			[0, 0, 0, 0, 0, 0],
		]);
	},
	"of large pictures are made smaller, in their proportions"() {
		const rows = draw(
			new FakePictureScreen(2, 3),
			[10, 20, 30, 40].map((ten) => [ten, ten + 1, ten + 2, ten + 3]),
		);
		equal(rows, [
			[10, 12],
			[30, 32],
			[0, 0],
		]);
	},
	"of any size show every column and row of the screen that they cover"() {
		for (let size = 1; size <= 13; size += 1) {
			const row = Array.from({ length: size }, (_, at) => at + 1);
			const rows = draw(
				new FakePictureScreen(5, 5),
				row.map(() => row),
			);
			const shown = Math.min(size, 5);
			equal(rows.flat().filter((pixel) => pixel > 0).length, shown * shown, `${size} pixels`);
		}
	},
	"are upright on a screen that is rotated"() {
		const picture = [
			[1, 2, 3],
			[4, 5, 6],
			[7, 8, 9],
		];
		for (const rotation of [0, 90, 180, 270] as const) {
			equal(draw(new FakePictureScreen(3, 3, rotation), picture), picture, `${rotation} degrees`);
		}
	},
	"know a JPEG by its header, however it is cut, and leave out what no decoder needs"() {
		const notes = segment(0xe1, ...new Array<number>(300).fill(7));
		const tables = segment(0xdb, 1, 2, 3);
		const file = header(notes, tables, [0xff], frame(640, 480, { samples: [0x22, 0x11, 0x11] }), SCAN);
		const whole = Uint8Array.from([...file, 1, 2, 3]);
		for (const pieceBytes of [1, 2, 5, 64, 1_000]) {
			const { frame: found, bytes, rest = [] } = read(whole, pieceBytes) ?? {};
			equal(found, { width: 640, height: 480, blockWidth: 16, blockHeight: 16 });
			equal(bytes, [0xff, 0xd8, ...tables, ...frame(640, 480, { samples: [0x22, 0x11, 0x11] }), ...SCAN]);
			equal(rest, [1, 2, 3].slice(0, rest.length));
		}
		equal(read(file.subarray(0, 100)), undefined);
	},
	"are rejected with the reason if the JPEG cannot be shown"() {
		const colors = "JPEG sampling 1x2, 1x1, 1x1";
		for (const [segments, reason] of [
			[[frame(8, 8, { kind: 0xc2 })], /progressive JPEG is not supported/],
			[[frame(8, 8, { kind: 0xc9 })], /rare kind of JPEG/],
			[[frame(8, 8, { samples: [0x11] })], /1 colour components/],
			[[frame(8, 8, { samples: [0x12, 0x11, 0x11] })], new RegExp(colors)],
			[[frame(4_081, 8, { samples: [0x22, 0x11, 0x11] })], /4081 x 8 pixels \(limit 4080 x 4096\)/],
			[[frame(2_041, 8)], /limit 2040 x 2048/],
			[[frame(0, 8)], /0 x 8 pixels/],
			[[SCAN], /JPEG header damaged/],
			[[[1, 2, 3, 4]], /JPEG header damaged/],
			[[[0xff, 0xdb, 0x13, 0x88]], /JPEG header too long/],
		] as const) {
			throws(() => read(header(...segments.map((each) => [...each])), 7), reason);
		}
	},
	"are rejected if the JPEG says that a segment is shorter than its own length, however it is cut"() {
		const file = Uint8Array.from([...header([0xff, 0xe0, 0, 0], [0xff, 0xe1, 0, 1]), ...new Array<number>(20).fill(7)]);
		for (const pieceBytes of [5, 1, 2, 3, 64]) {
			throws(() => read(file, pieceBytes), /JPEG header damaged/);
		}
	},
	"are rejected if the JPEG has two frames, because the decoder could take another one"() {
		const large = frame(64, 64, { samples: [0x22, 0x11, 0x11] });
		throws(() => read(header(large, frame(8, 8), SCAN)), /JPEG header damaged/);
	},
	async "are drawn while they come, and stay until the face returns"() {
		const { preview: shown, face, screen, file, timer, canvas } = preview();
		const picture = shown.begin();
		picture.write(buffer(file.subarray(0, 20)));
		picture.write(buffer(file.subarray(20)));
		await picture.end();
		equal(screen.rows[0], [5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6]);
		canvas.forget();
		face.show({ state: "speaking" });
		timer.pass(9_000);
		equal([face.isCovered, canvas.pixels], [true, 0]);
		timer.pass(1_040);
		equal([face.isCovered, canvas.pixels], [false, canvas.width * canvas.height]);
	},
	async "make room for an alert at once, and say so to whoever still draws"() {
		const { preview: shown, face, file, timer, canvas } = preview();
		const picture = shown.begin();
		picture.write(buffer(file.subarray(0, 20)));
		canvas.forget();
		face.show({ alert: { status: "Battery", message: "low" } });
		timer.pass(40);
		equal(canvas.pixels, canvas.width * canvas.height);
		throws(() => picture.write(buffer(file)), /replaced by an alert/);
		equal(await failureOf(picture.end()), "replaced by an alert");
	},
	"end when another one begins": given(preview, async ({ preview: shown, face, file, timer }) => {
		const before = timer.size;
		const first = shown.begin();
		first.write(buffer(file.subarray(0, 20)));
		const second = shown.begin();
		throws(() => first.write(buffer(file)), /replaced by another picture/);
		first.cancel();
		second.write(buffer(file));
		await second.end();
		equal([face.isCovered, timer.size], [true, before + 1]);
	}),
	async "that end too early, or are no pictures, leave the face as it was"() {
		const { preview: shown, face, file, timer } = preview();
		const before = timer.size;
		for (const [bytes, reason] of [
			[file.subarray(0, 20), "JPEG truncated within its header"],
			[file.subarray(0, file.byteLength - 1), "JPEG damaged or truncated"],
			[new Uint8Array(0), "the file is empty"],
		] as const) {
			const picture = shown.begin();
			picture.write(buffer(bytes));
			equal(await failureOf(picture.end()), reason);
			picture.cancel();
			timer.pass(100);
			equal([face.isCovered, timer.size], [false, before]);
		}
		throws(() => shown.begin().write(ArrayBuffer.fromString("<html>")), /the file is neither a JPEG nor a PNG/);
	},
});
