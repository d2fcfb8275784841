import TCP from "embedded:io/socket/tcp";

interface Callbacks {
	readonly onReadable?: (count: number) => void;
	readonly onWritable?: (count: number) => void;
	readonly onError?: () => void;
}

/**
 * A TCP socket for the SDK's TLS socket to stand on, which throws what is wrong with the other side's certificate or
 * records out of the callbacks. Nobody is there to catch it, and the machine would end. Here it is the end of the
 * connection, which the TLS socket then reports as any other.
 */
export class GuardedTCP extends TCP {
	constructor(options: ConstructorParameters<typeof TCP>[0] & object) {
		const { onReadable, onWritable, onError } = options as Callbacks;
		const guard = (callback: ((count: number) => void) | undefined) => (count: number) => {
			try {
				callback?.(count);
			} catch (error) {
				trace(`${String(error)}\n`);
				onError?.();
			}
		};
		super({ ...options, onReadable: guard(onReadable), onWritable: guard(onWritable) });
	}
}
