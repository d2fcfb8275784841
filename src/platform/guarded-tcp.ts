import TCP from "embedded:io/socket/tcp";

interface GuardedOptions {
	readonly onReadable?: (count: number) => void;
	readonly onWritable?: (count: number) => void;
	readonly onError?: () => void;
	/** Bytes that may yet come in. Whoever reads them raises it. Default: no limit. */
	readonly allowance?: { bytes: number };
}

/**
 * A TCP socket for the SDK's TLS socket and HTTP client to stand on, which throw what is wrong with the other side's
 * certificate, records or response out of the callbacks. Nobody is there to catch it, and the machine would end. Here it
 * is the end of the connection, which they then report as any other. More bytes than allowed end it, too.
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
