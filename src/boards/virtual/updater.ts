import { firmware } from "virtual-host";
import { ImageHead } from "../../drivers/updater/image-head.js";
import type { FirmwareSink, Updater } from "../../hardware/updater.js";

/** The first bytes of a virtual device's image. */
const MAGIC = "XSMCPVD1";
const HEADER_BYTES = 12;

/** The virtual device's two places for firmware, which Node keeps. */
export class VirtualUpdater implements Updater {
	readonly capacity = firmware.capacity;
	private _isOnTrial = firmware.isOnTrial;

	get isOnTrial(): boolean {
		return this._isOnTrial;
	}

	/** Every image of a virtual device is this project's. */
	begin(): FirmwareSink {
		firmware.begin();
		const head = new ImageHead(HEADER_BYTES, checkMagic);
		return {
			write(piece) {
				const bytes = head.take(piece);
				if (bytes !== undefined) {
					firmware.write(bytes);
				}
			},
			async digest() {
				head.expectWhole();
				return await firmware.digest();
			},
			isSigned: firmware.isSigned,
			finish: firmware.finish,
			cancel: firmware.cancel,
		};
	}

	confirm(): void {
		this._isOnTrial = false;
		firmware.confirm();
	}

	rollBack(): void {
		firmware.rollBack();
	}
}

const checkMagic = (head: Uint8Array): void => {
	const magic = String.fromCharCode(...head.subarray(0, MAGIC.length));
	if (magic !== MAGIC) {
		throw new Error(`not a firmware image of a virtual device: it does not start with ${MAGIC}`);
	}
};
