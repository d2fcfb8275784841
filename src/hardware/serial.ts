/** ECMA-419's serial port. */
export interface SerialPort {
	/** At most this many of the received bytes. */
	read(count: number): ArrayBuffer | undefined;
	/** Writes all or throws. Takes at most as many bytes as `onWritable` announced. */
	write(bytes: ArrayBuffer): void;
	close(): void;
}

export interface SerialOptions {
	/** Bits per second. */
	readonly baud: number;
	readonly format: "buffer";
	readonly onReadable: (count: number) => void;
	readonly onWritable: (count: number) => void;
}

/** The serial port that leads to a computer. Its constructor throws if it is in use, for example by the debugger. */
export interface SerialRecord {
	readonly io: new (options: SerialOptions) => SerialPort;
}
