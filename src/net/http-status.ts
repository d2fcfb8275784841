import type { HttpResponse } from "../hardware/hardware.js";

/** @throws Error with the URL and the status, if the status is not 2xx */
export const expectOk = (response: HttpResponse, url: string): HttpResponse => {
	if (response.status < 200 || response.status > 299) {
		throw new Error(`${url} answered with HTTP status ${response.status}`);
	}
	return response;
};
