import Net from "net";

interface ResolveOptions {
	readonly host: string;
	readonly onResolved?: (host: string, address: string) => void;
	readonly onError?: (host: string) => void;
}

/** ECMA-419's DNS resolver on the system's, with the network's servers. A dotted address resolves to itself. */
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
				// The SDK's MQTT client throws on an answer after it was closed. Uncaught, that would end the machine.
				trace(`${host} resolved after the request ended: ${String(error)}\n`);
			}
		});
	}

	/** Does nothing: lookups in progress are still answered. */
	close(): void {}
}
