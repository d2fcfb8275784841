import { deepFreeze } from "src/core/text/deep-freeze";

/** Identity in the firmware's image: `firmware.c`. Replaces src/core/firmware.ts with mcconfig. */
export const FIRMWARE = deepFreeze({
	get name(): string {
		return native("xs_image_project").call(this) as string;
	},

	get version(): string {
		return native("xs_image_version").call(this) as string;
	},

	get board(): string {
		return native("xs_image_board").call(this) as string;
	},
});
