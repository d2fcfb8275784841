/** Bytes of a picture that a message may hold: in base64 they are the 8,000 characters that `Resources` takes. */
export const MAX_PICTURE_BYTES = 6_000;

/** Bytes that are read piece by piece, so that a picture need never be in the heap as a whole. */
export interface ByteSource {
	/** Total number of bytes. */
	readonly byteLength: number;
	/**
	 * Reads the next bytes, from 1 to `count`, as long as there are more. They are valid until the next call.
	 * Rejects if they cannot be read. Must not be called again before the promise has settled.
	 */
	read(count: number): Promise<ArrayBuffer | Uint8Array>;
	/** Releases the bytes, whether or not all of them were read. May be called more than once. */
	close(): void;
}

/**
 * Makes a source of bytes that are in memory already, such as a camera's.
 *
 * @param release called when the bytes are not needed any more, perhaps more than once
 */
export const heldBytes = (bytes: Uint8Array, release: () => void = () => {}): ByteSource => {
	const { byteLength } = bytes;
	let at = 0;
	return {
		byteLength,
		async read(count) {
			const from = at;
			at = Math.min(from + count, byteLength);
			return bytes.subarray(from, at);
		},
		close: release,
	};
};

/**
 * Reads all bytes into the heap, and closes the source.
 *
 * @param maxBytes limit. Rejects if there are more.
 */
export const readWhole = async (source: ByteSource, maxBytes: number): Promise<ArrayBuffer> => {
	try {
		const { byteLength } = source;
		if (byteLength > maxBytes) {
			throw new Error(`picture of ${byteLength} bytes (limit ${maxBytes})`);
		}
		const joined = new Uint8Array(byteLength);
		for (let at = 0; at < byteLength; ) {
			const piece = await source.read(byteLength - at);
			joined.set(piece instanceof ArrayBuffer ? new Uint8Array(piece) : piece, at);
			at += piece.byteLength;
		}
		return joined.buffer;
	} finally {
		source.close();
	}
};

export interface Camera {
	/** Takes a picture, as a JPEG file. The caller closes it. */
	capture(): Promise<ByteSource>;
}

/** A screen whose picture can be taken. */
export interface Snapshot {
	/** Takes a picture of the screen, as a JPEG file. The caller closes it. @param quality of the JPEG, 1 to 100 */
	take(quality: number): Promise<ByteSource>;
}

/** A screen that can show a picture. */
export interface Preview {
	/** Starts a picture. It replaces one that is still being drawn or shown. */
	begin(): PictureSink;
}

/** Takes a JPEG or PNG file piece by piece, and draws it as it arrives. */
export interface PictureSink {
	/** @throws Error that says why the picture cannot be shown */
	write(piece: ArrayBuffer): void;
	/** Completes the file. Rejects if it cannot be shown. */
	end(): Promise<void>;
	/** Drops the picture, whose rest will not arrive. The screen returns to its previous content. */
	cancel(): void;
}
