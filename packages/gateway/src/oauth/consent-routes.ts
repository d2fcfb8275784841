import { randomBytes } from "node:crypto";
import { type Context, Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import type { Clients } from "../app.js";
import { type Limits, SCOPES } from "../config/access.js";
import { looksLikeCode, takeSignInCode } from "../config/token-store.js";
import type { RunningGateway } from "../gateway.js";
import { GatewayError } from "../gateway-error.js";
import { allow, field, type HttpEnv, type Middleware, optionalField, type Route, readFields } from "../http/route.js";
import { findClient, mayRedirect, type OAuthClient, openRequest, type SignInRequest, sealRequest } from "./clients.js";
import { choosePage, consentPolicy, failurePage, identifyPage, textsFor } from "./consent-page.js";
import { MetadataDocuments } from "./metadata-document.js";
import type { ProtectedResource } from "./protected-resource.js";
import type { RequestGuard } from "./request-guard.js";
import { type AuthorizationServer, SIGN_IN_PATHS } from "./sign-in.js";

/** Largest form of a person, bytes: it holds the client's request. */
const MAX_FORM = 65_536;

/** Most characters of a client's `state`, which comes back to it. */
const MAX_STATE = 2_048;

/** A code challenge of S256: RFC 7636 section 4.2. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** The cookie of the browser that shows the page, and seconds for which it is kept. */
const COOKIE = "xs_mcp_sign_in";
const COOKIE_AGE = 600;

/** Operator who approves by a code of the command line. No token has this name. */
const BY_CODE = "code:";

/** Adds the authorization endpoint (RFC 6749 section 3.1): a page for the person in front of the browser. */
export function addConsent(
	app: Hono<HttpEnv>,
	gateway: RunningGateway,
	{ guard, rejections }: Clients,
	server: AuthorizationServer,
	resource: ProtectedResource,
): void {
	const consent = consentRoutes(gateway, guard, server, resource);
	const pages = new Hono<HttpEnv>();
	pages.onError((error, c) =>
		rejections.answer(error, c, async ({ message }) => String(await failurePage(textsFor(c), message))),
	);
	pages.use(SIGN_IN_PATHS.authorize, setPageHeaders, guard.limitRate);
	pages.get(SIGN_IN_PATHS.authorize, consent.ask);
	pages.post(SIGN_IN_PATHS.authorize, consent.answer);
	app.all(SIGN_IN_PATHS.authorize, allow("GET", "POST"));
	app.route("/", pages);
}

const setPageHeaders: Middleware = async (c, next) => {
	c.header("Content-Security-Policy", consentPolicy(undefined));
	// Clients open the page in a window of theirs, and without a referrer browsers would not name the form's origin.
	c.header("Cross-Origin-Opener-Policy", "unsafe-none");
	c.header("Referrer-Policy", "same-origin");
	await next();
};

function consentRoutes(
	{ key, tokens, servers, store, log }: RunningGateway,
	guard: RequestGuard,
	server: AuthorizationServer,
	resource: ProtectedResource,
) {
	/**
	 * `GET`: the client's request. A wrong one is shown to the person: anyone who registers a client could otherwise make links to
	 * the gateway that lead anywhere (RFC 9700 section 4.11.2).
	 */
	const ask: Route = async (c) => {
		const query = new URL(c.req.url).searchParams;
		const client = await clientOf(c, field(query, "client_id"));
		const [onlyUri, ...moreUris] = client.redirectUris;
		const redirectUri = optionalField(query, "redirect_uri") ?? (moreUris.length === 0 ? onlyUri : undefined);
		if (redirectUri === undefined) {
			throw new GatewayError("malformed", "redirect_uri: required, because this client has several");
		}
		if (!mayRedirect(client, redirectUri)) {
			throw new GatewayError("malformed", "redirect_uri: not one of this client");
		}
		return await show(c, {
			id: randomBytes(16).toString("base64url"),
			...read(query),
			client,
			redirectUri,
		});
	};

	/** `POST`: the person's answer, first who it is, then what the client may do. */
	const answer: Route = async (c) => {
		const { incoming } = c.env;
		const isOfOrigin = incoming.headers.origin === server.origin;
		if (!isOfOrigin && !guard.isOfOwnPage(incoming)) {
			throw new GatewayError("origin", "only the gateway's own page may do this");
		}
		const fields = await readFields(incoming, MAX_FORM);
		const request = openRequest(key, field(fields, "request"), getCookie(c, COOKIE) ?? "", tokens.now);
		if (request === undefined || resource.identify(request.audience) === undefined) {
			throw new GatewayError("malformed", textsFor(c).tooOld);
		}
		if (optionalField(fields, "answer") !== "go") {
			return redirect(c, request, { error: "access_denied" });
		}
		return request.operator === undefined
			? await recognize(c, request, optionalField(fields, "secret")?.trim())
			: await decide(c, request, fields);
	};

	/** Rejects with GatewayError if the client is unknown. */
	const clientOf = async (c: Context<HttpEnv>, id: string): Promise<OAuthClient> => {
		const client = MetadataDocuments.names(id)
			? await server.documents.find(id, guard.addressOf(c.env.incoming))
			: findClient(key, id);
		if (client === undefined) {
			throw new GatewayError("invalid_client", "client_id: unknown; have the client register again");
		}
		return client;
	};

	/** @throws GatewayError */
	const read = (query: URLSearchParams): Pick<SignInRequest, "state" | "challenge" | "audience" | "scope"> => {
		const type = field(query, "response_type");
		if (type !== "code") {
			throw new GatewayError("unsupported_response_type", "response_type: expected code");
		}
		const challenge = field(query, "code_challenge");
		if (field(query, "code_challenge_method") !== "S256" || !CHALLENGE.test(challenge)) {
			throw new GatewayError("malformed", "code_challenge: expected one of S256");
		}
		const state = optionalField(query, "state");
		if (state !== undefined && state.length > MAX_STATE) {
			throw new GatewayError("malformed", `state: longer than ${MAX_STATE} characters`);
		}
		const audience = resource.identify(optionalField(query, "resource") ?? "/mcp");
		if (audience === undefined) {
			throw new GatewayError("invalid_target", "resource: not of this gateway");
		}
		const scope = optionalField(query, "scope") ?? SCOPES.control;
		return { challenge, audience, scope, state };
	};

	/** The person sends a secret, or is signed in to the console. */
	const recognize = async (
		c: Context<HttpEnv>,
		request: SignInRequest,
		secret: string | undefined,
	): Promise<Response> => {
		const { incoming } = c.env;
		const t = textsFor(c);
		try {
			if (secret !== undefined && looksLikeCode(secret)) {
				await guard.checkAttempts(incoming);
				if (await takeSignInCode(store, secret)) {
					return await show(c, { ...request, operator: BY_CODE });
				}
			}
			const token = secret === undefined ? guard.signedIn(incoming) : await guard.verify(incoming, secret);
			if (token !== undefined) {
				return token.operator === true
					? await show(c, { ...request, operator: token.name })
					: await show(c, request, t.notOperator);
			}
		} catch (error) {
			if (!(error instanceof GatewayError) || error.status !== 401) {
				throw error;
			}
		}
		return await show(c, request, t.wrongSecret);
	};

	/** The operator has chosen what the client may do. */
	const decide = async (c: Context<HttpEnv>, request: SignInRequest, fields: URLSearchParams): Promise<Response> => {
		const { client, operator } = request;
		tokens.refresh();
		const isOperator = tokens.records.some((each) => each.name === operator && tokens.current(each.sha256)?.operator);
		if (operator !== BY_CODE && !isOperator) {
			return await show(c, { ...request, operator: undefined });
		}
		const devices = fields.getAll("device");
		const isForAll = fields.get("devices") !== "some";
		if (isForAll !== (devices.length === 0)) {
			return await show(c, request, textsFor(c).chooseDevices);
		}
		const readOnly = fields.get("tools") !== "control";
		const limits: Limits = {
			...(!isForAll && { devices }),
			...(readOnly && { readOnly }),
			...(!readOnly && fields.has("userTools") && { userTools: true }),
			...(!readOnly && fields.has("microphone") && { microphone: true }),
		};
		const { redirectUri, challenge, audience } = request;
		const code = await server.grants.approve(request.id, { client, redirectUri, challenge, audience, limits });
		if (code === undefined) {
			throw new GatewayError("malformed", textsFor(c).tooOld);
		}
		log.info({ client: client.name, clientId: client.id, operator, ...limits }, "client allowed to sign in");
		return redirect(c, request, { code });
	};

	/** Shows the page with the form that has the request, bound to this browser. `problem` is of the answer before. */
	const show = async (c: Context<HttpEnv>, request: SignInRequest, problem?: string): Promise<Response> => {
		const known = getCookie(c, COOKIE) ?? "";
		const browser = CHALLENGE.test(known) ? known : randomBytes(32).toString("base64url");
		setCookie(c, COOKIE, browser, {
			path: SIGN_IN_PATHS.authorize,
			httpOnly: true,
			sameSite: "Strict",
			secure: server.origin.startsWith("https:"),
			maxAge: COOKIE_AGE,
		});
		c.header("Content-Security-Policy", consentPolicy(request.redirectUri));
		const sealed = sealRequest(key, request, browser, tokens.now);
		const t = textsFor(c);
		return request.operator === undefined
			? await c.html(identifyPage(t, request, sealed, problem), problem === undefined ? 200 : 401)
			: await c.html(choosePage(t, request, sealed, servers.all, problem), problem === undefined ? 200 : 400);
	};

	/** Sends the browser back to the client, with `iss` against mix-up (RFC 9207). */
	const redirect = (
		c: Context<HttpEnv>,
		{ redirectUri, state }: SignInRequest,
		parameters: Record<string, string>,
	): Response => {
		const url = new URL(redirectUri);
		const all = { ...parameters, ...(state !== undefined && { state }), iss: server.origin };
		for (const [name, value] of Object.entries(all)) {
			url.searchParams.set(name, value);
		}
		c.header("Referrer-Policy", "no-referrer");
		return c.redirect(url.href, 303);
	};
	return { ask, answer };
}
