/** The SDK's TCP socket for an ESP32 (ECMA-419 §12), as `esp32-tcp.c` includes and corrects it. */
export default class TCP extends Native("xs_tcp_destructor") {
	/** @param options none for a connection that a listener has accepted: the SDK counts the arguments */
	constructor(options?: object) {
		super();
		if (options === undefined) {
			native("xs_tcp_constructor").call(this);
		} else {
			native("xs_tcp_constructor").call(this, options);
		}
	}

	close(): void {
		native("xs_tcp_close").call(this);
	}

	/**
	 * Reads a byte or a buffer, as {@link format} says.
	 *
	 * @param wanted how many bytes, or the buffer that they fill; default: all that have arrived
	 * @returns undefined if nothing has arrived; how many bytes the given buffer got
	 * @throws Error if fewer bytes have arrived than wanted
	 */
	read(wanted?: number | ArrayBufferLike | ArrayBufferView): number | ArrayBuffer | undefined {
		const result = wanted === undefined ? native("xs_tcp_read").call(this) : native("xs_tcp_read").call(this, wanted);
		return result as number | ArrayBuffer | undefined;
	}

	/** @returns bytes that may yet be written: 0 if the connection is gone, for which the SDK returns undefined */
	write(data: number | ArrayBufferLike | ArrayBufferView): number {
		return (native("xs_tcp_write").call(this, data) as number | undefined) ?? 0;
	}

	get remoteAddress(): string {
		return native("xs_tcp_get_remoteAddress").call(this) as string;
	}

	get remotePort(): number {
		return native("xs_tcp_get_remotePort").call(this) as number;
	}

	get format(): "number" | "buffer" {
		return native("xs_tcp_get_format").call(this) as "number" | "buffer";
	}

	set format(format: "number" | "buffer") {
		native("xs_tcp_set_format").call(this, format);
	}
}
