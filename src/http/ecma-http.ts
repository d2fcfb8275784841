import type { Http, HttpRequest, HttpResponse } from "../hardware/hardware.js";
import { Exchange, type ExchangeOptions } from "./http-exchange.js";
import { redirected } from "./redirect.js";

/** Limited because each has its own connection: more would fill the heap. */
const MAX_REQUESTS = 2;

/** Redirects of a request that are followed. */
const MAX_REDIRECTS = 5;

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
			let current = request;
			for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
				const response = await new Exchange(current, this.options).response;
				const next = redirected(current, response);
				if (next === undefined) {
					return response;
				}
				current = next;
			}
			throw new Error(`${request.url}: more than ${MAX_REDIRECTS} redirects`);
		} finally {
			this.running -= 1;
		}
	}
}
