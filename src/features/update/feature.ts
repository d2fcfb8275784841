import type { Application } from "../../core/application.js";
import { FIRMWARE } from "../../core/firmware.js";
import { AppPart, type Feature } from "../../core/listener.js";
import { fromHex, toHex } from "../../core/text/hex.js";
import { isNewer, isVersion } from "../../core/text/version.js";
import type { Http } from "../../hardware/hardware.js";
import type { FirmwareSink, FirmwareSource, Installer, UpdateProgress, Updater } from "../../hardware/updater.js";
import { rollBack, TRIAL, Trial } from "./trial.js";

/** Number of progress reports for an image, and the bytes between reports if its length is unknown. */
const STEPS = 20;
const STEP_BYTES = 65_536;

const DIGEST_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** The extension of signature files beside signed images. */
const SIGNATURE_ENDING = ".sig";

/** Downloads an image piece by piece into the board's updater, checks it, and restarts the device into it. */
export class FirmwareInstaller extends AppPart implements Installer {
	private readonly updater = this.app.board.updater as Updater;
	private readonly http = this.app.board.http as Http;
	/** Public keys: an image must be signed with one of them. Undefined if images need no signature. */
	private readonly keys = this.app.setting("updateKey");
	/** Whether an image must not be older than the running firmware. */
	private readonly refusesDowngrades = this.app.setting("refuseDowngrades") === true;

	async install(source: FirmwareSource, onProgress: UpdateProgress = () => {}): Promise<void> {
		const { app, updater } = this;
		const { board, log } = app;
		if (updater.isOnTrial) {
			throw new Error("the running firmware is on trial; retry once it has reached its backend");
		}
		this.checkVersion(source.version);
		const expected = readHex("sha256", source.sha256, DIGEST_BYTES);
		const signature = await this.signatureOf(source);
		const sink = updater.begin(source);
		try {
			await this.download(source.url, sink, onProgress);
			await this.check(sink, expected, signature, source.version);
			await sink.finish();
		} catch (error) {
			sink.cancel();
			throw error;
		}
		board.settings?.set(...TRIAL, source.version ?? source.url);
		log(`firmware from ${source.url} installed; restarting`);
		app.restart();
	}

	/** Only a signature authenticates a version: without `keys` this stops mistakes, not attackers. */
	private checkVersion(version: string | undefined): void {
		const { keys, refusesDowngrades } = this;
		if (version === undefined && (keys !== undefined || refusesDowngrades)) {
			throw new Error("version required: name the version of the image, which this device checks");
		}
		if (version !== undefined && refusesDowngrades && !isVersion(version)) {
			throw new Error(`version: expected numbers with dots such as 1.2.0, got ${JSON.stringify(version)}`);
		}
		if (version !== undefined && refusesDowngrades && isNewer(FIRMWARE.version, version)) {
			throw new Error(`downgrade rejected: firmware ${version} is older than ${FIRMWARE.version}`);
		}
	}

	/** Bytes r and s; undefined if the build asks for no signature. */
	private async signatureOf({ url, signature }: FirmwareSource): Promise<ArrayBuffer | undefined> {
		const { keys, http } = this;
		if (keys === undefined) {
			return undefined;
		}
		if (signature !== undefined) {
			return readHex("signature", signature, SIGNATURE_BYTES);
		}
		const beside = url.replace(/(\?.*)?$/, (query) => `${SIGNATURE_ENDING}${query}`);
		try {
			const { body } = await http.request({ method: "GET", url: beside, mustSucceed: true });
			return readHex(beside, String.fromArrayBuffer(body).trim(), SIGNATURE_BYTES);
		} catch (error) {
			throw new Error(`signature required: ${(error as Error).message}`);
		}
	}

	private async download(url: string, sink: FirmwareSink, onProgress: UpdateProgress): Promise<void> {
		const { http, updater } = this;
		let bytes = 0;
		let reported = 0;
		const onPiece = (piece: ArrayBuffer, total: number | undefined): void => {
			const size = Math.max(bytes + piece.byteLength, total ?? 0);
			if (size > updater.capacity) {
				throw new Error(`image of at least ${size} bytes (limit ${updater.capacity})`);
			}
			sink.write(piece);
			bytes += piece.byteLength;
			if (bytes - reported >= (total === undefined ? STEP_BYTES : total / STEPS) || bytes === total) {
				reported = bytes;
				onProgress(bytes, total);
			}
		};
		await http.request({ method: "GET", url, onPiece, mustSucceed: true });
		if (bytes === 0) {
			throw new Error(`${url}: the image is empty`);
		}
	}

	private async check(
		sink: FirmwareSink,
		expected: ArrayBuffer | undefined,
		signature: ArrayBuffer | undefined,
		version = "",
	): Promise<void> {
		const { keys } = this;
		const digest = await sink.digest();
		if (expected !== undefined && toHex(expected) !== toHex(digest)) {
			throw new Error(`the image's SHA-256 is ${toHex(digest)}, expected ${toHex(expected)}`);
		}
		if (keys === undefined || signature === undefined) {
			return;
		}
		let isSigned = false;
		for (const key of keys) {
			isSigned ||= await sink.isSigned(key, signature, ArrayBuffer.fromString(version));
		}
		if (!isSigned) {
			throw new Error(`invalid signature: not signed as version ${version} for this device's updateKey`);
		}
	}
}

/** @throws Error that names the value */
const readHex = (name: string, text: string | undefined, count: number): ArrayBuffer | undefined => {
	const bytes = text === undefined ? undefined : fromHex(text);
	if (text !== undefined && bytes?.byteLength !== count) {
		throw new Error(`${name}: expected ${2 * count} hexadecimal digits, got ${JSON.stringify(text.slice(0, 200))}`);
	}
	return bytes;
};

/**
 * Wraps an installer so that it reports to the state machine, the screen and the log, and installs one image at a time;
 * none after a successful one, because the device is about to restart.
 *
 * @param trial knows which firmware was rolled back
 */
const observed = (installer: Installer, app: Application, trial?: Trial): Installer => {
	let isBusy = false;
	/** Shows an alert without the chime. */
	const alert = (status: "updating" | "updateFailed", message: string): void =>
		app.board.screen?.show({ alert: { status: app.words?.[status] ?? "", message } });
	return {
		async offer(firmware) {
			const { version, url, force } = firmware;
			const offer = `firmware ${version}${force ? " (forced)" : ""}`;
			if (version === trial?.rolledBack) {
				app.log(`${offer} is available, but was rolled back; skipped until the next restart`);
			} else if (app.state === "listening" || app.state === "speaking") {
				app.log(`${offer} is available; postponed to the next check, because the device is ${app.state}`);
			} else {
				app.log(`${offer}: installing from ${url}`);
				await this.install(firmware).catch(() => {
					// The reason is already in the log and on the screen.
				});
			}
		},
		async install(source, onProgress) {
			if (isBusy) {
				// Logged only: the screen shows the progress of the other update.
				const reason = "another update is in progress";
				app.log(`upgrade from ${source.url} rejected: ${reason}`);
				throw new Error(reason);
			}
			isBusy = true;
			if (app.state !== "activating") {
				// A device that installs firmware neither speaks nor listens.
				app.enter("idle");
			}
			app.enter("upgrading");
			try {
				await installer.install(source, (bytes, total) => {
					const percent = total === undefined ? undefined : `${Math.floor((100 * bytes) / total)} %`;
					alert("updating", percent ?? `${Math.floor(bytes / 1024)} KB`);
					onProgress?.(bytes, total);
				});
			} catch (error) {
				isBusy = false;
				app.backend.rest();
				app.log(`upgrade from ${source.url} failed: ${String(error)}`);
				alert("updateFailed", String(error));
				throw error;
			}
		},
	};
};

/** Installs firmware over the air. */
export default {
	name: "update",
	after: ["http", "language"],
	rescue: true,
	start(app) {
		const { board, failure, log } = app;
		const { updater, http } = board;
		if (failure !== undefined && updater?.isOnTrial) {
			// New firmware that cannot use a setting will never reach its backend.
			log(`update failed: ${failure}; rolling back`);
			rollBack(app);
			return;
		}
		const installer = http && updater ? new FirmwareInstaller(app) : board.installer;
		const trial = failure === undefined ? new Trial(app) : undefined;
		Object.assign(board, installer && { installer: observed(installer, app, trial) });
		app.listen(trial);
	},
} satisfies Feature;
