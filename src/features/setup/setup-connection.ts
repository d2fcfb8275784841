import { deepFreeze } from "../../core/text/deep-freeze.js";
import { decodeText } from "../../core/text/message-assembler.js";
import type { HttpConnection, ServedRequest, ServedResponse } from "../../protocols/http-server.js";
import { ServedExchange } from "../../protocols/served-exchange.js";
import type { PhoneSetup, SetupStatus } from "./phone-setup.js";
import { currentValues } from "./setup-form.js";
import { SETUP_PAGE } from "./setup-page.js";
import { inLanguage, SETUP_TEXTS } from "./setup-texts.js";

/** The answer to a request. */
interface Answer {
	readonly status: number;
	readonly headers?: readonly (readonly [name: string, value: string])[];
	/** The body, in UTF-8. */
	readonly parts?: readonly ArrayBuffer[];
}

/** Maximum bytes of a request's body. A longer one is dropped as it arrives. */
const MAX_BYTES = 4_096;

/** Milliseconds for the whole request, and for its answer: a scan takes some seconds. */
const REQUEST_TIME = 10_000;
const ANSWER_TIME = 30_000;

/** One connection of a browser, for one request. */
export class SetupConnection extends ServedExchange {
	private readonly setup: PhoneSetup;
	private request: ServedRequest | undefined;

	constructor(connection: HttpConnection, setup: PhoneSetup) {
		super(connection, setup.app.timer);
		this.setup = setup;
		this.limit(REQUEST_TIME);
		this.accept();
	}

	protected override onRequest(request: ServedRequest): void {
		this.request = request;
		const length = Number(request.headers.get("content-length") ?? 0);
		if (length <= MAX_BYTES && !request.headers.has("transfer-encoding")) {
			this.body = new Uint8Array(length);
		}
	}

	protected override onResponse(response: ServedResponse, body: ArrayBuffer | undefined): void {
		if (this.request !== undefined && !this.isEnded) {
			this.limit(ANSWER_TIME);
			void this.answer(this.request, response, body);
		}
	}

	private async answer(request: ServedRequest, response: ServedResponse, body: ArrayBuffer | undefined): Promise<void> {
		const { status, headers = [], parts = [] } = await this.ask(request, body);
		if (this.isEnded) {
			return;
		}
		response.status = status;
		for (const [name, value] of headers) {
			response.headers.set(name, value);
		}
		response.headers.set("connection", "close");
		response.headers.set("content-length", String(parts.reduce((sum, { byteLength }) => sum + byteLength, 0)));
		for (const part of parts) {
			this.push(part);
		}
		try {
			this.connection.respond(response);
		} catch {
			this.close();
		}
	}

	private ask(request: ServedRequest, body: ArrayBuffer | undefined): Answer | Promise<Answer> {
		if (body === undefined) {
			return { status: 413 };
		}
		try {
			return answerRequest(request, decodeText(body), this.setup);
		} catch {
			return { status: 400 };
		}
	}

	protected override onEnd(): void {
		this.setup.connections.delete(this);
	}
}

const JSON_HEADERS = deepFreeze([
	["content-type", "application/json"],
	["cache-control", "no-store"],
	["x-content-type-options", "nosniff"],
] as const);

const PAGE_HEADERS = deepFreeze([
	["content-type", "text/html; charset=utf-8"],
	...JSON_HEADERS.slice(1),
	[
		"content-security-policy",
		"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; " +
			"connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
	],
] as const);

/**
 * Answers a browser in the device's own network.
 *
 * Requests for other hosts and paths are redirected to the page: phones request some of them to detect a captive portal
 * (`/generate_204`, `/hotspot-detect.html`, `/connecttest.txt`, …). Only the page's own script gets and
 * changes settings: by the hostname, the origin and the form's token.
 */
const answerRequest = (request: ServedRequest, body: string, source: PhoneSetup): Answer | Promise<Answer> => {
	const { method, headers } = request;
	const path = request.path.split("?")[0];
	const isOwn = headers.get("host") === source.host;
	if (method === "POST") {
		return isOwn && path === "/settings" ? submit(request, body, source) : { status: 404 };
	}
	if (method !== "GET") {
		return method === "HEAD" ? redirect(source) : { status: 405, headers: [["allow", "GET, POST"]] };
	}
	if (!isOwn) {
		return redirect(source);
	}
	switch (path) {
		case "/":
			return { status: 200, headers: PAGE_HEADERS, parts: SETUP_PAGE };
		case "/settings":
			return isForeign(request, source) ? { status: 403 } : json(200, publicSettings(source));
		case "/networks":
			return source.networks().then((networks) => json(200, { networks: networks.map((each) => ({ ...each })) }));
		case "/status":
			return json(200, describe(source.status));
		case "/texts/en":
		case "/texts/ja":
		case "/texts/zh":
			return json(200, { ...SETUP_TEXTS[path.slice(-2) as keyof typeof SETUP_TEXTS] });
		default:
			return redirect(source);
	}
};

/** The status with its message in English, for clients without the page. */
const describe = ({ message, ...status }: SetupStatus): object => ({
	...status,
	...(message && { ...message, message: inLanguage(message) }),
});

const submit = (request: ServedRequest, body: string, source: PhoneSetup): Answer => {
	if (isForeign(request, source) || request.headers.get("x-form-token") !== source.formToken) {
		return json(403, { errors: { form: { text: "reload" } } });
	}
	const errors = source.submit(body);
	return errors === undefined ? json(202, describe(source.status)) : json(400, { errors });
};

/** Whether a page of another site made the request. */
const isForeign = ({ headers }: ServedRequest, { host }: PhoneSetup): boolean =>
	(headers.get("origin") ?? `http://${host}`) !== `http://${host}`;

const publicSettings = (source: PhoneSetup): object => {
	const { access, formToken, app } = source;
	const { password, token, ...settings } = currentValues(app.source);
	return {
		...settings,
		hasPassword: password !== "",
		hasToken: token !== "",
		device: access.ssid,
		isSafe: app.isSafe,
		formToken,
		findsGateways: app.backend.listGateways !== undefined,
	};
};

const redirect = ({ host }: PhoneSetup): Answer => ({
	status: 302,
	headers: [
		["location", `http://${host}/`],
		["cache-control", "no-store"],
	],
});

const json = (status: number, value: object): Answer => ({
	status,
	headers: JSON_HEADERS,
	parts: [ArrayBuffer.fromString(JSON.stringify(value))],
});
