import type { Application } from "../../src/core/application.js";
import { FIRMWARE } from "../../src/core/firmware.js";
import { readSetting } from "../../src/core/read-setting.js";
import { makeHttp } from "../../src/features/http.js";
import { FirmwareInstaller } from "../../src/features/update/feature.js";
import { FakeBoard, FakeUpdater } from "../doubles/fake-board.js";
import { FakeHttpClient } from "../doubles/fake-http-client.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, given, matches, settled, suite, throws } from "../harness.js";

const URL = "http://server/firmware.bin?key=k";
const KEY = new Uint8Array(65).fill(4).buffer;
const SIGNATURE = "12".repeat(64);
const SIGNED = { version: "1.2.0", signature: SIGNATURE };

interface UpdateOptions {
	keys?: readonly ArrayBuffer[];
	updater?: FakeUpdater;
	refusesDowngrades?: boolean;
}

async function begin(
	source: object = {},
	{ keys, updater = new FakeUpdater(), refusesDowngrades = false }: UpdateOptions = {},
) {
	const timer = new FakeTimer();
	const progress: unknown[] = [];
	const http = makeHttp({ network: { http: { io: FakeHttpClient } }, timer, maxBytes: 1_000 });
	const board = Object.assign(new FakeBoard(), { updater, http });
	const setting = (name: string): unknown => (name === "updateKey" ? keys : refusesDowngrades);
	const app = { board, setting, log() {}, restart: () => board.system.restart(1_000) };
	const installer = new FirmwareInstaller(app as unknown as Application);
	const first = FakeHttpClient.made.length;
	const outcome = installer
		.install({ url: URL, ...source }, (bytes, total) => progress.push([bytes, total]))
		.then(
			() => "installed",
			(error: Error) => error.message,
		);
	await settled();
	const server = (): FakeHttpClient => FakeHttpClient.made.at(-1) as FakeHttpClient;
	const paths = (): string[] => FakeHttpClient.made.slice(first).map(({ sent }) => sent.path);
	return { updater, board, timer, progress, outcome, server, paths };
}

async function update(source: object = {}, options: UpdateOptions = {}) {
	const begun = await begin(source, options);
	begun.server()?.answer(200, "FIRMWARE");
	return { ...begun, outcome: await begun.outcome };
}

export default suite("an update", {
	async "stores the image piece by piece, restarts the device and keeps what is on trial"() {
		const { server, outcome, updater, board } = await begin({ version: "2.0.0" });
		server().begin(200, { "content-length": "8" });
		server().arrive("FIRM");
		server().arrive("WARE");
		equal(board.restarts, []);
		server().sent.onDone(null);
		equal([await outcome, updater.events], ["installed", ["begin", "finish FIRMWARE"]]);
		equal([board.restarts, board.settings.get("update", "trial")], [[1_000], "2.0.0"]);
	},
	async "allows another project's firmware only if the source says so"() {
		equal((await update()).updater.anyProject, [undefined]);
		equal((await update({ anyProject: false })).updater.anyProject, [false]);
		equal((await update({ anyProject: true })).updater.anyProject, [true]);
	},
	"restarts the device also if what is on trial cannot be stored": given(begin, async ({ server, outcome, board }) => {
		board.settings.set = () => false;
		server().answer(200, "FIRMWARE");
		equal([await outcome, board.restarts], ["installed", [1_000]]);
	}),
	async "tells its progress in at most twenty steps, and the end"() {
		const updater = new FakeUpdater();
		const { server, outcome, progress } = await begin({}, { updater });
		server().begin(200, { "content-length": "400" });
		for (let piece = 0; piece < 80; piece += 1) {
			server().arrive("FIRM_");
		}
		server().sent.onDone(null);
		equal([await outcome, progress.length, progress[0], progress.at(-1)], ["installed", 20, [20, 400], [400, 400]]);
	},
	async "tells its progress for every 64 KB if the server does not say how long the image is"() {
		const updater = Object.assign(new FakeUpdater(), { capacity: 200_000 });
		const { server, outcome, progress } = await begin({}, { updater });
		server().begin(200, { "transfer-encoding": "chunked" });
		for (let piece = 0; piece < 10; piece += 1) {
			server().arrive("F".repeat(16_384));
		}
		server().sent.onDone(null);
		equal(await outcome, "installed");
		equal(progress, [
			[65_536, undefined],
			[131_072, undefined],
		]);
	},
	async "takes an image whose SHA-256 is the expected one, in any case of its digits"() {
		equal((await update({ sha256: "ab".repeat(32) })).outcome, "installed");
		equal((await update({ sha256: "AB".repeat(32) })).outcome, "installed");
	},
	async "rejects an image with another SHA-256"() {
		const { outcome, updater, board } = await update({ sha256: "cd".repeat(32) });
		equal(outcome, `the image's SHA-256 is ${"ab".repeat(32)}, expected ${"cd".repeat(32)}`);
		equal([updater.events, board.restarts, board.settings.values.size], [["begin", "cancel"], [], 0]);
	},
	async "is given up, and nothing is installed, if the server or what it sends is wrong"() {
		type Play = (server: FakeHttpClient, timer: FakeTimer) => void;
		const sends =
			(length: string | undefined, ...pieces: string[]): Play =>
			(server) => {
				server.begin(200, length === undefined ? {} : { "content-length": length });
				for (const piece of pieces) {
					server.arrive(piece);
				}
			};
		const half = "F".repeat(600);
		const cases: readonly (readonly [plays: readonly Play[], problem: RegExp])[] = [
			[[sends("999", "<html>")], /this is no firmware image/],
			[[sends("1001", "F")], /image of at least 1001 bytes \(limit 1000\)/],
			[[sends(undefined, half, half)], /image of at least 1200 bytes/],
			[[sends("8", "FIRM"), (server) => server.fail()], /connection closed before the end of the response/],
			[[sends("8", "FIRM"), (_server, timer) => timer.pass(60_000)], /no progress within 30000 ms/],
			[[(server) => server.answer(404, "no")], /answered with HTTP status 404/],
			[[sends("0"), (server) => server.sent.onDone(null)], /the image is empty/],
			// It could not be compared with the place that there is.
			...["1001 or so", "-5", "1e9", ""].map(
				(length) =>
					[
						[sends(length, "FIRMWARE"), (server: FakeHttpClient) => server.sent.onDone(null)],
						new RegExp(`content-length: expected a number of bytes, got ${JSON.stringify(length)}`),
					] as const,
			),
		];
		for (const [plays, problem] of cases) {
			const { server, outcome, updater, board, timer } = await begin();
			for (const play of plays) {
				play(server(), timer);
			}
			matches(await outcome, problem);
			equal([updater.events, board.restarts, timer.size], [["begin", "cancel"], [], 0], problem.source);
		}
	},
	async "reports what the board finds wrong with the whole image"() {
		const updater = Object.assign(new FakeUpdater(), { fault: "its checksum is wrong" });
		const { outcome, board } = await update({}, { updater });
		equal([outcome, updater.events, board.restarts], ["its checksum is wrong", ["begin", "cancel"], []]);
	},
	async "of signed firmware takes the signature that it is told"() {
		const { outcome, updater, paths } = await update(SIGNED, { keys: [KEY] });
		equal([outcome, paths()], ["installed", ["/firmware.bin?key=k"]]);
		equal([updater.signatures, updater.versions], [[new Uint8Array(64).fill(0x12).buffer], ["1.2.0"]]);
	},
	async "of signed firmware fetches the signature beside the image if it is told none"() {
		const { server, outcome, paths } = await begin({ version: "1.2.0" }, { keys: [KEY] });
		server().answer(200, `${SIGNATURE}\n`);
		await settled();
		server().answer(200, "FIRMWARE");
		equal([await outcome, paths()], ["installed", ["/firmware.bin.sig?key=k", "/firmware.bin?key=k"]]);
	},
	async "of signed firmware is rejected without a signature, before the image is fetched"() {
		for (const [status, text, problem] of [
			[404, "no", /signature required: .*firmware\.bin\.sig.* answered with HTTP status 404/],
			[200, "<html>", /signature required: .*\.sig.*: expected 128 hexadecimal digits, got "<html>"/],
		] as const) {
			const { server, outcome, updater, paths } = await begin({ version: "1.2.0" }, { keys: [KEY] });
			server().answer(status, text);
			matches(await outcome, problem);
			equal([updater.events, paths().length], [[], 1]);
		}
	},
	async "of signed firmware is rejected if the signature is wrong"() {
		const updater = Object.assign(new FakeUpdater(), { isSigned: () => false });
		const { outcome, board } = await update(SIGNED, { keys: [KEY], updater });
		equal(outcome, "invalid signature: not signed as version 1.2.0 for this device's updateKey");
		equal([updater.events, board.restarts], [["begin", "cancel"], []]);
	},
	async "is rejected before anything is fetched: invalid digits, no version, a downgrade, or firmware on trial"() {
		const onTrial = { updater: Object.assign(new FakeUpdater(), { isOnTrial: true }) };
		const noVersion = "version required: name the version of the image, which this device checks";
		const older = `downgrade rejected: firmware 0.0.9 is older than ${FIRMWARE.version}`;
		for (const [source, options, problem] of [
			[{ sha256: "ab" }, {}, 'sha256: expected 64 hexadecimal digits, got "ab"'],
			[{ ...SIGNED, signature: "12" }, { keys: [KEY] }, 'signature: expected 128 hexadecimal digits, got "12"'],
			[{ signature: SIGNATURE }, { keys: [KEY] }, noVersion],
			[{}, { refusesDowngrades: true }, noVersion],
			[{ version: "0.0.9" }, { refusesDowngrades: true }, older],
			[
				{ version: "latest" },
				{ refusesDowngrades: true },
				'version: expected numbers with dots such as 1.2.0, got "latest"',
			],
			[{}, onTrial, "the running firmware is on trial; retry once it has reached its backend"],
		] as const) {
			const { outcome, paths, updater } = await begin(source, options);
			equal([await outcome, paths(), updater.events], [problem, [], []]);
		}
		equal((await update({ version: "0.0.9" })).outcome, "installed");
	},
	async "to the same or a newer version is installed if the build refuses downgrades"() {
		for (const version of [FIRMWARE.version, "999.0.0"]) {
			equal((await update({ version }, { refusesDowngrades: true })).outcome, "installed");
		}
	},
	async "looks at no signature if the build has no key"() {
		const { outcome, updater } = await update({ signature: "nonsense" });
		equal([outcome, updater.signatures], ["installed", []]);
	},
	"takes the trial from stored settings, and the key only from the build"() {
		const { settings } = new FakeBoard();
		equal(readSetting("updateKey", { built: {}, settings }), undefined);
		equal(readSetting("updateTrial", { built: {}, settings }), 300);
		const updateKey = `04${"00".repeat(64)}`;
		settings.set("xs-mcp", "updateKey", `04${"ff".repeat(64)}`);
		settings.set("xs-mcp", "updateTrial", 60);
		const source = { built: { updateKey, updateTrial: "90" }, settings };
		const [key, ...rest] = readSetting("updateKey", source) ?? [];
		equal([key?.byteLength, new Uint8Array(key as ArrayBuffer)[1], rest], [65, 0, []]);
		equal(readSetting("updateTrial", source), 60);
		equal(readSetting("updateKey", { built: { updateKey: "" }, settings }), undefined);
	},
	async "takes an image that any of its keys has signed, so that keys can be replaced"() {
		const old = new ArrayBuffer(65);
		const updater = new FakeUpdater();
		updater.isSigned = (key) => key === old;
		equal((await update(SIGNED, { keys: [KEY, old], updater })).outcome, "installed");
		matches((await update(SIGNED, { keys: [KEY], updater })).outcome, /^invalid signature/);
		const updateKey = `04${"00".repeat(64)}, 04${"11".repeat(64)}`;
		equal(readSetting("updateKey", { built: { updateKey }, settings: undefined })?.length, 2);
	},
	"names a setting that cannot be used"() {
		for (const updateKey of ["04", "zz", `04${"00".repeat(64)},04`, `02${"00".repeat(64)}`, 5]) {
			throws(
				() => readSetting("updateKey", { built: { updateKey }, settings: undefined }),
				/^updateKey: expected a public key of P-256/,
			);
		}
		for (const updateTrial of [0, 1.5, "soon", 86_401]) {
			throws(
				() => readSetting("updateTrial", { built: { updateTrial }, settings: undefined }),
				/^updateTrial: expected whole seconds from 1 to 86400/,
			);
		}
	},
});
