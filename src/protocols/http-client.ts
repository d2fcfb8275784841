/** A request of ECMA-419's HTTP client. */
export interface HttpClientRequest {
	read(count: number): ArrayBuffer | undefined;
	/** Writes all or throws. Returns how many bytes may follow. */
	write(data: Uint8Array): number;
}

/** A request of ECMA-419's HTTP client. */
export interface HttpClientRequestOptions {
	readonly method: string;
	readonly path: string;
	readonly headers: ReadonlyMap<string, string>;
	/** The response headers to keep, in lower case. */
	readonly headersMask: readonly string[];
	readonly onHeaders: (status: number, headers: ReadonlyMap<string, string>) => void;
	readonly onReadable: (count: number) => void;
	readonly onWritable: (count: number) => void;
	readonly onDone: (error: Error | null) => void;
}

/** ECMA-419's HTTP client: a connection with one server. */
export interface HttpClient {
	request(options: HttpClientRequestOptions): HttpClientRequest;
	close(): void;
}

export interface HttpClientOptions {
	readonly host: string;
	readonly port: number;
	readonly onError: (error?: Error) => void;
}

/** ECMA-419's record for the client: its class and options. */
export interface HttpRecord {
	readonly io: new (options: HttpClientOptions) => HttpClient;
	/** The record of the socket that it opens. */
	readonly socket?: object;
}

/** ECMA-419's records: plain, and over TLS where the platform has that. */
export interface HttpClients {
	readonly http?: HttpRecord;
	readonly https?: HttpRecord;
}
