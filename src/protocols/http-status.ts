import type { HttpResponse } from "../hardware/hardware.js";

/** @throws Error with the URL and the status, if the status is not 2xx */
export const expectOk = (response: HttpResponse, url: string): HttpResponse => {
	const { status, location } = response;
	if (status < 200 || status > 299) {
		const target =
			location === undefined ? "" : ` (redirect to ${JSON.stringify(location.slice(0, 200))} not followed)`;
		throw new Error(`${url} answered with HTTP status ${status}${target}`);
	}
	return response;
};
