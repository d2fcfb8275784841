import type { Http, HttpRequest, HttpResponse } from "../hardware/hardware.js";
import { Exchange, type ExchangeOptions } from "./http-exchange.js";

/** Limited because each has its own connection: more would fill the heap. */
const MAX_REQUESTS = 2;

/** HTTP on the platform's client class. Each request has its own connection, which closes with it. */
export class EcmaHttp implements Http {
	private readonly options: ExchangeOptions;
	private running = 0;

	constructor(options: ExchangeOptions) {
		this.options = options;
	}

	async request(request: HttpRequest): Promise<HttpResponse> {
		if (this.running >= MAX_REQUESTS) {
			throw new Error(`${request.url}: too many HTTP requests in progress (limit ${MAX_REQUESTS})`);
		}
		this.running += 1;
		try {
			return await new Exchange(request, this.options).response;
		} finally {
			this.running -= 1;
		}
	}
}
