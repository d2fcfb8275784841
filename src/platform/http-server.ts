import Listener from "embedded:io/socket/listener";
import HTTPServer from "embedded:network/http/server";
import { deepFreeze } from "../core/text/deep-freeze.js";
import {
	type HttpConnection,
	type HttpServerOptions,
	type HttpServerPlatform,
	MAX_HEADERS,
} from "../protocols/http-server.js";
import { GuardedTCP } from "./guarded-tcp.js";
import { inBuild } from "./in-build.js";

/** The largest head of a request in bytes: the SDK's server keeps all of it. */
const MAX_HEAD_BYTES = 4_096;

/** Bytes that a connection may still receive before its head is complete: the SDK's server keeps the headers. */
interface Allowance {
	bytes: number;
	lines: number;
}

/** The lines of a head: request line, headers, empty line. */
const MAX_HEAD_LINES = MAX_HEADERS + 2;

const NEWLINE = 10;

/** The text before the version's last digit in a request line. */
const VERSION_START = "HTTP/1.";
const DIGIT_0 = 48;
const DIGIT_1 = 49;

/**
 * A connection's socket. The server constructs another one from it, which keeps the allowance.
 *
 * The server accepts only HTTP/1.1. iPhones detect a captive portal by HTTP/1.0, so the digit is changed while reading.
 * The answer is the same, because a connection takes one request.
 */
class ServedTCP extends GuardedTCP {
	readonly allowance: Allowance;
	/** Matched characters of the version; undefined after the digit. */
	private matched: number | undefined = 0;

	constructor(options: { readonly from: object; readonly allowance?: Allowance }) {
		const allowance = options.allowance ??
			(options.from as { allowance?: Allowance }).allowance ?? { bytes: MAX_HEAD_BYTES, lines: MAX_HEAD_LINES };
		super({ ...options, allowance } as ConstructorParameters<typeof GuardedTCP>[0]);
		this.allowance = allowance;
	}

	override read(count?: number | object): number | ArrayBuffer {
		const data = (count === undefined ? super.read() : super.read(count as number)) as number | ArrayBuffer;
		if (data === NEWLINE) {
			this.allowance.lines -= 1;
			if (this.allowance.lines < 0) {
				// Ends the connection: see GuardedTCP.
				throw new Error("received more headers than accepted");
			}
		}
		if (this.matched === undefined || typeof data !== "number") {
			return data;
		}
		if (this.matched === VERSION_START.length) {
			this.matched = undefined;
			return data === DIGIT_0 ? DIGIT_1 : data;
		}
		this.matched = data === VERSION_START.charCodeAt(this.matched) ? this.matched + 1 : 0;
		return data;
	}
}

/** The body is not limited, because the server does not keep it. */
const limitHead = (connection: HttpConnection, allowance: Allowance): HttpConnection => ({
	accept(events) {
		connection.accept({
			...events,
			onRequest(request) {
				if (!request.headers.has("transfer-encoding")) {
					allowance.bytes = Number.POSITIVE_INFINITY;
					allowance.lines = Number.POSITIVE_INFINITY;
				}
				events.onRequest(request);
			},
		});
	},
	read: (count) => connection.read(count),
	respond: (response) => connection.respond(response),
	write: (data) => connection.write(data),
	close: () => connection.close(),
});

/** The SDK's HTTP server, on every address of the device. */
export const httpServer: HttpServerPlatform = deepFreeze({
	address: "0.0.0.0",
	open({ port, mayConnect = () => true, onConnect, onListening }: HttpServerOptions) {
		let waiting = 0;
		/** Allowance of the latest connection. */
		let latest: Allowance = { bytes: 0, lines: 0 };
		let take = (): void => {};
		const resume = (): void => {
			while (waiting > 0 && mayConnect()) {
				waiting -= 1;
				take();
			}
		};
		/** The server would read every connection at once. */
		class PausedListener extends Listener {
			constructor(options: { onReadable(count: number): void }) {
				super({
					...options,
					onReadable(count: number) {
						waiting = count;
						resume();
					},
				});
				take = () => options.onReadable.call(this, 1);
			}

			override read(): ServedTCP {
				latest = { bytes: MAX_HEAD_BYTES, lines: MAX_HEAD_LINES };
				return new ServedTCP({ from: super.read() as object, allowance: latest });
			}
		}
		const options = {
			io: PausedListener,
			port,
			onConnect: (connection: unknown) => onConnect(limitHead(connection as HttpConnection, latest)),
		};
		const server = new HTTPServer(options as unknown as ConstructorParameters<typeof HTTPServer>[0]);
		onListening();
		return { resume, close: () => server.close() };
	},
	/** Announces the server. Undefined without DNS-SD in the build, or where UDP has no multicast. */
	get announce() {
		return inBuild<HttpServerPlatform["announce"]>("src/platform/announce");
	},
});
