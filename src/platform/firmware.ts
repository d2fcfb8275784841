import { deepFreeze } from "src/core/text/deep-freeze";

/**
 * Identity of the running firmware, from its image. Replaces src/core/settings/firmware.ts in builds with mcconfig. The code is
 * `firmware.c`, and the values come from `defines` of the manifests.
 */
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
