/** Takes one firmware image piece by piece, and stores it beside the running firmware. */
export interface FirmwareSink {
	/** @throws Error that says why the image cannot be firmware of this board, or why it cannot be stored */
	write(piece: ArrayBuffer): void;
	/** The SHA-256 of everything that was written. It is called once, after the last piece. */
	digest(): Promise<ArrayBuffer>;
	/**
	 * Whether the image was signed as this version with the private key: ECDSA over P-256 and SHA-256, of the image's
	 * SHA-256 followed by the version. It is called after {@link digest}.
	 *
	 * @param key the public key, as an uncompressed point: 65 bytes
	 * @param signature r and s, 32 bytes each
	 * @param version as UTF-8
	 */
	isSigned(key: ArrayBuffer, signature: ArrayBuffer, version: ArrayBuffer): Promise<boolean>;
	/** Makes the board start this image from its next restart on. Rejects if the image is not valid. */
	finish(): Promise<void>;
	/** Discards the image. The board keeps its firmware. */
	cancel(): void;
}

/** A board's two slots for firmware: one runs, the other is for updates. */
export interface Updater {
	/** Maximum bytes of an image. */
	readonly capacity: number;
	/** Whether the running firmware is on trial: an update installed it, and a restart rolls it back. */
	readonly isOnTrial: boolean;
	/**
	 * Starts to store an image.
	 *
	 * @param source requirements of the image: this project's unless `anyProject`, and of `version` if it is known
	 */
	begin(source: Pick<FirmwareSource, "anyProject" | "version">): FirmwareSink;
	/** Ends the trial: the running firmware stays. */
	confirm(): void;
	/** Restarts into the previous firmware. @throws Error without a previous firmware */
	rollBack(): void;
}

/** Firmware to install. */
export interface FirmwareSource {
	/** http or https. */
	readonly url: string;
	/** The version, if it is known. Signed firmware needs it. */
	readonly version?: string | undefined;
	/** SHA-256 of the image, as 64 hexadecimal digits. */
	readonly sha256?: string | undefined;
	/** r and s of the ECDSA signature of image and version, as 128 hexadecimal digits. */
	readonly signature?: string | undefined;
	/** Whether it may be another project's firmware, which a backend cannot allow. Default false. */
	readonly anyProject?: boolean | undefined;
}

/**
 * @param bytes of the image that are stored
 * @param total bytes of the image; undefined if the server does not say
 */
export type UpdateProgress = (bytes: number, total: number | undefined) => void;

/** Downloads firmware and installs it. The firmware makes it for a board that has an updater. */
export interface Installer {
	/** Settles when the image is installed, before the restart. Rejects if the device keeps its firmware. */
	install(source: FirmwareSource, onProgress?: UpdateProgress): Promise<void>;
	/**
	 * Installs firmware that the backend offers, unless it was rolled back, or a conversation is in progress. Settles if it
	 * was not installed. Present in a build with the feature `update`.
	 */
	offer?(firmware: FirmwareSource & { readonly force: boolean }): Promise<void>;
}
