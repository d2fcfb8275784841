/** The most headers of a request: each takes slots of the heap. Browsers send some twenty. */
export const MAX_HEADERS = 40;

/** A request without its body. */
export interface ServedRequest {
	readonly method: string;
	readonly path: string;
	/** Names in lower case. */
	readonly headers: ReadonlyMap<string, string>;
}

/** A response without its body. Header names are in lower case: the server looks for `content-length`. */
export interface ServedResponse {
	status: number;
	readonly headers: Map<string, string>;
}

/** Events of a connection. */
export interface HttpConnectionEvents {
	onRequest(request: ServedRequest): void;
	onReadable(count: number): void;
	/** The request is complete: `respond` may be called now or later. */
	onResponse(response: ServedResponse): void;
	onWritable(count: number): void;
	/** The response is sent, and the connection closed. */
	onDone(): void;
	/** The connection is lost. */
	onError(error?: unknown): void;
}

/** A connection of ECMA-419's HTTP server: one request, one response. */
export interface HttpConnection {
	/** Nothing is read before this call. */
	accept(events: HttpConnectionEvents): void;
	read(count: number): ArrayBuffer | undefined;
	respond(response: ServedResponse): void;
	/** Writes all or throws. Returns how many bytes may follow. */
	write(data: Uint8Array): number;
	/** Written data is still sent. */
	close(): void;
}

/** ECMA-419's HTTP server. */
export interface HttpServer {
	/** Takes connections that wait, as long as {@link HttpServerOptions.mayConnect} allows it. */
	resume(): void;
	close(): void;
}

export interface HttpServerOptions {
	readonly port: number;
	/**
	 * Whether the next connection may be taken. Otherwise it waits in the network's queue, where it takes nothing of the
	 * machine's heap, until another one comes or {@link HttpServer.resume} is called. Default: all are taken.
	 */
	readonly mayConnect?: () => boolean;
	readonly onConnect: (connection: HttpConnection) => void;
	/** The port is open. May be called within `open`. */
	readonly onListening: () => void;
	/** The port cannot be opened. The SDK's server throws instead. */
	readonly onError?: (error: Error) => void;
}

/** A service on the local network (DNS-SD, https://www.rfc-editor.org/rfc/rfc6763). */
export interface Announcement {
	/** A service type of DNS-SD: `_mcp._tcp`. */
	readonly serviceType: string;
	/** Name that people see. */
	readonly name: string;
	/** The device's own name, without `.local`. */
	readonly host: string;
	readonly port: number;
	/** Further facts, by name. */
	readonly txt: Readonly<Record<string, string>>;
}

/** The platform's HTTP server: `src/platform/http-server`. */
export interface HttpServerPlatform {
	/** The address on which it listens: "0.0.0.0" for all. */
	readonly address: string;
	open(options: HttpServerOptions): HttpServer;
	/** Announces a service until it is closed. Undefined without multicast DNS. */
	readonly announce?: ((announcement: Announcement, log: (message: string) => void) => { close(): void }) | undefined;
}
