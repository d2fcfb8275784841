import type { FoundGateway } from "../backend/discovery/gateway-search.js";
import type { ServedRequest } from "../net/http-server.js";
import { deepFreeze } from "../text/deep-freeze.js";
import type { PhoneSetup } from "./phone-setup.js";
import { type Answer, answerPart } from "./setup-connection.js";
import { currentValues } from "./setup-form.js";
import { SETUP_PAGE } from "./setup-page.js";
import { inLanguage, SETUP_TEXTS, type SetupMessage } from "./setup-texts.js";

/** The state of the set-up. "joining" is any step in progress. */
export interface SetupStatus {
	readonly state: "waiting" | "joining" | "found" | "joined" | "failed";
	/** A message for the user. Absent until the form was sent. */
	readonly message?: SetupMessage;
	/** In the state "found". */
	readonly gateways?: readonly FoundGateway[];
	/** Whether the settings can be stored although this attempt failed. */
	readonly canKeep?: boolean;
}

const JSON_HEADERS = deepFreeze([
	["content-type", "application/json"],
	["cache-control", "no-store"],
	["x-content-type-options", "nosniff"],
] as const);

const PAGE_HEADERS = deepFreeze([
	["content-type", "text/html; charset=utf-8"],
	["cache-control", "no-store"],
	["x-content-type-options", "nosniff"],
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
export const answerRequest = (request: ServedRequest, body: string, source: PhoneSetup): Answer | Promise<Answer> => {
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
			return json(200, { ...SETUP_TEXTS[path.slice(-2)] });
		default:
			return redirect(source);
	}
};

/** With the English sentence, for clients without the page. */
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
	parts: [answerPart(JSON.stringify(value))],
});
