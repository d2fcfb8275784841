import { firmware } from "virtual-host";
import { checkIdentity, IDENTITY_BYTES, ImageHead } from "../../drivers/updater/image-identity.js";
import type { FirmwareSink, Updater } from "../../updater.js";

/** The first bytes of a virtual device's image. */
const MAGIC = "XSMCPVD2";

/** Offset of the identity in an image: after the magic and the script's length. */
const IDENTITY_AT = 12;

/** The virtual device's two places for firmware, which Node keeps. */
export class VirtualUpdater implements Updater {
	readonly capacity = firmware.capacity;
	private _isOnTrial = firmware.isOnTrial;

	get isOnTrial(): boolean {
		return this._isOnTrial;
	}

	begin(source: Parameters<Updater["begin"]>[0]): FirmwareSink {
		firmware.begin();
		const head = new ImageHead(IDENTITY_AT + IDENTITY_BYTES, (head) => {
			checkMagic(head);
			checkIdentity(head, IDENTITY_AT, source);
		});
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
