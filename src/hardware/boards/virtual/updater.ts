import { firmware } from "virtual-host";
import { checkedSink } from "../../drivers/image-identity.js";
import type { Updater } from "../../updater.js";

/** The first bytes of a virtual device's image. */
const MAGIC = "XSMCPVD2";

/** Offset of the identity in an image: after the magic and the script's length. */
const IDENTITY_AT = 12;

const checkMagic = (image: Uint8Array): void => {
	if (String.fromCharCode(...image.subarray(0, MAGIC.length)) !== MAGIC) {
		throw new Error(`not a firmware image of a virtual device: it does not start with ${MAGIC}`);
	}
};

/** The virtual device's two places for firmware, which Node keeps. */
export const virtualUpdater = (): Updater => {
	const updater = {
		...firmware,
		begin(source: Parameters<Updater["begin"]>[0]) {
			firmware.begin();
			return checkedSink(IDENTITY_AT, source, checkMagic, firmware);
		},
		confirm() {
			updater.isOnTrial = false;
			firmware.confirm();
		},
	};
	return updater;
};
