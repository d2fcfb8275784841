import Net from "net";

interface ResolveOptions {
	readonly host: string;
	readonly onResolved?: (host: string, address: string) => void;
	readonly onError?: (host: string) => void;
}

/**
 * ECMA-419's DNS resolver over the one that the system has, and so with the name servers that the network told it.
 * An address in dotted notation is its own answer.
 */
export class SystemResolver {
	resolve({ host, onResolved, onError }: ResolveOptions): void {
		Net.resolve(host, (_name, address) => {
			try {
				if (address === undefined) {
					onError?.(host);
				} else {
					onResolved?.(host, address);
				}
			} catch (error) {
				// The SDK's MQTT client does not expect an answer once it is closed. Uncaught, this would end the machine.
				trace(`${host} resolved after the request ended: ${String(error)}\n`);
			}
		});
	}

	/** A resolver holds nothing: what is being looked up is still answered. */
	close(): void {}
}
