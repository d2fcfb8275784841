/** Appends bytes to others. The result may share the memory of the second ones. */
export const joinedBytes = (first: Uint8Array, second: Uint8Array): Uint8Array => {
	if (first.byteLength === 0) {
		return second;
	}
	const both = new Uint8Array(first.byteLength + second.byteLength);
	both.set(first);
	both.set(second, first.byteLength);
	return both;
};
