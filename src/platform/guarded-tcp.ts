import TCP from "embedded:io/socket/tcp";

interface GuardedOptions {
	readonly onReadable?: (count: number) => void;
	readonly onWritable?: (count: number) => void;
	readonly onError?: () => void;
	/** Bytes that may still arrive. The reader raises it. Default: no limit. */
	readonly allowance?: { bytes: number };
}

/**
 * A TCP socket for the SDK's TLS socket and HTTP client, which throw out of callbacks if the peer's certificate,
 * records or response are invalid. Uncaught, that would end the machine. Here it ends the connection, which they report
 * as usual. So do more bytes than allowed.
 */
export class GuardedTCP extends TCP {
	constructor(options: ConstructorParameters<typeof TCP>[0] & object) {
		const { onReadable, onWritable, onError, allowance } = options as GuardedOptions;
		const guard = (callback: ((count: number) => void) | undefined) => (count: number) => {
			try {
				callback?.(count);
			} catch (error) {
				trace(`${String(error)}\n`);
				onError?.();
			}
		};
		const receive = (count: number): void => {
			if (allowance !== undefined) {
				allowance.bytes -= count;
				if (allowance.bytes < 0) {
					throw new Error("received more bytes than accepted");
				}
			}
			onReadable?.(count);
		};
		super({ ...options, onReadable: guard(receive), onWritable: guard(onWritable) });
	}
}
