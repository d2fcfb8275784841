import type { Feature } from "../app/application.js";
import { EcmaHttp } from "./ecma-http.js";

/** The part `http`. */
const http: Feature = {
	name: "http",
	rescue: true,
	start(app) {
		const { clients, limits, timer } = app;
		Object.assign(app.board, { http: new EcmaHttp({ network: clients, timer, maxBytes: limits.maxQueuedBytes }) });
	},
};

export default http;
