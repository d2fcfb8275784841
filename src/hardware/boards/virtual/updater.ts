import { firmware } from "virtual-host";
import { checkIdentity, IDENTITY_BYTES, ImageHead } from "../../drivers/image-identity.js";
import type { Updater } from "../../updater.js";

/** The first bytes of a virtual device's image. */
const MAGIC = "XSMCPVD2";

/** Offset of the identity in an image: after the magic and the script's length. */
const IDENTITY_AT = 12;

/** The virtual device's two places for firmware, which Node keeps. */
export const virtualUpdater = (): Updater => {
	let { isOnTrial } = firmware;
	return {
		capacity: firmware.capacity,
		get isOnTrial() {
			return isOnTrial;
		},
		begin(source) {
			firmware.begin();
			const head = new ImageHead(IDENTITY_AT + IDENTITY_BYTES, (bytes) => {
				if (String.fromCharCode(...bytes.subarray(0, MAGIC.length)) !== MAGIC) {
					throw new Error(`not a firmware image of a virtual device: it does not start with ${MAGIC}`);
				}
				checkIdentity(bytes, IDENTITY_AT, source);
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
		},
		confirm() {
			isOnTrial = false;
			firmware.confirm();
		},
		rollBack: () => firmware.rollBack(),
	};
};
