import { createServer, type Server as HttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { type TlsOptions, Server as TlsServer } from "node:tls";

/**
 * Node's HTTP or HTTPS server, which cuts connections whose request is too slow.
 *
 * @param requestTimeout milliseconds for a request to arrive, body included
 * @param tls key and certificate: the server then speaks HTTPS
 */
export function createHttpServer(requestTimeout: number, tls?: TlsOptions): HttpServer {
	const limits = {
		requestTimeout,
		headersTimeout: requestTimeout,
		connectionsCheckingInterval: Math.min(1_000, requestTimeout),
	};
	return tls ? createTlsServer({ ...limits, ...tls }) : createServer(limits);
}

/**
 * Starts to listen. Rejects if the port is in use. Resolves with the port.
 *
 * @param port 0 for a free one
 * @param onError is told of later errors: the server goes on listening
 */
export function listenOn(
	server: Server,
	{ host, port }: { readonly host: string; readonly port: number },
	onError: (error: Error) => void,
): Promise<number> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, host, () => {
			server.off("error", reject);
			server.on("error", onError);
			resolve((server.address() as AddressInfo).port);
		});
	});
}

/** Has a server that speaks TLS use another key and certificate for the connections to come. */
export function renewTls(server: Server, tls: TlsOptions): void {
	if (server instanceof TlsServer) {
		server.setSecureContext(tls);
	}
}
