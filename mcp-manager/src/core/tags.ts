import { isValidAlias, MAX_ALIAS_LENGTH } from "./aliases.js";

/** Tags of one device. */
const MAX_TAGS = 16;

/** Means every device in a list of devices and tags. */
export const EVERY_DEVICE = "all";

/**
 * Tags as they are kept: each once, sorted. A tag has the form of an alias.
 *
 * @throws RangeError that names the tag
 */
export function readTags(tags: readonly string[]): readonly string[] {
	for (const tag of tags) {
		if (!isValidAlias(tag)) {
			throw new RangeError(
				`tag: expected 1 to ${MAX_ALIAS_LENGTH} of a-z, 0-9 and single "_" or "-" between them, got ${JSON.stringify(tag)}`,
			);
		}
		if (tag === EVERY_DEVICE) {
			throw new RangeError(`tag ${EVERY_DEVICE}: reserved for every device`);
		}
	}
	const different = [...new Set(tags)].sort();
	if (different.length > MAX_TAGS) {
		throw new RangeError(`tags: a device has at most ${MAX_TAGS}, got ${different.length}`);
	}
	return different;
}
