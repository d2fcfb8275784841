/** Whether a text is a version, "1.10.0": numbers that are small enough to be compared exactly. */
export const isVersion = (text: string): boolean => /^[0-9]{1,9}(\.[0-9]{1,9})*$/.test(text);

/** Whether a version comes after another: "1.10.0" after "1.9". A missing part is 0; other texts are never newer. */
export const isNewer = (version: string, present: string): boolean => {
	if (!isVersion(version) || !isVersion(present)) {
		return false;
	}
	const [left, right] = [version.split(".").map(Number), present.split(".").map(Number)];
	for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
		const difference = (left[at] ?? 0) - (right[at] ?? 0);
		if (difference !== 0) {
			return difference > 0;
		}
	}
	return false;
};
